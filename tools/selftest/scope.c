// SPDX-License-Identifier: GPL-2.0-only
/* Whose code is traced, and on which CPUs. */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "traced.h"

/* A wait for what another CPU does */
#define MOST_WAITS_MS	2000u
/* So long a frozen session is watched */
#define FROZEN_MS	20u

/* ---- processes -------------------------------------------------------------------- */

#define WORK		(20 * SOME_WORK)

/* @own, @childs: bytes of trace of this process's work, and of the same work in a child, of a session with @flags */
static enum outcome trace_both(const struct selftest *t, uint32_t flags, uint64_t *own, uint64_t *childs)
{
	struct auxtrace_session *s = traced_begin(t, (struct auxtrace_options){
		.flags = AUXTRACE_SETUP_OVERWRITE | flags });
	struct auxtrace_status_page begin, between, end;
	int status = -1;
	pid_t child;

	if (!s)
		return traced_failed(NULL, "a session");
	if (!traced_status(s, t, &begin))
		return traced_failed(s, "the status");
	traced_work(WORK);
	if (!traced_status(s, t, &between))
		return traced_failed(s, "the status");
	child = traced_fork();
	if (!child) {
		traced_work(WORK);
		_exit(0);
	}
	if (child < 0) {
		auxtrace_close(s);
		return check_skipped("fork: %s", strerror(errno));
	}
	waitpid(child, &status, 0);
	if (status) {
		auxtrace_close(s);
		return check_failed("a child that worked ended with status %#x", (unsigned int)status);
	}
	if (!traced_status(s, t, &end))
		return traced_failed(s, "the status");
	auxtrace_close(s);
	*own = between.produced - begin.produced;
	*childs = end.produced - between.produced;
	return PASSED;
}

/* The same work makes about the same trace. */
static enum outcome descendants(const struct selftest *t)
{
	uint64_t own, childs;
	enum outcome outcome = trace_both(t, AUXTRACE_SETUP_PROCESS, &own, &childs);

	if (outcome == PASSED && childs > own / 2)
		return check_failed("a child that nobody asked for was traced: %" PRIu64 " bytes, as %" PRIu64 " of the same work here",
				    childs, own);
	if (outcome == PASSED)
		outcome = trace_both(t, AUXTRACE_SETUP_PROCESS | AUXTRACE_SETUP_DESCENDANTS, &own, &childs);
	if (outcome == PASSED && childs < own / 2)
		return check_failed("the child was not traced: %" PRIu64 " bytes, and %" PRIu64 " of the same work here", childs, own);
	return outcome;
}

/* The child has page tables of its own. */
static enum outcome cr3(const struct selftest *t)
{
	struct auxtrace_cap_intel_pt cap;
	enum outcome outcome = traced_filters(t, &cap);
	uint64_t own, childs;

	if (outcome != PASSED)
		return outcome;
	if (!(cap.flags & AUXTRACE_PT_CR3_FILTER))
		return check_skipped("the CPU does not compare CR3");
	outcome = trace_both(t, AUXTRACE_SETUP_ADDRESS_SPACE, &own, &childs);
	if (outcome == PASSED && (!own || childs > own / 2))
		return check_failed("with the filter for this process its work made %" PRIu64 " bytes of trace, the same work in another process %" PRIu64,
				    own, childs);
	return outcome;
}

/* ---- CPUs ------------------------------------------------------------------------- */

struct worker {
	int cpu;
	atomic_bool end;
};

static void *work_there(void *arg)
{
	struct worker *w = arg;

	traced_pin(w->cpu);
	while (!atomic_load(&w->end))
		traced_work(SOME_WORK);
	return NULL;
}

/* The status of both CPUs, with the hardware's positions of now. False if a call fails. */
static bool both_status(const struct selftest *t, struct auxtrace_session *s, struct auxtrace_status_page *page)
{
	return traced_status(s, t, &page[0]) && traced_page(s, (unsigned int)t->other_cpu, &page[1]);
}

/*
 * Work on this CPU, for the other one works anyway, until both have written more than in @since, or so many milliseconds.
 * @page: the status then. Returns 1: both have written; 0: not both; -1: a call failed.
 */
static int both_write(const struct selftest *t, struct auxtrace_session *s, const struct auxtrace_status_page *since,
		      struct auxtrace_status_page *page, unsigned int most_ms)
{
	for (unsigned int i = 0; i < most_ms; i++) {
		traced_work(SOME_WORK);
		if (!both_status(t, s, page))
			return -1;
		if (page[0].produced > since[0].produced && page[1].produced > since[1].produced)
			return 1;
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
	return 0;
}

static enum outcome bytes_failed(struct auxtrace_session *s, const char *when, const struct auxtrace_status_page *since,
				 const struct auxtrace_status_page *page)
{
	auxtrace_close(s);
	return check_failed("%s the two CPUs wrote %" PRIu64 " and %" PRIu64 " bytes, reasons to be off %#x and %#x", when,
			    (uint64_t)(page[0].produced - since[0].produced), (uint64_t)(page[1].produced - since[1].produced),
			    page[0].inhibit, page[1].inhibit);
}

/* PASSED: both CPUs have written more than in @since, within some time; else @s is closed. */
static enum outcome both_have_to_write(const struct selftest *t, struct auxtrace_session *s, const char *when,
				       const struct auxtrace_status_page *since, struct auxtrace_status_page *page)
{
	int written = both_write(t, s, since, page, MOST_WAITS_MS);

	if (written < 0)
		return traced_failed(s, "the status");
	return written ? PASSED : bytes_failed(s, when, since, page);
}

/* The trigger hits on this CPU. When poll(2) tells of the freeze, each later status has it on all CPUs. */
static enum outcome freeze_both(const struct selftest *t, struct auxtrace_session *s)
{
	struct auxtrace_trigger_options freeze = { .size = sizeof(freeze), .kind = AUXTRACE_TRIGGER_SYSCALL_ENTER, .number = SYS_getppid,
						   .pid = getpid(), .action = AUXTRACE_ACTION_FREEZE };
	struct auxtrace_status_page since[2] = { 0 }, page[2] = { 0 };
	struct pollfd fd = { .fd = auxtrace_fd(s), .events = POLLPRI };
	enum outcome outcome;

	if (auxtrace_trigger_add(s, &freeze) < 0)
		return traced_failed(s, "adding the trigger");
	outcome = both_have_to_write(t, s, "in the beginning", since, page);
	if (outcome != PASSED)
		return outcome;
	syscall(SYS_getppid);
	poll(&fd, 1, MOST_WAITS_MS);
	if (!both_status(t, s, since))
		return traced_failed(s, "the status");
	if (since[0].running || since[1].running || !(since[0].inhibit & since[1].inhibit & AUXTRACE_INHIBIT_FROZEN))
		return bytes_failed(s, "a freeze has not stopped both: until it", page, since);
	/* Neither CPU may write more now. */
	if (both_write(t, s, since, page, FROZEN_MS) < 0)
		return traced_failed(s, "the status");
	if (page[0].produced != since[0].produced || page[1].produced != since[1].produced)
		return bytes_failed(s, "behind a freeze", since, page);
	if (auxtrace_resume(s))
		return traced_failed(s, "the resume");
	outcome = both_have_to_write(t, s, "behind the resume", since, page);
	if (outcome == PASSED)
		auxtrace_close(s);
	return outcome;
}

/* There was no session of both CPUs. Is this one not to be had either, the check fails; else it is the other one's matter. */
static enum outcome other_is_busy(const struct selftest *t, const char *why)
{
	struct auxtrace_session *s = traced_begin(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_OVERWRITE });

	if (!s)
		return traced_failed(NULL, "a session");
	auxtrace_close(s);
	return check_skipped("with CPU %d: %s", t->other_cpu, why);
}

static enum outcome cpus(const struct selftest *t)
{
	struct worker worker = { .cpu = t->other_cpu };
	struct auxtrace_session *s;
	enum outcome outcome;
	pthread_t thread;
	char both[32], why[300];

	if (t->other_cpu < 0)
		return check_skipped("there is no other CPU on which this process may run");
	snprintf(both, sizeof(both), "%u,%d", t->cpu, t->other_cpu);
	s = traced_begin(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_OVERWRITE, .cpus = both });
	if (!s && traced_refused(errno)) {
		snprintf(why, sizeof(why), "%s", auxtrace_error());
		return other_is_busy(t, why);
	}
	if (!s)
		return traced_failed(NULL, "a session");
	if (pthread_create(&thread, NULL, work_there, &worker)) {
		auxtrace_close(s);
		return check_skipped("there is no thread to work on the other CPU");
	}
	outcome = freeze_both(t, s);
	atomic_store(&worker.end, true);
	traced_join(thread);
	return outcome;
}

const struct check scope_checks[] = {
	{ "descendants", "a session of a process traces its child if it was asked to, and not else", false, descendants },
	{ "cr3", "with a filter for the page tables of this process no other one is in the trace", false, cr3 },
	{ "cpus", "a session of two CPUs traces all that runs there, and a freeze on one stops both", true, cpus },
	{ 0 },
};
