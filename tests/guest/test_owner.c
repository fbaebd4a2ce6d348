// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ownership of the hardware: on one CPU either perf or one session has it. The second to claim
 * it gets EBUSY and changes nothing.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "machine.h"
#include "msr.h"
#include "perf.h"
#include "pmu.h"
#include "uapi.h"

#define AUX_SIZE	space_for(64 * 1024)

static void expect_state(const struct session *s, uint32_t want)
{
	struct auxtrace_status status;

	ok_status(s->fd, 0, &status);
	assert_int_equal(status.out_state, want);
	assert_int_equal(status.out_nr_running, want == AUXTRACE_STATE_STARTED ? s->count : 0);
}

static void perf_is_refused_from_start_to_stop_only(void **state)
{
	struct session s;

	perf_required();
	perf_is_granted(first_cpu);
	session_open(&s, all_cpus, AUXTRACE_SETUP_USER, AUX_SIZE);
	/* SETUP does not claim the hardware. */
	perf_is_granted(first_cpu);
	ok_start(s.fd);
	for (uint64_t left = all_cpus; left; left &= left - 1)
		perf_is_refused(cpus_first(left));
	/* PAUSE does not release it. */
	ok_pause(&s, 0, NULL);
	perf_is_refused(first_cpu);
	assert_false(msr_tracing(first_cpu));
	ok_resume(&s, 0, NULL);
	expect_state(&s, AUXTRACE_STATE_STARTED);
	ok_stop(s.fd);
	for (uint64_t left = all_cpus; left; left &= left - 1)
		perf_is_granted(cpus_first(left));
	check_accounting(&s);
}

static void perf_can_open_events_again_after_a_close(void **state)
{
	struct session s;

	perf_required();
	session_open(&s, all_cpus, AUXTRACE_SETUP_USER, AUX_SIZE);
	ok_start(s.fd);
	session_close(&s);
	perf_is_granted(first_cpu);
	perf_is_granted(last_cpu);
}

static void start_is_refused_while_perf_holds_a_disabled_event_of_a_cpu(void **state)
{
	struct session s;
	int fd;

	perf_required();
	session_open(&s, all_cpus, AUXTRACE_SETUP_USER, AUX_SIZE);
	fd = perf_open(-1, last_cpu);
	assert_true(fd >= 0);
	fail_start(EBUSY, s.fd);
	expect_state(&s, AUXTRACE_STATE_STOPPED);
	check_accounting(&s);
	at_close(fd);
	ok_start(s.fd);
	expect_state(&s, AUXTRACE_STATE_STARTED);
	ok_stop(s.fd);
}

static void start_is_refused_while_perf_holds_an_event_of_a_task(void **state)
{
	struct session s;
	int fd;

	perf_required();
	session_open(&s, all_cpus, AUXTRACE_SETUP_USER, AUX_SIZE);
	fd = perf_open(0, -1);
	assert_true(fd >= 0);
	fail_start(EBUSY, s.fd);
	expect_state(&s, AUXTRACE_STATE_STOPPED);
	at_close(fd);
	ok_start(s.fd);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void try_to_start(void *arg)
{
	struct session *s = arg;

	fail_start(EBUSY, s->fd);
}

static void start_is_refused_while_perf_traces_and_does_not_disturb_perf(void **state)
{
	struct session s;
	int64_t bytes;
	int fd;

	perf_required();
	session_open(&s, all_cpus, AUXTRACE_SETUP_USER, AUX_SIZE);
	fd = perf_open(0, -1);
	assert_true(fd >= 0);
	bytes = perf_trace_during(fd, 100, try_to_start, &s);
	if (bytes <= 0)
		fail_msg("perf traced %lld bytes", (long long)bytes);
	at_close(fd);
	ok_start(s.fd);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void perf_can_trace_after_a_session_was_stopped(void **state)
{
	struct session s;
	int64_t bytes;
	int fd;

	perf_required();
	session_open(&s, all_cpus, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL, AUX_SIZE);
	ok_start(s.fd);
	load_run(20000);
	ok_stop(s.fd);
	fd = perf_open(0, -1);
	assert_true(fd >= 0);
	bytes = perf_trace(fd, 100);
	if (bytes <= 0)
		fail_msg("perf traced %lld bytes", (long long)bytes);
	check_accounting(&s);
}

/*
 * perf's driver caches what it has written to the output MSRs and does not write the same
 * value again. With alternating turns its tables come to lie at the same addresses again.
 */
static void perf_and_a_session_can_take_turns(void **state)
{
	struct session s;

	perf_required();
	session_open(&s, all_cpus, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL, AUX_SIZE);
	assert_int_equal(cpu_pin(last_cpu), 0);
	for (int i = 0; i < 20; i++) {
		int fd = perf_open(-1, last_cpu);
		int64_t bytes;

		assert_true(fd >= 0);
		bytes = perf_trace(fd, 100);
		at_close(fd);
		if (bytes <= 0)
			fail_msg("turn %d: perf traced %lld bytes", i + 1, (long long)bytes);
		/* After RCU has freed its pages, the next ones are likely to be the same. */
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
		syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0);
		ok_start(s.fd);
		load_run(200);
		ok_stop(s.fd);
	}
	check_accounting(&s);
}

static void start_is_all_or_nothing(void **state)
{
	struct session both, one;
	int fd;

	perf_required();
	two_cpus_required();
	session_open(&both, one_cpu | 1ULL << last_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	session_open(&one, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	fd = perf_open(-1, last_cpu);
	assert_true(fd >= 0);
	fail_start(EBUSY, both.fd);
	assert_false(msr_tracing(first_cpu));
	assert_int_equal(channel_status(&both.channel[0]).windows, 0);
	/* The first CPU was released: perf can use it, then another session. */
	int other = perf_open(-1, first_cpu);

	assert_true(other >= 0);
	at_close(other);
	ok_start(one.fd);
	ok_stop(one.fd);
	at_close(fd);
	ok_start(both.fd);
	ok_stop(both.fd);
	check_accounting(&both);
	check_accounting(&one);
}

static void two_sessions_trace_different_cpus_at_once(void **state)
{
	struct session a, b;

	two_cpus_required();
	session_open(&a, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	session_open(&b, 1ULL << last_cpu, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE, AUX_SIZE);
	ok_start(a.fd);
	ok_start(b.fd);
	expect_state(&a, AUXTRACE_STATE_STARTED);
	expect_state(&b, AUXTRACE_STATE_STARTED);
	/* Each has its own requests and counters. */
	ok_pause(&a, 0, NULL);
	assert_false(msr_tracing(first_cpu));
	assert_true(msr_tracing(last_cpu));
	assert_int_equal(channel_status(b.channel).pauses_asked, 0);
	fail_pause(EINVAL, a.fd, 1ULL << last_cpu);
	ok_stop(a.fd);
	assert_true(msr_tracing(last_cpu));
	ok_stop(b.fd);
	check_accounting(&a);
	check_accounting(&b);
}

static void a_second_session_on_the_same_cpu_gets_EBUSY(void **state)
{
	struct session a, b;

	session_open(&a, all_cpus, AUXTRACE_SETUP_USER, AUX_SIZE);
	session_open(&b, 1ULL << last_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	ok_start(a.fd);
	fail_start(EBUSY, b.fd);
	expect_state(&a, AUXTRACE_STATE_STARTED);
	expect_state(&b, AUXTRACE_STATE_STOPPED);
	assert_int_equal(channel_status(session_channel(&a, last_cpu)).running, 1);
	/* A paused session still holds the hardware. */
	ok_pause(&a, 0, NULL);
	fail_start(EBUSY, b.fd);
	ok_stop(a.fd);
	ok_start(b.fd);
	fail_start(EBUSY, a.fd);
	ok_stop(b.fd);
	check_accounting(&a);
	check_accounting(&b);
}

static void info_with_probe_reports_that_perf_holds_the_hardware(void **state)
{
	const uint32_t pt = AUXTRACE_PMU_INTEL_PT;
	int fd, perf;

	perf_required();
	fd = at_open();
	perf = perf_open(-1, last_cpu);
	assert_true(perf >= 0);
	assert_int_equal(at_pmu(fd, AUXTRACE_INFO_PROBE, pt).state, AUXTRACE_PMU_STATE_BUSY);
	assert_int_equal(at_pmu(fd, 0, pt).state, AUXTRACE_PMU_STATE_OK);
	at_close(perf);
	assert_int_equal(at_pmu(fd, AUXTRACE_INFO_PROBE, pt).state, AUXTRACE_PMU_STATE_OK);
	/* PROBE does not keep the hardware. */
	perf_is_granted(last_cpu);
}

/*
 * A session of the first CPU, and an event that has nothing to do with that CPU, exclude each other
 * if and only if INFO says so.
 */
static void check_excluded(const struct perf_event_attr *attr, pid_t pid, int cpu, bool excluded,
			   const char *what)
{
	int event = perf_open_event(attr, pid, cpu);
	struct session s;

	if (event < 0) {
		print_message("no %s here: %s\n", what, strerrorname_np(-event));
		return;
	}
	print_message("%s: %s\n", what, excluded ? "excluded" : "beside a session");
	session_open(&s, one_cpu, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL, AUX_SIZE);
	if (excluded) {
		fail_start(EBUSY, s.fd);
	} else {
		ok_start(s.fd);
		ok_stop(s.fd);
	}
	close(event);
	ok_start(s.fd);
	event = perf_open_event(attr, pid, cpu);
	if (event >= 0)
		close(event);
	expect_call(what, excluded ? EBUSY : 0, event, __FILE__, __LINE__);
	session_close(&s);
}

static void info_says_what_a_session_takes_from_perf_on_other_cpus(void **state)
{
	const uint32_t pmu = under_bts() ? AUXTRACE_PMU_INTEL_BTS : AUXTRACE_PMU_INTEL_PT;
	const uint32_t excludes = at_pmu(at_open(), 0, pmu).excludes;
	int64_t own = perf_pmu_type(under_bts() ? "intel_bts" : "intel_pt");
	int64_t other = perf_pmu_type(under_bts() ? "intel_pt" : "intel_bts");
	struct perf_event_attr attr = { .size = sizeof(attr), .disabled = 1 };

	two_cpus_required();
	perf_required();
	attr.type = own;
	/* With page-table isolation BTS's reservation is a branch event of PMU "cpu". */
	if (under_bts() && bts_is_buffered())
		attr = perf_each_branch;
	check_excluded(&attr, 0, -1, excludes & AUXTRACE_EXCLUDES_TASK_EVENTS, "an event of a task");
	check_excluded(&attr, -1, last_cpu, false, "an event of another CPU");
	check_excluded(&perf_last_branches, -1, last_cpu, excludes & AUXTRACE_EXCLUDES_LBR, "LBR");
	attr.type = other;
	if (other >= 0)
		check_excluded(&attr, -1, last_cpu, excludes & AUXTRACE_EXCLUDES_PT_BTS,
			       under_bts() ? "intel_pt" : "intel_bts");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(perf_is_refused_from_start_to_stop_only),
		vm_test(perf_can_open_events_again_after_a_close),
		vm_test(start_is_refused_while_perf_holds_a_disabled_event_of_a_cpu),
		vm_test(start_is_refused_while_perf_holds_an_event_of_a_task),
		vm_test(start_is_refused_while_perf_traces_and_does_not_disturb_perf),
		vm_test(perf_can_trace_after_a_session_was_stopped),
		vm_test(perf_and_a_session_can_take_turns),
		vm_test(start_is_all_or_nothing),
		vm_test(two_sessions_trace_different_cpus_at_once),
		vm_test(a_second_session_on_the_same_cpu_gets_EBUSY),
		vm_test(info_with_probe_reports_that_perf_holds_the_hardware),
		vm_test(info_says_what_a_session_takes_from_perf_on_other_cpus),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
