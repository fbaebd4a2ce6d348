// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which code --filter names, and where in memory it is: this program is position-independent, and looks
 * for its own functions.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "command.h"
#include "record/filter.h"
#include "scratch.h"

static int __attribute__((noipa)) a_function_to_find(int x)
{
	return x / 3 + 7;
}

static int __attribute__((noipa)) another_function_to_find(int x)
{
	return x * 3 - a_function_to_find(x);
}

#define SELF	"/proc/self/exe"

static struct filters parsed(const char *text)
{
	struct filters f = { 0 };

	filters_parse(&f, text);
	return f;
}

static const struct auxtrace_filter *placed(struct filters *f)
{
	const pid_t pid[] = { 0, getpid() };

	assert_int_equal(filters_place(f, pid, 2), 0);
	return f->placed;
}

static void a_function_is_where_this_process_has_it(void **state)
{
	struct filters f = parsed("filter a_function_to_find @ " SELF);
	const struct auxtrace_filter *at = placed(&f);

	(void)state;
	assert_int_equal(f.count, 1);
	assert_true(f.filter[0].movable);
	assert_true(filters_have_user(&f));
	assert_false(filters_have_kernel(&f));
	assert_int_equal(at->action, AUXTRACE_FILTER_TRACE);
	assert_int_equal(at->first, (uintptr_t)a_function_to_find);
	assert_true(at->last > at->first && at->last < at->first + 4096);
	filters_free(&f);
}

static void a_range_ends_with_its_last_function_or_after_its_size(void **state)
{
	struct filters all = parsed("filter a_function_to_find / another_function_to_find @ " SELF);
	struct filters one = parsed("filter another_function_to_find @" SELF);
	struct filters bytes = parsed("filter a_function_to_find/0x5@" SELF);

	(void)state;
	assert_int_equal(placed(&all)->first, (uintptr_t)a_function_to_find);
	assert_int_equal(all.placed->last, placed(&one)->last);
	assert_int_equal(placed(&bytes)->last, (uintptr_t)a_function_to_find + 4);
	filters_free(&all);
	filters_free(&one);
	filters_free(&bytes);
}

static void several_filters_are_separated_by_commas_or_blanks(void **state)
{
	struct filters f = parsed(" filter a_function_to_find @ " SELF ", tracestop another_function_to_find / 2 @ " SELF
				  " filter 0x1000/0x100,tracestop 4096 / 1 ");
	const struct auxtrace_filter *at = placed(&f);

	(void)state;
	assert_int_equal(f.count, 4);
	assert_string_equal(f.filter[1].text, "tracestop another_function_to_find / 2 @ " SELF);
	assert_string_equal(f.filter[2].text, "filter 0x1000/0x100");
	assert_string_equal(f.filter[3].text, "tracestop 4096 / 1");
	assert_int_equal(at[0].first, (uintptr_t)a_function_to_find);
	assert_int_equal(at[1].action, AUXTRACE_FILTER_STOP);
	assert_int_equal(at[1].last, (uintptr_t)another_function_to_find + 1);
	assert_int_equal(at[2].action, AUXTRACE_FILTER_TRACE);
	assert_int_equal(at[2].first, 0x1000);
	assert_int_equal(at[2].last, 0x10ff);
	assert_int_equal(at[3].action, AUXTRACE_FILTER_STOP);
	assert_int_equal(at[3].first, 4096);
	assert_int_equal(at[3].last, 4096);
	/* --filter may come again. */
	filters_parse(&f, "filter 0xffffffff81000000/16");
	assert_int_equal(f.count, 5);
	assert_int_equal(placed(&f)[4].last, 0xffffffff8100000f);
	assert_int_equal(f.placed[0].first, (uintptr_t)a_function_to_find);
	assert_true(filters_have_kernel(&f) && filters_have_user(&f));
	filters_free(&f);
}

static void a_number_is_a_place_in_the_file(void **state)
{
	struct filters function = parsed("filter a_function_to_find @ " SELF), number;
	char text[64];

	(void)state;
	placed(&function);
	snprintf(text, sizeof(text), "filter %#llx/3 @ " SELF, (unsigned long long)function.filter[0].first + 1);
	number = parsed(text);
	assert_int_equal(placed(&number)->first, (uintptr_t)a_function_to_find + 1);
	assert_int_equal(number.placed->last, (uintptr_t)a_function_to_find + 3);
	filters_free(&number);
	snprintf(text, sizeof(text), "filter %lld / another_function_to_find @ " SELF, (long long)function.filter[0].first);
	number = parsed(text);
	assert_int_equal(placed(&number)->first, (uintptr_t)a_function_to_find);
	assert_true(number.placed->last > (uintptr_t)another_function_to_find);
	filters_free(&number);
	filters_free(&function);
}

static void a_function_has_its_number_also_as_perf_writes_it(void **state)
{
	static const char *const texts[] = {
		"filter a_function_to_find#1 / another_function_to_find#1 @ " SELF,
		"filter a_function_to_find #1 / another_function_to_find #1 @ " SELF,
		"filter a_function_to_find #1/another_function_to_find #1@" SELF,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct filters f = parsed(texts[i]);

		assert_int_equal(f.count, 1);
		assert_int_equal(placed(&f)->first, (uintptr_t)a_function_to_find);
		assert_true(f.placed->last > (uintptr_t)another_function_to_find);
		filters_free(&f);
	}
}

/* Three functions `twice`, of which the second is global, and a weak one, which perf does not take for global. */
#define FUNCTION(name)	".type " name ", @function\n" name ": nop; ret\n.size " name ", 2\n"
#define FIRST		0x400000ull

static int make_program(void **state)
{
	(void)state;
	if (scratch_begin("a.s", FUNCTION("twice") FUNCTION("behind_a")))
		return -1;
	run("echo '%s' >b.s; echo '%s' >c.s; for s in a b c; do as -o $s.o $s.s; done; "
	    "ld -shared --build-id=0xabcd1234 -Ttext=%#llx -o prog a.o b.o c.o; strip -o bare prog; "
	    "objcopy --only-keep-debug prog names.dbg; objcopy --add-gnu-debuglink=names.dbg bare stripped",
	    ".globl twice\n" FUNCTION("twice") ".globl behind_b\n" FUNCTION("behind_b"),
	    FUNCTION("twice") ".weak frail\n" FUNCTION("frail"), FIRST);
	return 0;
}

static struct filters parsed_of(const char *filter, const char *program)
{
	char text[200];

	snprintf(text, sizeof(text), "%s @ %s/%s", filter, dir, program);
	return parsed(text);
}

static void a_function_is_chosen_by_number_or_as_the_global_one(void **state)
{
	static const struct {
		const char *filter;
		uint64_t first, size;
	} cases[] = {
		{ "filter twice#1", FIRST, 2 }, { "filter twice #2", FIRST + 4, 2 }, { "filter twice#3", FIRST + 8, 2 },
		{ "filter twice#g", FIRST + 4, 2 }, { "filter twice #G", FIRST + 4, 2 }, { "filter twice #0", FIRST + 4, 2 },
		{ "filter twice#0/twice#3", FIRST + 4, 6 }, { "filter twice #1 / twice #g", FIRST, 6 },
		{ "filter behind_b#g", FIRST + 6, 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct filters f = parsed_of(cases[i].filter, "prog");

		assert_int_equal(f.count, 1);
		assert_int_equal(f.filter[0].linked, cases[i].first);
		assert_int_equal(f.filter[0].last - f.filter[0].first + 1, cases[i].size);
		filters_free(&f);
	}
}

static void a_name_that_is_no_choice_lists_the_functions(void **state)
{
#define ALL "twice#1 at 0x400000 (before behind_a), twice#2 at 0x400004 (global, before behind_b), twice#3 at 0x400008 (before frail)"
	static const char *const cases[][2] = {
		{ "twice", "has 3 functions twice: say which one, " ALL "; twice#g is the global one\n" },
		{ "twice#4", "has 3 functions twice: " ALL "\n" },
		{ "twice#gg", "\"#gg\" is no number: #2 is the second function of that name, #g the global one" },
		{ "behind_a#2", "has 1 function behind_a: behind_a#1 at 0x400002 (before twice)\n" },
		{ "behind_a#g", "has no global function behind_a, only behind_a#1 at 0x400002 (before twice)\n" },
		{ "frail #0", "has no global function frail, only frail#1 at 0x40000a\n" },
		{ "behind_x#g", "has no function behind_x; near it are behind_a, behind_b" },
	};
	const struct result *r;
	char text[200];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(text, sizeof(text), "record --filter 'filter %s @ %s/prog' true", cases[i][0], dir);
		r = run_auxtrace(text);
		assert_int_equal(r->status, 2);
		expect_part(r->err, cases[i][1]);
		/* A uprobe is on one function as well. Blanks are for filters alone. */
		if (strchr(cases[i][0], ' '))
			continue;
		snprintf(text, sizeof(text), "record --on 'uprobe:%s/prog:%s=pause' true", dir, cases[i][0]);
		r = run_auxtrace(text);
		assert_int_equal(r->status, 2);
		expect_part(r->err, cases[i][1]);
	}
	snprintf(text, sizeof(text), "record --filter 'filter behind_a @ %s/bare' true", dir);
	r = run_auxtrace(text);
	assert_int_equal(r->status, 2);
	expect_part(r->err, "/bare (stripped, and no debug file is found) has no function behind_a; near it is behind_b\n");
}

/* The debug file has no bytes: where they are in the file, the program alone says. */
static void a_stripped_program_has_the_functions_of_its_debug_file(void **state)
{
	static const char *const filters[] = {
		"filter twice#3", "filter twice#g", "filter behind_a / frail", "tracestop frail",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(filters) / sizeof(filters[0]); i++) {
		struct filters f = parsed_of(filters[i], "stripped"), full = parsed_of(filters[i], "prog");

		assert_int_not_equal(full.filter[0].first, full.filter[0].linked);
		assert_int_equal(f.filter[0].first, full.filter[0].first);
		assert_int_equal(f.filter[0].last, full.filter[0].last);
		assert_int_equal(f.filter[0].linked, full.filter[0].linked);
		filters_free(&f);
		filters_free(&full);
	}
}

static void a_star_is_all_code_of_the_file(void **state)
{
	struct filters f = parsed("filter * @ " SELF);
	const struct auxtrace_filter *at = placed(&f);

	(void)state;
	assert_true(at->first <= (uintptr_t)a_function_to_find && at->last > (uintptr_t)placed);
	assert_true(at->first > 0x1000 && at->last - at->first < 64 << 20);
	filters_free(&f);
}

static void what_no_process_has_mapped_is_not_placed(void **state)
{
	struct filters f = parsed("filter 0x1000/16 filter a_function_to_find @ " SELF);
	const pid_t nobody[] = { 0, 0 }, ended[] = { 0x7ffffffe, 0 }, init[] = { 0x7ffffffe, getpid() };

	(void)state;
	assert_int_equal(filters_place(&f, nobody, 2), -1);
	assert_int_equal(filters_place(&f, ended, 2), -1);
	assert_int_equal(filters_place(&f, init, 2), 0);
	assert_int_equal(f.placed[1].first, (uintptr_t)a_function_to_find);
	/* A program at fixed addresses needs no process. */
	f.filter[1].movable = false;
	f.filter[1].linked = 0x401000;
	assert_int_equal(filters_place(&f, nobody, 2), 0);
	assert_int_equal(f.placed[1].first, 0x401000);
	assert_int_equal(f.placed[1].last - f.placed[1].first, f.filter[1].last - f.filter[1].first);
	filters_free(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_function_is_where_this_process_has_it),
		cmocka_unit_test(a_range_ends_with_its_last_function_or_after_its_size),
		cmocka_unit_test(several_filters_are_separated_by_commas_or_blanks),
		cmocka_unit_test(a_number_is_a_place_in_the_file),
		cmocka_unit_test(a_function_has_its_number_also_as_perf_writes_it),
		cmocka_unit_test(a_function_is_chosen_by_number_or_as_the_global_one),
		cmocka_unit_test(a_name_that_is_no_choice_lists_the_functions),
		cmocka_unit_test(a_stripped_program_has_the_functions_of_its_debug_file),
		cmocka_unit_test(a_star_is_all_code_of_the_file),
		cmocka_unit_test(what_no_process_has_mapped_is_not_placed),
	};

	/* No test asks a server. */
	unsetenv("DEBUGINFOD_URLS");
	return cmocka_run_group_tests_name("filter", tests, make_program, scratch_end);
}
