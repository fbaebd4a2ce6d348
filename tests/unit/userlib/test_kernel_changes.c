// SPDX-License-Identifier: GPL-2.0
#include "kernel_case.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static struct auxtrace_recording *kernel_flight(void)
{
	struct auxtrace_options o = {
		.size = sizeof(o), .cpus = "0", .config = "tsc", .aux_size = 2 * SIZE, .slots = 2,
		.flags = AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_OVERWRITE,
	};
	struct auxtrace_recording *rec;

	session = auxtrace_open(NULL);
	assert_non_null(session);
	assert_int_equal(auxtrace_setup(session, &o), 0);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	return rec;
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
		k(data_of_a_module_that_was_being_loaded_is_no_code),
		k(int3_in_code_that_is_still_there_is_recorded),
		k(where_nothing_changes_nothing_is_noted),
		k(what_was_before_may_not_be_known),
		k(without_symbols_of_data_only_the_text_is_compared),
		k(what_was_data_before_is_no_code_that_changed),
	};

	return cmocka_run_group_tests_name("userlib kernel changes", tests, NULL, NULL);
}
