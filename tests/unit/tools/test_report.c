// SPDX-License-Identifier: GPL-2.0-only
/* auxtrace report: sums by function, the slowest call beside the others, and the histogram under them. */
#include "made.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <linux/auxtrace.h>

#include "decode/call_threads.h"
#include "decode/functions.h"
#include "lib/json.h"
#include "packets.h"
#include "report/contrast.h"
#include "report/histogram.h"
#include "report/page.h"

/* ---- recordings ----------------------------------------------------------- */

static const struct result *report(const char *options)
{
	char arguments[256];

	snprintf(arguments, sizeof(arguments), "report %s %s", options, dir);
	return run_auxtrace(arguments);
}

/*
 * main calls f at @time; before f's first instruction an interrupt goes to @handler for 1 or more @ticks; main
 * then calls the kernel, and goes on 10 ticks behind that.
 */
static void call_f(uint64_t time, uint64_t handler, uint64_t ticks)
{
	tsc(time);
	ip_packet(ppt_fup, F);
	ip_packet(ppt_tip, handler);
	tsc(time + ticks);
	if (handler == SCHED)
		tnt("!");
	ip_packet(ppt_tip, F);
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	tsc(time + ticks + 10);
	ip_packet(ppt_tip, MAIN);
}

static void four_calls(void)
{
	psb(CR3, 500, 0);
	ip_packet(ppt_tip_pge, MAIN);
	call_f(1000, IRQ, 100);
	call_f(2000, IRQ, 200);
	call_f(3000, SCHED, 90000);
	call_f(100000, IRQ, 300);
	suppressed(ppt_tip_pgd);
}

static void each_function_has_a_row(void **state)
{
	const struct result *r;

	(void)state;
	four_calls();
	finish(BOTH, "windows 1");
	r = report("--sort calls");
	assert_int_equal(r->status, 0);
	assert_string_equal(r->out,
		"   calls    cut    total     self   waited      p50      p99      max instructions     function\n"
		"       5      1   91.0us    581ns        -    263ns   90.2us   90.2us           14  u  f (prog)\n"
		"       4      0   7.87us   7.87us        -    559ns   6.68us   6.68us            8  k  entry\n"
		"       3      0    439ns    439ns        -    139ns    236ns    236ns            6  k  irq\n"
		"       1      0   90.0us    128ns        -   90.0us   90.0us   90.0us            2  k  sched [mod]\n"
		"       1      0   89.9us   89.9us        -   89.9us   89.9us   89.9us            2  k  switch\n"
		"       0      1   99.3us    418ns        -        -        -        -            9  u  main (prog)\n");
	expect_part(r->err, "2 calls are not whole (cut): begin or end is not in the trace");
}

static void the_slowest_call_is_compared_with_the_others(void **state)
{
	const struct result *r;

	(void)state;
	four_calls();
	finish(BOTH, "windows 1");
	r = report("--compare f");
	assert_int_equal(r->status, 0);
	expect_part(r->out,
		"f: the slowest call took 90.2us, on CPU 0 at 1.000003064 in window 1.\n"
		"3 other calls: 276ns on average, at most 328ns. 1 more are not whole, and not in these figures.\n\n"
		"   total  usually     self  usually    calls  usually                               function\n"
		"  90.0us        -    128ns        -        1        -  called only here          k  sched [mod]\n"
		"  90.2us    276ns    192ns    130ns        1        1  327 times longer here     u  f (prog)\n"
		"  89.9us        -   89.9us        -        1        -  called only here          k  switch\n"
		"       -    146ns        -    146ns        -        1  not called here           k  irq\n");
}

static const struct test_error {
	const char *options, *message;
	int status;
} errors[] = {
	{ "--by cpu", "--by cpu: it takes function, thread or process", 2 },
	{ "--sort time", "--sort time: it takes self, total, waited, calls, p50, p99, max or instructions", 2 },
	{ "--limit x", "--limit x: ", 2 },
	{ "--window 9", "window 9 is not in ", 1 },
	{ "--cpu 9", "CPU 9 is not in ", 1 },
};

static void what_it_does_not_know_is_told(void **state)
{
	(void)state;
	four_calls();
	finish(BOTH, "windows 1");
	for (unsigned int i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		const struct result *r = report(errors[i].options);

		expect_part(r->err, errors[i].message);
		assert_int_equal(r->status, errors[i].status);
	}
	expect_part(report("--compare nobody")->out,
		    "nobody: no call of it begins in the trace; name functions as auxtrace report shows them");
	expect_part(report("--compare f@other")->out, "f@other: no call of it begins in the trace");
	expect_part(report("--compare f@prog")->out, "f@prog: the slowest call took ");
	expect_part(report("--limit 2")->out, "and 4 more rows: --limit 0 shows all\n");
}

static void the_function_of_a_latency_trigger_is_compared(void **state)
{
	(void)state;
	four_calls();
	finish(BOTH, "windows 1");
	append("meta", "trigger 1 hits 4 acted 1 held 0 idle 0 missed 0 on latency:uprobe:../bin/../prog:f..uretprobe:../bin/../prog:f>1ms=freeze\n");
	expect_part(report("")->out, "f: the slowest call took ");
	append("meta", "trigger 2 hits 4 acted 1 held 0 idle 0 missed 0 on latency:kprobe:sched+0x4..kretprobe:sched>1ms=freeze\n");
	expect_part(report("")->out, "f: the slowest call took ");
	finish(BOTH, "windows 1");
	append("meta", "trigger 2 hits 4 acted 1 held 0 idle 0 missed 0 on latency:kprobe:sched+0x4..kretprobe:sched>1ms=freeze\n");
	expect_part(report("")->out, "sched: the slowest call took 90.0us");
}

/* ---- histogram ------------------------------------------------------------ */

static void percentiles_are_at_most_a_32nd_too_large(void **state)
{
	(void)state;
	for (uint64_t value = 1; value; value *= 3) {
		for (int d = -1; d <= 1; d++) {
			struct histogram h = { 0 };
			uint64_t v = value + d, p;

			histogram_add(&h, v);
			histogram_add(&h, UINT64_MAX);
			p = histogram_percentile(&h, 50);
			assert_true(p >= v && p - v <= v / 32);
			assert_int_equal(histogram_percentile(&h, 51), UINT64_MAX);
			histogram_free(&h);
		}
		if (value > UINT64_MAX / 3)
			break;
	}
}

static void percentiles_do_not_exceed_the_largest_value(void **state)
{
	struct histogram h = { 0 };

	(void)state;
	assert_int_equal(histogram_percentile(&h, 50), 0);
	for (unsigned int i = 1; i <= 100; i++)
		histogram_add(&h, 1000 * i);
	for (unsigned int percent = 1; percent <= 100; percent++) {
		uint64_t p = histogram_percentile(&h, percent);

		assert_true(p >= 1000 * percent && p <= 1000 * percent * 33 / 32 && p <= 100000);
	}
	assert_int_equal(histogram_percentile(&h, 100), 100000);
	histogram_free(&h);
}

/* ---- functions and profiles ------------------------------------------------- */

/* Call number @i of one of many functions. The name's memory changes; what it says counts. */
static struct function *numbered(struct functions *f, unsigned int i)
{
	char name[32], object[32];
	struct call call = { .name = { .function = name, .object = object } };

	snprintf(name, sizeof(name), "f%u", i);
	snprintf(object, sizeof(object), "lib%u", i % 7);
	return functions_find(f, &call);
}

static void many_functions_are_told_apart(void **state)
{
	struct functions functions = { 0 };
	const struct call unnamed = { .name = { .object = "lib" } }, none = { 0 };

	(void)state;
	for (unsigned int i = 0; i < 10000; i++)
		assert_int_equal(numbered(&functions, i)->index, i);
	for (unsigned int i = 0; i < 10000; i++)
		assert_int_equal(numbered(&functions, i)->index, i);
	assert_int_equal(functions_find(&functions, &unnamed)->index, 10000);
	assert_int_equal(functions_find(&functions, &none)->index, 10001);
	assert_int_equal(functions_find(&functions, &unnamed)->index, 10000);
	functions_free(&functions);
}

static void many_threads_are_told_apart(void **state)
{
	struct call_threads threads = { 0 };

	(void)state;
	/* Each thread twice, on different CPUs; and on each CPU the idle thread and an unknown one. */
	for (unsigned int i = 0; i < 200000; i++) {
		const struct call call = { .known = true, .thread = { .pid = 1, .tid = 1 + i % 100000 }, .cpu = i % 7 };

		assert_int_equal(call_threads_find(&threads, &call), i % 100000);
	}
	for (unsigned int i = 0; i < 400; i++) {
		const struct call call = { .known = i / 100 % 2, .cpu = i % 100 };

		assert_int_equal(call_threads_find(&threads, &call), 100000 + i % 200);
	}
	assert_int_equal(threads.count, 100200);
	call_threads_free(&threads);
}

static void a_profile_of_many_functions_is_whole(void **state)
{
	struct functions functions = { 0 };
	struct contrast contrast = { 0 };
	struct meta meta = { .tsc_khz = 1000000 };

	(void)state;
	/* Of call n, function i takes n + i ticks. */
	for (unsigned int n = 1; n <= 3; n++) {
		struct profile *p = profile_begin();
		struct call outer = { .begun = true, .returned = true, .begin.tsc = 1, .end.tsc = 1 + 1000 * n };

		for (unsigned int i = 0; i < 2000; i++) {
			struct call call = { .begun = true, .returned = true, .begin.tsc = 1, .end.tsc = 1 + n + i };

			profile_add(p, numbered(&functions, i), &call, true);
		}
		contrast_end(&contrast, p, &outer);
	}
	assert_int_equal(contrast.nr_others, 2);
	assert_int_equal(contrast.others_ticks, 3000);
	assert_int_equal(contrast.others_max, 2000);
	assert_int_equal(call_ticks(&contrast.call), 3000);
	contrast_print(&contrast, "outer", 3, &meta);
	contrast_free(&contrast);
	functions_free(&functions);
}

/* ---- the page ----------------------------------------------------------------- */

static char *read_page(const char *name)
{
	FILE *f = fopen(program_path(name), "r");
	char *text = calloc(1, 1 << 20);

	assert_non_null(f);
	assert_non_null(text);
	assert_true(fread(text, 1, (1 << 20) - 1, f) > 0);
	fclose(f);
	return text;
}

static void a_page_has_the_calls_of_each_thread(void **state)
{
	const struct result *r;
	char options[200], *page;

	(void)state;
	four_calls();
	finish(BOTH, "windows 1");
	append("meta", "trigger 1 hits 4 acted 1 held 0 idle 0 missed 0 on latency:uprobe:/bin/prog:f#2..uretprobe:/bin/prog:f#2>1ms=freeze\n");
	snprintf(options, sizeof(options), "--html %s", program_path("page.html"));
	r = report(options);
	assert_int_equal(r->status, 0);
	assert_string_equal(r->out, "");
	page = read_page("page.html");
	expect_part(page, "\"begin\":\"1.000001000\",\"length\":99310,\"left_out\":0,\"shortest\":0,\n");
	expect_part(page, "\"functions\":[[\"main\",\"prog\",0],\n[\"f\",\"prog\",0],\n[\"irq\",\"[kernel]\",1],\n");
	/* main, which ends with the trace; f, which takes 259 ns; the interrupt in it. */
	expect_part(page, "\"known\":0,\"pid\":0,\"tid\":0,\"cpu\":0,\"calls\":[0,0,99310,0,3,0,1,33,259,1,0,0,2,0,67,");
	expect_part(page, "\"compare\":{\"name\":\"f\",");
	expect_part(page, "</html>");
	assert_null(strstr(page, "@DATA@"));
	free(page);
}

/* Before the recording is even read. */
static void a_page_that_has_no_place_is_refused_at_once(void **state)
{
	const struct result *r;
	char arguments[200];

	(void)state;
	snprintf(arguments, sizeof(arguments), "report --html %s/prog /nonexistent", dir);
	r = run_auxtrace(arguments);
	assert_int_equal(r->status, 1);
	expect_part(r->err, "/prog exists: name another file, or remove it");
	snprintf(arguments, sizeof(arguments), "report --html %s/none/page /nonexistent", dir);
	r = run_auxtrace(arguments);
	assert_int_equal(r->status, 1);
	expect_part(r->err, "/none/page: No such file or directory");
	snprintf(arguments, sizeof(arguments), "export --format speedscope -o %s/prog /nonexistent", dir);
	r = run_auxtrace(arguments);
	assert_int_equal(r->status, 1);
	expect_part(r->err, "/prog exists: name another file, or remove it");
}

static void the_shortest_calls_are_left_out_of_a_page(void **state)
{
	const struct function function = { .name = (char *)"f" };
	struct page page = { 0 };
	uint64_t calls = 5ull * PAGE_CALLS;

	(void)state;
	/* Of each length there are five. */
	for (uint64_t i = 0; i < calls; i++) {
		const struct call call = { .begun = true, .returned = true, .begin.tsc = 1000 + i,
					   .end.tsc = 1000 + i + 1 + i % PAGE_CALLS };

		page_add(&page, &function, &call);
	}
	assert_true(page.count >= PAGE_CALLS && page.count < 2 * PAGE_CALLS);
	assert_int_equal(page.count + page.left_out, calls);
	/* A fifth of the lengths are the longest calls. */
	assert_true(page.shortest > PAGE_CALLS / 2 && page.shortest <= PAGE_CALLS * 4ull / 5 + 1);
	page_free(&page);
}

static void strings_cannot_end_the_script(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	json_string(out, "a</script>\"\\\n\x7f<!-- \xc3\xa4");
	json_string(out, NULL);
	fclose(out);
	assert_string_equal(text, "\"a\\u003c/script\\u003e\\u0022\\u005c\\u000a\\u007f\\u003c!-- \xc3\xa4\"null");
	free(text);
}

static void a_function_of_cxx_is_named_without_its_parameters(void **state)
{
	const struct call call = { .name = { .function = "space::add(int, int)", .object = "prog" } };

	(void)state;
	assert_true(call_is_of(&call, "space::add"));
	assert_true(call_is_of(&call, "space::add(int, int)@prog"));
	assert_false(call_is_of(&call, "space::ad"));
	assert_false(call_is_of(&call, "space::add@other"));
}

int main(void)
{
#define t(name) cmocka_unit_test_setup_teardown(name, packets_begin, packets_end)
	const struct CMUnitTest tests[] = {
		t(each_function_has_a_row),
		t(the_slowest_call_is_compared_with_the_others),
		t(what_it_does_not_know_is_told),
		t(the_function_of_a_latency_trigger_is_compared),
		t(a_page_has_the_calls_of_each_thread),
		t(a_page_that_has_no_place_is_refused_at_once),
		cmocka_unit_test(the_shortest_calls_are_left_out_of_a_page),
		cmocka_unit_test(a_function_of_cxx_is_named_without_its_parameters),
		cmocka_unit_test(strings_cannot_end_the_script),
		cmocka_unit_test(percentiles_are_at_most_a_32nd_too_large),
		cmocka_unit_test(percentiles_do_not_exceed_the_largest_value),
		cmocka_unit_test(many_functions_are_told_apart),
		cmocka_unit_test(many_threads_are_told_apart),
		cmocka_unit_test(a_profile_of_many_functions_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
