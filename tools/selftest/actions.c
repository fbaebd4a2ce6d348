// SPDX-License-Identifier: GPL-2.0-only
/* What hits do beyond a pause at once: they wait, are held, take a sample. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "lib/tool.h"
#include "recorded.h"

#define EVENTS		10
#define IGNORED		2
#define DELAY_NS	2000000u
#define DELAY_BYTES	(32u << 10)
#define DELAY_WORK	2000u	/* of SOME_WORK, at most */
/* With the default period a PSB comes each 16 KiB or so, and a decoder begins at one. */
#define SAMPLE_SIZE	(48u << 10)

/* A trigger at the calls of getppid(2) of this process */
static struct auxtrace_trigger_options at_call(uint32_t action)
{
	return (struct auxtrace_trigger_options){ .size = sizeof(struct auxtrace_trigger_options), .pid = getpid(),
						  .kind = AUXTRACE_TRIGGER_SYSCALL_ENTER, .number = SYS_getppid, .action = action };
}

static enum outcome hold_off(const struct selftest *t)
{
	struct auxtrace_session *s = traced_begin(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_OVERWRITE });
	struct auxtrace_trigger_options pause = at_call(AUXTRACE_ACTION_PAUSE);
	struct auxtrace_trigger_state early, late;
	int id;

	if (!s)
		return traced_failed(NULL, "a session");
	pause.after_hits = IGNORED;
	pause.hold_off_ns = 3600000000000;
	id = auxtrace_trigger_add(s, &pause);
	if (id < 0)
		return traced_failed(s, "adding the trigger");
	for (unsigned int i = 0; i < EVENTS; i++) {
		if (i == IGNORED && !traced_trigger(s, id, 0, &early))
			return traced_failed(s, "reading the trigger");
		syscall(SYS_getppid);
	}
	if (!traced_trigger(s, id, 0, &late))
		return traced_failed(s, "reading the trigger");
	auxtrace_close(s);
	if (early.out_acted || early.out_held != IGNORED)
		return check_failed("of the first %u hits, which are to be ignored, %" PRIu64 " acted, %" PRIu64 " were held", IGNORED,
				    (uint64_t)early.out_acted, (uint64_t)early.out_held);
	if (late.out_hits != EVENTS || late.out_acted != 1 || late.out_held != EVENTS - 1)
		return check_failed("%" PRIu64 " hits of %u events, %" PRIu64 " acted, %" PRIu64 " were held", (uint64_t)late.out_hits, EVENTS,
				    (uint64_t)late.out_acted, (uint64_t)late.out_held);
	return PASSED;
}

static enum outcome one_shot(const struct selftest *t)
{
	struct auxtrace_session *s = traced_begin(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_OVERWRITE });
	struct auxtrace_trigger_options pause = at_call(AUXTRACE_ACTION_PAUSE);
	struct auxtrace_trigger_state state[2];
	int id;

	if (!s)
		return traced_failed(NULL, "a session");
	pause.flags = AUXTRACE_TRIGGER_ONE_SHOT;
	id = auxtrace_trigger_add(s, &pause);
	if (id < 0)
		return traced_failed(s, "adding the trigger");
	for (unsigned int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < EVENTS; i++)
			syscall(SYS_getppid);
		if (!traced_trigger(s, id, AUXTRACE_TRIGGER_REARM, &state[round]))
			return traced_failed(s, "reading the trigger");
	}
	auxtrace_close(s);
	if (state[0].out_hits != EVENTS || state[0].out_acted != 1)
		return check_failed("of %u hits %" PRIu64 " acted, not one", EVENTS, (uint64_t)state[0].out_acted);
	if (state[1].out_hits != 2 * EVENTS || state[1].out_acted != 2)
		return check_failed("behind a REARM, of %u hits %" PRIu64 " acted, not one", EVENTS,
				    (uint64_t)(state[1].out_acted - state[0].out_acted));
	return PASSED;
}

/* How long after the hit the trigger @options pauses the trace */
struct waited {
	uint64_t ticks, bytes, hz;
};

static enum outcome wait_for_pause(const struct selftest *t, const struct auxtrace_trigger_options *options, struct waited *w)
{
	struct auxtrace_session *s = traced_begin(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_OVERWRITE,
										.data_size = 64u << 10,
										.records = AUXTRACE_WANT_TRIGGER });
	struct auxtrace_status_page before, page;
	const union auxtrace_record *r;
	struct auxtrace_info info;
	uint64_t begin;
	int result;

	if (!s)
		return traced_failed(NULL, "a session");
	if (auxtrace_info(s, 0, &info))
		return traced_failed(s, "the clock");
	if (auxtrace_trigger_add(s, options) < 0)
		return traced_failed(s, "adding the trigger");
	traced_work(SOME_WORK);
	if (!traced_status(s, t, &before))
		return traced_failed(s, "the status");
	begin = __rdtsc();
	syscall(SYS_getppid);
	for (unsigned int i = 0; i < DELAY_WORK; i++) {
		traced_work(SOME_WORK);
		if (!traced_status(s, t, &page))
			return traced_failed(s, "the status");
		if (page.inhibit & AUXTRACE_INHIBIT_TRIGGER)
			break;
	}
	while ((result = auxtrace_reader_next_record(auxtrace_reader(s, t->cpu), &r)) == 1)
		if (r->header.type == AUXTRACE_RECORD_TRIGGER)
			break;
	if (result < 0)
		return traced_failed(s, "the records");
	if (result) {
		w->ticks = auxtrace_record_end(r)->time - begin;
		w->bytes = r->trigger.position - before.produced;
		w->hz = info.out_clock_hz;
	}
	auxtrace_close(s);
	return result ? PASSED : check_failed("the trigger did not act, reasons to be off %#x", page.inhibit);
}

/* The call, and so the hit, is behind the moment and the position that are taken before. */
static enum outcome delay(const struct selftest *t)
{
	struct auxtrace_trigger_options pause = at_call(AUXTRACE_ACTION_PAUSE);
	enum outcome outcome;
	struct waited w;
	double ns;

	pause.delay_ns = DELAY_NS;
	outcome = wait_for_pause(t, &pause, &w);
	if (outcome != PASSED)
		return outcome;
	ns = (double)w.ticks / (double)w.hz * 1e9;
	/* The frequency is as the kernel has measured it. */
	if (ns < 0.99 * DELAY_NS)
		return check_failed("%.0f ns after the call it acted, not %u", ns, DELAY_NS);
	check_figure("delay of 2 ms", ns / 1e6, "ms");
	pause.delay_ns = 0;
	pause.delay_bytes = DELAY_BYTES;
	outcome = wait_for_pause(t, &pause, &w);
	if (outcome != PASSED)
		return outcome;
	if (w.bytes < DELAY_BYTES)
		return check_failed("%" PRIu64 " bytes after the call it acted, not %u", w.bytes, DELAY_BYTES);
	check_figure("delay of 32768 bytes", (double)w.bytes, "bytes");
	return PASSED;
}

static int take_samples(struct auxtrace_session *s)
{
	struct auxtrace_trigger_options sample = at_call(AUXTRACE_ACTION_SAMPLE);

	sample.sample_size = SAMPLE_SIZE;
	return auxtrace_trigger_add(s, &sample);
}

static void work_and_call(unsigned long branches)
{
	traced_work(branches);
	syscall(SYS_getppid);
}

/* Are the @length bytes that end at position @end of the area those at @bytes? */
static bool area_has(const struct auxtrace_spans *spans, uint64_t end, const uint8_t *bytes, size_t length)
{
	uint64_t at = end - length - spans->position;

	if (end - length < spans->position || end > spans->position + spans->len)
		return false;
	for (int i = 0; i < spans->count && length; i++) {
		size_t len = spans->iov[i].iov_len;

		if (at >= len) {
			at -= len;
			continue;
		}
		len = len - at < length ? len - at : length;
		if (memcmp((const uint8_t *)spans->iov[i].iov_base + at, bytes, len))
			return false;
		at = 0;
		bytes += len;
		length -= len;
	}
	return !length;
}

/* The sample is the newest trace before the call: the area has it, and behind it only that of the way to the pause. */
static enum outcome judge_sample(const struct selftest *t, struct auxtrace_session *s)
{
	static uint64_t records[(128u << 10) / sizeof(uint64_t)];
	struct auxtrace_reader *reader = auxtrace_reader(s, t->cpu);
	const union auxtrace_record *r, *sample = NULL;
	struct auxtrace_status_page page;
	struct auxtrace_spans spans;
	struct auxtrace_copy copy;
	size_t at = 0;

	if (!traced_status(s, t, &page) || auxtrace_reader_peek(reader, &spans) ||
	    auxtrace_reader_copy_records(reader, NULL, records, sizeof(records), &copy))
		return check_failed("reading the sample: %s", auxtrace_error());
	while ((r = auxtrace_record_next(records, copy.len, &at)))
		if (r->header.type == AUXTRACE_RECORD_SAMPLE)
			sample = r;
	if (!sample || !auxtrace_sample_data(sample))
		return check_failed("there is no sample in %zu bytes of records", copy.len);
	/* BTS: whole branches only */
	if (sample->sample.wanted != SAMPLE_SIZE || sample->sample.length > SAMPLE_SIZE ||
	    sample->sample.length + sizeof(struct auxtrace_branch) <= SAMPLE_SIZE)
		return check_failed("the sample has %" PRIu64 " bytes of %u, of %" PRIu64, (uint64_t)sample->sample.length, SAMPLE_SIZE,
				    (uint64_t)page.produced);
	if (page.produced - sample->sample.aux_end > SAMPLE_SIZE ||
	    !area_has(&spans, sample->sample.aux_end, auxtrace_sample_data(sample), (size_t)sample->sample.length))
		return check_failed("the bytes of the sample, which end at %" PRIu64 " of %" PRIu64 ", are not those of the area",
				    (uint64_t)sample->sample.aux_end, (uint64_t)page.produced);
	check_figure("bytes", (double)sample->sample.length, "");
	return PASSED;
}

static enum outcome sample(const struct selftest *t)
{
	const struct recorded r = {
		.options = { .flags = AUXTRACE_SETUP_OVERWRITE, .aux_size = 128u << 10, .data_size = 256u << 10 },
		.prepare = take_samples,
		.work = work_and_call,
		.amount = 60000,
		.judge = judge_sample,
	};
	struct collector collector = { .begin = (uintptr_t)work_begin, .end = (uintptr_t)work_end, .samples = true };
	enum outcome outcome = recorded(t, &r, "sample");

	if (outcome == PASSED)
		outcome = recorded_decode(t, "sample", &collector);
	if (outcome == PASSED && !collector.steps.count)
		outcome = check_failed("none of the instructions before the call is in the sample");
	if (outcome == PASSED)
		check_figure("instructions", (double)collector.steps.count, "");
	collector_free(&collector);
	return outcome;
}

const struct check action_checks[] = {
	{ "hold-off", "hits that are to be ignored, and those in the time of a hold-off, do not act", false, hold_off },
	{ "one-shot", "such a trigger acts once, and once more when it is rearmed", false, one_shot },
	{ "delay", "a trigger acts so much later, and so many bytes of trace later, as it is to", false, delay },
	{ "sample", "a sample is the newest trace at the event, and is decoded on its own", false, sample },
	{ 0 },
};
