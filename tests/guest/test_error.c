// SPDX-License-Identifier: GPL-2.0
/*
 * Hardware that does not do as it was told: what it lost is counted and shown,
 * and the session can be used again. Others' MSR writes, through the msr driver,
 * stand for the causes that a real machine has.
 */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "msr.h"
#include "pmu.h"
#include "trace.h"
#include "uapi.h"

#define AUX_SIZE	(1 << 20)

/* No machine of ours has memory there, and no table lies there. */
#define NO_MEMORY	0xff00000000ULL

static int cpu;

static void write_msr(uint32_t reg, uint64_t value)
{
	int ret = msr_write(cpu, reg, value);

	if (ret)
		fail_msg("WRMSR of %#x: %s", reg, strerror(-ret));
}

static short poll_now(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	assert_true(poll(&p, 1, 0) >= 0);
	return p.revents;
}

/* Two ways to spoil the output of a paused session. */
static void no_table(void)
{
	write_msr(MSR_RTIT_OUTPUT_BASE, NO_MEMORY);
}

/* The table is ours still, but the offset lies beyond its region's last byte. */
static void offset_at_the_end(void)
{
	uint64_t mask;

	assert_int_equal(msr_read(cpu, MSR_RTIT_OUTPUT_MASK, &mask), 0);
	write_msr(MSR_RTIT_OUTPUT_MASK, (mask & UINT32_MAX) | 4096ULL << 32);
}

/* And let it run into that. */
static void break_output(struct session *s, void (*spoil)(void))
{
	session_open(s, 1ULL << cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	cpu_pin(cpu);
	ok_start(s->fd);
	load_run(100);
	ok_pause(s, 0, NULL);
	spoil();
	ok_resume(s, 0, NULL);
	load_run(100);
}

static void check_error(struct session *s)
{
	struct auxtrace_status_page st = channel_status(s->channel);

	assert_int_equal(st.inhibit & AUXTRACE_INHIBIT_HWERROR, AUXTRACE_INHIBIT_HWERROR);
	assert_int_equal(st.running, 0);
	assert_int_equal(st.gaps_error, 1);
	assert_int_equal(st.gaps, 1);
	assert_int_equal(poll_now(s->fd) & POLLERR, POLLERR);
	assert_false(msr_tracing(cpu));
	check_accounting(s);
}

static void an_operational_error_is_a_gap_that_sync_finds(void **state)
{
	struct auxtrace_status status;
	struct session s;
	uint64_t produced;

	(void)state;
	pt_required("operational errors");
	bench_required();
	break_output(&s, no_table);
	produced = channel_status(s.channel).window_end;
	ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
	check_error(&s);
	/* What was good before is not given up, and nothing is made up. */
	assert_int_equal(status.out_produced, produced);
	/* It does not go away by asking. */
	ok_pause(&s, 0, NULL);
	ok_resume(&s, 0, NULL);
	ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
	check_error(&s);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void an_operational_error_is_a_gap_that_pause_finds(void **state)
{
	struct session s;

	(void)state;
	pt_required("operational errors");
	bench_required();
	break_output(&s, no_table);
	ok_pause(&s, 0, NULL);
	check_error(&s);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void the_status_bit_alone_tells_of_an_error(void **state)
{
	struct auxtrace_status status;
	struct session s;

	(void)state;
	pt_required("operational errors");
	bench_required();
	break_output(&s, offset_at_the_end);
	ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
	check_error(&s);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void start_after_an_error_traces_again(void **state)
{
	struct auxtrace_status_page st;
	struct walk walk = { 0 };
	struct session s;
	uint8_t *trace;

	(void)state;
	pt_required("operational errors");
	bench_required();
	break_output(&s, no_table);
	ok_stop(s.fd);
	assert_int_equal(channel_status(s.channel).gaps_error, 1);
	ok_start(s.fd);
	assert_int_equal(channel_status(s.channel).inhibit, 0);
	assert_int_equal(poll_now(s.fd) & POLLERR, 0);
	load_run(100);
	ok_stop(s.fd);
	st = channel_status(s.channel);
	assert_true(st.window_end > st.window_begin);
	trace = test_malloc(st.window_end - st.window_begin);
	channel_copy(s.channel, st.window_begin, trace, st.window_end - st.window_begin);
	trace_check_window(&walk, trace, st.window_end - st.window_begin, "after the error");
	test_free(trace);
	assert_int_equal(st.gaps, 1);
	check_accounting(&s);
}

/* As firmware does, or another driver: it is off though nobody asked us. */
static void tracing_that_somebody_else_stopped_is_a_gap(void **state)
{
	struct auxtrace_status_page st;
	struct auxtrace_status status;
	struct session s;
	uint64_t ctl;

	(void)state;
	bench_required();
	session_open(&s, 1ULL << cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	cpu_pin(cpu);
	ok_start(s.fd);
	load_run(100);
	assert_int_equal(msr_read(cpu, msr_control(), &ctl), 0);
	assert_int_equal(ctl & msr_enables(), msr_enables());
	write_msr(msr_control(), ctl & ~msr_enables());
	load_run(100);
	ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
	st = channel_status(s.channel);
	assert_int_equal(st.gaps_error, 1);
	assert_int_equal(st.gaps, 1);
	/* The window ended there; nobody wants the hardware off, so the next one began. */
	assert_int_equal(st.windows, 2);
	assert_int_equal(st.window_begin, st.window_end);
	assert_int_equal(st.running, 1);
	assert_true(msr_tracing(cpu));
	ok_stop(s.fd);
	check_accounting(&s);
}

static void bytes_that_the_hardware_drops_show_as_an_overflow(void **state)
{
	struct auxtrace_status_page st;
	struct walk walk = { 0 };
	struct session s;
	uint64_t begun;

	(void)state;
	pt_required("OVF");
	bench_required();
	session_open(&s, 1ULL << cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	cpu_pin(cpu);
	begun = bench_bytes(cpu);
	ok_start(s.fd);
	load_run(100);
	write_msr(MSR_PTM_BENCH_DROP, 200);
	load_run(200);
	ok_stop(s.fd);
	st = channel_status(s.channel);
	trace_check_window(&walk, s.channel->aux, st.produced, "with a loss");
	assert_true(walk.overflows >= 1);
	assert_int_equal(st.produced, bench_bytes(cpu) - begun);
	check_accounting(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(an_operational_error_is_a_gap_that_sync_finds),
		vm_test(an_operational_error_is_a_gap_that_pause_finds),
		vm_test(the_status_bit_alone_tells_of_an_error),
		vm_test(start_after_an_error_traces_again),
		vm_test(tracing_that_somebody_else_stopped_is_a_gap),
		vm_test(bytes_that_the_hardware_drops_show_as_an_overflow),
	};

	cpu = cpus_first(cpus_online());
	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
