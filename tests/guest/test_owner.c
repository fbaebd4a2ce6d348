// SPDX-License-Identifier: GPL-2.0
/*
 * Who has the hardware: perf or one of our sessions, never two of them on one
 * CPU, and whoever comes second hears EBUSY and changes nothing.
 */
#include <errno.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "msr.h"
#include "perf.h"
#include "pmu.h"
#include "uapi.h"

#define AUX_SIZE	room_for(64 * 1024)

static uint64_t all_cpus;
static int first, last;

static void two_cpus_required(void)
{
	if (first != last)
		return;
	print_message("SKIP: one CPU only\n");
	skip();
}

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

	(void)state;
	perf_required();
	perf_is_granted(first);
	session_open(&s, all_cpus, AUXTRACE_SETUP_USER, AUX_SIZE);
	/* SETUP takes no hardware. */
	perf_is_granted(first);
	ok_start(s.fd);
	for (uint64_t left = all_cpus; left; left &= left - 1)
		perf_is_refused(cpus_first(left));
	/* A pause does not give it away. */
	ok_pause(&s, 0, NULL);
	perf_is_refused(first);
	assert_false(msr_tracing(first));
	ok_resume(&s, 0, NULL);
	expect_state(&s, AUXTRACE_STATE_STARTED);
	ok_stop(s.fd);
	for (uint64_t left = all_cpus; left; left &= left - 1)
		perf_is_granted(cpus_first(left));
	check_accounting(&s);
}

static void perf_is_granted_again_after_a_close(void **state)
{
	struct session s;

	(void)state;
	perf_required();
	session_open(&s, all_cpus, AUXTRACE_SETUP_USER, AUX_SIZE);
	ok_start(s.fd);
	session_close(&s);
	perf_is_granted(first);
	perf_is_granted(last);
}

static void start_is_refused_while_perf_holds_a_disabled_event_of_a_cpu(void **state)
{
	struct session s;
	int fd;

	(void)state;
	perf_required();
	session_open(&s, all_cpus, AUXTRACE_SETUP_USER, AUX_SIZE);
	fd = perf_open(-1, last);
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

	(void)state;
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

static void start_is_refused_while_perf_traces_and_does_not_disturb_it(void **state)
{
	struct session s;
	int64_t bytes;
	int fd;

	(void)state;
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

	(void)state;
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
 * perf's driver remembers what it has written to the output MSRs and does not
 * write the same again. Turn by turn its tables come to lie where they lay.
 */
static void perf_and_a_session_can_take_turns(void **state)
{
	struct session s;

	(void)state;
	perf_required();
	session_open(&s, all_cpus, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL, AUX_SIZE);
	assert_int_equal(cpu_pin(last), 0);
	for (int i = 0; i < 20; i++) {
		int fd = perf_open(-1, last);
		int64_t bytes;

		assert_true(fd >= 0);
		bytes = perf_trace(fd, 100);
		at_close(fd);
		if (bytes <= 0)
			fail_msg("turn %d: perf traced %lld bytes", i + 1, (long long)bytes);
		/* RCU lets its pages go: the next ones are then likely to be the same. */
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

	(void)state;
	perf_required();
	two_cpus_required();
	session_open(&both, 1ULL << first | 1ULL << last, AUXTRACE_SETUP_USER, AUX_SIZE);
	session_open(&one, 1ULL << first, AUXTRACE_SETUP_USER, AUX_SIZE);
	fd = perf_open(-1, last);
	assert_true(fd >= 0);
	fail_start(EBUSY, both.fd);
	assert_false(msr_tracing(first));
	assert_int_equal(channel_status(&both.channel[0]).windows, 0);
	/* The first CPU was given back: perf has it, then another session. */
	int other = perf_open(-1, first);

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

	(void)state;
	two_cpus_required();
	session_open(&a, 1ULL << first, AUXTRACE_SETUP_USER, AUX_SIZE);
	session_open(&b, 1ULL << last, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE, AUX_SIZE);
	ok_start(a.fd);
	ok_start(b.fd);
	expect_state(&a, AUXTRACE_STATE_STARTED);
	expect_state(&b, AUXTRACE_STATE_STARTED);
	/* Each has its own requests and counters. */
	ok_pause(&a, 0, NULL);
	assert_false(msr_tracing(first));
	assert_true(msr_tracing(last));
	assert_int_equal(channel_status(b.channel).pauses_asked, 0);
	fail_pause(EINVAL, a.fd, 1ULL << last);
	ok_stop(a.fd);
	assert_true(msr_tracing(last));
	ok_stop(b.fd);
	check_accounting(&a);
	check_accounting(&b);
}

static void a_second_session_on_the_same_cpu_hears_EBUSY(void **state)
{
	struct session a, b;

	(void)state;
	session_open(&a, all_cpus, AUXTRACE_SETUP_USER, AUX_SIZE);
	session_open(&b, 1ULL << last, AUXTRACE_SETUP_USER, AUX_SIZE);
	ok_start(a.fd);
	fail_start(EBUSY, b.fd);
	expect_state(&a, AUXTRACE_STATE_STARTED);
	expect_state(&b, AUXTRACE_STATE_STOPPED);
	assert_int_equal(channel_status(session_channel(&a, last)).running, 1);
	/* Paused is still held. */
	ok_pause(&a, 0, NULL);
	fail_start(EBUSY, b.fd);
	ok_stop(a.fd);
	ok_start(b.fd);
	fail_start(EBUSY, a.fd);
	ok_stop(b.fd);
	check_accounting(&a);
	check_accounting(&b);
}

static void info_with_probe_sees_perf_hold_the_hardware(void **state)
{
	struct auxtrace_info info = { .size = sizeof(info), .flags = AUXTRACE_INFO_PROBE };
	int fd, perf;

	(void)state;
	perf_required();
	fd = at_open();
	perf = perf_open(-1, last);
	assert_true(perf >= 0);
	ok_info(fd, &info);
	assert_int_equal(info.out_pt, AUXTRACE_PT_BUSY);
	info.flags = 0;
	ok_info(fd, &info);
	assert_int_equal(info.out_pt, AUXTRACE_PT_OK);
	at_close(perf);
	info.flags = AUXTRACE_INFO_PROBE;
	ok_info(fd, &info);
	assert_int_equal(info.out_pt, AUXTRACE_PT_OK);
	/* To ask was not to take. */
	perf_is_granted(last);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(perf_is_refused_from_start_to_stop_only),
		vm_test(perf_is_granted_again_after_a_close),
		vm_test(start_is_refused_while_perf_holds_a_disabled_event_of_a_cpu),
		vm_test(start_is_refused_while_perf_holds_an_event_of_a_task),
		vm_test(start_is_refused_while_perf_traces_and_does_not_disturb_it),
		vm_test(perf_can_trace_after_a_session_was_stopped),
		vm_test(perf_and_a_session_can_take_turns),
		vm_test(start_is_all_or_nothing),
		vm_test(two_sessions_trace_different_cpus_at_once),
		vm_test(a_second_session_on_the_same_cpu_hears_EBUSY),
		vm_test(info_with_probe_sees_perf_hold_the_hardware),
	};

	all_cpus = cpus_online();
	first = cpus_first(all_cpus);
	last = cpus_last(all_cpus);
	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
