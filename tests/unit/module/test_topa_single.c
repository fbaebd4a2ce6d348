// SPDX-License-Identifier: GPL-2.0-only
/* ToPA tables of one entry: which regions an area has, and which is next. */

#include <stdlib.h>
#include <string.h>
#include "cmocka_all.h"
#include "hw/topa_single.h"

#define PAGE	AUXT_PAGE_SIZE
#define MOST	4096ul

/* Page frames of an area. */
static u64 frame[MOST];
static u8 orders[MOST + 1];

static u64 phys(const void *area, unsigned long page)
{
	assert_ptr_equal(area, frame);
	assert_true(page < MOST);
	return frame[page] * PAGE;
}

static void find(unsigned long nr, unsigned long per_slot)
{
	memset(orders, 0xff, sizeof(orders));
	for (unsigned long page = 0, next; page < nr; page = next) {
		next = auxt_topa_single_find(orders, page, per_slot, phys, frame);
		assert_true(next > page && next <= nr);
	}
	assert_int_equal(orders[nr], 0xff);
}

/* May a region of this order contain @page? By the SDM's rules alone. */
static bool is_region(unsigned long page, unsigned int order, unsigned long per_slot)
{
	unsigned long count = 1ul << order, first = page & ~(count - 1);

	if (order > 15 || count > per_slot || frame[first] % count)
		return false;
	for (unsigned long i = 0; i < count; i++)
		if (frame[first + i] != frame[first] + i)
			return false;
	return true;
}

static void check(unsigned long nr, unsigned long per_slot)
{
	find(nr, per_slot);
	for (unsigned long page = 0; page < nr; page++) {
		assert_true(is_region(page, orders[page], per_slot));
		for (unsigned int larger = orders[page] + 1u; 1ul << larger <= per_slot; larger++)
			assert_false(is_region(page, larger, per_slot));
	}
}

/* As the allocator gives them: chunks of all orders, of which some happen to be neighbours. */
static void each_page_is_in_the_largest_region_that_there_is(void **state)
{
	srandom(1);
	for (int round = 0; round < 100; round++) {
		unsigned long nr = 2ul << random() % 12, slots = 1ul << random() % 4;
		unsigned long page = 0;
		u64 next = 1 << 20;

		while (page < nr) {
			unsigned long count = 1ul << random() % 11;

			if (random() % 4)
				next = (random() % (1 << 20) + (1 << 20)) & ~(count - 1);
			for (unsigned long i = 0; i < count && page < nr; i++)
				frame[page++] = next++;
		}
		check(nr, nr / slots ? nr / slots : 1);
	}
}

static void memory_in_one_piece_is_one_region_for_each_slot(void **state)
{
	for (unsigned long i = 0; i < MOST; i++)
		frame[i] = MOST + i;
	for (unsigned long per_slot = 2; per_slot <= MOST; per_slot *= 2) {
		check(MOST, per_slot);
		assert_int_equal(1ul << orders[0], per_slot);
	}
	/* One page further on, it is aligned to nothing. */
	for (unsigned long i = 0; i < MOST; i++)
		frame[i]++;
	check(MOST, MOST);
	for (unsigned long i = 0; i < MOST; i++)
		assert_int_equal(orders[i], 0);
}

/* The field of the entry has 4 bits. */
static u64 in_a_row(const void *area, unsigned long page)
{
	return page * PAGE;
}

static void no_region_is_larger_than_an_entry_can_say(void **state)
{
	unsigned long nr = 1ul << 17;
	u8 *all = malloc(nr);

	assert_non_null(all);
	assert_int_equal(auxt_topa_single_find(all, 0, nr, in_a_row, NULL), 1 << 15);
	assert_int_equal(all[0], 15);
	assert_int_equal(all[(1 << 15) - 1], 15);
	free(all);
}

static void the_table_is_what_the_sdm_asks_for(void **state)
{
	u64 table[512] = { 0 };
	struct auxt_topa_single single = { .table = table, .phys = 0x5000 };

	auxt_topa_single_link(&single);
	assert_int_equal(table[0], 0);
	assert_int_equal(table[1], 0x5001);
	/* Size in bits 9:6, STOP in bit 4, INT in bit 2. */
	assert_int_equal(auxt_topa_single_entry(0x123456000, 0), 0x123456014);
	assert_int_equal(auxt_topa_single_entry(0x128000000, 15), 0x1280003d4);
}

/* At any position, whatever the memory allows, and with any mark. */
static void a_region_ends_at_the_mark_or_before(void **state)
{
	for (u64 position = 0; position < 70 * PAGE; position += 1021)
		for (unsigned int largest = 0; largest < 8; largest++)
			for (u64 mark = auxt_page_down(position) + PAGE; mark < 80 * PAGE; mark += PAGE) {
				unsigned int order = auxt_topa_single_order(largest, position, mark);
				u64 end = (position | ((PAGE << order) - 1)) + 1;
				u64 twice = (position | ((2 * PAGE << order) - 1)) + 1;

				assert_true(order <= largest);
				assert_true(end > position && end <= mark);
				/* Not smaller than it need be. */
				assert_true(order == largest || twice > mark);
			}
}

static void what_is_left_of_a_page_is_filled_if_it_is_little(void **state)
{
	for (u64 position = 5 * PAGE; position <= 6 * PAGE; position++) {
		u64 rest = 6 * PAGE - position;

		assert_int_equal(auxt_topa_single_rest(position), rest <= 512 ? rest : 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_page_is_in_the_largest_region_that_there_is),
		cmocka_unit_test(memory_in_one_piece_is_one_region_for_each_slot),
		cmocka_unit_test(no_region_is_larger_than_an_entry_can_say),
		cmocka_unit_test(the_table_is_what_the_sdm_asks_for),
		cmocka_unit_test(a_region_ends_at_the_mark_or_before),
		cmocka_unit_test(what_is_left_of_a_page_is_filled_if_it_is_little),
	};

	return cmocka_run_group_tests_name("topa_single", tests, NULL, NULL);
}
