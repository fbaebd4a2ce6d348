// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "machine.h"
#include "partner.h"
#include "uapi.h"

static struct partner {
	pthread_t thread;
	int ask[2], answer[2];
	pid_t tid;	/* negative: it could not be made as above */
} partners[PARTNERS];
static unsigned int arrived;	/* partners, in all rounds */

static void *partner_run(void *arg)
{
	const struct sched_param priority = { .sched_priority = 1 };
	struct partner *p = arg;
	unsigned int all = 0;
	char byte = 0;

	p->tid = cpu_pin(first_cpu) || sched_setscheduler(0, SCHED_FIFO, &priority) ? -1 : gettid();
	while (write(p->answer[1], &byte, 1) == 1 && read(p->ask[0], &byte, 1) == 1) {
		if (p + 1 < partners + PARTNERS && write(p[1].ask[1], &byte, 1) != 1)
			break;
		all += PARTNERS;
		__atomic_add_fetch(&arrived, 1, __ATOMIC_RELAXED);
		while (__atomic_load_n(&arrived, __ATOMIC_RELAXED) < all)
			sched_yield();
	}
	return NULL;
}

static bool partners_wait(void)
{
	char byte;

	for (int i = 0; i < PARTNERS; i++)
		if (read(partners[i].answer[0], &byte, 1) != 1 || partners[i].tid < 0)
			return false;
	return true;
}

pid_t partner_tid(int i)
{
	return partners[i].tid;
}

int partners_start(void **state)
{
	for (int i = 0; i < PARTNERS; i++)
		if (pipe2(partners[i].ask, O_CLOEXEC) || pipe2(partners[i].answer, O_CLOEXEC))
			return -1;
	for (int i = 0; i < PARTNERS; i++)
		if (pthread_create(&partners[i].thread, NULL, partner_run, &partners[i]))
			return -1;
	return partners_wait() ? at_group_setup(state) : -1;
}

int partners_end(void **state)
{
	for (int i = 0; i < PARTNERS; i++) {
		close(partners[i].ask[1]);
		pthread_join(partners[i].thread, NULL);
	}
	return 0;
}

void partners_round(void)
{
	assert_int_equal(write(partners[0].ask[1], "", 1), 1);
	assert_true(partners_wait());
}

struct switch_counts partner_counts(int i)
{
	struct switch_counts counts = { 0 };
	char path[64], line[128];
	int found = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", partners[i].tid);
	f = fopen(path, "re");
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		found += sscanf(line, "voluntary_ctxt_switches: %lu", &counts.voluntary) == 1 ||
			 sscanf(line, "nonvoluntary_ctxt_switches: %lu", &counts.involuntary) == 1;
	fclose(f);
	assert_int_equal(found, 2);
	return counts;
}
