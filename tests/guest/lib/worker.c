// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "load.h"
#include "worker.h"

#define MAX_WORKERS	(MAX_CPUS + 8)

static struct worker workers[MAX_WORKERS];
static unsigned int nr_workers;
static int stop;

static void *work(void *arg)
{
	struct worker *w = arg;
	int ret = w->cpu >= 0 ? cpu_pin(w->cpu) : 0;

	while (!ret && !__atomic_load_n(&stop, __ATOMIC_RELAXED) &&
	       (!w->limit || w->round < w->limit)) {
		ret = w->step(w);
		__atomic_store_n(&w->round, w->round + 1, __ATOMIC_RELAXED);
	}
	__atomic_store_n(&w->ret, ret, __ATOMIC_RELAXED);
	return NULL;
}

const struct worker *worker_start(const struct session *s, int cpu,
				  int (*step)(struct worker *), unsigned int limit)
{
	struct worker *w = &workers[nr_workers];

	assert_true(nr_workers < MAX_WORKERS);
	*w = (struct worker){ .session = *s, .cpu = cpu, .step = step, .limit = limit,
			      .random = 88172645463325252ULL + nr_workers };
	assert_int_equal(pthread_create(&w->thread, NULL, work, w), 0);
	nr_workers++;
	return w;
}

bool workers_are_done(void)
{
	for (unsigned int i = 0; i < nr_workers; i++)
		if (__atomic_load_n(&workers[i].round, __ATOMIC_RELAXED) < workers[i].limit &&
		    !__atomic_load_n(&workers[i].ret, __ATOMIC_RELAXED))
			return false;
	return true;
}

void workers_end(void)
{
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < nr_workers; i++)
		pthread_join(workers[i].thread, NULL);
	__atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
	nr_workers = 0;
}

void workers_join(void)
{
	unsigned int count = nr_workers;

	while (!workers_are_done())
		usleep(1000);
	workers_end();
	for (unsigned int i = 0; i < count; i++)
		if (workers[i].ret)
			fail_msg("worker %u, round %u: %s", i, workers[i].round,
				 strerror(-workers[i].ret));
}

uint64_t worker_random(struct worker *w)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return w->random;
}

int pause_and_resume(struct worker *w)
{
	int ret = at_control(w->session.fd, AUXTRACE_IOC_PAUSE, 1ULL << w->cpu, NULL, 0);

	if (!ret)
		ret = at_control(w->session.fd, AUXTRACE_IOC_RESUME, 1ULL << w->cpu, NULL, 0);
	load_run(300 + w->round * 37 % 700);
	return ret;
}

int pause_and_resume_all(struct worker *w)
{
	int ret = at_control(w->session.fd, AUXTRACE_IOC_PAUSE, 0, NULL, 0);

	if (!ret)
		ret = at_control(w->session.fd, AUXTRACE_IOC_RESUME, 0, NULL, 0);
	load_run(500);
	return ret;
}

int sync_all(struct worker *w)
{
	struct auxtrace_status status;

	load_run(200);
	return at_status(w->session.fd, AUXTRACE_STATUS_SYNC, &status);
}

int poll_any(struct worker *w)
{
	struct pollfd p = { .fd = w->session.fd, .events = POLLIN };

	return poll(&p, 1, 0) < 0 ? -errno : p.revents & (POLLERR | POLLNVAL) ? -EIO : 0;
}
