// SPDX-License-Identifier: GPL-2.0-only
/* Positions: how far the hardware is, what the reader has taken, where to stop. */

#include <stdlib.h>
#include "cmocka_all.h"
#include "core/position.h"

void shim_point(void)
{
}

#define PAGE AUXT_PAGE_SIZE

static struct auxt_position full_trace(u64 pages, u64 watermark)
{
	struct auxt_position ring;

	auxt_position_init(&ring, pages * PAGE, pages * PAGE, watermark, false);
	return ring;
}

static struct auxt_position overwrite(u64 pages, u64 laps)
{
	struct auxt_position ring;

	auxt_position_init(&ring, pages * PAGE, pages * PAGE * laps, 0, true);
	return ring;
}

static void advance(struct auxt_position *ring, u64 offset)
{
	ring->produced = auxt_position_at(ring, offset);
	auxt_position_plan(ring);
}

static void an_empty_ring_is_not_full_and_has_nothing(void **state)
{
	struct auxt_position ring = full_trace(2, PAGE);

	assert_false(auxt_position_full(&ring));
	assert_int_equal(auxt_position_available(&ring), 0);
	assert_int_equal(auxt_position_overwritten(&ring), 0);
	assert_int_equal(ring.stop_mark, 2 * PAGE);
}

static void a_position_goes_on_over_the_end_of_the_cycle(void **state)
{
	struct auxt_position ring = overwrite(4, 2);

	advance(&ring, 5 * PAGE + 7);
	assert_int_equal(ring.produced, 5 * PAGE + 7);
	advance(&ring, 3);
	assert_int_equal(ring.produced, 8 * PAGE + 3);
	advance(&ring, 3);
	assert_int_equal(ring.produced, 8 * PAGE + 3);
	/* At the very end, the pointer may still stand behind the last region. */
	advance(&ring, 8 * PAGE);
	assert_int_equal(ring.produced, 16 * PAGE);
	advance(&ring, 0);
	assert_int_equal(ring.produced, 16 * PAGE);
}

static void overwritten_is_what_no_longer_fits(void **state)
{
	struct auxt_position ring = overwrite(4, 2);

	advance(&ring, 4 * PAGE);
	assert_int_equal(auxt_position_overwritten(&ring), 0);
	assert_int_equal(auxt_position_available(&ring), 4 * PAGE);
	advance(&ring, 4 * PAGE + 1);
	assert_int_equal(auxt_position_overwritten(&ring), 1);
	assert_int_equal(auxt_position_available(&ring), 4 * PAGE);
}

static void overwrite_is_never_full_and_has_an_int_mark_at_each_lap(void **state)
{
	struct auxt_position ring = overwrite(4, 2);

	assert_int_equal(ring.int_mark, 4 * PAGE);
	advance(&ring, 4 * PAGE - 1);
	assert_int_equal(ring.int_mark, 4 * PAGE);
	advance(&ring, 4 * PAGE);
	assert_int_equal(ring.int_mark, 8 * PAGE);
	assert_false(auxt_position_full(&ring));
}

static void full_trace_keeps_off_the_page_of_the_first_unread_byte(void **state)
{
	struct auxt_position ring = full_trace(8, 4 * PAGE);

	advance(&ring, 2 * PAGE);
	assert_true(auxt_position_take_tail(&ring, PAGE - 1));
	auxt_position_plan(&ring);
	assert_int_equal(ring.stop_mark, 8 * PAGE);
	assert_true(auxt_position_take_tail(&ring, PAGE));
	auxt_position_plan(&ring);
	assert_int_equal(ring.stop_mark, 9 * PAGE);
}

static void full_trace_has_its_int_mark_at_the_watermark_then_a_page_before_the_stop(void **state)
{
	struct auxt_position ring = full_trace(8, 4 * PAGE);

	assert_int_equal(ring.int_mark, 4 * PAGE);
	advance(&ring, 4 * PAGE - 1);
	assert_int_equal(ring.int_mark, 4 * PAGE);
	advance(&ring, 4 * PAGE);
	assert_int_equal(ring.int_mark, 7 * PAGE);
	assert_true(auxt_position_take_tail(&ring, 100));
	auxt_position_plan(&ring);
	/* 100 + watermark ends within page 5. */
	assert_int_equal(ring.int_mark, 5 * PAGE);
}

static void a_watermark_beyond_the_last_int_mark_is_the_last_int_mark(void **state)
{
	struct auxt_position ring = full_trace(8, 7 * PAGE);

	assert_int_equal(ring.int_mark, 7 * PAGE);
	ring = full_trace(2, PAGE);
	assert_int_equal(ring.int_mark, PAGE);
}

static void full_is_when_only_the_page_for_late_pmis_is_left(void **state)
{
	struct auxt_position ring = full_trace(8, 4 * PAGE);

	advance(&ring, 7 * PAGE - 1);
	assert_false(auxt_position_full(&ring));
	advance(&ring, 7 * PAGE);
	assert_true(auxt_position_full(&ring));
}

static void a_reader_that_has_read_everything_leaves_space(void **state)
{
	for (u64 produced = 0; produced <= 4 * PAGE; produced++) {
		struct auxt_position ring = full_trace(2, PAGE);

		ring.produced = produced;
		ring.consumed = produced;
		auxt_position_plan(&ring);
		assert_false(auxt_position_full(&ring));
		assert_true(ring.int_mark > produced);
		assert_true(ring.int_mark <= ring.stop_mark);
		assert_true(ring.stop_mark <= produced + ring.size);
	}
}

static void a_tail_that_goes_back_or_ahead_is_counted_once_and_ignored(void **state)
{
	struct auxt_position ring = full_trace(8, 4 * PAGE);

	advance(&ring, 1000);
	assert_false(auxt_position_is_new_tail(&ring, 0));
	assert_true(auxt_position_is_new_tail(&ring, 500));
	assert_true(auxt_position_take_tail(&ring, 500));
	assert_int_equal(ring.consumed, 500);

	assert_true(auxt_position_is_new_tail(&ring, 499));
	assert_false(auxt_position_take_tail(&ring, 499));
	assert_false(auxt_position_take_tail(&ring, 499));
	assert_false(auxt_position_is_new_tail(&ring, 499));
	assert_int_equal(ring.bad_tails, 1);
	assert_false(auxt_position_take_tail(&ring, 1001));
	assert_false(auxt_position_take_tail(&ring, UINT64_MAX));
	assert_false(auxt_position_take_tail(&ring, 0));
	assert_int_equal(ring.bad_tails, 4);
	assert_int_equal(ring.consumed, 500);
	assert_true(auxt_position_take_tail(&ring, 1000));
	assert_int_equal(ring.bad_tails, 4);
}

static void a_tail_that_was_ahead_counts_once_the_data_has_come(void **state)
{
	struct auxt_position ring = full_trace(8, 4 * PAGE);

	advance(&ring, 10);
	assert_false(auxt_position_take_tail(&ring, 20));
	advance(&ring, 30);
	assert_true(auxt_position_is_new_tail(&ring, 20));
	assert_true(auxt_position_take_tail(&ring, 20));
}

static void oldest_is_where_what_a_reader_finds_begins(void **state)
{
	struct auxt_position ring = full_trace(8, 4 * PAGE);

	advance(&ring, 3 * PAGE);
	assert_true(auxt_position_take_tail(&ring, PAGE + 1));
	assert_int_equal(auxt_position_oldest(&ring), PAGE + 1);

	ring = overwrite(4, 2);
	assert_int_equal(auxt_position_oldest(&ring), 0);
	advance(&ring, 4 * PAGE);
	assert_int_equal(auxt_position_oldest(&ring), 0);
	advance(&ring, 4 * PAGE + 1);
	assert_int_equal(auxt_position_oldest(&ring), 1);
}

/* What a SAMPLE can have: not the bytes of a retained slot, but those that were read. */
static void oldest_in_memory_is_what_the_hardware_has_not_replaced(void **state)
{
	struct auxt_position ring = overwrite(4, 2);

	assert_int_equal(auxt_position_oldest_in_memory(&ring), 0);
	advance(&ring, 4 * PAGE + 9);
	assert_int_equal(auxt_position_oldest_in_memory(&ring), 9);
	auxt_position_retain(&ring);
	assert_int_equal(auxt_position_oldest_in_memory(&ring), ring.begin);
	advance(&ring, 4 * PAGE + 19);
	assert_int_equal(auxt_position_oldest_in_memory(&ring), ring.begin);

	ring = full_trace(8, 4 * PAGE);
	advance(&ring, 7 * PAGE);
	assert_true(auxt_position_take_tail(&ring, 7 * PAGE));
	assert_int_equal(auxt_position_oldest_in_memory(&ring), 0);
	auxt_position_plan(&ring);
	ring.produced = 8 * PAGE;
	assert_int_equal(auxt_position_oldest_in_memory(&ring), 0);
	ring.produced = 8 * PAGE + 1;
	assert_int_equal(auxt_position_oldest_in_memory(&ring), 1);
}

static void a_retained_slot_is_consumed_and_the_next_one_empty(void **state)
{
	struct auxt_position ring = overwrite(4, 2);

	/* Less than a slot. */
	advance(&ring, PAGE + 5);
	auxt_position_retain(&ring);
	assert_int_equal(ring.consumed, PAGE + 5);
	assert_int_equal(auxt_position_overwritten(&ring), 0);
	assert_int_equal(auxt_position_available(&ring), 0);
	assert_int_equal(auxt_position_oldest(&ring), PAGE + 5);

	/* Positions count on, and the slot wraps where they do: it is full from its begin on. */
	advance(&ring, 5 * PAGE + 5);
	assert_int_equal(ring.produced, 5 * PAGE + 5);
	assert_int_equal(auxt_position_overwritten(&ring), 0);
	assert_int_equal(auxt_position_available(&ring), 4 * PAGE);
	advance(&ring, 5 * PAGE + 7);
	assert_int_equal(auxt_position_overwritten(&ring), 2);
	assert_int_equal(auxt_position_available(&ring), 4 * PAGE);
	assert_int_equal(auxt_position_oldest(&ring), PAGE + 7);

	/* More than a slot: overwritten bytes stay counted as overwritten. */
	auxt_position_retain(&ring);
	assert_int_equal(ring.consumed, 5 * PAGE + 5);
	assert_int_equal(auxt_position_overwritten(&ring), 2);
	assert_int_equal(ring.begin, 5 * PAGE + 7);

	/* Nothing at all. */
	auxt_position_retain(&ring);
	assert_int_equal(ring.consumed, 5 * PAGE + 5);
	assert_int_equal(auxt_position_overwritten(&ring), 2);
	assert_int_equal(auxt_position_available(&ring), 0);
}

/* Each byte has a place: in a retained slot, in the present one, or it was replaced. */
static void slots_at_random_account_for_each_byte(void **state)
{
	struct auxt_position ring = overwrite(4, 8);
	u64 truth = 0, begin = 0, aside = 0, gone = 0;

	srand(2);
	for (int i = 0; i < 100000; i++) {
		truth += (u64)rand() % (6 * PAGE);
		advance(&ring, truth % ring.cycle);
		assert_int_equal(ring.produced, truth);
		if (!(rand() % 3)) {
			u64 held = truth - begin < ring.size ? truth - begin : ring.size;

			assert_int_equal(auxt_position_oldest(&ring), truth - held);
			auxt_position_retain(&ring);
			aside += held;
			gone += truth - begin - held;
			begin = truth;
			assert_int_equal(auxt_position_overwritten(&ring), gone);
		}
		assert_int_equal(ring.consumed, aside);
		assert_true(auxt_position_oldest(&ring) >= begin);
		assert_true(auxt_position_available(&ring) <= ring.size);
		assert_int_equal(ring.produced, ring.consumed + auxt_position_available(&ring) +
				 auxt_position_overwritten(&ring));
	}
	assert_true(aside && gone);
}

/* A hardware that runs and a reader that reads, at random: nothing is lost unseen. */
static void produced_is_consumed_available_and_overwritten(void **state)
{
	srand(1);
	for (int mode = 0; mode < 2; mode++) {
		struct auxt_position ring = mode ? overwrite(4, 8) : full_trace(4, 2 * PAGE);
		u64 truth = 0;

		for (int i = 0; i < 100000; i++) {
			u64 room = mode ? ring.cycle - 1 : ring.stop_mark - ring.produced;
			u64 step = (u64)rand() % (3 * PAGE);

			truth += step < room ? step : room;
			if (!mode && truth == ring.stop_mark)
				ring.produced = ring.stop_mark;	/* Stopped says so */
			else
				ring.produced = auxt_position_at(&ring, truth % ring.cycle);
			assert_int_equal(ring.produced, truth);
			if (!mode)
				auxt_position_take_tail(&ring, ring.consumed +
					(u64)rand() % (ring.produced - ring.consumed + 1));
			auxt_position_plan(&ring);
			assert_int_equal(ring.produced, ring.consumed +
					 auxt_position_available(&ring) +
					 auxt_position_overwritten(&ring));
			assert_true(auxt_position_available(&ring) <= ring.size);
			if (mode)
				continue;
			assert_true(ring.stop_mark >= ring.produced);
			assert_true(ring.stop_mark <= ring.consumed + ring.size);
			assert_true(auxt_position_full(&ring) || ring.int_mark > ring.produced);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_empty_ring_is_not_full_and_has_nothing),
		cmocka_unit_test(a_position_goes_on_over_the_end_of_the_cycle),
		cmocka_unit_test(overwritten_is_what_no_longer_fits),
		cmocka_unit_test(overwrite_is_never_full_and_has_an_int_mark_at_each_lap),
		cmocka_unit_test(full_trace_keeps_off_the_page_of_the_first_unread_byte),
		cmocka_unit_test(full_trace_has_its_int_mark_at_the_watermark_then_a_page_before_the_stop),
		cmocka_unit_test(a_watermark_beyond_the_last_int_mark_is_the_last_int_mark),
		cmocka_unit_test(full_is_when_only_the_page_for_late_pmis_is_left),
		cmocka_unit_test(a_reader_that_has_read_everything_leaves_space),
		cmocka_unit_test(a_tail_that_goes_back_or_ahead_is_counted_once_and_ignored),
		cmocka_unit_test(a_tail_that_was_ahead_counts_once_the_data_has_come),
		cmocka_unit_test(oldest_is_where_what_a_reader_finds_begins),
		cmocka_unit_test(oldest_in_memory_is_what_the_hardware_has_not_replaced),
		cmocka_unit_test(a_retained_slot_is_consumed_and_the_next_one_empty),
		cmocka_unit_test(slots_at_random_account_for_each_byte),
		cmocka_unit_test(produced_is_consumed_available_and_overwritten),
	};

	return cmocka_run_group_tests_name("position", tests, NULL, NULL);
}
