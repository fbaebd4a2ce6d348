// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures a context switch between two threads of one process on CPU 0. Both have the same
 * real-time priority, so each sched_yield(2) of one changes to the other, and the instructions from
 * the call of the one to the return of the other are counted. It is measured
 *
 *	none		without a session
 *	record		in a session of the CPU that writes SWITCH records and no others
 *	strangers	between two threads that are no members of a session with a task scope
 *	members		between two members of one
 *	member		to the only member of one ("in"), and back ("out")
 *	perf		the same for a thread for which perf's event was opened
 *
 * Prints the minimum of the kernel's instructions over all rounds. Needs a VM with --exec-log: then
 * the host's log is on for some more rounds, in which bench/calls counts the MSR accesses. For each
 * sched_yield there it prints a line with the WRMSRs of IA32_RTIT_* that the model counted. The first
 * change to the other thread is "warm": it ends another system call there.
 *
 *	switch WHO in|out INSTRUCTIONS
 *	call WHO in|out|warm WRMSRS
 */
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counter.h"
#include "die.h"
#include "host.h"
#include "measure.h"
#include "ours.h"
#include "theirs.h"

#define ROUNDS		200
#define LOGGED		5
#define MAX_CALLS	256

#define AUX_SIZE	(1u << 20)
#define DATA_SIZE	(64u << 10)

/* ---- two threads ---------------------------------------------------------- */

/* The main thread yields to the partner. The bystander sleeps. */
static struct {
	sem_t go;
	volatile bool stop;
	volatile bool counts_msrs;
	volatile uint64_t came, left;	/* counters when it came back, and before it yields */
	volatile uint64_t wrmsrs;
	volatile pid_t tid;
} partner, bystander;

static void *be_partner(void *arg)
{
	(void)arg;
	partner.tid = syscall(SYS_gettid);
	for (;;) {
		while (sem_wait(&partner.go))
			;
		while (!partner.stop) {
			partner.came = instructions();
			if (partner.counts_msrs)
				partner.wrmsrs = wrmsrs();
			partner.left = instructions();
			sched_yield();
		}
	}
	return NULL;
}

static void *be_bystander(void *arg)
{
	(void)arg;
	bystander.tid = syscall(SYS_gettid);
	for (;;)
		sem_wait(&bystander.go);
	return NULL;
}

static void thread(void *(*be)(void *arg), sem_t *go, volatile pid_t *tid)
{
	pthread_t it;

	if (sem_init(go, 0, 0))
		die("sem_init");
	if (pthread_create(&it, NULL, be, NULL))
		errx(1, "a thread");
	while (!*tid)
		usleep(100);
}

/* From here on the partner is ready to run, but does not before the main thread yields. */
static void partner_begins(void)
{
	partner.stop = false;
	if (sem_post(&partner.go))
		die("sem_post");
}

/* ---- rounds ---------------------------------------------------------------- */

static struct call {
	const char *who, *what;
	uint64_t wrmsrs;
} calls[MAX_CALLS];
static unsigned int nr_calls;

static void note(const char *who, const char *what, uint64_t wrmsrs)
{
	if (nr_calls == MAX_CALLS)
		errx(1, "more than %u calls", MAX_CALLS);
	calls[nr_calls++] = (struct call) { .who = who, .what = what, .wrmsrs = wrmsrs };
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void rounds_count(const char *who)
{
	uint64_t in = UINT64_MAX, out = UINT64_MAX;

	partner_begins();
	sched_yield();
	for (int i = 0; i < ROUNDS; i++) {
		uint64_t left = instructions(), came;

		sched_yield();
		came = instructions();
		in = least(in, partner.came - left);
		out = least(out, came - partner.left);
	}
	partner.stop = true;
	sched_yield();
	printf("switch %s in %" PRIu64 "\n", who, in);
	printf("switch %s out %" PRIu64 "\n", who, out);
}

static void rounds_log(const char *who)
{
	host_log(true);
	partner.counts_msrs = true;
	partner_begins();
	for (int i = 0; i <= LOGGED; i++) {
		uint64_t before = wrmsrs();

		sched_yield();
		note(who, i ? "in" : "warm", partner.wrmsrs - before);
		note(who, "out", wrmsrs() - partner.wrmsrs);
	}
	partner.stop = true;
	/* It sleeps at once, without a yield of its own. */
	sched_yield();
	note(who, "warm", 0);
	partner.counts_msrs = false;
	host_log(false);
}

static void rounds(const char *who)
{
	/* What an earlier session has left to other threads of the kernel is done first. */
	usleep(200000);
	rounds_count(who);
	rounds_log(who);
}

/* ---- sessions -------------------------------------------------------------- */

static void of_ours(const char *who, uint32_t scope, pid_t tid, uint32_t records)
{
	const struct auxtrace_setup setup = {
		.flags = AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_OVERWRITE |
			 AUXTRACE_SETUP_DATA_OVERWRITE | scope,
		.aux_size = AUX_SIZE,
		.data_size = DATA_SIZE,
		.records = records,
		.tid = tid,
	};
	struct ours ours;

	ours_open(&ours, &source_pt, 1, &setup);
	rounds(who);
	ours_close(&ours);
}

static void of_theirs(const char *who)
{
	const struct theirs_setup setup = {
		.source = &source_pt,
		.pid = partner.tid,
		.any_cpu = true,
		.nr = 1,
		.data_size = DATA_SIZE,
		.aux_size = AUX_SIZE,
		.aux_overwrite = true,
	};
	struct theirs theirs;

	theirs_open(&theirs, &setup);
	rounds(who);
	theirs_close(&theirs);
}

void measure_switch(void)
{
	const struct sched_param priority = { .sched_priority = 1 };

	counters_start(1);
	costs_begin(1);
	if (sched_setscheduler(0, SCHED_FIFO, &priority))
		die("SCHED_FIFO");
	thread(be_partner, &partner.go, &partner.tid);
	thread(be_bystander, &bystander.go, &bystander.tid);
	rounds("none");
	of_ours("record", 0, 0, AUXTRACE_WANT_SWITCH);
	of_ours("strangers", AUXTRACE_SETUP_THREAD, bystander.tid, 0);
	of_ours("members", AUXTRACE_SETUP_PROCESS, 0, 0);
	of_ours("member", AUXTRACE_SETUP_THREAD, partner.tid, 0);
	of_theirs("perf");
	for (unsigned int i = 0; i < nr_calls; i++)
		printf("call %s %s %" PRIu64 "\n", calls[i].who, calls[i].what, calls[i].wrmsrs);
	counters_check();
}
