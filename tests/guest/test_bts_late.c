// SPDX-License-Identifier: GPL-2.0-only
/*
 * BTS and its interrupt: a reader that is in time gets every branch, an interrupt that comes
 * too late is a gap.
 */
#include <stdlib.h>
#include <string.h>

#include "branches.h"
#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "machine.h"
#include "msr.h"
#include "pmu.h"
#include "records.h"
#include "trace.h"
#include "uapi.h"
#include "waiter.h"

#define USER		AUXTRACE_SETUP_USER
#define KERNEL		AUXTRACE_SETUP_KERNEL
#define BOTH		(USER | KERNEL)
#define OVER		AUXTRACE_SETUP_OVERWRITE
#define RECORD		sizeof(struct auxtrace_branch)

/* The reader is done with all there is; poll(2) takes the tail and arms the next watermark. */
static void read_up_to(const struct session *s, uint64_t position)
{
	channel_set_tail(s->channel, position);
	poll_events(s->fd, 0);
}

#define STEP_ROUNDS	20000	/* of the load */

/* Run the load while a reader keeps up. */
static void load_with_reader(const struct session *s)
{
	for (int i = 0; i < 100; i++) {
		struct auxtrace_status status;

		load_run(STEP_ROUNDS);
		ok_status(s->fd, AUXTRACE_STATUS_SYNC, &status);
		read_up_to(s, status.out_produced);
	}
}

/* ---- full trace ------------------------------------------------------------------ */

#define INTERRUPTS	400
#define WATERMARK	(32 * page_size)
/* Usually more than the kernel's branches from one pass of the reader to the next. */
#define KERNEL_WATERMARK	(256 * page_size * slowness)
#define MAX_LOADS	1000

/*
 * Run the load until the next interrupt. There were @pmis_before. With the buffer an interrupt comes
 * whenever the buffer is full, otherwise at the watermark.
 */
static void load_until_interrupt(const struct session *s, uint64_t pmis_before)
{
	for (int i = 0; i < MAX_LOADS; i++) {
		load_run(STEP_ROUNDS);
		if (channel_status(s->channel).pmis > pmis_before)
			return;
	}
	fail_msg("no interrupt in %d rounds of the load", MAX_LOADS);
}

/*
 * The program itself is the reader, so it is always in time. Over many interrupts no branch may be
 * missing: each record begins behind the target of the one before.
 */
static void a_reader_in_time_gets_every_branch(uint32_t flags)
{
	uint64_t full, unmapped, begun, len = 0, space = 160 << 20, interrupts = 0;
	/* A line that the kernel writes to the serial console takes a megabyte of branches. */
	uint64_t area = (16 << 20) * slowness;
	uint64_t watermark = flags == USER ? WATERMARK : KERNEL_WATERMARK;
	uint8_t *trace = malloc(space);
	struct auxtrace_status_page st;
	struct walk walk = { 0 };
	struct follower f;
	struct session s;

	emulator_required();
	assert_non_null(trace);
	/*
	 * Pages that were never written fault in the copy below, and on a debug kernel the branches
	 * of a fault take more space than its page.
	 */
	memset(trace, 1, space);
	session_prepare(&s, one_cpu, flags, area);
	session_prepare_data(&s, 0, 64 * page_size);
	s.setup.aux_watermark = watermark;
	session_setup(&s);
	follower_init(&f, s.channel);
	assert_int_equal(cpu_pin(first_cpu), 0);
	full = emulator_count(first_cpu, PTM_N_BTS_FULL);
	unmapped = emulator_count(first_cpu, PTM_N_BTS_UNMAPPED);
	begun = emulator_bytes(first_cpu);
	ok_start(s.fd);
	while (interrupts < INTERRUPTS && len + area < space) {
		struct auxtrace_status status;

		/*
		 * An interrupt comes a watermark behind the tail, unless the position is there already:
		 * then the reader reads again, and has less to read.
		 */
		st = channel_status(s.channel);
		if (st.produced < len + watermark) {
			load_until_interrupt(&s, st.pmis);
			interrupts++;
		}
		ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
		st = channel_status(s.channel);
		if (st.gaps)
			fail_msg("%llu interrupts: a gap at %llu, tail %llu", st.pmis, st.produced, st.consumed);
		assert_true(st.produced <= space);
		channel_copy(s.channel, len, trace + len, st.produced - len);
		len = st.produced;
		read_up_to(&s, len);
		follow_and_take(&f);
	}
	ok_stop(s.fd);
	st = channel_status(s.channel);
	assert_true(st.produced <= space);
	channel_copy(s.channel, len, trace + len, st.produced - len);
	follow_and_take(&f);
	follower_agrees(&f);
	assert_int_equal(st.gaps, 0);
	assert_int_equal(st.windows, 1);
	print_message("%llu bytes, %llu interrupts\n", st.produced, st.pmis);
	if (flags == USER)
		assert_int_equal(interrupts, INTERRUPTS);
	else
		assert_true(interrupts > 1);
	assert_int_equal(emulator_count(first_cpu, PTM_N_BTS_FULL), full);
	assert_int_equal(emulator_count(first_cpu, PTM_N_BTS_UNMAPPED), unmapped);
	assert_int_equal(st.produced, emulator_bytes(first_cpu) - begun);
	trace_check_window(&walk, trace, st.produced, "one window over many interrupts");
	print_message("%llu branches, %llu interrupts\n", (unsigned long long)walk.count, st.pmis);
	free(trace);
	check_accounting(&s);
}

static void a_reader_in_time_gets_every_branch_of_user_code(void **state)
{
	a_reader_in_time_gets_every_branch(USER);
}

static void a_reader_in_time_gets_every_branch_of_both(void **state)
{
	if (bts_is_buffered())
		skip_test("the kernel's branches go through 64 KiB: an NMI may fill them");
	a_reader_in_time_gets_every_branch(BOTH);
}

/* Each interrupt and SYNC writes an AUX record, whose TSC bounds the branches before it. */
static void aux_records_bound_branches_in_time(void **state)
{
	uint64_t last = 0, aux = 0, begin, end;
	struct auxtrace_status_page st;
	struct session s;
	struct records r;

	session_prepare(&s, one_cpu, BOTH, 16 << 20);
	session_prepare_data(&s, 0, 256 * page_size);
	s.setup.aux_watermark = WATERMARK;
	session_setup(&s);
	assert_int_equal(cpu_pin(first_cpu), 0);
	begin = read_tsc();
	ok_start(s.fd);
	load_with_reader(&s);
	ok_stop(s.fd);
	end = read_tsc();
	st = channel_status(s.channel);
	records_read_all(&r, s.channel);
	for (unsigned int i = 0; i < r.count; i++) {
		const struct auxtrace_record_aux *a = &r.at[i]->aux;

		if (a->header.type != AUXTRACE_RECORD_AUX)
			continue;
		aux++;
		assert_int_equal(a->offset % RECORD, 0);
		assert_int_equal(a->length % RECORD, 0);
		assert_true(a->end.time > last);
		assert_in_range(a->end.time, begin, end);
		last = a->end.time;
	}
	assert_true(st.pmis > 0);
	assert_true(aux >= st.pmis);
	assert_int_equal(st.data_lost, 0);
	records_free(&r);
	check_accounting(&s);
}

/* ---- interrupts that come late ---------------------------------------------------- */

/*
 * Later than the space behind the threshold lasts: then the CPU does not record branches, which
 * no counter of a real CPU reports. The session must count a gap, and its records must be whole.
 */
static void a_late_interrupt_is_a_gap(uint32_t flags, uint64_t late_bytes)
{
	struct auxtrace_status_page st;
	uint64_t full, begun;
	struct session s;
	struct walk walk = { 0 };
	uint8_t *trace;
	uint64_t len;

	emulator_required();
	session_open(&s, one_cpu, flags, 16 * page_size);
	assert_int_equal(cpu_pin(first_cpu), 0);
	full = emulator_count(first_cpu, PTM_N_BTS_FULL);
	begun = emulator_bytes(first_cpu);
	emulator_knob(first_cpu, PTM_KNOB_PMI_SKID, late_bytes / RECORD);
	ok_start(s.fd);
	/* Far more branches than the area and the delay take. */
	load_run(1000000);
	emulator_knobs_reset();
	/* Let an interrupt that is still pending come before STOP. */
	load_run(late_bytes);
	ok_stop(s.fd);
	st = channel_status(s.channel);
	print_message("%llu bytes, %llu interrupts, %llu gaps, %llu branches not recorded\n", st.produced,
		      st.pmis, st.gaps_full,
		      (unsigned long long)(emulator_count(first_cpu, PTM_N_BTS_FULL) - full));
	assert_true(emulator_count(first_cpu, PTM_N_BTS_FULL) > full);
	assert_true(st.gaps_full > 0);
	assert_int_equal(st.produced, emulator_bytes(first_cpu) - begun);
	len = channel_available(s.channel);
	trace = malloc(len);
	assert_non_null(trace);
	channel_copy(s.channel, st.produced - len, trace, len);
	trace_walk(&walk, trace, len, true);
	assert_null(walk.error);
	assert_int_equal(walk.end, len);
	free(trace);
	check_accounting(&s);
}

static void in_a_full_trace_a_late_interrupt_is_a_gap(void **state)
{
	a_late_interrupt_is_a_gap(BOTH, 64 * page_size);
	a_late_interrupt_is_a_gap(USER, 64 * page_size);
}

static void an_interrupt_more_than_a_lap_late_is_a_gap(void **state)
{
	a_late_interrupt_is_a_gap(BOTH | OVER, 128 * page_size);
	a_late_interrupt_is_a_gap(USER | OVER, 128 * page_size);
}

/* The space behind the threshold lasts until the interrupt. */
static void an_interrupt_that_is_a_little_late_loses_nothing(void **state)
{
	static const uint32_t flags[] = { BOTH, USER, BOTH | OVER, USER | OVER };

	emulator_required();
	for (int i = 0; i < 4; i++) {
		struct auxtrace_status_page st;
		uint64_t full, begun, asked = emulator_count(first_cpu, PTM_N_PMI);
		struct session s;

		/* A line on the serial console takes a megabyte of the kernel's branches. */
		session_prepare(&s, one_cpu, flags[i],
				(flags[i] & OVER ? 256 : 4096) * page_size);
		s.setup.aux_watermark = flags[i] & OVER ? 0 : WATERMARK;
		session_setup(&s);
		assert_int_equal(cpu_pin(first_cpu), 0);
		full = emulator_count(first_cpu, PTM_N_BTS_FULL);
		begun = emulator_bytes(first_cpu);
		emulator_knob(first_cpu, PTM_KNOB_PMI_SKID, 100);
		ok_start(s.fd);
		load_with_reader(&s);
		ok_stop(s.fd);
		emulator_knobs_reset();
		st = channel_status(s.channel);
		print_message("flags %#x: %llu bytes, %llu interrupts, %llu requested\n", flags[i],
			      st.produced, st.pmis,
			      (unsigned long long)(emulator_count(first_cpu, PTM_N_PMI) - asked));
		assert_true(st.pmis > 0);
		assert_int_equal(st.gaps, 0);
		assert_int_equal(emulator_count(first_cpu, PTM_N_BTS_FULL), full);
		assert_int_equal(st.produced, emulator_bytes(first_cpu) - begun);
		check_accounting(&s);
		session_close(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(a_reader_in_time_gets_every_branch_of_user_code),
		vm_test(a_reader_in_time_gets_every_branch_of_both),
		vm_test(aux_records_bound_branches_in_time),
		vm_test(in_a_full_trace_a_late_interrupt_is_a_gap),
		vm_test(an_interrupt_more_than_a_lap_late_is_a_gap),
		vm_test(an_interrupt_that_is_a_little_late_loses_nothing),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
