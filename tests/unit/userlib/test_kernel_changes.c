// SPDX-License-Identifier: GPL-2.0-only
#include "kernel_case.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "userlib/kernel_code.h"

static void what_changes_in_the_kernels_code_is_noted(void **state)
{
	struct auxtrace_recording *rec = kernel_recording();
	struct auxtrace_totals totals;

	(void)state;
	/* In one page: an instruction that shares bytes with the one before, and one of its own. */
	patch(TEXT + 0x1010, "\xe8\0\0\0\x12", 5);
	patch(TEXT + 0x1024, "\x90", 1);
	/* A run goes on after four equal bytes, not after five. */
	patch(TEXT + 0x1040, "\1\0\0\0\0\2", 6);
	patch(TEXT + 0x1060, "\1\0\0\0\0\0\2", 7);
	/* The last byte of a page and the first of the next; page 3 begins with its mark, 03. */
	patch(TEXT + 0x2fff, "\xcc\xcc", 2);
	patch(MODULES + 0x1ffe, "\xeb\xfe", 2);
	/* Data: not code. */
	patch(MODULES + 0x2100, "data", 4);
	assert_int_equal(auxtrace_recording_finish(rec, &totals), 0);
	expect_changes("kcore.changes",
		       "patched 0xffffffff81001010 0000000000 e800000012\n"
		       "patched 0xffffffff81001024 00 90\n"
		       "patched 0xffffffff81001040 000000000000 010000000002\n"
		       "patched 0xffffffff81001060 00 01\n"
		       "patched 0xffffffff81001066 00 02\n"
		       "patched 0xffffffff81002fff 00 cc\n"
		       "patched 0xffffffff81003000 03 cc\n"
		       "patched 0xffffffffa0001ffe 0000 ebfe\n");
	assert_int_equal(totals.code_changes, 8);
}

/* It may have run before it went. */
static void code_that_is_gone_is_recorded_as_it_was(void **state)
{
	static const char nothing[PAGE];
	char program[128], freed[128];
	struct auxtrace_recording *rec;
	struct auxtrace_totals totals;
	uint32_t mark = page_mark(MODULES + 0x3000);

	(void)state;
	memset(program, 0x90, sizeof(program));
	memset(freed, 0xcc, sizeof(freed));
	patch(MODULES + 0x11040, program, sizeof(program));
	patch(MODULES + 0x12000, freed, 64);
	rec = kernel_recording();
	/* A module is unloaded. */
	patch(MODULES + 0x3000, nothing, PAGE);
	/* A program goes, and another one comes. */
	patch(MODULES + 0x11040, freed, sizeof(freed));
	patch(MODULES + 0x12000, program, 64);
	assert_int_equal(auxtrace_recording_finish(rec, &totals), 0);
	expect_code("kcore", MODULES + 0x3000, &mark, sizeof(mark));
	expect_code("kcore", MODULES + 0x11040, program, sizeof(program));
	expect_code("kcore", MODULES + 0x12000, program, 64);
	/* To free a program leaves no byte of its units. */
	expect_in("kcore.changes", "patched 0xffffffffa0012000 cccc");
	assert_int_equal(totals.code_changes, 1);
}

/* A program that kallsyms does not list, in pages of its own, gives way to another one. */
static void an_unlisted_program_that_changes_is_noted(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	patch(MODULES + 0x8000, "\x90", 1);
	rec = kernel_recording();
	patch(MODULES + 0x8000, "\xc3", 1);
	/* That is data of the module whose page it is. */
	patch(MODULES + 0x2f00, "data", 4);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_changes("kcore.changes", "patched 0xffffffffa0008000 90 c3\n");
}

/* kallsyms lists modules in the order in which they were loaded, and each one's symbols in its own order. */
static void symbols_are_found_in_whatever_order_they_are_listed(void **state)
{
	static const char kallsyms[] =
		"ffffffffa0003000 T next_function\t[next]\n"
		"ffffffffa0002000 d module_data\t[mod]\n"
		"ffffffffa0001000 t module_function\t[mod]\n"
		"ffffffff81000000 T _stext\n"
		"ffffffff81003ff0 T _etext\n";
	struct auxtrace_recording *rec;

	(void)state;
	write_proc("kallsyms", kallsyms, sizeof(kallsyms) - 1);
	rec = kernel_recording();
	patch(MODULES + 0x1100, "\x90", 1);
	patch(MODULES + 0x2100, "data", 4);
	patch(MODULES + 0x3100, "\x90", 1);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_changes("kcore.changes",
		       "patched 0xffffffffa0001100 00 90\n"
		       "patched 0xffffffffa0003100 00 90\n");
}

/* It has pages already, and kallsyms lists it only when it is loaded. */
static void data_of_a_module_that_was_being_loaded_is_no_code(void **state)
{
	static const char loaded[] =
		"ffffffff81000000 T _stext\n"
		"ffffffff81003ff0 T _etext\n"
		"ffffffffa0001000 t module_function\t[mod]\n"
		"ffffffffa0002000 d module_data\t[mod]\n"
		"ffffffffa0008800 d data_of_another\t[other]\n";
	struct auxtrace_recording *rec;

	(void)state;
	patch(MODULES + 0x8000, "\1", 1);
	rec = kernel_recording();
	patch(MODULES + 0x8000, "\2", 1);
	write_proc("kallsyms", loaded, sizeof(loaded) - 1);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_changes("kcore.changes", "");
}

static void int3_in_code_that_is_still_there_is_recorded(void **state)
{
	char int3[64];
	struct auxtrace_recording *rec = kernel_recording();

	(void)state;
	memset(int3, 0xcc, sizeof(int3));
	/* Neither is a whole unit. */
	patch(MODULES + 0x11001, int3, 63);
	patch(MODULES + 0x11060, int3, 64);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_code("kcore", MODULES + 0x11001, int3, 63);
	expect_code("kcore", MODULES + 0x11060, int3, 64);
}

static void where_nothing_changes_nothing_is_noted(void **state)
{
	struct auxtrace_totals totals = { .code_changes = 1 };

	(void)state;
	assert_int_equal(auxtrace_recording_finish(kernel_recording(), &totals), 0);
	expect_changes("kcore.changes", "");
	assert_int_equal(totals.code_changes, 0);
}

/* At its create the kernel's code cannot be read, or the trace is over. */
static void what_was_before_may_not_be_known(void **state)
{
	struct auxtrace_recording *rec;
	struct auxtrace_totals totals;

	(void)state;
	fake.kcore_errno = EPERM;
	rec = kernel_recording();
	assert_string_equal(auxtrace_error(), "");
	fake.kcore_errno = 0;
	assert_int_equal(auxtrace_recording_finish(rec, &totals), 0);
	assert_true(exists("kcore"));
	assert_false(exists("kcore.changes"));
	assert_true(totals.code_changes == AUXTRACE_CHANGES_UNKNOWN);
	assert_int_equal(auxtrace_save(session, dir), 0);
	assert_true(exists("kcore"));
	assert_false(exists("kcore.changes"));
}

/* A module's data cannot be told from its code if no data has a symbol. */
static void without_symbols_of_data_only_the_text_is_compared(void **state)
{
	static const char functions[] =
		"ffffffff81000000 T _stext\n"
		"ffffffff81003ff0 T _etext\n"
		"ffffffff81005000 D the_kernels_own_data\n"
		"ffffffffa0001000 t module_function\t[mod]\n";
	struct auxtrace_recording *rec;

	(void)state;
	write_proc("kallsyms", functions, sizeof(functions) - 1);
	rec = kernel_recording();
	patch(TEXT + 0x1024, "\x90", 1);
	patch(MODULES + 0x1ffe, "\xeb\xfe", 2);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_changes("kcore.changes", "patched 0xffffffff81001024 00 90\n");
}

/* What was data before is not in the trace, whatever it is at the end. */
static void what_was_data_before_is_no_code_that_changed(void **state)
{
	static const char others[] =
		"ffffffff81000000 T _stext\n"
		"ffffffff81003ff0 T _etext\n"
		"ffffffffa0001000 d other_data\t[other]\n"
		"ffffffffa0002000 T other_function\t[other]\n";
	struct auxtrace_recording *rec = kernel_recording();

	(void)state;
	write_proc("kallsyms", others, sizeof(others) - 1);
	patch(MODULES + 0x1100, "data", 4);
	patch(MODULES + 0x2100, "code", 4);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_in("kcore.changes", "patched 0xffffffffa0001100 00000000 64617461\n");
	expect_not_in("kcore.changes", "0xffffffffa0002100");
}

/* Of code from 0x10000 to 0x12000 the byte at @address changes: is it noted? */
static bool is_noted(struct kernel_code *before, uint64_t address)
{
	static uint8_t was[2 * PAGE], is[2 * PAGE];
	struct code_range ranges[] = { { .start = 0x10000, .end = 0x12000, .bytes = was } };
	struct code_range now[] = { { .start = 0x10000, .end = 0x12000, .bytes = is } };
	const struct kernel_code after = { .ranges = now, .nr_ranges = 1 };
	uint64_t count = 77;
	int dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char line[64] = "";

	assert_return_code(dirfd, errno);
	before->ranges = ranges;
	before->nr_ranges = 1;
	is[address - 0x10000] = 0xcc;
	assert_int_equal(kernel_changes_write(before, &after, dirfd, &count), 0);
	is[address - 0x10000] = 0;
	close(dirfd);
	if (count)
		snprintf(line, sizeof(line), "patched %#" PRIx64 " 00 cc\n", address);
	expect_changes("kcore.changes", line);
	assert_in_range(count, 0, 1);
	return count;
}

/* It is code if it has no symbol, in its range. */
static void the_symbol_at_or_before_a_byte_says_what_it_is(void **state)
{
	static const struct {
		struct code_symbol symbols[2];
		size_t nr_symbols;
		uint64_t address;
		bool noted;
	} cases[] = {
		{ { { 0x10000, false } }, 1, 0x10000, false },
		{ { { 0x10000, true } }, 1, 0x10000, true },
		{ { { 0x0ffff, false } }, 1, 0x10000, true },
		/* It has none before it: then the first one behind. */
		{ { { 0x10001, false } }, 1, 0x10000, false },
		{ { { 0x11fff, false } }, 1, 0x10000, false },
		{ { { 0x12000, false } }, 1, 0x11fff, true },
		{ { { 0x0ffff, true }, { 0x11fff, false } }, 2, 0x10000, false },
		{ { { 0x0ffff, false }, { 0x12000, false } }, 2, 0x10000, true },
		{ { { 0x10000, true }, { 0x10800, false } }, 2, 0x107ff, true },
		{ { { 0x10000, true }, { 0x10800, false } }, 2, 0x10800, false },
		{ { { 0x10000, true }, { 0x10800, false } }, 2, 0x11fff, false },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		/* On the heap, so that ASan sees a read beyond the array. */
		struct code_symbol *symbols = calloc(cases[i].nr_symbols, sizeof(*symbols));
		struct kernel_code before = {
			.symbols = symbols, .nr_symbols = cases[i].nr_symbols, .lists_data = true,
		};

		assert_non_null(symbols);
		memcpy(symbols, cases[i].symbols, cases[i].nr_symbols * sizeof(*symbols));
		if (is_noted(&before, cases[i].address) != cases[i].noted)
			fail_msg("case %u", i);
		free(symbols);
	}
}

static void without_symbols_of_data_the_text_is_compared_to_the_byte(void **state)
{
	struct kernel_code before = { .stext = 0x10010, .etext = 0x11010 };

	(void)state;
	assert_false(is_noted(&before, 0x1000f));
	assert_true(is_noted(&before, 0x10010));
	assert_true(is_noted(&before, 0x1100f));
	assert_false(is_noted(&before, 0x11010));
}

static void add_page(struct kernel_code *code, uint64_t start, uint64_t end, uint8_t *bytes)
{
	const struct code_range range = { .start = start, .end = end, .bytes = bytes };

	assert_int_equal(kernel_code_add_range(code, &range), 0);
}

/* Of five pages in a row the one in the middle is still there, and of one page none. */
static void pages_that_are_gone_are_added_as_they_lay(void **state)
{
	static const struct {
		uint64_t start, end;
	} expected[] = {
		{ 0x10000, 0x12000 }, { 0x12000, 0x13000 }, { 0x13000, 0x15000 }, { 0x20000, 0x21000 },
	};
	static uint8_t was[6 * PAGE], is[PAGE];
	struct kernel_code begin = { 0 }, now;
	int ret, n;

	(void)state;
	add_page(&begin, 0x10000, 0x15000, was);
	add_page(&begin, 0x20000, 0x21000, was + 5 * PAGE);
	for (n = 1;; n++) {
		now = (struct kernel_code){ 0 };
		add_page(&now, 0x12000, 0x13000, is);
		fake.fail_alloc = n;
		fail_forget();
		errno = 0;
		ret = kernel_code_add_gone(&now, &begin);
		assert_int_equal(fake.fail_alloc > 0, !ret);
		fake.fail_alloc = 0;
		if (!ret)
			break;
		assert_int_equal(ret, -1);
		assert_int_equal(errno, ENOMEM);
		says("no memory for the list of the kernel's code");
		kernel_code_free(&now);
	}
	assert_true(n > 1);
	assert_int_equal(now.nr_ranges, 4);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(now.ranges[i].start, expected[i].start);
		assert_int_equal(now.ranges[i].end, expected[i].end);
	}
	assert_ptr_equal(now.ranges[0].bytes, was);
	assert_ptr_equal(now.ranges[1].bytes, is);
	assert_ptr_equal(now.ranges[2].bytes, was + 3 * PAGE);
	assert_ptr_equal(now.ranges[3].bytes, was + 5 * PAGE);
	kernel_code_free(&now);
	kernel_code_free(&begin);
}

/* Of when the first was taken: it may be patched before the recording ends. */
static void snapshots_keep_the_kernel_that_they_met(void **state)
{
	struct auxtrace_options o = {
		.size = sizeof(o), .cpus = "0", .config = "tsc", .aux_size = 2 * SIZE, .slots = 2,
		.flags = AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_OVERWRITE,
	};
	struct auxtrace_recording *rec;
	char *snapshot, *again;
	size_t size, same;

	(void)state;
	session = auxtrace_open(NULL);
	assert_int_equal(auxtrace_setup(session, &o), 0);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	assert_int_equal(auxtrace_recording_snapshot(rec), 1);
	/* There at once, for who reads it while the recording goes on. */
	snapshot = slurp("snapshot.0001/kcore", &size);
	expect_changes("snapshot.0001/kcore.changes", "");
	write_proc("modules", "", 0);
	patch(TEXT + 0x1010, "\xcc", 1);
	assert_int_equal(auxtrace_recording_snapshot(rec), 2);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	again = slurp("snapshot.0002/kcore", &same);
	assert_int_equal(size, same);
	assert_memory_equal(again, snapshot, size);
	expect_code("kcore", TEXT + 0x1010, "\xcc", 1);
	expect_code("snapshot.0001/kcore", TEXT + 0x1010, "\0", 1);
	expect_in("snapshot.0001/modules", "mod 8192");
	expect_not_in("modules", "mod 8192");
	expect_changes("snapshot.0002/kcore.changes", "");
	expect_changes("kcore.changes", "patched 0xffffffff81001010 00 cc\n");
	assert_true(exists("snapshot.0002/kallsyms"));
	free(again);
	free(snapshot);
}

/* The changes up to a snapshot are not those up to the end. */
static void changes_that_are_not_known_at_the_end_are_not_those_of_a_snapshot(void **state)
{
	struct auxtrace_recording *rec = kernel_flight();

	(void)state;
	assert_int_equal(auxtrace_recording_snapshot(rec), 1);
	assert_true(exists("kcore.changes"));
	fake.kcore_errno = EPERM;
	assert_int_equal(auxtrace_recording_finish(rec, NULL), -1);
	assert_false(exists("kcore.changes"));
	assert_true(exists("snapshot.0001/kcore.changes"));
}

static void without_hard_links_a_snapshot_points_to_the_recordings_kernel(void **state)
{
	static const char *const names[] = { "kcore", "kcore.changes", "kallsyms", "modules" };
	struct auxtrace_recording *rec = kernel_flight();

	(void)state;
	fake.link_errno = EPERM;
	assert_int_equal(auxtrace_recording_snapshot(rec), 1);
	for (unsigned int i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char path[128], to[64] = "", expected[64];

		snprintf(path, sizeof(path), "%s/snapshot.0001/%s", dir, names[i]);
		assert_true(readlink(path, to, sizeof(to) - 1) > 0);
		snprintf(expected, sizeof(expected), "../%s", names[i]);
		assert_string_equal(to, expected);
	}
	/* What the recording does not have is not pointed to. */
	fake.link_errno = ENOENT;
	assert_int_equal(auxtrace_recording_snapshot(rec), 2);
	assert_false(exists("snapshot.0002/kcore"));
	auxtrace_recording_abort(rec);
}

/* As if somebody else wrote there. */
static void take_the_place_of_kcore(void)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/snapshot.0001/kcore", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
}

static void a_snapshot_that_cannot_be_given_the_kernel_is_none(void **state)
{
	struct auxtrace_recording *rec = kernel_flight();

	(void)state;
	fake.on_task = take_the_place_of_kcore;
	fails(EEXIST, auxtrace_recording_snapshot(rec));
	says("snapshot.0001/kcore: File exists");
	assert_false(exists("snapshot.0001"));
	auxtrace_recording_abort(rec);
}

#define k(f) cmocka_unit_test_setup_teardown(f, begin_kernel, end_kernel)

int main(void)
{
	const struct CMUnitTest tests[] = {
		k(snapshots_keep_the_kernel_that_they_met),
		k(changes_that_are_not_known_at_the_end_are_not_those_of_a_snapshot),
		k(without_hard_links_a_snapshot_points_to_the_recordings_kernel),
		k(a_snapshot_that_cannot_be_given_the_kernel_is_none),
		k(what_changes_in_the_kernels_code_is_noted),
		k(code_that_is_gone_is_recorded_as_it_was),
		k(an_unlisted_program_that_changes_is_noted),
		k(symbols_are_found_in_whatever_order_they_are_listed),
		k(data_of_a_module_that_was_being_loaded_is_no_code),
		k(int3_in_code_that_is_still_there_is_recorded),
		k(where_nothing_changes_nothing_is_noted),
		k(what_was_before_may_not_be_known),
		k(without_symbols_of_data_only_the_text_is_compared),
		k(what_was_data_before_is_no_code_that_changed),
		k(the_symbol_at_or_before_a_byte_says_what_it_is),
		k(without_symbols_of_data_the_text_is_compared_to_the_byte),
		k(pages_that_are_gone_are_added_as_they_lay),
	};

	return cmocka_run_group_tests_name("userlib kernel changes", tests, NULL, NULL);
}
