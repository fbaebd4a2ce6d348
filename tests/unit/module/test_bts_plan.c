// SPDX-License-Identifier: GPL-2.0-only
/* BTS: where it raises the PMI and stops, for any positions. */

#include <stdlib.h>
#include <linux/minmax.h>
#include "cmocka_all.h"
#include "hw/bts_plan.h"

void shim_point(void)
{
}

#define PAGE	AUXT_PAGE_SIZE
#define BUFFER	(16 * PAGE)

static struct auxt_position ring_of(u64 size, u64 watermark, bool overwrite)
{
	struct auxt_position ring;

	auxt_position_init(&ring, size, size, watermark, overwrite);
	ring.margin = auxt_bts_margin(size);
	auxt_position_plan(&ring);
	return ring;
}

static void must_be_records(const struct auxt_bts_plan *plan)
{
	assert_int_equal(plan->threshold % BTS_RECORD, 0);
	assert_int_equal(plan->space % BTS_RECORD, 0);
	assert_true(plan->threshold > 0);
	assert_true(plan->threshold <= plan->space);
}

static void the_margin_is_a_quarter_of_the_area_within_bounds(void **state)
{
	assert_int_equal(auxt_bts_margin(2 * PAGE), PAGE);
	assert_int_equal(auxt_bts_margin(16 * PAGE), 4 * PAGE);
	assert_int_equal(auxt_bts_margin(1 << 20), 256 << 10);
	assert_int_equal(auxt_bts_margin(1 << 30), 256 << 10);
}

/* Overwrite: the rest of a lap, 64 KiB to the interrupt and 256 KiB until it is taken. */
static void an_area_is_mapped_as_often_as_it_is_run_through(void **state)
{
	for (u64 size = 2 * PAGE; size <= 4096 * PAGE; size *= 2)
		assert_int_equal(auxt_bts_laps(size, false), 2);
	assert_int_equal(auxt_bts_laps(2 * PAGE, true), 2 + 40);
	assert_int_equal(auxt_bts_laps(16 * PAGE, true), 2 + 5);
	assert_int_equal(auxt_bts_laps(64 * PAGE, true), 2 + 2);
	assert_int_equal(auxt_bts_laps(128 * PAGE, true), 2 + 1);
	assert_int_equal(auxt_bts_laps(4096 * PAGE, true), 2 + 1);
}

/* The reader consumes random amounts, the hardware writes random amounts. */
static void full_trace_never_reaches_what_is_unread(void **state)
{
	srand(1);
	for (u64 size = 2 * PAGE; size <= 4096 * PAGE; size *= 2) {
		struct auxt_position ring = ring_of(size, size / 2, false);
		unsigned int starts = 0;

		for (int i = 0; i < 20000; i++) {
			struct auxt_bts_plan plan;

			auxt_position_take_tail(&ring, ring.consumed +
					    (u64)rand() % (ring.produced - ring.consumed + 1));
			auxt_position_plan(&ring);
			if (auxt_position_full(&ring))
				continue;
			starts++;
			plan = auxt_bts_plan(&ring, auxt_bts_laps(size, false));
			must_be_records(&plan);
			assert_true(ring.produced + plan.space <= ring.consumed + size);
			assert_true(ring.produced % size + plan.space <=
				    auxt_bts_laps(size, false) * size);
			/* The free bytes after the INT mark, less the rounding to a page and a record. */
			assert_true(plan.space + 2 * BTS_RECORD >= plan.threshold + ring.margin);
			ring.produced += (u64)rand() % (plan.space / BTS_RECORD + 1) * BTS_RECORD;
		}
		assert_true(starts > 100);
	}
}

static void after_the_reader_has_read_all_it_can_start(void **state)
{
	for (u64 size = 2 * PAGE; size <= 4096 * PAGE; size *= 2) {
		struct auxt_position ring = ring_of(size, size / 2, false);

		for (u64 at = 0; at < size; at += BTS_RECORD) {
			ring.produced = ring.consumed = at;
			auxt_position_plan(&ring);
			assert_false(auxt_position_full(&ring));
		}
	}
}

static void overwrite_stays_in_the_map_and_raises_few_pmis(void **state)
{
	srand(2);
	for (u64 size = 2 * PAGE; size <= 1024 * PAGE; size *= 2) {
		u64 laps = auxt_bts_laps(size, true);
		struct auxt_position ring = ring_of(size, 0, true);

		for (int i = 0; i < 20000; i++) {
			struct auxt_bts_plan plan;

			auxt_position_plan(&ring);
			plan = auxt_bts_plan(&ring, laps);
			must_be_records(&plan);
			assert_true(ring.produced % size + plan.space <= laps * size);
			assert_true(plan.threshold >= 64 << 10);
			/* At the first end of a lap from there on. */
			assert_true(plan.threshold < (64 << 10) + size + BTS_RECORD);
			assert_true((ring.produced + plan.threshold) % size < BTS_RECORD);
			if (!ring.produced)
				assert_int_equal(plan.threshold, roundup(max(size, 64ull << 10), BTS_RECORD));
			assert_true(plan.space - plan.threshold >= 255 << 10);
			ring.produced += (u64)rand() % (plan.space / BTS_RECORD + 1) * BTS_RECORD;
		}
	}
}

static void a_deadline_is_kept_by_a_page(void **state)
{
	struct auxt_position ring = ring_of(4 * PAGE, 0, true);

	for (u64 delay = 1; delay < 10 * PAGE; delay += 7) {
		struct auxt_bts_plan plan;

		ring.deadline = ring.produced + delay;
		auxt_position_plan(&ring);
		plan = auxt_bts_plan(&ring, auxt_bts_laps(ring.size, true));
		must_be_records(&plan);
		assert_true(plan.threshold < delay + PAGE + BTS_RECORD);
		ring.produced += BTS_RECORD;
	}
}

/* With less between two interrupts, the branches of one could raise the next until the deadline. */
static void a_deadline_that_is_far_raises_no_more_pmis(void **state)
{
	for (u64 size = 2 * PAGE; size <= 64 * PAGE; size *= 2) {
		struct auxt_position ring = ring_of(size, 0, true);

		ring.deadline = 1000 * PAGE;
		while (ring.produced < ring.deadline) {
			u64 left = ring.deadline - ring.produced;
			struct auxt_bts_plan plan;

			auxt_position_plan(&ring);
			plan = auxt_bts_plan(&ring, auxt_bts_laps(size, true));
			must_be_records(&plan);
			assert_true(plan.threshold >= min(left, 64ull << 10));
			assert_true(plan.threshold < left + PAGE + BTS_RECORD);
			ring.produced += plan.threshold / 3 / BTS_RECORD * BTS_RECORD + BTS_RECORD;
		}
	}
}

static void a_buffer_bounds_both_and_keeps_more_for_the_kernel(void **state)
{
	static const bool kernel[] = { false, true };

	for (u64 size = 2 * PAGE; size <= 4096 * PAGE; size *= 2) {
		for (unsigned int i = 0; i < 4; i++) {
			struct auxt_position ring = ring_of(size, i & 2 ? 0 : size / 2, i & 2);
			struct auxt_bts_plan plan = auxt_bts_plan(&ring, auxt_bts_laps(size, i & 2));
			struct auxt_bts_plan direct = plan;

			plan = auxt_bts_plan_buffered(plan, BUFFER, kernel[i & 1]);
			must_be_records(&plan);
			assert_true(plan.space <= BUFFER && plan.space <= direct.space);
			assert_true(plan.threshold <= direct.threshold);
			assert_true(plan.space - plan.threshold >= PAGE - 2 * BTS_RECORD);
			if (i & 1 && plan.space == BUFFER / BTS_RECORD * BTS_RECORD)
				assert_true(plan.space - plan.threshold >= BUFFER / 2);
		}
	}
}

/* 16 pages less one; less three quarters if the kernel is traced. */
static void a_buffer_alone_bounds_an_area_that_is_larger(void **state)
{
	const struct auxt_bts_plan large = { .threshold = BUFFER * 24, .space = BUFFER * 48 };
	struct auxt_bts_plan plan;

	plan = auxt_bts_plan_buffered(large, BUFFER, false);
	assert_int_equal(plan.threshold, 61440);
	assert_int_equal(plan.space, 65520);
	plan = auxt_bts_plan_buffered(large, BUFFER, true);
	assert_int_equal(plan.threshold, 16368);
	assert_int_equal(plan.space, 65520);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_margin_is_a_quarter_of_the_area_within_bounds),
		cmocka_unit_test(an_area_is_mapped_as_often_as_it_is_run_through),
		cmocka_unit_test(full_trace_never_reaches_what_is_unread),
		cmocka_unit_test(after_the_reader_has_read_all_it_can_start),
		cmocka_unit_test(overwrite_stays_in_the_map_and_raises_few_pmis),
		cmocka_unit_test(a_deadline_is_kept_by_a_page),
		cmocka_unit_test(a_deadline_that_is_far_raises_no_more_pmis),
		cmocka_unit_test(a_buffer_bounds_both_and_keeps_more_for_the_kernel),
		cmocka_unit_test(a_buffer_alone_bounds_an_area_that_is_larger),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
