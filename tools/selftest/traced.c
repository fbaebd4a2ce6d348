// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "invariants.h"
#include "traced.h"

struct auxtrace_session *traced_begin(const struct selftest *t, struct auxtrace_options options)
{
	struct auxtrace_session *session = auxtrace_open(NULL);
	char cpu[16];
	int error;

	if (!session)
		return NULL;
	snprintf(cpu, sizeof(cpu), "%u", t->cpu);
	options.size = sizeof(options);
	options.pmu = t->source->pmu;
	if (!(options.flags & (AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER)))
		options.flags |= AUXTRACE_SETUP_USER;
	if (!options.cpus) {
		options.cpus = cpu;
		if (!(options.flags & (AUXTRACE_SETUP_THREAD | AUXTRACE_SETUP_PROCESS | AUXTRACE_SETUP_ADDRESS_SPACE)))
			options.flags |= AUXTRACE_SETUP_THREAD;
	}
	if (!auxtrace_setup(session, &options) && !auxtrace_start(session))
		return session;
	error = errno;
	auxtrace_close(session);
	errno = error;
	return NULL;
}

bool traced_refused(int error)
{
	return error == EBUSY || error == EACCES || error == EPERM || error == EUSERS;
}

bool traced_may(uint32_t what)
{
	struct auxtrace_session *session = auxtrace_open(NULL);
	struct auxtrace_info info;
	bool may = !session || auxtrace_info(session, 0, &info) || (info.out_may & what) == what;

	auxtrace_close(session);
	return may;
}

static bool traced_is_denied(int error)
{
	if (error == EACCES || error == EPERM)
		return !traced_may(AUXTRACE_MAY_TRACE);
	return error == ENOMEM && !traced_may(AUXTRACE_MAY_LOCK);
}

enum outcome traced_failed(struct auxtrace_session *session, const char *step)
{
	int error = errno;
	char why[400];

	snprintf(why, sizeof(why), "%s: %s", step, auxtrace_error());
	auxtrace_close(session);
	return traced_is_denied(error) ? check_skipped("%s", why) : check_failed("%s", why);
}

/* ---- what always holds ------------------------------------------------------------ */

/* A record may be written while the members are read, on the other CPU by a writer that waits: what is broken then is not soon after. */
#define LOOKS	20

static char broken[300];

static void traced_breaks(const char *what, const char *invariant)
{
	if (!broken[0])
		snprintf(broken, sizeof(broken), "%s: not %s", what, invariant);
}

const char *traced_broken(void)
{
	static char told[sizeof(broken)];

	memcpy(told, broken, sizeof(told));
	broken[0] = '\0';
	return told[0] ? told : NULL;
}

bool traced_has_single_entry(const struct auxtrace_session *session)
{
	struct auxtrace_cap_intel_pt pt;

	return auxtrace_setup_info(session)->pmu == AUXTRACE_PMU_INTEL_PT &&
	       !auxtrace_capability(session, AUXTRACE_CAP_INTEL_PT, &pt, sizeof(pt)) && pt.flags & AUXTRACE_PT_SINGLE_ENTRY;
}

bool traced_is_late(const struct auxtrace_session *session)
{
	return auxtrace_setup_info(session)->pmu == AUXTRACE_PMU_INTEL_BTS || traced_has_single_entry(session);
}

bool traced_page(struct auxtrace_session *session, unsigned int cpu, struct auxtrace_status_page *page)
{
	const struct auxtrace_setup *setup = auxtrace_setup_info(session);
	struct auxtrace_reader *reader = auxtrace_reader(session, cpu);
	const char *invariant = NULL;

	for (unsigned int i = 0; i < LOOKS; i++) {
		if (i)
			nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
		if (!reader || auxtrace_reader_status(reader, page))
			return false;
		invariant = invariants_of_page(setup, page, traced_is_late(session));
		if (!invariant && page->cpu != cpu)
			invariant = "page->cpu == cpu";
		if (!invariant)
			return true;
	}
	traced_breaks("the status page", invariant);
	return true;
}

bool traced_status(struct auxtrace_session *session, const struct selftest *t, struct auxtrace_status_page *page)
{
	struct auxtrace_status status = { .size = sizeof(status) };

	return !auxtrace_status(session, AUXTRACE_STATUS_SYNC, &status) && traced_page(session, t->cpu, page);
}

bool traced_fill(struct auxtrace_session *session, const struct selftest *t, uint64_t gaps, struct auxtrace_status_page *page)
{
	for (unsigned int i = 0; i < MOST_WORK; i++) {
		traced_work(SOME_WORK);
		if (!traced_status(session, t, page))
			return false;
		if (page->gaps_full > gaps)
			break;
	}
	return true;
}

bool traced_read(struct auxtrace_session *session, const struct selftest *t)
{
	struct auxtrace_reader *reader = auxtrace_reader(session, t->cpu);
	struct auxtrace_spans spans;

	return !auxtrace_reader_peek(reader, &spans) && !auxtrace_reader_consume(reader, spans.len);
}

bool traced_trigger(struct auxtrace_session *session, int id, uint32_t flags, struct auxtrace_trigger_state *state)
{
	const char *invariant;

	if (auxtrace_trigger_read(session, (uint32_t)id, flags, state))
		return false;
	invariant = invariants_of_trigger(state);
	if (invariant)
		traced_breaks("the counts of a trigger", invariant);
	return true;
}

/* ---- processes and threads -------------------------------------------------------- */

pid_t traced_fork(void)
{
	pid_t child = fork();

	if (!child)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	return child;
}

void traced_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	sched_setaffinity(0, sizeof(set), &set);
}

void traced_join(pthread_t thread)
{
	cpu_set_t here;

	if (!sched_getaffinity(0, sizeof(here), &here))
		pthread_setaffinity_np(thread, sizeof(here), &here);
	pthread_join(thread, NULL);
}

enum outcome traced_filters(const struct selftest *t, struct auxtrace_cap_intel_pt *cap)
{
	struct auxtrace_session *s;
	enum outcome outcome = PASSED;

	if (t->source->no_filter)
		return check_skipped("%s", t->source->no_filter);
	s = auxtrace_open(NULL);
	if (!s)
		return traced_failed(NULL, "the device");
	if (auxtrace_capability(s, AUXTRACE_CAP_INTEL_PT, cap, sizeof(*cap)))
		outcome = check_failed("what Intel PT can do here: %s", auxtrace_error());
	auxtrace_close(s);
	return outcome;
}

/*
 * The work calls nothing outside its section: the flow check compares all that runs there. No sanitizer and no other
 * instrumentation may add a call.
 */
#define WORK __attribute__((section("auxtrace_work"), noinline, noclone, no_sanitize("address", "undefined"), \
			    no_instrument_function, no_stack_protector))

static WORK unsigned long work_odd(unsigned long x)
{
	return x * 3 + 1;
}

static WORK unsigned long work_even(unsigned long x)
{
	return x >> 1;
}

static WORK unsigned long work_deep(unsigned int depth, unsigned long x)
{
	if (!depth)
		return x ^ 0x5bd1e995;
	return work_deep(depth - 1, x + depth) + 1;
}

static WORK unsigned long work_all(unsigned long branches)
{
	static unsigned long (*volatile const step[])(unsigned long) = { work_even, work_odd };
	unsigned long x = 27, sum = 0;

	for (unsigned long i = 0; i < branches; i++) {
		x = step[x & 1](x);
		if (x <= 1)
			x = i | 1;
		if (!(i & 31))
			sum += work_deep(i & 7, x);
		if (x & 64)
			sum ^= x;
	}
	return sum;
}

static volatile unsigned long work_result;

void traced_work(unsigned long branches)
{
	work_result = work_all(branches);
}
