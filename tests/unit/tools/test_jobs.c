// SPDX-License-Identifier: GPL-2.0-only
/* What the command shows is the same, byte for byte, however many CPUs it decodes at a time. */
#include "made.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/auxtrace.h>

#include "packets.h"

#define CPUS	3
#define TURNS	40
#define WINDOWS	(1 + TURNS / 8)	/* PSBs where packets are disabled */

/* ---- a recording of three CPUs ------------------------------------------------ */

static uint64_t data_size;	/* of each CPU's records */
static unsigned int times;	/* that the turns are in the trace of a CPU */

/* Threads 100 and 200 take turns, at other times on each CPU. */
static void write_switches(unsigned int cpu)
{
	struct auxtrace_record_switch records[TURNS];
	char name[32];
	FILE *f;

	for (unsigned int i = 0; i < TURNS; i++)
		records[i] = (struct auxtrace_record_switch){
			.header = { AUXTRACE_RECORD_SWITCH, AUXTRACE_SWITCH_OUT, sizeof(*records) },
			.next_prev_pid = i % 2 ? 100 : 200,
			.next_prev_tid = i % 2 ? 100 : 200,
			.end = { .time = 10000 + 1000 * i + 300 * cpu, .tid = i % 2 ? 200 : 100, .size = sizeof(*records) },
		};
	snprintf(name, sizeof(name), "cpu%u.data", cpu);
	f = file(name);
	fwrite(records, sizeof(records), 1, f);
	fclose(f);
	data_size = sizeof(records);
}

/* main calls f, in each turn; @damaged: and once control goes where there is no code. */
static void encode_once(unsigned int cpu, bool damaged)
{
	psb(CR3, 9000, 0);
	for (unsigned int i = 0; i < TURNS; i++) {
		tsc(9100 + 1000 * i + 300 * cpu);
		ip_packet(ppt_tip_pge, damaged && i == TURNS / 2 ? 0x123456 : MAIN);
		tnt("!!");
		suppressed(ppt_tip_pgd);
		if (i % 8 == 7)
			psb(CR3, 9200 + 1000 * i + 300 * cpu, 0);
	}
}

static void encode(unsigned int cpu, bool damaged)
{
	for (unsigned int i = 0; i < times; i++)
		encode_once(cpu, damaged);
}

/* @windows: that the kernel counted. */
static void write_cpus(int damaged, unsigned int windows)
{
	char name[32], line[128], rest[CPUS * sizeof(line)] = "";

	for (unsigned int cpu = 1; cpu < CPUS; cpu++) {
		write_switches(cpu);
		encode(cpu, damaged == (int)cpu);
		snprintf(line, sizeof(line), "cpu %u read %" PRIu64 " produced %" PRIu64 " windows %u data_read %" PRIu64 "\n",
			 cpu, position(), position(), windows, data_size);
		strcat(rest, line);
		snprintf(name, sizeof(name), "cpu%u.aux", cpu);
		finish_cpu(name);
	}
	write_switches(0);
	encode(0, !damaged);
	snprintf(line, sizeof(line), "windows %u data_read %" PRIu64, windows, data_size);
	finish(AUXTRACE_SETUP_USER, line);
	append("meta", rest);
}

/* ---- its views ------------------------------------------------------------------- */

static const char *const views[] = {
	"script", "script --lines", "script --insn", "script --errors", "script --samples", "script --tid 100", "script --cpu 1",
	"script --window 1", "script --window 99", "report", "report --by thread", "export -f folded -o -", "export -f perfetto -o -",
	"export -f speedscope -o -", "export -f callgrind -o -",
};

#define NR_VIEWS	(sizeof(views) / sizeof(*views))

static const struct result *show(const char *view, const char *jobs, const char *behind)
{
	char arguments[256];

	snprintf(arguments, sizeof(arguments), "%s %s %s %s", view, jobs, dir, behind);
	return run_auxtrace(arguments);
}

/* The first @nr_views of them. @part: what messages of `script` have. */
static void expect_same(unsigned int nr_views, int status, const char *part)
{
	static const char *const jobs[] = { "--jobs 2", "--jobs 3", "--jobs 4", "" };
	/* Under valgrind a run takes a second. */
	bool brief = getenv("JOBS_BRIEF");

	for (unsigned int v = 0; v < (brief ? 3 : nr_views); v++) {
		const struct result *r = show(views[v], "--jobs 1", "");
		struct result one = { r->status, strdup(r->out), strdup(r->err) };

		if (!v) {
			assert_int_equal(one.status, status);
			expect_part(one.err, part);
		}
		for (unsigned int j = brief; j < (brief ? 2 : 4); j++) {
			r = show(views[v], jobs[j], "");
			if (r->status != one.status || strcmp(r->out, one.out) || strcmp(r->err, one.err))
				fail_msg("%s, %s: %d, not %d:\n%s%s\nnot:\n%s%s", views[v], jobs[j], r->status, one.status, r->out,
					 r->err, one.out, one.err);
		}
		free(one.out);
		free(one.err);
	}
}

/* ---- tests ----------------------------------------------------------------------- */

static void all_views_are_the_same(void **state)
{
	const struct result *r;

	(void)state;
	write_cpus(-1, WINDOWS);
	r = show("script", "--jobs 3", "");
	expect_part(r->out, "  0 window 1\n  1 window 1\n  2 window 1\n");
	/* Their turns come by time, not one CPU after the other. */
	expect_part(r->out, "  1        1.000009400 ");
	assert_true(strstr(r->out, "  2        1.000009700 ") < strstr(r->out, "  0        1.000010100 "));
	expect_same(NR_VIEWS, 0, "decode errors: 0;");
}

static void an_error_on_one_cpu_is_at_its_place(void **state)
{
	(void)state;
	for (int cpu = 0; cpu < CPUS; cpu++) {
		begin_trace();
		write_cpus(cpu, WINDOWS);
		expect_same(5, 1, "decode errors: 1;");
		expect_part(show("script", "--jobs 3", "")->out, "error");
	}
}

static void messages_come_in_the_order_of_the_cpus(void **state)
{
	const char *err;

	(void)state;
	write_cpus(-1, WINDOWS + 1);
	expect_same(5, 0, "the window numbers are not known");
	err = show("script", "--jobs 3", "")->err;
	for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
		char text[64];

		snprintf(text, sizeof(text), "auxtrace: cpu %u: %d window starts", cpu, WINDOWS);
		expect_part(err, text);
		err = strstr(err, text);
	}
}

static void a_cpu_that_cannot_be_read_ends_it(void **state)
{
	(void)state;
	write_cpus(-1, WINDOWS);
	assert_int_equal(unlink(program_path("cpu1.aux")), 0);
	expect_same(5, 1, "cannot read ");
}

/* Who reads the output may go away: the command ends by SIGPIPE, whatever its threads wait for. */
static void a_closed_pipe_ends_all_threads(void **state)
{
	const struct result *r;

	(void)state;
	/* More than the pipe holds. */
	times = 100;
	write_cpus(-1, 100 * WINDOWS);
	assert_true(strlen(show("script --insn", "--jobs 3", "")->out) > 500000);
	for (unsigned int i = 0; i < 10; i++) {
		r = show("script --insn", "--jobs 3", "| head -n 1");
		assert_int_equal(r->status, 0);
		assert_string_equal(r->out, "# cpu 0\n");
	}
}

static void the_number_is_at_least_one(void **state)
{
	(void)state;
	write_cpus(-1, WINDOWS);
	for (unsigned int i = 0; i < 2; i++) {
		const struct result *r = show("report", i ? "--jobs 0" : "--jobs many", "");

		assert_int_equal(r->status, 2);
		expect_part(r->err, "--jobs");
	}
}

static int begin(void **state)
{
	times = 1;
	return packets_begin(state);
}

#define t(f) cmocka_unit_test_setup_teardown(f, begin, packets_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		t(all_views_are_the_same),
		t(an_error_on_one_cpu_is_at_its_place),
		t(messages_come_in_the_order_of_the_cpus),
		t(a_cpu_that_cannot_be_read_ends_it),
		t(a_closed_pipe_ends_all_threads),
		t(the_number_is_at_least_one),
	};

	return cmocka_run_group_tests_name("jobs", tests, NULL, NULL);
}
