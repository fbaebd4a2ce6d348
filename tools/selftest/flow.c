// SPDX-License-Identifier: GPL-2.0-only
/* The flow that is decoded of a recording is what was executed: by single steps of the same code. */
#include <inttypes.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "perf.h"
#include "recorded.h"

/* traced_work(@branches), with @filter unless it is NULL */
static struct recorded record_of_work(unsigned long branches, const struct auxtrace_filter *filter)
{
	return (struct recorded){
		.options = { .aux_size = 16u << 20, .data_size = 64u << 10, .filters = filter, .nr_filters = !!filter },
		.work = traced_work,
		.amount = branches,
	};
}

/* Record that as @t->dir/@name, and decode it. */
static enum outcome flow_of_work(const struct selftest *t, const char *name, unsigned long branches,
				 const struct auxtrace_filter *filter, struct collector *c)
{
	const struct recorded r = record_of_work(branches, filter);
	enum outcome outcome = recorded(t, &r, name);

	return outcome == PASSED ? recorded_decode(t, name, c) : outcome;
}

/* The flow of some work, decoded of a recording of that name, is what single steps see. */
static enum outcome flow_as_stepped(const struct selftest *t, const char *name, const struct auxtrace_filter *filter,
				    struct collector *collector)
{
	const struct recorded r = record_of_work(t->quick ? 300 : 3000, filter);
	enum outcome outcome = recorded_as_stepped(t, &r, name, collector);

	if (outcome == PASSED)
		check_figure("instructions", (double)collector->steps.count, "");
	return outcome;
}

static enum outcome single_steps(const struct selftest *t)
{
	struct collector collector = WORK_COLLECTOR;
	enum outcome outcome = flow_as_stepped(t, "flow", NULL, &collector);

	collector_free(&collector);
	return outcome;
}

#define WORK_FILTER(does) { .action = (does), .first = (uintptr_t)work_begin, .last = (uintptr_t)work_end - 1 }

/* PASSED: there can be a filter for addresses. */
static enum outcome compares_addresses(const struct selftest *t)
{
	struct auxtrace_cap_intel_pt cap;
	enum outcome outcome = traced_filters(t, &cap);

	return outcome != PASSED || cap.nr_ranges ? outcome : check_skipped("the CPU compares no addresses");
}

static enum outcome filter(const struct selftest *t)
{
	const struct auxtrace_filter work = WORK_FILTER(AUXTRACE_FILTER_TRACE);
	struct collector collector = WORK_COLLECTOR;
	enum outcome outcome = compares_addresses(t);

	if (outcome != PASSED)
		return outcome;
	outcome = flow_as_stepped(t, "filter", &work, &collector);
	if (outcome == PASSED && collector.others)
		outcome = check_failed("%" PRIu64 " instructions outside of the filter's range are in the trace", collector.others);
	collector_free(&collector);
	return outcome;
}

/* What runs before the work is in the trace, and nothing of the work. */
static enum outcome stop(const struct selftest *t)
{
	const struct auxtrace_filter work = WORK_FILTER(AUXTRACE_FILTER_STOP);
	struct collector collector = WORK_COLLECTOR;
	enum outcome outcome = compares_addresses(t);

	if (outcome != PASSED)
		return outcome;
	outcome = flow_of_work(t, "stop", SOME_WORK, &work, &collector);
	if (outcome == PASSED && (collector.steps.count || !collector.others))
		outcome = check_failed("%zu instructions of the range where tracing was to stop are in the trace, and %" PRIu64 " others",
				       collector.steps.count, collector.others);
	collector_free(&collector);
	return outcome;
}

/* The kernel's function that the call of getppid(2) comes to */
#define CALLED	"__x64_sys_getppid"
#define CALLS	10

static void make_calls(unsigned long calls)
{
	while (calls--)
		syscall(SYS_getppid);
}

static int trace_calls(struct auxtrace_session *s)
{
	struct auxtrace_trigger_options begin = { .size = sizeof(begin), .kind = AUXTRACE_TRIGGER_SYSCALL_ENTER,
						  .number = SYS_getppid, .pid = getpid(), .action = AUXTRACE_ACTION_RESUME };
	struct auxtrace_trigger_options end = { .size = sizeof(end), .kind = AUXTRACE_TRIGGER_SYSCALL_EXIT,
						.number = SYS_getppid, .pid = getpid(), .action = AUXTRACE_ACTION_PAUSE };

	return auxtrace_trigger_add(s, &begin) < 0 ? -1 : auxtrace_trigger_add(s, &end);
}

/* Where a function of the kernel begins, by the recording's list; 0: it has no list, or not the code. */
static uint64_t kernel_function(const struct selftest *t, const char *recording, const char *function)
{
	char path[4200], line[512], name[256];
	uint64_t at, found = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/kcore", t->dir, recording);
	if (access(path, F_OK))
		return 0;
	snprintf(path, sizeof(path), "%s/%s/kallsyms", t->dir, recording);
	f = fopen(path, "re");
	while (f && !found && fgets(line, sizeof(line), f))
		if (sscanf(line, "%" SCNx64 " %*c %255s", &at, name) == 2 && !strcmp(name, function))
			found = at;
	if (f)
		fclose(f);
	return found;
}

/* The session traces the kernel between entry and exit of a call: the function that does it begins once in each. */
static enum outcome kernel_flow(const struct selftest *t)
{
	const struct recorded r = {
		.options = { .flags = AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_TRIGGER_PAUSED, .aux_size = 4u << 20,
			     .data_size = 64u << 10 },
		.prepare = trace_calls,
		.work = make_calls,
		.amount = CALLS,
	};
	struct collector collector = { 0 };
	enum outcome outcome;

	if (!traced_may(AUXTRACE_MAY_TRACE))
		return check_skipped("this user may not trace the kernel, which needs CAP_PERFMON or CAP_SYS_ADMIN");
	outcome = recorded(t, &r, "kernel");
	if (outcome != PASSED)
		return outcome;
	collector.begin = kernel_function(t, "kernel", CALLED);
	collector.end = collector.begin + 1;
	if (!collector.begin)
		return check_skipped("the recording lacks the kernel's code or its names: auxtrace info says why");
	outcome = recorded_decode(t, "kernel", &collector);
	if (outcome == PASSED && collector.steps.count != CALLS)
		outcome = check_failed("of %u calls %zu are in the flow of %" PRIu64 " instructions", CALLS, collector.steps.count,
				       collector.others);
	if (outcome == PASSED)
		check_figure("instructions", (double)collector.others + CALLS, "");
	collector_free(&collector);
	return outcome;
}

static enum outcome same_as_perf(const struct selftest *t)
{
	struct collector collector = WORK_COLLECTOR;
	enum outcome outcome = flow_of_work(t, "perf", 3000, NULL, &collector);

	if (outcome == PASSED)
		outcome = perf_agrees(t, "perf", &collector.steps, &collector.behind);
	collector_free(&collector);
	return outcome;
}

const struct check flow_checks[] = {
	{ "flow", "the decoded flow is what a debugger sees step by step", false, single_steps },
	{ "filter", "with an address filter the flow is that of the range, and nothing else", false, filter },
	{ "stop", "tracing stops where code of a range begins that a filter names", false, stop },
	{ "kernel-flow", "the kernel's flow in a system call has the function that carries it out", true, kernel_flow },
	{ "perf", "stock perf decodes the same recording to the same flow", true, same_as_perf },
	{ 0 },
};
