// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hardware errors: losses are counted and shown, and the session can be used again. The tests
 * cause them by MSR writes through the msr driver.
 */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "machine.h"
#include "msr.h"
#include "pmu.h"
#include "trace.h"
#include "uapi.h"
#include "waiter.h"

#define AUX_SIZE	(1 << 20)

static void write_msr(uint32_t reg, uint64_t value)
{
	int ret = msr_write(first_cpu, reg, value);

	if (ret)
		fail_msg("WRMSR of %#x: %s", reg, strerror(-ret));
}

/* Two ways to spoil the output of a paused session. */
static void no_table(void)
{
	write_msr(MSR_RTIT_OUTPUT_BASE, NO_MEMORY);
}

/* The table stays, but the offset is beyond its region's last byte. A region is a page, or 128 MiB at most. */
static void offset_at_the_end(void)
{
	uint64_t mask, size = pt_has_single_entry() ? 4096ULL << 15 : 4096;

	assert_int_equal(msr_read(first_cpu, MSR_RTIT_OUTPUT_MASK, &mask), 0);
	write_msr(MSR_RTIT_OUTPUT_MASK, (mask & UINT32_MAX) | size << 32);
}

/* Pause, spoil the output, resume. */
static void break_output(struct session *s, void (*spoil)(void))
{
	session_open(s, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	cpu_pin(first_cpu);
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
	assert_int_equal(poll_events(s->fd, 0) & POLLERR, POLLERR);
	assert_false(msr_tracing(first_cpu));
	check_accounting(s);
}

static void an_operational_error_is_a_gap_that_sync_finds(void **state)
{
	struct auxtrace_status status;
	struct session s;
	uint64_t produced;

	pt_required("operational errors");
	emulator_required();
	break_output(&s, no_table);
	produced = channel_status(s.channel).window_end;
	ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
	check_error(&s);
	/* The position is that of the last good byte. */
	assert_int_equal(status.out_produced, produced);
	/* The error stays, whatever is requested. */
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

	pt_required("operational errors");
	emulator_required();
	break_output(&s, no_table);
	ok_pause(&s, 0, NULL);
	check_error(&s);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void the_status_bit_alone_reports_an_error(void **state)
{
	struct auxtrace_status status;
	struct session s;

	pt_required("operational errors");
	emulator_required();
	break_output(&s, offset_at_the_end);
	ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
	check_error(&s);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void start_after_an_error_traces_again(void **state)
{
	struct auxtrace_status_page st;
	struct session s;

	pt_required("operational errors");
	emulator_required();
	break_output(&s, no_table);
	ok_stop(s.fd);
	assert_int_equal(channel_status(s.channel).gaps_error, 1);
	ok_start(s.fd);
	assert_int_equal(channel_status(s.channel).inhibit, 0);
	assert_int_equal(poll_events(s.fd, 0) & POLLERR, 0);
	load_run(100);
	ok_stop(s.fd);
	st = channel_status(s.channel);
	assert_true(st.window_end > st.window_begin);
	channel_check_window(s.channel, st.window_begin, st.window_end, "after the error");
	assert_int_equal(st.gaps, 1);
	check_accounting(&s);
}

/* Firmware or another driver turns tracing off without the module. */
static void tracing_that_others_stop_is_a_gap(void **state)
{
	struct auxtrace_status_page st;
	struct auxtrace_status status;
	struct session s;
	uint64_t ctl;

	emulator_required();
	session_open(&s, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	cpu_pin(first_cpu);
	ok_start(s.fd);
	load_run(100);
	assert_int_equal(msr_read(first_cpu, msr_control(), &ctl), 0);
	assert_int_equal(ctl & msr_enables(), msr_enables());
	write_msr(msr_control(), ctl & ~msr_enables());
	load_run(100);
	ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
	st = channel_status(s.channel);
	assert_int_equal(st.gaps_error, 1);
	assert_int_equal(st.gaps, 1);
	/* The window ended there; no reason keeps the hardware off, so the next one began. */
	assert_int_equal(st.windows, 2);
	assert_int_equal(st.window_begin, st.window_end);
	assert_int_equal(st.running, 1);
	assert_true(msr_tracing(first_cpu));
	ok_stop(s.fd);
	check_accounting(&s);
}

static void bytes_that_the_hardware_drops_show_as_an_overflow(void **state)
{
	struct auxtrace_status_page st;
	struct walk walk = { 0 };
	struct session s;
	uint64_t begun;

	pt_required("OVF");
	emulator_required();
	session_open(&s, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	cpu_pin(first_cpu);
	begun = emulator_bytes(first_cpu);
	ok_start(s.fd);
	load_run(100);
	write_msr(MSR_PTM_DROP, 200);
	load_run(200);
	ok_stop(s.fd);
	st = channel_status(s.channel);
	trace_check_window(&walk, s.channel->aux, st.produced, "with a loss");
	assert_true(walk.overflows >= 1);
	check_written(st.produced, emulator_bytes(first_cpu) - begun);
	check_accounting(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(an_operational_error_is_a_gap_that_sync_finds),
		vm_test(an_operational_error_is_a_gap_that_pause_finds),
		vm_test(the_status_bit_alone_reports_an_error),
		vm_test(start_after_an_error_traces_again),
		vm_test(tracing_that_others_stop_is_a_gap),
		vm_test(bytes_that_the_hardware_drops_show_as_an_overflow),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
