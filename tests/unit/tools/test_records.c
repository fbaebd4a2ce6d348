// SPDX-License-Identifier: GPL-2.0-only
/* What auxtrace script and dump make of records: windows, triggers, samples. */
#include "made.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <linux/auxtrace.h>

#include "packets.h"

#define WINDOW(seq, from, to, why, why_not) {					\
	.header = { .type = AUXTRACE_RECORD_WINDOW,				\
		    .size = sizeof(struct auxtrace_record_window) },		\
	.window = (seq), .begin = (from), .end_position = (to),			\
	.begin_cause = AUXTRACE_CAUSE_ ## why, .end_cause = AUXTRACE_CAUSE_ ## why_not, \
	.begin_pid = 7, .pid = 8, .begin_tid = 9, .tid = 10,			\
	.end = { .time = 0xabc, .size = sizeof(struct auxtrace_record_window) },	\
}

static void records_tell_windows_of_a_user_trace_from_other_psbs(void **state)
{
	struct auxtrace_record_window records[] = {
		WINDOW(3, 0, 0, SESSION, USER),
		WINDOW(4, 0, 0, USER, USER),
	};
	const struct result *r;
	char cpu[128];

	(void)state;
	psb(0, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	suppressed(ppt_tip_pgd);
	/* A PSB during a system call. */
	psb(0, 2000, 0);
	ip_packet(ppt_tip_pge, MAIN + 7);
	ip_packet(ppt_fup, MAIN);
	suppressed(ppt_tip_pgd);
	records[0].end_position = records[1].begin = position();
	psb(0, 3000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	suppressed(ppt_tip_pgd);
	records[1].end_position = position();
	/* The one that is open. */
	psb(0, 4000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	suppressed(ppt_tip_pgd);
	write_records(records, sizeof(records));
	snprintf(cpu, sizeof(cpu), "windows 5 window_begin 0 data_read %zu", sizeof(records));
	finish(AUXTRACE_SETUP_USER, cpu);
	r = script("--insn");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "# window 3\n");
	expect_part(r->out, "# window 4\n");
	expect_part(r->out, "# window 5\n");
	assert_null(strstr(r->out, "# window ?"));
	assert_null(strstr(r->err, "are not known"));
	expect_part(r->err, " in 3 windows");
	r = script("");
	expect_part(r->out, "  0 window 3  <session to user, ");
	expect_part(r->out, " bytes, whole>\n");
	expect_part(r->out, "  0 window 5\n");
}

/* A snapshot: pad bytes first, a window cut off at the front, one whole, and records of one that is gone. */
static void a_snapshot_s_windows_are_whole_in_part_or_gone(void **state)
{
	struct auxtrace_record_window records[] = {
		WINDOW(5, 4000, 4100, USER, USER),
		WINDOW(6, 4100, 0, USER, FULL),
		WINDOW(7, 0, 0, FULL, SNAPSHOT),
	};
	struct {
		struct auxtrace_record_lost lost;
		struct auxtrace_record_aux aux;
		struct auxtrace_record_itrace_start start;
		struct auxtrace_record_switch preempted, left;
	} more = {
		{ { AUXTRACE_RECORD_LOST, 0, sizeof(more.lost) }, 0, 17, { 0, 0, sizeof(more.lost) } },
		{ { AUXTRACE_RECORD_AUX, 0, sizeof(more.aux) }, 4200, 50,
		  AUXTRACE_AUX_OVERWRITE | AUXTRACE_AUX_TRUNCATED, { 0, 0, sizeof(more.aux) } },
		{ { AUXTRACE_RECORD_ITRACE_START, 0, sizeof(more.start) }, 11, 12,
		  { 0, 0, sizeof(more.start) } },
		{ { AUXTRACE_RECORD_SWITCH, AUXTRACE_SWITCH_OUT | AUXTRACE_SWITCH_OUT_PREEMPT,
		    sizeof(more.left) }, 13, 14, { 0, 12, sizeof(more.left) } },
		{ { AUXTRACE_RECORD_SWITCH, AUXTRACE_SWITCH_OUT, sizeof(more.left) }, 0, 0,
		  { 0, 14, sizeof(more.left) } },
	};
	const struct result *r;
	char text[160];
	FILE *f;

	(void)state;
	/* Eight bytes of pad: the first byte of the trace is at position 5000. */
	for (int i = 0; i < 8; i++)
		plain(ppt_pad);
	tnt("!!");
	ip_packet(ppt_tip, ENTRY);
	psb(CR3, 500, ENTRY);
	ip_packet(ppt_fup, ENTRY + 1);
	suppressed(ppt_tip_pgd);
	records[1].end_position = records[2].begin = 4992 + position();
	window_packets(1000);
	records[2].end_position = 4992 + position();
	write_records(records, sizeof(records));
	f = file("cpu0.aux");
	fwrite(stream, 1, position(), f);
	fclose(f);
	f = file("meta");
	fprintf(f, "auxtrace_recording 1\nabi 1\ncpu_family 6\ncpu_model 94\ncpu_stepping 3\n"
		"tsc_art_num 84\ntsc_art_den 2\nmax_nonturbo_ratio 32\ntime_shift 1\ntime_mult 2\n"
		"time_zero 0\ntsc_khz 1000000\nflags %u\nconfig 0x400\nsnapshot 1\n"
		"cpu 0 begin 5000 read %" PRIu64 " pad 8 data_read %zu records 3 produced 9999 windows 7 tsc 1 slot 1 inhibit 0\n",
		BOTH | AUXTRACE_SETUP_OVERWRITE, position() - 8, sizeof(records));
	fclose(f);
	line("# cpu 0");
	expect_window(6);
	expect_window(7);
	r = script("--insn");
	expect_flow(r);
	assert_int_equal(r->status, 0);
	expect_part(r->err, "8 bytes before the first PSB cannot be decoded");
	r = script("");
	snprintf(text, sizeof(text), "  0 window 6  <user to full, %" PRIu64 " bytes, overwritten in part>\n",
		 (uint64_t)records[1].end_position - 4100);
	expect_part(r->out, text);
	expect_part(r->out, "  0 window 7  <full to snapshot, ");
	snprintf(text, sizeof(text), "dump --records %s", dir);
	r = run_auxtrace(text);
	assert_int_equal(r->status, 0);
	expect_part(r->out, "#   0 0000000000000abc window 5 begin=4000 end=4100 cause=user,user tsc=0,0 pid=7,8 tid=9,10 slot=0: gone\n");
	expect_part(r->out, "cause=user,full tsc=0,0 pid=7,8 tid=9,10 slot=0: overwritten in part\n");
	expect_part(r->out, "cause=full,snapshot tsc=0,0 pid=7,8 tid=9,10 slot=0: whole\n");
	assert_null(strstr(r->out, "psb"));
	/* Other records; and what is none is told. */
	f = file("cpu0.data");
	fwrite(&more, 1, sizeof(more), f);
	fwrite("nonsense", 1, 8, f);
	fclose(f);
	snprintf(text, sizeof(text), "dump %s", dir);
	r = run_auxtrace(text);
	expect_part(r->out, "# cpu 0\n#   0 0000000000000000 lost 17\n");
	expect_part(r->out, " aux offset=4200 length=50 flags=truncated,overwrite\n");
	expect_part(r->out, " itrace-start pid=11 tid=12\n");
	expect_part(r->out, " switch tid=12 to pid=13 tid=14 preempted\n");
	expect_part(r->out, " switch tid=14 to pid=0 tid=0\n");
	expect_part(r->out, "psb\n");
	expect_part(r->err, "there is no record at offset");
	expect_part(r->err, "the recording is damaged");
	/* Without records, the windows' numbers are counted back from the newest. */
	snprintf(text, sizeof(text), "%s/cpu0.data", dir);
	unlink(text);
	line("# cpu 0");
	expect_window(6);
	expect_window(7);
	r = script("--insn");
	expect_part(r->out, "# window 6\n");
	expect_part(r->out, "# window 7\n");
}

/* A SAMPLE record at @at of @buf, with @length bytes or, @flags, none. Returns what follows it. */
static uint8_t *put_sample(uint8_t *at, uint64_t length, uint64_t wanted, uint32_t flags, const void *bytes)
{
	struct auxtrace_record_sample s = {
		.header.type = AUXTRACE_RECORD_SAMPLE, .trigger = 3, .pid = 7, .tid = 8, .aux_end = 900,
		.wanted = wanted, .length = length, .flags = flags,
		.data_offset = flags & AUXTRACE_SAMPLE_IN_SLOT ? 0 : sizeof(s),
	};
	size_t inside = flags & AUXTRACE_SAMPLE_IN_SLOT ? 0 : (length + 7) / 8 * 8;
	struct auxtrace_record_end e = { .time = 0xdef };

	e.size = s.header.size = sizeof(s) + inside + sizeof(e);
	memcpy(at, &s, sizeof(s));
	memset(at + sizeof(s), 0, inside);
	if (inside)
		memcpy(at + sizeof(s), bytes, length);
	memcpy(at + sizeof(s) + inside, &e, sizeof(e));
	return at + e.size;
}

static void triggers_and_samples_are_shown(void **state)
{
	struct auxtrace_record_window w = WINDOW(1, 0, 0, TRIGGER, TRIGGER);
	struct auxtrace_record_trigger freeze = {
		.header = { .type = AUXTRACE_RECORD_TRIGGER, .size = sizeof(freeze) },
		.trigger = 2, .action = AUXTRACE_ACTION_FREEZE, .value = 5000000, .pid = 7, .tid = 8,
		.end = { .time = 0xdef, .size = sizeof(freeze) },
	};
	static uint8_t records[4096] __attribute__((aligned(8))), sample[4096];
	uint8_t *end = records;
	const struct result *r;
	char text[512];
	size_t len;
	FILE *f;

	(void)state;
	psb(0, 1000, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	suppressed(ppt_tip_pgd);
	w.end_position = freeze.position = position();
	w.begin_trigger = 1;
	w.end_trigger = 2;
	/* A sample begins anywhere: here in the middle of the PSB. */
	len = 5 + position();
	memcpy(sample, stream + 11, 5);
	memcpy(sample + 5, stream, position());
	memcpy(end, &w, sizeof(w));
	end += sizeof(w);
	memcpy(end, &freeze, sizeof(freeze));
	end += sizeof(freeze);
	end = put_sample(end, len, len, 0, sample);
	end = put_sample(end, len, 4096, AUXTRACE_SAMPLE_IN_SLOT | AUXTRACE_SAMPLE_CUT, NULL);
	end = put_sample(end, 999, 999, AUXTRACE_SAMPLE_IN_SLOT, NULL);
	write_records(records, end - records);
	f = file("cpu0.samples");
	fwrite(sample, 1, len, f);
	fclose(f);
	snprintf(text, sizeof(text), "windows 1 window_begin 0 data_read %zu sample_bytes %zu\n"
		 "trigger 1 hits 4 acted 4 held 0 idle 0 missed 0 on syscall:read:enter=resume\n"
		 "trigger 2 hits 1 acted 1 held 0 idle 0 missed 0 on latency:a on b..c>2ms=freeze\n"
		 "trigger 3 hits 3 acted 3 held 0 idle 0 missed 0", (size_t)(end - records), len);
	finish(AUXTRACE_SETUP_USER, text);
	r = script("");
	assert_int_equal(r->status, 0);
	expect_part(r->out, "  0 window 1  <trigger 1, syscall:read:enter=resume to trigger 2, latency:a on b..c>2ms=freeze, after 5000000 ns, ");
	/* The freeze was 2567 ns behind the begin. */
	r = script("--time freeze-3us,freeze+1ns");
	assert_int_equal(r->status, 0);
	expect_part(r->out, " main (prog)");
	r = script("--time freeze-2.5us,");
	assert_int_equal(r->status, 0);
	assert_null(strstr(r->out, " main (prog)  <trace begins>"));
	r = script("--time freeze-2us,freeze-3us");
	assert_int_equal(r->status, 2);
	expect_part(r->err, "the end is not behind the begin");
	r = script("--time freeze-3,");
	assert_int_equal(r->status, 2);
	expect_part(r->err, "--time freeze-3,: it takes BEGIN,END in seconds as script shows them, or as freeze-2ms");
	r = script("--samples");
	assert_int_equal(r->status, 0);
	snprintf(text, sizeof(text), "  0 sample 1  <trigger 3, process 7, %zu bytes>\n", len);
	expect_part(r->out, text);
	snprintf(text, sizeof(text), "  0 sample 2  <trigger 3, process 7, %zu bytes, cut short by %zu>\n", len, 4096 - len);
	expect_part(r->out, text);
	expect_part(r->out, "  0 sample 3  <trigger 3, process 7, 999 bytes, not in the recording>\n");
	expect_part(r->err, " in 2 samples, ");
	expect_part(r->err, "decode errors: 0; overflows: 0; skipped: 0; not in the recording: 1");
	expect_part(r->err, "10 bytes before the first PSB");
	line("# cpu 0");
	for (int i = 1; i <= 2; i++) {
		line("# sample %d 3 900 %zu %zu", i, len, i == 1 ? len : 4096);
		line("# enable %016llx", MAIN);
		expect_main(BASE, true);
		line("# disable -");
	}
	line("# sample 3 3 900 999 999");
	r = script("--insn --samples");
	expect_flow(r);
	snprintf(text, sizeof(text), "dump --records %s", dir);
	r = run_auxtrace(text);
	assert_int_equal(r->status, 0);
	expect_part(r->out, "slot=0: whole trigger=1,2\n");
	snprintf(text, sizeof(text), " trigger 2 action=freeze value=5000000 pid=7 tid=8 position=%" PRIu64 "\n",
		 (uint64_t)freeze.position);
	expect_part(r->out, text);
	snprintf(text, sizeof(text), " sample trigger=3 pid=7 tid=8 end=900 wanted=4096 length=%zu slot=0 cut=%zu\n",
		 len, 4096 - len);
	expect_part(r->out, text);
}

/* A window of its own trace, from @tsc on for 500 ticks; triggers begin and end it. */
static struct auxtrace_record_window triggered_window(uint64_t number, uint64_t tsc, uint32_t begin_trigger, uint32_t end_trigger)
{
	struct auxtrace_record_window w = WINDOW(number, 0, 0, TRIGGER, TRIGGER);

	w.begin = position();
	psb(0, tsc, 0);
	ip_packet(ppt_tip_pge, MAIN);
	tnt("!!");
	suppressed(ppt_tip_pgd);
	w.end_position = position();
	w.begin_time = tsc;
	w.end_time = tsc + 500;
	w.begin_trigger = begin_trigger;
	w.end_trigger = end_trigger;
	return w;
}

static struct auxtrace_record_trigger hit(uint32_t trigger, uint32_t action, int64_t value, uint64_t at, uint64_t tsc)
{
	return (struct auxtrace_record_trigger){
		.header = { .type = AUXTRACE_RECORD_TRIGGER, .size = sizeof(struct auxtrace_record_trigger) },
		.trigger = trigger, .action = action, .value = value, .pid = 7, .tid = 8, .position = at,
		.end = { .time = tsc, .size = sizeof(struct auxtrace_record_trigger) },
	};
}

static void results_of_system_calls_are_shown(void **state)
{
	struct {
		struct auxtrace_record_trigger a, b;
		struct auxtrace_record_window first, second, third;
		struct auxtrace_record_trigger c, d, e, older, f, follows;
	} r;
	const struct result *shown;
	char text[700];

	(void)state;
	r.first = triggered_window(1, 1000, 1, 2);
	r.second = triggered_window(2, 2000, 4, 3);
	r.third = triggered_window(3, 3000, 5, 2);
	r.a = hit(1, AUXTRACE_ACTION_RESUME, 42, r.first.begin, 1001);
	r.b = hit(2, AUXTRACE_ACTION_PAUSE, -14, r.first.end_position, 1501);
	r.c = hit(4, AUXTRACE_ACTION_RESUME, -512, r.second.begin, 2001);
	/* It followed the freeze of another CPU. */
	r.follows = hit(3, AUXTRACE_ACTION_FREEZE, 0, r.second.end_position, 2501);
	r.d = hit(5, AUXTRACE_ACTION_RESUME, 0x7f0000001000, r.third.begin, 3001);
	/* Windows without a byte are at the same position: their times tell them apart. */
	r.older = hit(2, AUXTRACE_ACTION_PAUSE, -1, r.third.end_position, 3400);
	r.e = hit(2, AUXTRACE_ACTION_PAUSE, 0, r.third.end_position, 3501);
	r.f = hit(2, AUXTRACE_ACTION_PAUSE, -2, r.third.end_position, 3900);
	write_records(&r, sizeof(r));
	snprintf(text, sizeof(text), "windows 3 window_begin 0 data_read %zu\n"
		 "trigger 1 hits 1 acted 1 held 0 idle 0 missed 0 on syscall:read:exit=resume\n"
		 "trigger 2 hits 1 acted 1 held 0 idle 0 missed 0 on syscall:newuname:exit=pause\n"
		 "trigger 3 hits 1 acted 1 held 0 idle 0 missed 0 on syscall:close:exit=freeze\n"
		 "trigger 4 hits 1 acted 1 held 0 idle 0 missed 0 on syscall:*:exit=resume\n"
		 "trigger 5 hits 1 acted 1 held 0 idle 0 missed 0 on syscall:mmap:exit=resume", sizeof(r));
	finish(AUXTRACE_SETUP_USER, text);
	shown = script("");
	assert_int_equal(shown->status, 0);
	expect_part(shown->out, "  0 window 1  <trigger 1, syscall:read:exit=resume, read = 42 to "
		    "trigger 2, syscall:newuname:exit=pause, newuname = -14 EFAULT, ");
	snprintf(text, sizeof(text), "  0 window 2  <trigger 4, syscall:*:exit=resume, result = -512 ERESTARTSYS to "
		 "trigger 3, syscall:close:exit=freeze, %" PRIu64 " bytes, ", (uint64_t)(r.second.end_position - r.second.begin));
	expect_part(shown->out, text);
	expect_part(shown->out, "  0 window 3  <trigger 5, syscall:mmap:exit=resume, mmap = 0x7f0000001000 to "
		    "trigger 2, syscall:newuname:exit=pause, newuname = 0, ");
	/* No pause or resume is taken for the freeze, 1501 ns behind the begin. */
	shown = script("--time ,freeze-1600ns");
	assert_int_equal(shown->status, 0);
	assert_null(strstr(shown->out, " main (prog)"));
	shown = script("--time ,freeze-1400ns");
	assert_int_equal(shown->status, 0);
	expect_part(shown->out, " main (prog)");
}

#define t(f) cmocka_unit_test_setup_teardown(f, packets_begin, packets_end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		t(records_tell_windows_of_a_user_trace_from_other_psbs),
		t(a_snapshot_s_windows_are_whole_in_part_or_gone),
		t(triggers_and_samples_are_shown),
		t(results_of_system_calls_are_shown),
	};

	return cmocka_run_group_tests_name("records", tests, NULL, NULL);
}
