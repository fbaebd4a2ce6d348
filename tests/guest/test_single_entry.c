// SPDX-License-Identifier: GPL-2.0-only
/*
 * ToPA tables of one entry: the hardware stops at the region's end, unless the trace interrupt came
 * before and the module went on to the next region. An interrupt that comes too late is a gap.
 */
#include <stdlib.h>

#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "machine.h"
#include "msr.h"
#include "pmu.h"
#include "records.h"
#include "trace.h"
#include "uapi.h"

#define BOTH		(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL)
#define OVER		AUXTRACE_SETUP_OVERWRITE
#define FULL_STOP	AUXTRACE_SETUP_FULL_STOP
/* The load and the system calls beside it do not fill an area after the gap. */
#define AUX_SIZE	(1 << 20)
#define PAGE		4096
#define ROUNDS		200
#define MAX_LOADS	100000
/* A packet is at most 16 bytes long (SDM Vol. 3C, "PSB Packet"). */
#define LONGEST_PACKET	16
/* The emulator keeps an interrupt back until a smaller number is written. */
#define NEVER		UINT32_MAX

/* Run the load until the hardware writes no more, because the region is full; what it wrote since @begun. */
static uint64_t load_until_stopped(uint64_t begun)
{
	uint64_t bytes = emulator_bytes(first_cpu), was;
	unsigned int loads = 0;

	do {
		if (++loads > MAX_LOADS)
			fail_msg("%llu bytes, and the hardware writes on",
				 (unsigned long long)(bytes - begun));
		was = bytes;
		load_run(ROUNDS);
		bytes = emulator_bytes(first_cpu);
	} while (bytes != was || bytes == begun);
	return bytes - begun;
}

static const struct auxtrace_record_aux *aux_record_up_to(const struct records *r, uint64_t end)
{
	for (unsigned int i = 0; i < r->count; i++) {
		const struct auxtrace_record_aux *a = &r->at[i]->aux;

		if (a->header.type == AUXTRACE_RECORD_AUX && a->offset + a->length == end)
			return a;
	}
	fail_msg("no AUX record ends at %llu", (unsigned long long)end);
	return NULL;
}

static const struct auxtrace_record_window *window_record(const struct records *r, uint64_t number)
{
	for (unsigned int i = 0; i < r->count; i++) {
		const struct auxtrace_record_window *w = &r->at[i]->window;

		if (w->header.type == AUXTRACE_RECORD_WINDOW && w->window == number)
			return w;
	}
	fail_msg("no record of window %llu", (unsigned long long)number);
	return NULL;
}

/* All up to the region's end is there, and the last packet may be cut. */
static void check_cut_window(const struct channel *ch, const struct auxtrace_record_window *w)
{
	uint64_t len = w->end_position - w->begin;
	uint8_t *trace = malloc(len);
	struct walk walk = { 0 };

	assert_non_null(trace);
	channel_copy(ch, w->begin, trace, len);
	trace_walk(&walk, trace, len, false);
	assert_true(walk.begins_window);
	assert_true(len - walk.end < LONGEST_PACKET);
	assert_true(walk.count >= trace_least(len));
	free(trace);
}

/* The interrupt of the first region comes after its end. One gap, and the trace goes on. */
static void a_late_interrupt_is_a_gap(uint32_t flags)
{
	const struct auxtrace_record_window *cut, *next;
	struct auxtrace_status_page st;
	uint64_t begun, region;
	struct session s;
	struct records r;

	session_prepare(&s, one_cpu, flags, AUX_SIZE);
	session_prepare_data(&s, 0, 64 * page_size);
	session_setup(&s);
	assert_int_equal(cpu_pin(first_cpu), 0);
	begun = emulator_bytes(first_cpu);
	emulator_knob(first_cpu, PTM_KNOB_PMI_SKID, NEVER);
	ok_start(s.fd);
	region = load_until_stopped(begun);
	load_run(ROUNDS);
	assert_int_equal(emulator_bytes(first_cpu) - begun, region);
	st = channel_status(s.channel);
	assert_int_equal(st.pmis, 0);
	assert_int_equal(st.gaps, 0);
	emulator_knobs_reset();
	load_run(ROUNDS);
	st = channel_status(s.channel);
	/* The next region may be small, and its interrupt is in time. */
	assert_true(st.pmis >= 1);
	assert_int_equal(st.gaps, 1);
	assert_int_equal(st.gaps_full, 1);
	assert_true(st.running);
	ok_stop(s.fd);

	st = channel_status(s.channel);
	print_message("flags %#x: a region of %llu bytes, then %llu\n", flags, (unsigned long long)region,
		      (unsigned long long)(st.produced - region));
	assert_int_equal(region % PAGE, 0);
	assert_int_equal(st.windows, 2);
	assert_int_equal(st.gaps, 1);
	check_written(st.produced, emulator_bytes(first_cpu) - begun);
	records_read_all(&r, s.channel);
	cut = window_record(&r, 1);
	assert_int_equal(cut->begin, 0);
	assert_int_equal(cut->end_position, region);
	assert_int_equal(cut->begin_cause, AUXTRACE_CAUSE_SESSION);
	assert_int_equal(cut->end_cause, AUXTRACE_CAUSE_FULL);
	next = window_record(&r, 2);
	assert_int_equal(next->begin, region);
	assert_int_equal(next->end_position, st.produced);
	assert_int_equal(next->begin_cause, AUXTRACE_CAUSE_FULL);
	assert_int_equal(next->end_cause, AUXTRACE_CAUSE_SESSION);
	assert_true(aux_record_up_to(&r, region)->flags & AUXTRACE_AUX_TRUNCATED);
	assert_false(aux_record_up_to(&r, st.produced)->flags & AUXTRACE_AUX_TRUNCATED);
	records_free(&r);
	/* In overwrite mode the second window may begin where the first did. */
	if (!(flags & OVER))
		check_cut_window(s.channel, cut);
	channel_check_window(s.channel, next->begin, next->end_position, "the window behind the gap");
	check_accounting(&s);
	session_close(&s);
}

static void a_late_interrupt_is_a_gap_in_each_mode(void **state)
{
	emulator_required();
	if (!pt_has_single_entry())
		skip_test("about Intel PT's tables of one entry");
	a_late_interrupt_is_a_gap(BOTH);
	a_late_interrupt_is_a_gap(BOTH | FULL_STOP);
	a_late_interrupt_is_a_gap(BOTH | OVER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(a_late_interrupt_is_a_gap_in_each_mode),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
