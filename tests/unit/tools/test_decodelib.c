// SPDX-License-Identifier: GPL-2.0-only
/* libauxtrace-decode on recordings made here. */
#include "made.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <auxtrace-decode.h>

#include "packets.h"

/* What handlers were told, a line each. */
static char told[8192];
static char messages[4096];
static unsigned int left;	/* that many more events are accepted; then the handler returns 7 */

static int tell(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int tell(const char *format, ...)
{
	size_t n = strlen(told);
	va_list ap;

	va_start(ap, format);
	vsnprintf(told + n, sizeof(told) - n, format, ap);
	va_end(ap);
	return left-- ? 0 : 7;
}

static bool nested;	/* hear() uses another decoder */

static void hear(void *context, const char *text)
{
	if (nested) {
		assert_null(auxtrace_decoder_open("/nowhere", NULL));
		expect_part(auxtrace_decoder_error(), "/nowhere is not a complete recording");
	}
	assert_string_equal(context, "context");
	strcat(messages, text);
	strcat(messages, "\n");
}

static struct auxtrace_decoder *open_with(struct auxtrace_decoder_options *o)
{
	struct auxtrace_decoder *d;

	o->size = sizeof(*o);
	o->message = hear;
	o->context = "context";
	*told = *messages = 0;
	left = 1000;
	d = auxtrace_decoder_open(dir, o);
	if (!d)
		print_error("%s\n", auxtrace_decoder_error());
	assert_non_null(d);
	return d;
}

static int begin(void *context, struct auxtrace_call *c)
{
	assert_string_equal(context, "own");
	assert_null(c->own);
	c->own = (void *)(c->function ?: "?");
	if (c->caller)
		assert_int_equal(c->caller->depth, c->depth - 1);
	return tell("%u begin %s (%s) %s%s%s @%" PRIu64 " in %s\n", c->depth, c->function, c->object,
		    c->flags & AUXTRACE_CALL_KERNEL ? "k" : "u", c->flags & AUXTRACE_CALL_BEGUN ? "" : " earlier",
		    c->flags & AUXTRACE_CALL_THREAD ? " known" : "", c->begin_ns % 1000000000,
		    c->caller ? (const char *)c->caller->own : "-");
}

static int end(void *context, struct auxtrace_call *c)
{
	assert_string_equal(context, "own");
	assert_string_equal(c->own, c->function);
	return tell("%u end %s%s %" PRIu64 " insns @%" PRIu64 "\n", c->depth, c->function,
		    c->flags & AUXTRACE_CALL_RETURNED ? "" : " cut", c->instructions, c->end_ns % 1000000000);
}

static int event(void *context, const struct auxtrace_flow_event *e)
{
	(void)context;
	return tell("event %u cpu %u number %" PRIu64 " ip %" PRIx64 " %s\n", e->what, e->cpu, e->number, e->ip, e->text ?: "");
}

static const struct auxtrace_call_handler calls = { .size = sizeof(calls), .begin = begin, .end = end, .event = event };

static int decode_calls(struct auxtrace_decoder *d)
{
	*told = 0;
	return auxtrace_decode_calls(d, &calls, "own");
}

/* main calls f at 2000; an interrupt in f goes to sched, which calls switch; main then calls the kernel. */
static void write_recording(void)
{
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tsc(2000);
	ip_packet(ppt_fup, F);
	ip_packet(ppt_tip, SCHED);
	tsc(3000);
	tnt("!");
	ip_packet(ppt_tip, F);
	tsc(4000);
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	tsc(5000);
	ip_packet(ppt_tip, MAIN);
	suppressed(ppt_tip_pgd);
	finish(BOTH, "windows 1");
}

static void calls_are_nested_with_times_and_instructions(void **state)
{
	struct auxtrace_decoder_options o = { .cpu = -1 };
	struct auxtrace_decoder_sum sum = { .size = sizeof(sum) };
	struct auxtrace_decoder *d;
	char first[sizeof(told)];

	(void)state;
	write_recording();
	d = open_with(&o);
	assert_int_equal(decode_calls(d), 0);
	assert_string_equal(told,
		"event 1 cpu 0 number 1 ip 0 \n"
		"0 begin main (prog) u earlier @2000 in -\n"
		"1 begin f (prog) u @2064 in main\n"
		"2 begin sched [mod] ([kernel]) k @2064 in f\n"
		"3 begin switch ([kernel]) k @2128 in sched [mod]\n"
		"3 end switch 2 insns @3000\n"
		"2 end sched [mod] 4 insns @3064\n"
		"1 end f 7 insns @4064\n"
		"1 begin entry ([kernel]) k @4128 in main\n"
		"1 end entry 2 insns @5000\n"
		"1 begin f (prog) u @5000 in main\n"
		"1 end f cut 2 insns @5000\n"
		"0 end main cut 14 insns @5000\n");
	auxtrace_decoder_sum(d, &sum);
	assert_int_equal(sum.instructions, 14);
	assert_int_equal(sum.windows, 1);
	assert_int_equal(sum.errors, 0);
	/* It can be decoded again, in any way. */
	strcpy(first, told);
	assert_int_equal(decode_calls(d), 0);
	assert_string_equal(told, first);
	auxtrace_decoder_sum(d, &sum);
	assert_int_equal(sum.instructions, 14);
	auxtrace_decoder_close(d);
	assert_string_equal(messages, "");
}

static void a_part_can_be_chosen(void **state)
{
	struct auxtrace_decoder_options o = { .cpu = 0, .function = "sched", .max_depth = 1 };
	struct auxtrace_decoder *d;

	(void)state;
	write_recording();
	d = open_with(&o);
	assert_int_equal(decode_calls(d), 0);
	assert_string_equal(told,
		"event 1 cpu 0 number 1 ip 0 \n"
		"0 begin sched [mod] ([kernel]) k @2064 in -\n"
		"0 end sched [mod] 4 insns @3064\n");
	auxtrace_decoder_close(d);
	o = (struct auxtrace_decoder_options){ .cpu = -1, .begin_ns = 1000004500 };
	d = open_with(&o);
	assert_int_equal(decode_calls(d), 0);
	assert_string_equal(told,
		"event 1 cpu 0 number 1 ip 0 \n"
		"0 begin main (prog) u earlier @4500 in -\n"
		"1 begin entry ([kernel]) k earlier @4500 in main\n"
		"1 end entry 2 insns @5000\n"
		"1 begin f (prog) u @5000 in main\n"
		"1 end f cut 2 insns @5000\n"
		"0 end main cut 14 insns @5000\n");
	auxtrace_decoder_close(d);
}

/* The TSC's 0 is at 1000000000 ns. */
static void an_end_before_the_tscs_begin_is_an_end(void **state)
{
	struct auxtrace_decoder_options o = { .cpu = -1, .end_ns = 5 };
	struct auxtrace_decoder *d;

	(void)state;
	write_recording();
	d = open_with(&o);
	assert_int_equal(decode_calls(d), 0);
	assert_string_equal(told, "event 1 cpu 0 number 1 ip 0 \n");
	auxtrace_decoder_close(d);
}

static void a_handler_can_end_it(void **state)
{
	struct auxtrace_decoder_options o = { .cpu = -1 };
	struct auxtrace_decoder *d;

	(void)state;
	write_recording();
	d = open_with(&o);
	left = 2;
	assert_int_equal(decode_calls(d), 7);
	assert_string_equal(told,
		"event 1 cpu 0 number 1 ip 0 \n"
		"0 begin main (prog) u earlier @2000 in -\n"
		"1 begin f (prog) u @2064 in main\n");
	auxtrace_decoder_close(d);
}

static int first_only(void *context, const struct auxtrace_instruction *i)
{
	(void)context, (void)i;
	return 7;
}

/* One thread's trace is one turn of it: decoding ends in the middle. */
static void what_follows_a_handlers_end_is_not_decoded(void **state)
{
	static const struct auxtrace_instruction_handler handler = { .size = sizeof(handler), .instruction = first_only };
	struct auxtrace_decoder_options o = { .cpu = -1 };
	struct auxtrace_decoder_sum sum = { .size = sizeof(sum) };
	struct auxtrace_decoder *d;

	(void)state;
	write_recording();
	d = open_with(&o);
	assert_int_equal(auxtrace_decode_instructions(d, &handler, NULL), 7);
	auxtrace_decoder_sum(d, &sum);
	assert_int_equal(sum.instructions, 1);
	assert_int_equal(sum.unsynced, 0);
	auxtrace_decoder_close(d);
}

static int executed(void *context, const struct auxtrace_instruction *i)
{
	struct auxtrace_decoder *d = context;
	const char *function, *object;
	uint64_t offset;

	auxtrace_decoder_name(d, i->ip, &function, &offset, &object);
	return tell("%s+%" PRIu64 " %s class %u length %u @%" PRIu64 "\n", function, offset, object, i->iclass, i->length,
		    auxtrace_decoder_time(d) % 1000000000);
}

static void each_instruction_is_told(void **state)
{
	static const struct auxtrace_instruction_handler handler = {
		.size = sizeof(handler), .instruction = executed, .event = event,
	};
	struct auxtrace_decoder_options o = { .cpu = -1 };
	struct auxtrace_decoder *d;
	uint32_t pid, tid;

	(void)state;
	write_recording();
	d = open_with(&o);
	assert_int_equal(auxtrace_decode_instructions(d, &handler, d), 0);
	assert_string_equal(told,
		"event 1 cpu 0 number 1 ip 0 \n"
		"event 7 cpu 0 number 0 ip 401000 \n"
		"main+0 prog class 1 length 5 @2000\n"
		"event 9 cpu 0 number 0 ip 401010 \n"
		"sched [mod]+0 [kernel] class 1 length 5 @2000\n"
		"switch+0 [kernel] class 0 length 3 @2000\n"
		"switch+3 [kernel] class 2 length 1 @2000\n"
		"sched [mod]+5 [kernel] class 6 length 2 @3000\n"
		"f+0 prog class 0 length 2 @3000\n"
		"f+2 prog class 4 length 2 @3000\n"
		"f+6 prog class 2 length 1 @4000\n"
		"main+5 prog class 5 length 2 @4000\n"
		"entry+0 [kernel] class 0 length 1 @4000\n"
		"entry+1 [kernel] class 6 length 3 @4000\n"
		"main+0 prog class 1 length 5 @5000\n"
		"f+0 prog class 0 length 2 @5000\n"
		"f+2 prog class 4 length 2 @5000\n"
		"event 8 cpu 0 number 0 ip 0 \n");
	/* Outside of handlers there is no flow. */
	assert_int_equal(auxtrace_decoder_thread(d, &pid, &tid), -1);
	assert_int_equal(auxtrace_decoder_time(d), 0);
	auxtrace_decoder_close(d);
}

static int window(void *context, const struct auxtrace_record_window *w)
{
	(void)context;
	return tell("window %u ends by %u\n", (unsigned int)w->window, w->end_trigger);
}

static void the_recording_is_described(void **state)
{
	struct auxtrace_record_window w = {
		.header = { .type = AUXTRACE_RECORD_WINDOW, .size = sizeof(w) },
		.window = 1, .begin_cause = AUXTRACE_CAUSE_USER, .end_cause = AUXTRACE_CAUSE_TRIGGER, .end_trigger = 3,
		.end = { .time = 1000, .size = sizeof(w) },
	};
	struct auxtrace_decoder_options o = { .cpu = -1 };
	struct auxtrace_decoder *d;
	char cpu[200];

	(void)state;
	psb(CR3, 1000, 0);
	w.end_position = position();
	write_records(&w, sizeof(w));
	snprintf(cpu, sizeof(cpu), "windows 1 data_read %zu\ntrigger 3 hits 1 on kprobe:f=freeze", sizeof(w));
	finish(BOTH, cpu);
	d = open_with(&o);
	assert_int_equal(auxtrace_decoder_cpu(d, 0), 0);
	assert_int_equal(auxtrace_decoder_cpu(d, 1), -1);
	assert_string_equal(auxtrace_decoder_trigger(d, 3), "kprobe:f=freeze");
	assert_string_equal(auxtrace_decoder_trigger(d, 4), "");
	assert_int_equal(auxtrace_decoder_windows(d, 0, window, NULL), 0);
	assert_string_equal(told, "window 1 ends by 3\n");
	left = 0;
	assert_int_equal(auxtrace_decoder_windows(d, 0, window, NULL), 7);
	assert_int_equal(auxtrace_decoder_windows(d, 9, window, NULL), -1);
	assert_int_equal(errno, ENOENT);
	expect_part(auxtrace_decoder_error(), "CPU 9 is not in /");
	auxtrace_decoder_close(d);
}

/* A sample whose bytes were lost. */
static void a_sample_that_is_not_there_is_counted(void **state)
{
	const struct {
		struct auxtrace_record_sample sample;
		struct auxtrace_record_end end;
	} s = {
		.sample = {
			.header = { .type = AUXTRACE_RECORD_SAMPLE, .size = sizeof(s) }, .flags = AUXTRACE_SAMPLE_IN_SLOT,
			.wanted = 16, .length = 16,
		},
		.end = { .time = 1000, .size = sizeof(s) },
	};
	struct auxtrace_decoder_options o = { .cpu = -1, .flags = AUXTRACE_DECODER_SAMPLES };
	struct auxtrace_decoder_sum sum = { .size = sizeof(sum) };
	struct auxtrace_decoder *d;
	char cpu[64];

	(void)state;
	psb(CR3, 1000, 0);
	write_records(&s, sizeof(s));
	snprintf(cpu, sizeof(cpu), "data_read %zu", sizeof(s));
	finish(BOTH, cpu);
	d = open_with(&o);
	assert_int_equal(decode_calls(d), 0);
	assert_int_equal(auxtrace_decoder_sum(d, &sum), 0);
	assert_int_equal(sum.samples, 0);
	assert_int_equal(sum.unsampled, 1);
	auxtrace_decoder_close(d);
}

static void expect_refused(const struct auxtrace_decoder_options *o, int err, const char *message)
{
	errno = 0;
	assert_null(auxtrace_decoder_open(dir, o));
	assert_int_equal(errno, err);
	expect_part(auxtrace_decoder_error(), message);
}

static void what_makes_no_sense_is_refused(void **state)
{
	struct auxtrace_decoder_options o = { .size = sizeof(o), .cpu = -1 };
	struct auxtrace_decoder_sum sum = { .size = sizeof(sum) - 8 };
	struct auxtrace_call_handler handler = calls;
	struct auxtrace_decoder *d;

	(void)state;
	expect_refused(NULL, EBADMSG, "is not a complete recording: it has no file meta");
	write_recording();
	o.size--;
	expect_refused(&o, EINVAL, "sizeof(struct auxtrace_decoder_options) is");
	o.size++;
	o.flags = 2;
	expect_refused(&o, EINVAL, "flags 0x2");
	o.flags = AUXTRACE_DECODER_SAMPLES;
	o.window = 1;
	expect_refused(&o, EINVAL, "a sample may reach over several windows");
	o.flags = o.window = 0;
	o.cpu = -2;
	expect_refused(&o, EINVAL, "cpu is -2");
	o.cpu = -1;
	o.begin_ns = 5;
	o.end_ns = 5;
	expect_refused(&o, EINVAL, "end_ns is not behind begin_ns");
	o.begin_ns = o.end_ns = 0;
	o.cpu = 5;
	d = open_with(&o);
	assert_int_equal(decode_calls(d), -1);
	assert_int_equal(errno, ENOENT);
	expect_part(auxtrace_decoder_error(), "CPU 5 is not in");
	handler.size = 4;
	assert_int_equal(auxtrace_decode_calls(d, &handler, NULL), -1);
	assert_int_equal(errno, EINVAL);
	assert_int_equal(auxtrace_decoder_sum(d, &sum), -1);
	assert_int_equal(errno, EINVAL);
	expect_part(auxtrace_decoder_error(), "sizeof(struct auxtrace_decoder_sum) is");
	auxtrace_decoder_close(d);
	auxtrace_decoder_close(NULL);
}

/* Damage is told; files that are missing are errors; neither ends the process. */
static void damage_is_told(void **state)
{
	struct auxtrace_decoder_options o = { .cpu = -1 };
	struct auxtrace_decoder_sum sum = { .size = sizeof(sum) };
	struct auxtrace_decoder *d;
	FILE *f;

	(void)state;
	psb(CR3, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	ip_packet(ppt_tip, F);
	finish(BOTH, "windows 1");
	append("cpu0.aux", "x");
	d = open_with(&o);
	assert_int_equal(decode_calls(d), 0);
	expect_part(told, "event 5 cpu 0");
	expect_part(messages, "the recording is damaged");
	auxtrace_decoder_sum(d, &sum);
	assert_true(sum.errors > 0);
	assert_int_equal(unlink(program_path("cpu0.aux")), 0);
	assert_int_equal(decode_calls(d), -1);
	assert_int_equal(errno, EBADMSG);
	expect_part(auxtrace_decoder_error(), "cpu0.aux: No such file");
	auxtrace_decoder_close(d);
	f = file("meta");
	fputs("auxtrace_recording 1\ncpu x\n", f);
	fclose(f);
	expect_refused(NULL, EBADMSG, "a cpu line without its number");
	f = file("meta");
	fputs("auxtrace_recording 1\npmu 77\ncpu 0\n", f);
	fclose(f);
	expect_refused(NULL, EBADMSG, "a trace of PMU 77");
	f = file("meta");
	fputs("auxtrace_recording 1\ncpu 0\n", f);
	fclose(f);
	f = file("kcore");
	fputs("no ELF", f);
	fclose(f);
	expect_refused(NULL, EBADMSG, "kcore is not an ELF file");
	unlink(program_path("kcore"));
	f = file("task.9");
	fputs("pid 9\n", f);
	fclose(f);
	expect_refused(NULL, EBADMSG, "task.9 has no cr3_mask");
}

static void expect_pipe_refused(const char *name)
{
	assert_int_equal(mkfifo(program_path(name), 0600), 0);
	alarm(20);
	expect_refused(NULL, EBADMSG, "Invalid argument");
	alarm(0);
	unlink(program_path(name));
}

/* Nobody waits for who would write to a pipe. */
static void a_pipe_is_no_file_of_a_recording(void **state)
{
	struct auxtrace_decoder_options o = { .cpu = -1 };
	struct auxtrace_decoder *d;

	(void)state;
	expect_pipe_refused("meta");
	write_recording();
	expect_pipe_refused("task.9");
	expect_pipe_refused("threads");
	unlink(program_path("kallsyms"));
	assert_int_equal(mkfifo(program_path("kallsyms"), 0600), 0);
	unlink(program_path("cpu0.aux"));
	assert_int_equal(mkfifo(program_path("cpu0.aux"), 0600), 0);
	alarm(20);
	d = open_with(&o);
	assert_int_equal(decode_calls(d), -1);
	alarm(0);
	expect_part(messages, "kallsyms: Invalid argument");
	expect_part(auxtrace_decoder_error(), "cpu0.aux: Invalid argument");
	auxtrace_decoder_close(d);
}

/* A terminal would obey what a recording has in it. */
static void messages_have_no_control_characters(void **state)
{
	FILE *f = file("meta");

	(void)state;
	fputs("auxtrace_recording 1\nfilter \033[2J\n", f);
	fclose(f);
	expect_refused(NULL, EBADMSG, "filter ?[2J");
}

/* Decoders are independent, also if a handler of the one uses another. */
static void a_handler_may_use_another_decoder(void **state)
{
	struct auxtrace_decoder_options o = { .cpu = -1 };
	struct auxtrace_decoder *d;

	(void)state;
	write_recording();
	append("cpu0.aux", "x");
	write_records("x", 1);
	d = open_with(&o);
	nested = true;
	assert_int_equal(decode_calls(d), 0);
	expect_part(messages, "cpu0.data has 1 bytes");
	expect_part(messages, "cpu0.aux has ");
	assert_int_equal(unlink(program_path("cpu0.aux")), 0);
	assert_int_equal(decode_calls(d), -1);
	nested = false;
	expect_part(auxtrace_decoder_error(), "cpu0.aux: No such file");
	auxtrace_decoder_close(d);
}

#define t(name) cmocka_unit_test_setup_teardown(name, packets_begin, packets_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		t(calls_are_nested_with_times_and_instructions),
		t(a_part_can_be_chosen),
		t(an_end_before_the_tscs_begin_is_an_end),
		t(a_handler_can_end_it),
		t(what_follows_a_handlers_end_is_not_decoded),
		t(each_instruction_is_told),
		t(the_recording_is_described),
		t(a_sample_that_is_not_there_is_counted),
		t(what_makes_no_sense_is_refused),
		t(damage_is_told),
		t(a_pipe_is_no_file_of_a_recording),
		t(messages_have_no_control_characters),
		t(a_handler_may_use_another_decoder),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
