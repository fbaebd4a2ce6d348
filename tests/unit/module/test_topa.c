// SPDX-License-Identifier: GPL-2.0-only
/* ToPA: tables as the SDM lays them out, and the way from registers to offsets. */

#include <errno.h>
#include <stdlib.h>
#include "cmocka_all.h"
#include "core/position.h"
#include "hw/topa.h"

#define PAGE AUXT_PAGE_SIZE

/* Physical addresses that no table or region shares. */
static u64 table_phys(unsigned int table)
{
	return 0x100000000ull + table * PAGE;
}

static u64 region_phys(unsigned long region)
{
	return 0x200000000ull + region * 3 * PAGE;
}

static struct auxt_topa make_of(unsigned int order, unsigned long nr_regions)
{
	struct auxt_topa topa = {
		.order = order,
		.nr_regions = nr_regions,
		.nr_tables = auxt_topa_nr_tables(nr_regions),
	};

	topa.tables = calloc(topa.nr_tables, sizeof(*topa.tables));
	topa.phys = calloc(topa.nr_tables, sizeof(*topa.phys));
	assert_non_null(topa.tables);
	assert_non_null(topa.phys);
	for (unsigned int i = 0; i < topa.nr_tables; i++) {
		topa.tables[i] = calloc(TOPA_ENTRIES_PER_TABLE, sizeof(u64));
		assert_non_null(topa.tables[i]);
		topa.phys[i] = table_phys(i);
	}
	auxt_topa_link(&topa);
	for (unsigned long i = 0; i < nr_regions; i++)
		auxt_topa_set_region(&topa, i, region_phys(i));
	return topa;
}

static struct auxt_topa make(unsigned long nr_regions)
{
	return make_of(0, nr_regions);
}

static void unmake(struct auxt_topa *topa)
{
	for (unsigned int i = 0; i < topa->nr_tables; i++)
		free(topa->tables[i]);
	free(topa->tables);
	free(topa->phys);
}

static void tables_are_as_many_as_needed(void **state)
{
	assert_int_equal(auxt_topa_nr_tables(1), 1);
	assert_int_equal(auxt_topa_nr_tables(511), 1);
	assert_int_equal(auxt_topa_nr_tables(512), 2);
	assert_int_equal(auxt_topa_nr_tables(1022), 2);
	assert_int_equal(auxt_topa_nr_tables(1023), 3);
}

/* Full trace once through the area; overwrite twice or more, by whole laps. */
static void regions_are_laps_of_the_area(void **state)
{
	for (u64 size = 2 * PAGE; size <= 1ull << 40; size *= 2)
		for (unsigned int order = 0; PAGE << order < size && order <= TOPA_MOST_ORDER; order++) {
			unsigned long per_lap = size / (PAGE << order), laps;

			assert_int_equal(auxt_topa_nr_regions(size, order, false), per_lap);
			assert_int_equal(auxt_topa_nr_regions(size, order, true) % per_lap, 0);
			laps = auxt_topa_nr_regions(size, order, true) / per_lap;
			assert_true(laps >= 2);
			/* More than twice only as far as a table has space anyway. */
			assert_true(laps == 2 || laps * per_lap < TOPA_ENTRIES_PER_TABLE);
		}
	assert_int_equal(auxt_topa_nr_regions(2 * PAGE, 0, true), 510);
	assert_int_equal(auxt_topa_nr_regions(128 * PAGE, 0, true), 3 * 128);
	assert_int_equal(auxt_topa_nr_regions(256 * PAGE, 0, true), 512);
	/* A gigabyte, two laps: of pages, and of pieces of 2 MiB. */
	assert_int_equal(auxt_topa_nr_tables(auxt_topa_nr_regions(1 << 30, 0, true)), 1027);
	assert_int_equal(auxt_topa_nr_tables(auxt_topa_nr_regions(1 << 30, 9, true)), 3);
	assert_int_equal(auxt_topa_nr_tables(auxt_topa_nr_regions(1 << 30, 9, false)), 2);
}

/* Marks are at the ends of regions. Up to 128 GiB, one table suffices. */
static void a_region_is_a_page_or_a_small_part_of_the_area(void **state)
{
	for (u64 size = 2 * PAGE; size <= 1ull << 40; size *= 2)
		for (int overwrite = 0; overwrite < 2; overwrite++) {
			unsigned int order = auxt_topa_order(size, overwrite, ~0ull);
			unsigned long regions = auxt_topa_nr_regions(size, order, overwrite);

			assert_true(!order || PAGE << order <= size / (overwrite ? 128 : 256) ||
				    order == TOPA_MOST_ORDER);
			assert_true(order == TOPA_MOST_ORDER || auxt_topa_nr_tables(regions) == 1);
		}
	assert_int_equal(auxt_topa_order(256 * PAGE, false, ~0ull), 0);
	assert_int_equal(auxt_topa_order(512 * PAGE, false, ~0ull), 1);
	assert_int_equal(auxt_topa_order(128 * PAGE, true, ~0ull), 0);
	assert_int_equal(auxt_topa_order(256 * PAGE, true, ~0ull), 1);
	assert_int_equal(auxt_topa_order(1ull << 40, true, ~0ull), TOPA_MOST_ORDER);
	/* No larger than may be: a gigabyte would have 4 MiB. */
	assert_int_equal(auxt_topa_order(1 << 30, false, 1 << 22), 10);
	assert_int_equal(auxt_topa_order(1 << 30, false, (1 << 22) - 1), 9);
	assert_int_equal(auxt_topa_order(1 << 30, false, 3 * PAGE), 1);
	assert_int_equal(auxt_topa_order(1 << 30, false, PAGE), 0);
}

/* An area in pieces: of 2^@order pages, at distances of three times that, from a multiple of 2^@aligned pages on. */
struct pieces {
	unsigned int order, aligned;
	unsigned long odd;	/* this piece begins a page later */
};

static u64 piece_phys(const void *area, unsigned long page)
{
	const struct pieces *p = area;
	unsigned long piece = page >> p->order, in = page & ((1ul << p->order) - 1);

	return (((3 * piece + 8) << p->order) + in + (1ul << p->aligned) + (piece == p->odd)) * PAGE;
}

static void all_regions_are_contiguous_and_aligned(void **state)
{
	const unsigned int most = 6;
	const unsigned long pages = 1024;

	for (unsigned int order = 0; order <= 8; order++)
		for (unsigned int aligned = 0; aligned <= 8; aligned++) {
			struct pieces p = { order, aligned, -1ul };
			unsigned int least = min(order, aligned), want = min(least, most);

			assert_int_equal(auxt_topa_contiguous(most, 0, pages, piece_phys, &p), want);
			/* One that is not makes all of them small. */
			p.odd = (pages >> order) - 1;
			assert_int_equal(auxt_topa_contiguous(most, 0, pages, piece_phys, &p), 0);
			/* The part before it does not. */
			if (order < 8)
				assert_int_equal(auxt_topa_contiguous(most, 256, 512, piece_phys, &p), want);
		}
}

/* SDM, "ToPA Table Entry Fields": bits 9:6 say 4K, 8K and so on. */
static void an_entry_says_how_large_its_region_is(void **state)
{
	for (unsigned int order = 0; order <= TOPA_MOST_ORDER; order++) {
		struct auxt_topa topa = make_of(order, 600);
		u64 base, pointers, offset, at = (515ull << (12 + order)) + 7;

		auxt_topa_set_region(&topa, 3, 0x7f8000000ull);
		assert_int_equal(topa.tables[0][3], 0x7f8000000ull | order << 6);
		auxt_topa_pointers(&topa, at, &base, &pointers);
		assert_int_equal(base, table_phys(1));
		assert_int_equal(pointers, 7ull << 32 | 4 << 7 | 0x7f);
		assert_int_equal(auxt_topa_locate(&topa, base, pointers, &offset), 0);
		assert_int_equal(offset, at);
		/* The last byte of a region, its end, and beyond. */
		pointers = (PAGE << order) << 32 | 4 << 7 | 0x7f;
		assert_int_equal(auxt_topa_locate(&topa, base, pointers - (1ull << 32), &offset), 0);
		assert_int_equal(offset, (516ull << (12 + order)) - 1);
		assert_int_equal(auxt_topa_locate(&topa, base, pointers, &offset), 0);
		assert_int_equal(offset, 516ull << (12 + order));
		assert_int_equal(auxt_topa_locate(&topa, base, pointers + (1ull << 32), &offset), -EIO);
		unmake(&topa);
	}
}

/* A search right after the pointers were set finds them at once, however large the area. */
static void pointers_give_the_hint_for_the_next_search(void **state)
{
	struct auxt_topa topa = make(5000);
	u64 base, mask_ptrs, offset;

	for (unsigned long region = 0; region < 5000; region += 617) {
		auxt_topa_pointers(&topa, region * PAGE, &base, &mask_ptrs);
		assert_int_equal(topa.hint, region / TOPA_REGIONS_PER_TABLE);
		assert_int_equal(topa.phys[topa.hint], base);
		assert_int_equal(auxt_topa_locate(&topa, base, mask_ptrs, &offset), 0);
		assert_int_equal(offset, region * PAGE);
	}
	unmake(&topa);
}

/* As the hardware walks: entry after entry, through END entries. */
static void a_walk_meets_each_region_once_and_comes_back(void **state)
{
	static const unsigned long sizes[] = { 2, 16, 510, 511, 512, 1022, 1024, 4096 };

	for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
		struct auxt_topa topa = make(sizes[s]);
		unsigned int table = 0, index = 0;

		for (unsigned long i = 0; i < 2 * sizes[s]; i++) {
			u64 entry = topa.tables[table][index];

			if (entry & TOPA_ENTRY_END) {
				/* Never first in a table, and without other marks. */
				assert_int_not_equal(index, 0);
				assert_int_equal(entry & 0xffe, 0);
				for (table = 0; topa.phys[table] != (entry & ~0xfffull); table++)
					assert_true(table < topa.nr_tables);
				index = 0;
				entry = topa.tables[table][index];
			}
			assert_int_equal(entry, region_phys(i % sizes[s]));
			index++;
		}
		unmake(&topa);
	}
}

static void marks_are_set_and_taken_off_where_asked(void **state)
{
	struct auxt_topa topa = make(600);
	u64 *first, *second;

	first = auxt_topa_mark(&topa, 511, TOPA_ENTRY_INT);
	assert_ptr_equal(auxt_topa_mark(&topa, 511, TOPA_ENTRY_STOP), first);
	assert_int_equal(topa.tables[1][0], region_phys(511) | 0x14);
	second = auxt_topa_mark(&topa, 7, TOPA_ENTRY_INT);
	assert_int_equal(topa.tables[0][7], region_phys(7) | 0x4);
	auxt_topa_unmark(first);
	assert_int_equal(topa.tables[1][0], region_phys(511));
	auxt_topa_unmark(second);
	assert_int_equal(topa.tables[0][7], region_phys(7));
	unmake(&topa);
}

static void pointers_and_offsets_are_inverse(void **state)
{
	struct auxt_topa topa = make(1200);

	for (u64 offset = 0; offset < 1200 * PAGE; offset += 1021) {
		u64 base, mask_ptrs, back;

		auxt_topa_pointers(&topa, offset, &base, &mask_ptrs);
		/* SDM: bits 6:0 read as ones, 31:7 index, 63:32 offset in the region. */
		assert_int_equal(mask_ptrs & 0x7f, 0x7f);
		assert_int_equal(mask_ptrs >> 32, offset % PAGE);
		assert_int_equal(mask_ptrs >> 7 & 0x1ffffff, offset / PAGE % 511);
		assert_int_equal(base, table_phys((unsigned int)(offset / PAGE / 511)));
		assert_int_equal(auxt_topa_locate(&topa, base, mask_ptrs, &back), 0);
		assert_int_equal(back, offset);
	}
	unmake(&topa);
}

static u64 mask_ptrs(u64 index, u64 offset)
{
	return offset << 32 | index << 7 | 0x7f;
}

static void the_end_of_a_region_is_the_begin_of_the_next(void **state)
{
	struct auxt_topa topa = make(600);
	u64 offset;

	assert_int_equal(auxt_topa_locate(&topa, table_phys(0), mask_ptrs(3, PAGE), &offset), 0);
	assert_int_equal(offset, 4 * PAGE);
	/* On the END entries: of the first table, and of the last, which is short. */
	assert_int_equal(auxt_topa_locate(&topa, table_phys(0), mask_ptrs(511, 0), &offset), 0);
	assert_int_equal(offset, 511 * PAGE);
	assert_int_equal(auxt_topa_locate(&topa, table_phys(1), mask_ptrs(89, 0), &offset), 0);
	assert_int_equal(offset, 600 * PAGE);
	unmake(&topa);
}

static void pointers_into_nowhere_are_refused(void **state)
{
	struct auxt_topa topa = make(600);
	u64 offset = 42;

	assert_int_equal(auxt_topa_locate(&topa, 0, mask_ptrs(0, 0), &offset), -EIO);
	assert_int_equal(auxt_topa_locate(&topa, table_phys(2), mask_ptrs(0, 0), &offset), -EIO);
	assert_int_equal(auxt_topa_locate(&topa, table_phys(1), mask_ptrs(90, 0), &offset), -EIO);
	assert_int_equal(auxt_topa_locate(&topa, table_phys(1), mask_ptrs(89, 1), &offset), -EIO);
	assert_int_equal(auxt_topa_locate(&topa, table_phys(0), mask_ptrs(0, PAGE + 1), &offset),
			 -EIO);
	assert_int_equal(offset, 42);
	/* The next valid pointer is found whatever the hint was. */
	assert_int_equal(auxt_topa_locate(&topa, table_phys(1), mask_ptrs(0, 5), &offset), 0);
	assert_int_equal(auxt_topa_locate(&topa, table_phys(0), mask_ptrs(0, 5), &offset), 0);
	assert_int_equal(offset, 5);
	unmake(&topa);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables_are_as_many_as_needed),
		cmocka_unit_test(regions_are_laps_of_the_area),
		cmocka_unit_test(a_region_is_a_page_or_a_small_part_of_the_area),
		cmocka_unit_test(all_regions_are_contiguous_and_aligned),
		cmocka_unit_test(an_entry_says_how_large_its_region_is),
		cmocka_unit_test(pointers_give_the_hint_for_the_next_search),
		cmocka_unit_test(a_walk_meets_each_region_once_and_comes_back),
		cmocka_unit_test(marks_are_set_and_taken_off_where_asked),
		cmocka_unit_test(pointers_and_offsets_are_inverse),
		cmocka_unit_test(the_end_of_a_region_is_the_begin_of_the_next),
		cmocka_unit_test(pointers_into_nowhere_are_refused),
	};

	return cmocka_run_group_tests_name("topa", tests, NULL, NULL);
}
