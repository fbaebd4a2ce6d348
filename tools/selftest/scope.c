// SPDX-License-Identifier: GPL-2.0-only
/* Whose code is traced, and on which CPUs. */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "traced.h"

/* A wait for what another CPU does */
#define MOST_WAITS_MS	2000u

static void wait_a_bit(void)
{
	nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

/* ---- processes -------------------------------------------------------------------- */

#define WORK		(20 * SOME_WORK)

/* Work in a child, which has ended when this returns. */
static bool work_in_child(void)
{
	pid_t child = fork();
	int status;

	if (!child) {
		traced_work(WORK);
		_exit(0);
	}
	return child > 0 && waitpid(child, &status, 0) == child && !status;
}

/* PASSED: so many bytes of trace are of this process' work, and of the same in a child */
static enum outcome trace_both(const struct selftest *t, uint32_t flags, uint64_t *own, uint64_t *childs)
{
	struct auxtrace_session *s = traced_begin(t, (struct auxtrace_options){
		.flags = AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_PROCESS | flags });
	struct auxtrace_status_page begin, between, end;

	if (!s)
		return traced_failed(NULL, "a session");
	if (!traced_status(s, t, &begin))
		return traced_failed(s, "the status");
	traced_work(WORK);
	if (!traced_status(s, t, &between))
		return traced_failed(s, "the status");
	if (!work_in_child()) {
		auxtrace_close(s);
		return check_skipped("there is no child process");
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
	uint64_t own, alone, asked;
	enum outcome outcome = trace_both(t, 0, &own, &alone);

	if (outcome == PASSED)
		outcome = trace_both(t, AUXTRACE_SETUP_DESCENDANTS, &own, &asked);
	if (outcome != PASSED)
		return outcome;
	if (alone > own / 2 || asked < own / 2)
		return check_failed("work makes %" PRIu64 " bytes of trace; in a child %" PRIu64 ", and %" PRIu64
				    " where it was asked for", own, alone, asked);
	return PASSED;
}

/* ---- CPUs ------------------------------------------------------------------------- */

struct worker {
	int cpu;
	atomic_bool end;
};

static void *work_there(void *arg)
{
	struct worker *w = arg;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(w->cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
	while (!atomic_load(&w->end))
		traced_work(SOME_WORK);
	return NULL;
}

/* Work here, for the other CPU works anyway, until both have written more than in @since, or for some time. */
static bool both_write(const struct selftest *t, struct auxtrace_session *s, const struct auxtrace_status_page *since,
		       struct auxtrace_status_page *page, unsigned int most_ms)
{
	for (unsigned int i = 0; i < most_ms; i++) {
		traced_work(SOME_WORK);
		if (!traced_status(s, t, &page[0]) ||
		    auxtrace_reader_status(auxtrace_reader(s, (unsigned int)t->other_cpu), &page[1]))
			return false;
		if (page[0].produced > since[0].produced && page[1].produced > since[1].produced)
			return true;
		wait_a_bit();
	}
	return false;
}

static enum outcome neither(struct auxtrace_session *s, const char *when, const struct auxtrace_status_page *since,
			    const struct auxtrace_status_page *page)
{
	auxtrace_close(s);
	return check_failed("%s the two CPUs wrote %" PRIu64 " and %" PRIu64 " bytes, reasons to be off %#x and %#x", when,
			    (uint64_t)(page[0].produced - since[0].produced), (uint64_t)(page[1].produced - since[1].produced),
			    page[0].inhibit, page[1].inhibit);
}

/* The trigger is here, and its freeze has to stop the other CPU as well. */
static enum outcome freeze_both(const struct selftest *t, struct auxtrace_session *s)
{
	struct auxtrace_trigger_options freeze = { .size = sizeof(freeze), .kind = AUXTRACE_TRIGGER_SYSCALL_ENTER, .number = SYS_getppid,
						   .pid = getpid(), .action = AUXTRACE_ACTION_FREEZE };
	struct auxtrace_status_page since[2] = { 0 }, page[2] = { 0 };
	uint32_t frozen;

	if (auxtrace_trigger_add(s, &freeze) < 0)
		return traced_failed(s, "adding the trigger");
	if (!both_write(t, s, since, page, MOST_WAITS_MS))
		return neither(s, "in the beginning", since, page);
	syscall(SYS_getppid);
	/* The other CPU stops at an interrupt, which may come a moment later. */
	for (unsigned int i = 0; i < MOST_WAITS_MS; i++) {
		if (!traced_status(s, t, &since[0]) ||
		    auxtrace_reader_status(auxtrace_reader(s, (unsigned int)t->other_cpu), &since[1]))
			return traced_failed(s, "the status");
		frozen = since[0].inhibit & since[1].inhibit & AUXTRACE_INHIBIT_FROZEN;
		if (frozen && !since[0].running && !since[1].running)
			break;
		wait_a_bit();
	}
	/* One of them may have written more: neither has to. */
	both_write(t, s, since, page, 20);
	if (!frozen || page[0].produced != since[0].produced || page[1].produced != since[1].produced)
		return neither(s, "behind a freeze", since, page);
	if (auxtrace_resume(s))
		return traced_failed(s, "the resume");
	if (!both_write(t, s, since, page, MOST_WAITS_MS))
		return neither(s, "behind the resume", since, page);
	auxtrace_close(s);
	return PASSED;
}

static enum outcome cpus(const struct selftest *t)
{
	struct worker worker = { .cpu = t->other_cpu };
	struct auxtrace_session *s;
	enum outcome outcome;
	pthread_t thread;
	char both[32];

	if (t->other_cpu < 0)
		return check_skipped("there is no other CPU on which this process may run");
	snprintf(both, sizeof(both), "%u,%d", t->cpu, t->other_cpu);
	s = traced_begin(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_OVERWRITE, .cpus = both });
	if (!s && errno == EBUSY)
		return check_skipped("CPU %d: %s", t->other_cpu, auxtrace_error());
	if (!s)
		return traced_failed(NULL, "a session");
	if (pthread_create(&thread, NULL, work_there, &worker)) {
		auxtrace_close(s);
		return check_skipped("there is no thread to work on the other CPU");
	}
	outcome = freeze_both(t, s);
	atomic_store(&worker.end, true);
	pthread_join(thread, NULL);
	return outcome;
}

const struct check scope_checks[] = {
	{ "descendants", "a session of a process traces its child if it was asked to, and not else", false, descendants },
	{ "cpus", "a session of two CPUs traces all that runs there, and a freeze on one stops both", false, cpus },
	{ 0 },
};
