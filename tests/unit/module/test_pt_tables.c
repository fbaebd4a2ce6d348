// SPDX-License-Identifier: GPL-2.0-only
/* The ToPA tables of a channel: what they say of an AUX area, whatever its memory is. */

#include <stdlib.h>
#include <string.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include "cmocka_all.h"
#include "base/aux_buffer.h"
#include "core/channel.h"
#include "hw/pt_tables.h"

#define PAGE		AUXT_PAGE_SIZE
#define MOST		(1ul << 18)	/* pages: 1 GiB */
#define TABLE_FRAME	(1ull << 40)	/* table pages are far from those of the area */

struct page {
	u64 frame;
	u64 *memory;
};

struct task_struct shim_task;
static struct page aux[MOST];
static struct auxt_channel ch;

/* Table pages that were allocated and not freed. */
static struct page *table_pages[MOST / 256];
static unsigned int nr_held;
/* The how-many-th time from now on a fatal signal is seen; 0: there is none. */
static unsigned int signal_at;

/* ---- what is called of the kernel and of base/ --------------------------- */

struct page *alloc_pages_node(int node, unsigned int gfp, unsigned int order)
{
	struct page *page;

	assert_int_equal(order, 0);
	if (shim_alloc_fails())
		return NULL;
	assert_true(nr_held < sizeof(table_pages) / sizeof(table_pages[0]));
	page = malloc(sizeof(*page));
	assert_non_null(page);
	page->frame = TABLE_FRAME + nr_held;
	page->memory = calloc(1, PAGE);
	assert_non_null(page->memory);
	table_pages[nr_held++] = page;
	return page;
}

void free_page(unsigned long address)
{
	if (!address)
		return;
	for (unsigned int i = 0; i < nr_held; i++) {
		struct page *page = table_pages[i];

		if (page->memory != (u64 *)address)
			continue;
		free(page->memory);
		free(page);
		table_pages[i] = table_pages[--nr_held];
		return;
	}
	fail_msg("a page is freed that nobody holds");
}

void *page_address(const struct page *page)
{
	return page->memory;
}

u64 page_to_phys(const struct page *page)
{
	return page->frame * PAGE;
}

bool fatal_signal_pending(const void *task)
{
	assert_ptr_equal(task, &shim_task);
	return signal_at && !--signal_at;
}

void *auxt_session_calloc(size_t n, size_t size)
{
	return shim_alloc_fails() ? NULL : calloc(n, size);
}

struct page *auxt_aux_buffer_aux_page(struct auxt_aux_buffer *buffer, int cpu, unsigned long n)
{
	assert_true(n < MOST);
	assert_int_equal(cpu, ch.cpu);
	return &aux[n];
}

/* ---- areas ---------------------------------------------------------------- */

static u64 random_below(u64 most)
{
	return (u64)random() % most;
}

/* Memory of @nr pages as the allocator gives it: aligned chunks of up to 2^@order pages, some of them neighbours. */
static void scatter(unsigned long nr, unsigned int order)
{
	unsigned long page = 0;
	u64 next = 1 << 20;

	while (page < nr) {
		u64 count = 1ull << random_below(order + 1);

		if (random_below(4))
			next = random_below(1 << 24) + (1 << 20);
		next = (next + count - 1) & ~(count - 1);
		for (u64 i = 0; i < count && page < nr; i++)
			aux[page++].frame = next++;
	}
}

/* Chunks of 2^@order pages, none of them beside another. */
static void scatter_evenly(unsigned long nr, unsigned int order)
{
	for (unsigned long page = 0; page < nr; page++)
		aux[page].frame = ((2 * (page >> order) + 1) << order) + page % (1ul << order);
}

/* An area of @slots slots of @per_slot pages; @watermark in pages, if it is a full trace. */
static void area(unsigned long per_slot, u32 slots, bool overwrite, unsigned long watermark)
{
	memset(&ch, 0, sizeof(ch));
	ch.cpu = 3;
	ch.now.slots = slots;
	ch.aux.size = per_slot * PAGE;
	ch.aux.overwrite = overwrite;
	ch.aux.watermark = watermark * PAGE;
	assert_int_equal(nr_held, 0);
}

static struct auxtrace_setup setup_of_area(void)
{
	struct auxtrace_setup setup = {
		.aux_size = ch.aux.size * ch.now.slots,
		.slots = ch.now.slots == 1 ? 0 : ch.now.slots,
		.flags = ch.aux.overwrite ? AUXTRACE_SETUP_OVERWRITE : 0,
	};

	return setup;
}

/* Is each aligned part of @count pages of the area contiguous, and its address a multiple of its size? */
static bool is_in_pieces_of(unsigned long count)
{
	unsigned long nr = ch.aux.size / PAGE * ch.now.slots;

	for (unsigned long page = 0; page < nr; page++)
		if (aux[page].frame != aux[page - page % count].frame + page % count ||
		    (page % count == 0 && aux[page].frame % count))
			return false;
	return true;
}

/* "DOC: regions of Intel PT" in the uapi header, in pages. */
static unsigned long region_of_header(void)
{
	unsigned long per_slot = ch.aux.size / PAGE, most = per_slot / (ch.aux.overwrite ? 128 : 256);
	unsigned long count = 1;

	if (!ch.aux.overwrite && most > ch.aux.watermark / PAGE)
		most = ch.aux.watermark / PAGE;
	if (most > 1 << 15)
		most = 1 << 15;
	while (2 * count <= most && is_in_pieces_of(2 * count))
		count *= 2;
	return count;
}

/* The entry that is at @index of the ring of tables which begins at @table, as the hardware would read it. */
static u64 entry_at(const struct auxt_topa *topa, unsigned long index)
{
	const u64 *table = topa->tables[0];

	for (;;) {
		unsigned long i;

		for (i = 0; !(table[i] & TOPA_ENTRY_END); i++)
			if (!index--)
				return table[i];
		for (unsigned int held = 0; held < nr_held; held++)
			if ((table_pages[held]->frame * PAGE | TOPA_ENTRY_END) == table[i]) {
				table = table_pages[held]->memory;
				break;
			}
	}
}

static unsigned int log2_of(unsigned long count)
{
	return __builtin_ctzl(count);
}

static void tables_are_right(const struct auxt_topa *topa)
{
	unsigned long per_slot = ch.aux.size / PAGE, count = region_of_header();
	unsigned long per_lap = per_slot / count;

	assert_int_equal(ch.aux.region, count * PAGE);
	assert_int_equal(ch.aux.margin, ch.aux.region);
	assert_int_equal(ch.aux.cycle % ch.aux.size, 0);
	assert_true(ch.aux.cycle >= (ch.aux.overwrite ? 2 : 1) * ch.aux.size);
	for (u32 slot = 0; slot < ch.now.slots; slot++) {
		unsigned long nr = ch.aux.cycle / ch.aux.region;

		assert_int_equal(topa[slot].nr_regions, nr);
		/* The one behind the last is the first. */
		for (unsigned long i = 0; i <= nr; i++) {
			unsigned long page = slot * per_slot + i % per_lap * count;
			bool marked = ch.aux.overwrite && i % per_lap == per_lap - 1;

			assert_int_equal(entry_at(&topa[slot], i), aux[page].frame * PAGE |
					 (u64)log2_of(count) << 6 | (marked ? TOPA_ENTRY_INT : 0));
		}
	}
}

/* ---- the tables of a ring ------------------------------------------------ */

static void check_area(void)
{
	struct auxtrace_setup setup = setup_of_area();
	struct auxt_topa *topa = auxt_pt_tables_new(&ch);

	assert_false(IS_ERR(topa));
	tables_are_right(topa);
	assert_true(nr_held < auxt_pt_tables_pages(&setup));
	auxt_pt_tables_free(topa, ch.now.slots, false);
	assert_int_equal(nr_held, 0);
}

static void the_tables_of_each_slot_are_its_pages_in_regions_as_large_as_the_header_says(void **state)
{
	srandom(1);
	for (int round = 0; round < 300; round++) {
		unsigned long per_slot = 2ul << random_below(12);
		bool overwrite = random_below(2);
		u32 slots = overwrite ? 1u << random_below(4) : 1;
		unsigned long watermark = random_below(2) ? per_slot / 2 : 1 + per_slot / 512;

		area(per_slot, slots, overwrite, watermark);
		if (random_below(2))
			scatter(per_slot * slots, random_below(12));
		else
			scatter_evenly(per_slot * slots, random_below(12));
		check_area();
	}
}

static void one_slot_in_small_pieces_makes_all_regions_small(void **state)
{
	area(4096, 4, true, 0);
	scatter_evenly(4 * 4096, 9);
	check_area();
	assert_int_equal(ch.aux.region, 32 * PAGE);
	aux[3 * 4096 + 5].frame += 1ul << 30;
	check_area();
	assert_int_equal(ch.aux.region, PAGE);
}

static void a_gibibyte_in_pieces_of_2_mib_has_few_tables(void **state)
{
	for (int overwrite = 0; overwrite <= 1; overwrite++) {
		struct auxt_topa *topa;

		area(MOST, 1, overwrite, MOST / 2);
		scatter_evenly(MOST, 9);
		topa = auxt_pt_tables_new(&ch);
		assert_false(IS_ERR(topa));
		assert_int_equal(ch.aux.region, 2 << 20);
		assert_int_equal(nr_held, overwrite ? 3 : 2);
		auxt_pt_tables_free(topa, 1, false);
	}
}

static void the_charge_covers_tables_of_single_pages(void **state)
{
	for (unsigned long per_slot = 2; per_slot <= 8192; per_slot *= 2)
		for (u32 slots = 1; slots <= 4; slots *= 2) {
			struct auxtrace_setup setup;
			struct auxt_topa *topa;

			area(per_slot, slots, true, 0);
			setup = setup_of_area();
			scatter_evenly(per_slot * slots, 0);
			topa = auxt_pt_tables_new(&ch);
			assert_false(IS_ERR(topa));
			/* Of each table there are two addresses as well, in whole pages. */
			assert_int_equal(auxt_pt_tables_pages(&setup), nr_held + (nr_held * 16 + PAGE - 1) / PAGE);
			auxt_pt_tables_free(topa, slots, false);
		}
}

/* ---- failures -------------------------------------------------------------- */

/* Lets the first, second, ... of @which fail, until none is left. Returns how many there were. */
static unsigned int fail_each(unsigned int *which, int err)
{
	for (unsigned int n = 1;; n++) {
		struct auxt_topa *topa;

		*which = n;
		topa = auxt_pt_tables_new(&ch);
		if (*which) {
			*which = 0;
			assert_false(IS_ERR(topa));
			auxt_pt_tables_free(topa, ch.now.slots, false);
			return n - 1;
		}
		assert_true(IS_ERR(topa));
		assert_int_equal(PTR_ERR(topa), err);
		assert_int_equal(nr_held, 0);
	}
}

static void without_memory_nothing_is_left_behind(void **state)
{
	area(512, 4, true, 0);
	scatter_evenly(4 * 512, 0);
	/* One for all slots; for each slot two arrays and three tables. */
	assert_int_equal(fail_each(&shim_fail_alloc, -ENOMEM), 1 + 4 * (2 + 3));
}

static void a_fatal_signal_ends_it_and_leaves_nothing_behind(void **state)
{
	area(512, 4, true, 0);
	scatter_evenly(4 * 512, 0);
	/* It is looked for before each table and, in a small area, once while the order is found. */
	assert_int_equal(fail_each(&signal_at, -EINTR), 1 + 4 * 3);
	/* In a large one, once for each 128 MiB. */
	area(MOST, 1, true, 0);
	scatter_evenly(MOST, 9);
	assert_int_equal(fail_each(&signal_at, -EINTR), 8 + 3);
}

/* If the hardware could not be turned off, it may go on to read its tables. */
static void tables_that_are_kept_stay_as_they_are(void **state)
{
	struct auxt_topa *topa;
	u64 before[3][512];

	area(512, 1, true, 0);
	scatter_evenly(512, 0);
	topa = auxt_pt_tables_new(&ch);
	assert_false(IS_ERR(topa));
	assert_int_equal(nr_held, 3);
	for (int i = 0; i < 3; i++)
		memcpy(before[i], table_pages[i]->memory, PAGE);
	auxt_pt_tables_free(topa, 1, true);
	assert_int_equal(nr_held, 3);
	for (int i = 0; i < 3; i++)
		assert_memory_equal(before[i], table_pages[i]->memory, PAGE);
	while (nr_held)
		free_page((unsigned long)table_pages[0]->memory);
}

/* ---- tables of one entry ------------------------------------------------- */

static void a_table_of_one_entry_knows_the_region_of_each_page(void **state)
{
	struct auxtrace_setup setup;
	struct auxt_topa_single *single;
	u8 orders[4 * 1024];

	area(1024, 4, true, 0);
	setup = setup_of_area();
	srandom(2);
	scatter(4 * 1024, 9);
	single = auxt_pt_single_new(&ch);
	assert_false(IS_ERR(single));
	assert_int_equal(nr_held, 1);
	assert_int_equal(auxt_pt_single_pages(&setup), 1 + 1);
	assert_ptr_equal(single->table, table_pages[0]->memory);
	assert_int_equal(single->phys, table_pages[0]->frame * PAGE);
	assert_int_equal(single->table[1], single->phys | TOPA_ENTRY_END);
	assert_int_equal(ch.aux.cycle, ch.aux.size);
	for (unsigned long page = 0; page < 4 * 1024;)
		page = auxt_topa_single_find(orders, page, 1024, auxt_pt_page_phys, &ch);
	assert_memory_equal(single->orders, orders, sizeof(orders));
	auxt_pt_single_free(single, true);
	assert_int_equal(nr_held, 1);
	free_page((unsigned long)table_pages[0]->memory);
}

static void fail_each_single(unsigned int *which, int err, unsigned int expected)
{
	for (unsigned int n = 1; n <= expected; n++) {
		struct auxt_topa_single *single;

		*which = n;
		single = auxt_pt_single_new(&ch);
		assert_int_equal(*which, 0);
		assert_true(IS_ERR(single));
		assert_int_equal(PTR_ERR(single), err);
		assert_int_equal(nr_held, 0);
	}
}

static void a_failure_of_one_entry_leaves_nothing_behind(void **state)
{
	area(16, 1, true, 0);
	scatter_evenly(16, 0);
	fail_each_single(&shim_fail_alloc, -ENOMEM, 3);
	fail_each_single(&signal_at, -EINTR, 16);
}

static void the_rest_of_a_page_becomes_pad_packets(void **state)
{
	static u64 memory[512];
	const char *bytes = (const char *)memory;

	area(16, 1, true, 0);
	memset(memory, 0xff, sizeof(memory));
	aux[7].memory = memory;
	auxt_pt_single_clear(&ch, 7, PAGE - 3);
	assert_int_equal(bytes[PAGE - 4], (char)0xff);
	for (unsigned int i = PAGE - 3; i < PAGE; i++)
		assert_int_equal(bytes[i], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tables_of_each_slot_are_its_pages_in_regions_as_large_as_the_header_says),
		cmocka_unit_test(one_slot_in_small_pieces_makes_all_regions_small),
		cmocka_unit_test(a_gibibyte_in_pieces_of_2_mib_has_few_tables),
		cmocka_unit_test(the_charge_covers_tables_of_single_pages),
		cmocka_unit_test(without_memory_nothing_is_left_behind),
		cmocka_unit_test(a_fatal_signal_ends_it_and_leaves_nothing_behind),
		cmocka_unit_test(tables_that_are_kept_stay_as_they_are),
		cmocka_unit_test(a_table_of_one_entry_knows_the_region_of_each_page),
		cmocka_unit_test(a_failure_of_one_entry_leaves_nothing_behind),
		cmocka_unit_test(the_rest_of_a_page_becomes_pad_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
