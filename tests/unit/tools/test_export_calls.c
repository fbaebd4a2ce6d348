// SPDX-License-Identifier: GPL-2.0-only
/* auxtrace export of calls: folded stacks, speedscope, Perfetto; and parts of a recording. */
#include "made.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <linux/auxtrace.h>

#include "export/event_lists.h"
#include "export/file_limit.h"
#include "export/format.h"
#include "export/protobuf.h"
#include "packets.h"

static const struct result *export(const char *options)
{
	char arguments[256];

	snprintf(arguments, sizeof(arguments), "export -o - %s %s", options, dir);
	return run_auxtrace(arguments);
}

/* main calls f at @time; an interrupt in f goes to sched, which calls switch; main then calls the kernel. */
static void call_f(uint64_t time)
{
	tsc(time);
	ip_packet(ppt_fup, F);
	ip_packet(ppt_tip, SCHED);
	tsc(time + 1000);
	tnt("!");
	ip_packet(ppt_tip, F);
	tsc(time + 2000);
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	tsc(time + 3000);
	ip_packet(ppt_tip, MAIN);
}

static void write_recording(void)
{
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	call_f(2000);
	call_f(6000);
	suppressed(ppt_tip_pgd);
	finish(BOTH, "windows 1");
}

static void folded_stacks_have_the_time_without_callees(void **state)
{
	const struct result *r;

	(void)state;
	write_recording();
	r = export("--format folded");
	assert_int_equal(r->status, 0);
	assert_string_equal(r->out,
		"?;main 256\n"
		"?;main;entry_[k] 2744\n"
		"?;main;f 2000\n"
		"?;main;f;sched [mod]_[k] 256\n"
		"?;main;f;sched [mod]_[k];switch_[k] 1744\n");
}

/* Those of all stacks are all that was decoded, and those of a part have what is not shown. */
static void folded_stacks_count_instructions(void **state)
{
	const struct result *r;

	(void)state;
	write_recording();
	r = export("--format folded --weight instructions");
	assert_int_equal(r->status, 0);
	assert_string_equal(r->out,
		"?;main 5\n"
		"?;main;entry_[k] 4\n"
		"?;main;f 8\n"
		"?;main;f;sched [mod]_[k] 4\n"
		"?;main;f;sched [mod]_[k];switch_[k] 4\n");
	expect_part(r->err, "25 instructions");
	assert_string_equal(export("--format folded --weight instructions --max-depth 2")->out,
			    "?;main 5\n?;main;entry_[k] 4\n?;main;f 16\n");
}

static void speedscope_has_calls_that_open_and_close(void **state)
{
	const struct result *r;

	(void)state;
	write_recording();
	r = export("--format speedscope");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",");
	expect_part(r->out,
		"\"shared\":{\"frames\":[{\"name\":\"main\",\"file\":\"prog\"},\n{\"name\":\"f\",\"file\":\"prog\"},\n"
		"{\"name\":\"sched [mod]\",\"file\":\"[kernel]\"},\n");
	expect_part(r->out,
		"\"profiles\":[{\"type\":\"evented\",\"name\":\"unknown thread, CPU 0\",\"unit\":\"nanoseconds\","
		"\"startValue\":0,\"endValue\":7000,\"events\":[{\"type\":\"O\",\"frame\":0,\"at\":0},"
		"{\"type\":\"O\",\"frame\":1,\"at\":64},{\"type\":\"O\",\"frame\":2,\"at\":64},"
		"{\"type\":\"O\",\"frame\":3,\"at\":128},{\"type\":\"C\",\"frame\":3,\"at\":1000},"
		"{\"type\":\"C\",\"frame\":2,\"at\":1064},{\"type\":\"C\",\"frame\":1,\"at\":2064},");
	/* main and its last call of f end with the trace. */
	expect_part(r->out, "{\"type\":\"C\",\"frame\":1,\"at\":7000},{\"type\":\"C\",\"frame\":0,\"at\":7000}]}]}\n");
}

/* The file at @path has that text. */
static void expect_file(const char *path, const char *text)
{
	size_t size = strlen(text);
	char *found = malloc(size + 2);
	FILE *f = fopen(path, "r");

	assert_non_null(found);
	assert_non_null(f);
	assert_int_equal(fread(found, 1, size + 1, f), size);
	found[size] = 0;
	assert_string_equal(found, text);
	fclose(f);
	free(found);
}

/* Export @calls calls of "f", one after the other, to nowhere; returns what the exporter says. To be freed. */
static char *speedscope_says(uint64_t calls)
{
	const struct meta meta = { .time_mult = 1, .time_zero = 0 };
	const struct export_request request = { .dir = "x", .meta = &meta, .out = "-" };
	FILE *out = fopen("/dev/null", "w"), *err = tmpfile();
	char *text = calloc(1, 1000);
	struct calls_sink *sink;
	int saved = dup(2);

	assert_non_null(out);
	assert_non_null(err);
	assert_non_null(text);
	sink = speedscope_format.begin(&request, out);
	for (uint64_t i = 0; i < calls; i++) {
		struct call call = {
			.name = { .function = "f", .object = "prog" },
			/* Times of 19 digits */
			.begin.tsc = i ? 2000000000000000000 + 2 * i : 1, .end.tsc = 2000000000000000001 + 2 * i,
		};

		sink->begin(sink, &call);
		sink->end(sink, &call);
	}
	dup2(fileno(err), 2);
	speedscope_format.end(sink);
	dup2(saved, 2);
	close(saved);
	rewind(err);
	assert_true(fread(text, 1, 999, err) < 999);
	fclose(err);
	fclose(out);
	return text;
}

/* An event has 48 bytes: 2^29 bytes are 5,592,405 calls of two events. */
static void speedscope_files_beyond_a_browsers_string_are_told(void **state)
{
	char *text;

	(void)state;
	text = speedscope_says(100000);
	assert_string_equal(text, "");
	free(text);
	text = speedscope_says(5600000);
	expect_part(text, "this is more than 512 MiB, and a browser's string holds 512");
	expect_part(text, "--time, --window, --cpu, --tid, --function and --max-depth export a part");
	free(text);
}

/* The time at which call @n of @thread begins or ends: threads are in turns, and the second is as often as the others. */
static uint64_t turn_time(uint64_t n, unsigned int thread, bool ends)
{
	return 1000 + 8 * n + 2 * thread + ends;
}

/* What is to be in the file of @calls calls of that thread. To be freed. */
static char *expected_profile(unsigned int thread, uint64_t calls)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	fprintf(f, "\"startValue\":%llu,\"endValue\":%llu,\"events\":[", (unsigned long long)turn_time(0, thread, false) - 1000,
		(unsigned long long)turn_time(calls - 1, thread, true) - 1000);
	for (uint64_t i = 0; i < calls; i++)
		fprintf(f, "%s{\"type\":\"O\",\"frame\":%u,\"at\":%llu},{\"type\":\"C\",\"frame\":%u,\"at\":%llu}", i ? "," : "",
			thread, (unsigned long long)turn_time(i, thread, false) - 1000, thread,
			(unsigned long long)turn_time(i, thread, true) - 1000);
	fputs("]}", f);
	fclose(f);
	return text;
}

/*
 * What is in blocks of the temporary file, and what is not, each thread's own: with one event less than a block, a block,
 * one more, and many blocks.
 */
static void speedscope_keeps_the_order_of_many_calls(void **state)
{
	static const uint64_t calls[] = { 1, EVENT_BLOCK / 2 - 1, EVENT_BLOCK / 2, EVENT_BLOCK / 2 + 1, EVENT_BLOCK, 20 * EVENT_BLOCK + 7 };
	static const char *const functions[] = { "f", "g", "h" };
	const struct meta meta = { .time_mult = 1, .time_zero = 0 };
	const struct export_request request = { .dir = "x", .meta = &meta, .out = "-" };

	(void)state;
	for (unsigned int n = 0; n < sizeof(calls) / sizeof(calls[0]); n++) {
		char *text = NULL;
		size_t size;
		FILE *out = open_memstream(&text, &size);
		struct calls_sink *sink;

		assert_non_null(out);
		sink = speedscope_format.begin(&request, out);
		for (uint64_t i = 0; i < calls[n]; i++)
			for (unsigned int thread = 0; thread < 3; thread++) {
				struct call call = {
					.known = true, .thread = { .pid = 7, .tid = 7 + thread },
					.name = { .function = functions[thread], .object = "prog" },
					.begin.tsc = turn_time(i, thread, false), .end.tsc = turn_time(i, thread, true),
				};

				sink->begin(sink, &call);
				sink->end(sink, &call);
			}
		speedscope_format.end(sink);
		fclose(out);
		for (unsigned int thread = 0; thread < 3; thread++) {
			char *profile = expected_profile(thread, calls[n]);

			assert_non_null(strstr(text, profile));
			free(profile);
		}
		free(text);
	}
}

/* So many calls that they are not all kept in memory. */
static void write_long_recording(void)
{
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	for (uint64_t i = 0; i < EVENT_BLOCK; i++)
		call_f(2000 + 4000 * i);
	suppressed(ppt_tip_pgd);
	finish(BOTH, "windows 1");
}

/* It is where the output is, or where the user wants such files, and is gone at the end. */
static void speedscope_needs_a_temporary_file(void **state)
{
	const char *tmpdir = getenv("TMPDIR");
	char *before = tmpdir ? strdup(tmpdir) : NULL;
	char command[300], *text;
	const struct result *r;

	(void)state;
	write_long_recording();
	setenv("TMPDIR", "/nonexistent", 1);
	r = export("--format speedscope");
	assert_int_equal(r->status, 1);
	expect_part(r->err, "cannot make /nonexistent/auxtrace-export.");
	expect_part(r->err, ", a temporary file for calls: No such file or directory");
	setenv("TMPDIR", program_path("."), 1);
	r = export("--format speedscope");
	assert_int_equal(r->status, 0);
	text = strdup(r->out);
	assert_non_null(text);
	setenv("TMPDIR", "/nonexistent", 1);
	snprintf(command, sizeof(command), "export --format speedscope -o %s %s", program_path("speedscope"), dir);
	assert_int_equal(run_auxtrace(command)->status, 0);
	if (before)
		setenv("TMPDIR", before, 1);
	else
		unsetenv("TMPDIR");
	free(before);
	snprintf(command, sizeof(command), "cd %s && ! ls | grep -e auxtrace-export -e 'speedscope.'", dir);
	assert_int_equal(system(command), 0);
	expect_file(program_path("speedscope"), text);
	free(text);
}

/* Half of a file would look like the whole, and be in the way of another try. */
static void an_output_that_cannot_be_completed_is_removed(void **state)
{
	void (*before)(int) = signal(SIGXFSZ, SIG_IGN);
	struct rlimit limit, small;
	char command[300];
	const struct result *r;

	(void)state;
	write_long_recording();
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	small = (struct rlimit){ .rlim_cur = 64 << 10, .rlim_max = limit.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	snprintf(command, sizeof(command), "export --format speedscope -o %s %s", program_path("long"), dir);
	r = run_auxtrace(command);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	signal(SIGXFSZ, before);
	assert_int_equal(r->status, 1);
	expect_part(r->err, "File too large");
	assert_int_not_equal(access(program_path("long"), F_OK), 0);
	assert_int_equal(run_auxtrace(command)->status, 0);
	assert_int_equal(access(program_path("long"), F_OK), 0);
}

static void a_file_beyond_its_limit_is_told_once(void **state)
{
	struct file_limit limit = { .most = 3 << 20, .why = "a reader is small" };
	FILE *err = tmpfile();
	char text[1000] = "";
	int saved = dup(2);

	(void)state;
	assert_non_null(err);
	dup2(fileno(err), 2);
	file_limit_add(&limit, 3 << 20);
	assert_int_equal(lseek(2, 0, SEEK_CUR), 0);
	file_limit_add(&limit, 1);
	file_limit_add(&limit, 10 << 20);
	dup2(saved, 2);
	close(saved);
	rewind(err);
	assert_true(fread(text, 1, sizeof(text) - 1, err) > 0);
	fclose(err);
	expect_part(text, "this is more than 3 MiB, and a reader is small; --time, --window, --cpu, --tid, --function and --max-depth export a part\n");
	assert_null(strstr(strchr(text, '\n'), "this is more"));
}

static void callgrind_has_costs_of_functions_and_of_calls(void **state)
{
	const struct result *r;

	(void)state;
	write_recording();
	r = export("--format callgrind");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "# callgrind format\nversion: 1\ncreator: auxtrace test\n");
	expect_part(r->out,
		"\npositions: line\nevents: Nanoseconds Instructions\n\nfl=???\n"
		"ob=prog\nfn=main\n0 256 5\n"
		"cob=prog\ncfn=f\ncalls=3 0\n0 4000 16\n"
		"cob=[kernel]\ncfn=entry\ncalls=2 0\n0 2744 4\n\n"
		"ob=prog\nfn=f\n0 2000 8\n"
		"cob=[kernel]\ncfn=sched [mod]\ncalls=2 0\n0 2000 8\n\n");
	/* 25 instructions are the functions' own. */
	expect_part(r->out, "\nob=[kernel]\nfn=switch\n0 1744 4\n\nob=[kernel]\nfn=entry\n0 2744 4\n\n");
	/* Parts by time cut calls: their instructions are not known. */
	r = export("--format callgrind --time 1.000002500,1.000002900");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "\nevents: Nanoseconds\n\nfl=???\nob=prog\nfn=main\n0 0\ncob=prog\ncfn=f\ncalls=1 0\n0 400\n\n");
}

static uint64_t last_time;	/* of the last event that count_events() saw */

/* Events of a file for Perfetto: how many slices begin, end, and how many instants there are; -1: it is damaged. */
static int count_events(const uint8_t *data, size_t size, int counts[4]);

static uint64_t varint(const uint8_t **at, const uint8_t *end)
{
	uint64_t value = 0;

	for (unsigned int shift = 0; *at < end && shift < 64; shift += 7) {
		uint8_t byte = *(*at)++;

		value |= (uint64_t)(byte & 0x7f) << shift;
		if (!(byte & 0x80))
			break;
	}
	return value;
}

static int count_events(const uint8_t *data, size_t size, int counts[4])
{
	const uint8_t *at = data, *end = data + size;

	while (at < end) {
		uint64_t tag = varint(&at, end), value = varint(&at, end);

		switch (tag & 7) {
		case 0:
			/* TracePacket.timestamp */
			if (tag >> 3 == 8)
				last_time = value;
			/* TrackEvent.type */
			if (tag >> 3 == 9 && value < 4)
				counts[value]++;
			break;
		case 2:
			if (value > (uint64_t)(end - at))
				return -1;
			/* TracePacket, TrackEvent */
			if ((tag >> 3 == 1 && counts[0]++ >= 0) || tag >> 3 == 11) {
				if (count_events(at, value, counts))
					return -1;
			}
			at += value;
			break;
		default:
			return -1;
		}
	}
	return 0;
}

static void perfetto_has_a_begin_and_an_end_for_each_call(void **state)
{
	char options[200];
	int counts[4] = { 0 };
	static uint8_t data[1 << 16];
	size_t size;
	FILE *f;

	(void)state;
	write_recording();
	snprintf(options, sizeof(options), "export --format perfetto -o %s ", program_path("trace"));
	strcat(options, dir);
	assert_int_equal(run_auxtrace(options)->status, 0);
	f = fopen(program_path("trace"), "r");
	assert_non_null(f);
	size = fread(data, 1, sizeof(data), f);
	fclose(f);
	assert_int_equal(count_events(data, size, counts), 0);
	/* 10 calls, and the thread on its CPU */
	assert_int_equal(counts[1], 11);
	assert_int_equal(counts[2], 11);
	assert_int_equal(counts[3], 0);
	/* The last is that of the CPU: the thread ran there until its last call ended. */
	assert_int_equal(last_time, 1000009000);
}

/* The first of a file's bytes that are @text; NULL: there are none. */
static const uint8_t *find_text(const uint8_t *data, size_t size, const char *text)
{
	return memmem(data, size, text, strlen(text));
}

static size_t read_perfetto(uint8_t *data, size_t size)
{
	char options[200];
	FILE *f;

	remove(program_path("trace"));
	snprintf(options, sizeof(options), "export --format perfetto -o %s %s", program_path("trace"), dir);
	assert_int_equal(run_auxtrace(options)->status, 0);
	f = fopen(program_path("trace"), "r");
	assert_non_null(f);
	size = fread(data, 1, size, f);
	fclose(f);
	return size;
}

static void perfetto_tells_what_began_and_ended_a_window(void **state)
{
	struct auxtrace_record_window window = {
		{ AUXTRACE_RECORD_WINDOW, 0, sizeof(window) },
		.window = 1, .begin_time = 1000, .end_time = 10000,
		.begin_cause = AUXTRACE_CAUSE_USER, .end_cause = AUXTRACE_CAUSE_TRIGGER, .end_trigger = 1,
		.end = { 10000, 0, sizeof(window) },
	};
	static uint8_t data[1 << 16];
	const uint8_t *begin, *end;
	int counts[4] = { 0 };
	char cpu[64];
	size_t size;

	(void)state;
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	call_f(2000);
	call_f(6000);
	suppressed(ppt_tip_pgd);
	window.end_position = position();
	write_records(&window, sizeof(window));
	snprintf(cpu, sizeof(cpu), "windows 1 data_read %zu", sizeof(window));
	finish(BOTH, cpu);
	size = read_perfetto(data, sizeof(data));
	assert_int_equal(count_events(data, size, counts), 0);
	assert_int_equal(counts[1], counts[2]);
	assert_int_equal(counts[3], 2);
	begin = find_text(data, size, "window 1  <user to trigger 1");
	end = find_text(data, size, "window 1 ends: trigger 1");
	assert_non_null(begin);
	assert_non_null(end);
	/* Calls are between them. */
	assert_true(find_text(begin, size - (begin - data), "switch") < end);
}

static void a_part_is_whole_in_itself(void **state)
{
	(void)state;
	write_recording();
	assert_string_equal(export("--format folded --max-depth 2")->out,
			    "?;main 256\n?;main;entry_[k] 2744\n?;main;f 4000\n");
	assert_string_equal(export("--format folded --function sched")->out,
			    "?;sched [mod]_[k] 256\n?;sched [mod]_[k];switch_[k] 1744\n");
	assert_string_equal(export("--format folded --function f@prog --max-depth 1")->out,
			    "?;f 4000\n");
	assert_string_equal(export("--format folded --time 1.000002500,1.000002900")->out,
			    "?;main;f;sched [mod]_[k];switch_[k] 400\n");
	assert_string_equal(export("--format folded --time ,1.000002500")->out,
			    "?;main 64\n?;main;f;sched [mod]_[k] 64\n?;main;f;sched [mod]_[k];switch_[k] 372\n");
	assert_string_equal(export("--format folded --tid 77")->out, "");
}

static void script_and_report_show_parts_too(void **state)
{
	const struct result *r;
	char arguments[256];

	(void)state;
	write_recording();
	snprintf(arguments, sizeof(arguments), "script --function sched --max-depth 1 %s", dir);
	r = run_auxtrace(arguments);
	assert_string_equal(r->out,
		"  0 window 1\n"
		"  0        1.000002064 -               -            <2.00us k      sched [mod]  <interrupt>\n"
		"  0        1.000006064 -               -            <4.00us k      sched [mod]  <interrupt>\n");
	snprintf(arguments, sizeof(arguments), "script --insn --tid 5 %s", dir);
	r = run_auxtrace(arguments);
	assert_int_equal(r->status, 2);
	expect_part(r->err, "--tid, --time, --function and --max-depth choose calls");
	/* What is not shown of sched is its own time, and are its own instructions. */
	snprintf(arguments, sizeof(arguments), "report --function sched --max-depth 1 %s", dir);
	expect_part(run_auxtrace(arguments)->out, "  2.00us   2.00us        -   1.00us   1.00us   1.00us            8  k  sched [mod]\n");
}

/* Tables that are indexed by CPU numbers stay small, and clocks are shifted by less than a number has bits. */
static void a_damaged_meta_is_told(void **state)
{
	static const struct {
		const char *line, *message;
	} damaged[] = {
		{ "windows 1\ncpu 4294967295 windows 0", "cpu 4294967295: no kernel has so many CPUs" },
		{ "windows 1\ncpu 65536 windows 0", "cpu 65536: no kernel has so many CPUs" },
		{ "windows 1\ncpu 18446744073709551616 windows 0", "no kernel has so many CPUs" },
		{ "windows 1\ntime_shift 128", "time_shift 128: " },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
		const struct result *r;

		finish(BOTH, damaged[i].line);
		r = export("--format folded");
		expect_part(r->err, damaged[i].message);
		assert_int_equal(r->status, 1);
	}
}

static void what_makes_no_part_is_told(void **state)
{
	static const struct {
		const char *options, *message;
	} wrong[] = {
		{ "--format foldd", "--format foldd: it takes perf, perfetto, speedscope, folded or callgrind" },
		{ "--format folded --time 1", "--time 1: it takes BEGIN,END in seconds" },
		{ "--format folded --time 1,x", "--time 1,x: it takes BEGIN,END in seconds" },
		{ "--format folded --time 99999999999999,", "--time 99999999999999,: it takes BEGIN,END in seconds" },
		{ "--format folded --time 2,1", "--time 2,1: the end is not behind the begin" },
		{ "--format folded --max-depth 0", "--max-depth 0: " },
		{ "--format folded --weight bytes", "--weight bytes: it takes ns or instructions" },
		{ "--format perfetto --weight ns", "--weight: --format perfetto shows time" },
		{ "--format folded --weight instructions --time 1,2", "--weight instructions: of a call that --time cuts" },
		{ "--format perf --time 1,2", "--format perf writes all of a recording" },
		{ "--format perf --tid 2", "--format perf writes all of a recording" },
	};

	(void)state;
	write_recording();
	for (unsigned int i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		const struct result *r = export(wrong[i].options);

		expect_part(r->err, wrong[i].message);
		assert_int_equal(r->status, 2);
	}
}

static void messages_are_nested_and_numbers_have_seven_bits_a_byte(void **state)
{
	struct protobuf outer = { 0 }, inner = { 0 };
	static const uint8_t expected[] = {
		0x08, 0xac, 0x02,				/* 1: 300 */
		0x1a, 0x0c, 0x12, 0x04, 't', 'e', 'x', 't',	/* 3: { 2: "text" */
		0x08, 0xff, 0xff, 0xff, 0xff, 0x0f,		/* 1: 2^32 - 1 } */
		0xd0, 0x02, 0x00,				/* 42: 0 */
	};

	(void)state;
	protobuf_number(&outer, 1, 300);
	protobuf_string(&inner, 2, "text");
	protobuf_number(&inner, 1, UINT32_MAX);
	protobuf_message(&outer, 3, &inner);
	protobuf_number(&outer, 42, 0);
	assert_int_equal(inner.size, 0);
	assert_int_equal(outer.size, sizeof(expected));
	assert_memory_equal(outer.data, expected, sizeof(expected));
	protobuf_free(&outer);
	protobuf_free(&inner);
}

int main(void)
{
#define t(name) cmocka_unit_test_setup_teardown(name, packets_begin, packets_end)
	const struct CMUnitTest tests[] = {
		t(folded_stacks_have_the_time_without_callees),
		t(folded_stacks_count_instructions),
		t(speedscope_has_calls_that_open_and_close),
		cmocka_unit_test(speedscope_files_beyond_a_browsers_string_are_told),
		cmocka_unit_test(speedscope_keeps_the_order_of_many_calls),
		t(speedscope_needs_a_temporary_file),
		t(an_output_that_cannot_be_completed_is_removed),
		cmocka_unit_test(a_file_beyond_its_limit_is_told_once),
		t(callgrind_has_costs_of_functions_and_of_calls),
		t(perfetto_has_a_begin_and_an_end_for_each_call),
		t(perfetto_tells_what_began_and_ended_a_window),
		t(a_part_is_whole_in_itself),
		t(script_and_report_show_parts_too),
		t(a_damaged_meta_is_told),
		t(what_makes_no_part_is_told),
		cmocka_unit_test(messages_are_nested_and_numbers_have_seven_bits_a_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
