// SPDX-License-Identifier: GPL-2.0-only
/* Full-trace mode, overwrite mode and snapshots: what the hardware writes, and what is counted. */
#include <inttypes.h>
#include <time.h>

#include "traced.h"

/* The module looks for a tail each millisecond. */
#define MOST_WAITS	2000u

static enum outcome pause_and_resume(const struct selftest *t)
{
	struct auxtrace_session *s = traced_begin(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_PAUSED |
										AUXTRACE_SETUP_OVERWRITE });
	unsigned int rounds = t->quick ? 50 : 2000;
	struct auxtrace_status_page before, after;
	struct auxtrace_effect effect;

	if (!s)
		return traced_failed(NULL, "a session");
	for (unsigned int i = 0; i < rounds; i++) {
		if (!traced_status(s, t, &before))
			return traced_failed(s, "the status");
		traced_work(SOME_WORK);
		if (!traced_status(s, t, &after))
			return traced_failed(s, "the status");
		if (after.produced != before.produced || after.windows != before.windows || after.running) {
			auxtrace_close(s);
			return check_failed("round %u: a paused session wrote %" PRIu64 " bytes", i,
					    (uint64_t)(after.produced - before.produced));
		}
		if (auxtrace_resume(s))
			return traced_failed(s, "the resume");
		traced_work(SOME_WORK);
		if (auxtrace_pause_cpus(s, NULL, &effect, 1) < 0)
			return traced_failed(s, "the pause");
		if (!(effect.flags & AUXTRACE_EFFECT_CHANGED) || effect.position <= before.produced) {
			auxtrace_close(s);
			return check_failed("round %u: a resumed session wrote nothing", i);
		}
		if (!traced_status(s, t, &after))
			return traced_failed(s, "the status");
		if (effect.cpu != t->cpu || effect.inhibit != after.inhibit || effect.position != after.window_end ||
		    effect.window != after.windows || effect.time != after.window_end_time || effect.time <= after.window_begin_time) {
			auxtrace_close(s);
			return check_failed("round %u: the pause says that window %" PRIu64 " ended at %" PRIu64 ", and the status page that window %"
					    PRIu64 " did at %" PRIu64, i, (uint64_t)effect.window, (uint64_t)effect.position,
					    (uint64_t)after.windows, (uint64_t)after.window_end);
		}
	}
	auxtrace_close(s);
	check_figure("rounds", rounds, "");
	return PASSED;
}

/* Work until the area is full, and keep what was not read. PASSED, with the status page; else @s is closed. */
static enum outcome fill(const struct selftest *t, struct auxtrace_session *s, struct auxtrace_status_page *page)
{
	if (!traced_fill(s, t, 0, page))
		return traced_failed(s, "the status");
	if (page->gaps_full && page->produced <= page->aux_size && page->inhibit & AUXTRACE_INHIBIT_FULL)
		return PASSED;
	auxtrace_close(s);
	return check_failed("%" PRIu64 " bytes in an area of %" PRIu64 ", %" PRIu64 " gaps, reasons to be off %#x",
			    (uint64_t)page->produced, (uint64_t)page->aux_size, (uint64_t)page->gaps_full, page->inhibit);
}

static enum outcome full_area(const struct selftest *t)
{
	struct auxtrace_session *s = traced_begin(t, (struct auxtrace_options){ .aux_size = SMALL_AREA });
	struct auxtrace_status_page page, later;
	struct auxtrace_reader *reader;
	struct auxtrace_spans spans;
	enum outcome outcome;

	if (!s)
		return traced_failed(NULL, "a session");
	outcome = fill(t, s, &page);
	if (outcome != PASSED)
		return outcome;
	reader = auxtrace_reader(s, t->cpu);
	traced_work(SOME_WORK);
	if (!traced_status(s, t, &later) || auxtrace_reader_peek(reader, &spans))
		return traced_failed(s, "the status");
	if (later.produced != page.produced || spans.len != page.produced - page.consumed) {
		auxtrace_close(s);
		return check_failed("what was not read has changed: %" PRIu64 " bytes, then %" PRIu64 ", %zu to read",
				    (uint64_t)page.produced, (uint64_t)later.produced, spans.len);
	}
	if (auxtrace_reader_consume(reader, spans.len) || !traced_status(s, t, &page))
		return traced_failed(s, "the consumption");
	traced_work(SOME_WORK);
	if (!traced_status(s, t, &later))
		return traced_failed(s, "the status");
	auxtrace_close(s);
	if (later.produced <= page.produced)
		return check_failed("the trace did not go on when its data had been read");
	return PASSED;
}

static enum outcome full_auto(const struct selftest *t)
{
	struct auxtrace_session *s = traced_begin(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_FULL_AUTO,
										.aux_size = SMALL_AREA });
	struct auxtrace_status_page page, later;
	struct timespec pause = { .tv_nsec = 1000000 };
	struct auxtrace_reader *reader;
	enum outcome outcome;

	if (!s)
		return traced_failed(NULL, "a session");
	outcome = fill(t, s, &page);
	if (outcome != PASSED)
		return outcome;
	reader = auxtrace_reader(s, t->cpu);
	if (!traced_read(s, t))
		return traced_failed(s, "the consumption");
	/* The status page alone, for each call would take the tail. */
	for (unsigned int i = 0; i < MOST_WAITS; i++) {
		if (auxtrace_reader_status(reader, &later))
			return traced_failed(s, "the status");
		if (later.windows > page.windows)
			break;
		nanosleep(&pause, NULL);
	}
	auxtrace_close(s);
	if (later.windows == page.windows)
		return check_failed("the trace did not go on within %u ms, reasons to be off %#x", MOST_WAITS, later.inhibit);
	return PASSED;
}

static enum outcome full_stop(const struct selftest *t)
{
	struct auxtrace_session *s = traced_begin(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_FULL_STOP,
										.aux_size = SMALL_AREA });
	struct auxtrace_status_page page, later;
	enum outcome outcome;

	if (!s)
		return traced_failed(NULL, "a session");
	outcome = fill(t, s, &page);
	if (outcome != PASSED)
		return outcome;
	if (!traced_read(s, t) || !traced_status(s, t, &later))
		return traced_failed(s, "the consumption");
	traced_work(SOME_WORK);
	if (!traced_status(s, t, &later))
		return traced_failed(s, "the status");
	if (later.windows != page.windows || later.produced != page.produced) {
		auxtrace_close(s);
		return check_failed("the trace went on without a resume, by %" PRIu64 " bytes",
				    (uint64_t)(later.produced - page.produced));
	}
	if (auxtrace_resume(s))
		return traced_failed(s, "the resume");
	traced_work(SOME_WORK);
	if (!traced_status(s, t, &later))
		return traced_failed(s, "the status");
	auxtrace_close(s);
	if (later.produced == page.produced)
		return check_failed("the trace did not go on at the resume");
	return PASSED;
}

static enum outcome overwrite(const struct selftest *t)
{
	struct auxtrace_session *s = traced_begin(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_OVERWRITE,
										.aux_size = SMALL_AREA });
	struct auxtrace_status_page page;
	struct auxtrace_spans spans;
	bool late;

	if (!s)
		return traced_failed(NULL, "a session");
	late = traced_is_late(s);
	for (unsigned int i = 0; i < MOST_WORK; i++) {
		traced_work(SOME_WORK);
		if (!traced_status(s, t, &page))
			return traced_failed(s, "the status");
		if (page.produced > 4 * SMALL_AREA)
			break;
	}
	if (auxtrace_pause(s) || !traced_status(s, t, &page) || auxtrace_reader_peek(auxtrace_reader(s, t->cpu), &spans))
		return traced_failed(s, "reading what is newest");
	auxtrace_close(s);
	if (page.produced <= 4 * SMALL_AREA || (late ? page.gaps_error + page.gaps_offline : page.gaps))
		return check_failed("%" PRIu64 " bytes were written, with %" PRIu64 " gaps", (uint64_t)page.produced,
				    (uint64_t)page.gaps);
	if (spans.position + spans.len != page.produced || page.overwritten != spans.position || spans.len > SMALL_AREA)
		return check_failed("of %" PRIu64 " bytes %" PRIu64 " are counted as overwritten, and %zu can be read",
				    (uint64_t)page.produced, (uint64_t)page.overwritten, spans.len);
	if (page.gaps)
		check_figure("late interrupts", (double)page.gaps, "");
	return PASSED;
}

static uint64_t sum_of(const struct auxtrace_spans *spans)
{
	uint64_t sum = 0;

	for (int i = 0; i < spans->count; i++)
		for (size_t j = 0; j < spans->iov[i].iov_len; j++)
			sum = sum * 31 + ((const uint8_t *)spans->iov[i].iov_base)[j];
	return sum;
}

static enum outcome snapshot(const struct selftest *t)
{
	struct auxtrace_session *s = traced_begin(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_OVERWRITE,
										.aux_size = 2 * SMALL_AREA, .slots = 2 });
	struct auxtrace_status_page before, page;
	struct auxtrace_reader *reader;
	struct auxtrace_spans spans;
	struct auxtrace_cut cut;
	uint64_t sum;
	uint32_t slot;

	if (!s)
		return traced_failed(NULL, "a session");
	reader = auxtrace_reader(s, t->cpu);
	traced_work(SOME_WORK);
	if (auxtrace_snapshot(s, AUXTRACE_SNAPSHOT_SLOT, &cut, 1, &slot) != 1 ||
	    auxtrace_reader_peek_cut(reader, &cut, &spans) || !traced_status(s, t, &before))
		return traced_failed(s, "the snapshot");
	sum = sum_of(&spans);
	for (unsigned int i = 0; i < MOST_WORK; i++) {
		traced_work(SOME_WORK);
		if (!traced_status(s, t, &page))
			return traced_failed(s, "the status");
		if (page.produced - before.produced > 4 * SMALL_AREA)
			break;
	}
	if (!spans.len || page.produced - before.produced <= 4 * SMALL_AREA) {
		auxtrace_close(s);
		return check_failed("the snapshot has %zu bytes, and %" PRIu64 " were written behind it", spans.len,
				    (uint64_t)(page.produced - before.produced));
	}
	if (sum != sum_of(&spans)) {
		auxtrace_close(s);
		return check_failed("a snapshot of %zu bytes changed while the trace went on", spans.len);
	}
	if (auxtrace_release(s, slot))
		return traced_failed(s, "the release");
	auxtrace_close(s);
	return PASSED;
}

/* What a cut says, and what the paused session has: behind it nothing changes until the RESUME. */
static enum outcome cut_and_paused(const struct selftest *t, struct auxtrace_session *s)
{
	struct auxtrace_reader *reader = auxtrace_reader(s, t->cpu);
	struct auxtrace_status_page page, later;
	struct auxtrace_spans spans;
	struct auxtrace_cut cut;
	uint64_t sum;

	traced_work(SOME_WORK);
	if (auxtrace_snapshot(s, AUXTRACE_SNAPSHOT_PAUSE, &cut, 1, NULL) != 1 || !traced_status(s, t, &page))
		return check_failed("the snapshot: %s", auxtrace_error());
	if (!(cut.inhibit & page.inhibit & AUXTRACE_INHIBIT_USER) || !(page.data_paused & 1))
		return check_failed("a snapshot that is to pause leaves reasons to be off %#x, and of the data ring %#" PRIx64, page.inhibit,
				    (uint64_t)page.data_paused);
	if (auxtrace_reader_peek_cut(reader, &cut, &spans))
		return check_failed("reading the cut: %s", auxtrace_error());
	if (!spans.len || spans.position != cut.aux_begin || spans.position + spans.len != cut.aux_end || cut.aux_end != page.produced ||
	    cut.data_end != page.data_head || cut.window != page.windows)
		return check_failed("the cut has bytes %" PRIu64 " to %" PRIu64 " of %" PRIu64 ", and records up to %" PRIu64 " of %" PRIu64,
				    (uint64_t)cut.aux_begin, (uint64_t)cut.aux_end, (uint64_t)page.produced, (uint64_t)cut.data_end,
				    (uint64_t)page.data_head);
	sum = sum_of(&spans);
	traced_work(SOME_WORK);
	if (!traced_status(s, t, &later))
		return check_failed("the status: %s", auxtrace_error());
	if (later.produced != page.produced || later.data_head != page.data_head || sum != sum_of(&spans))
		return check_failed("behind the cut %" PRIu64 " bytes of trace were written, and %" PRIu64 " of records",
				    (uint64_t)(later.produced - page.produced), (uint64_t)(later.data_head - page.data_head));
	if (auxtrace_pause_output(s, NULL, false) || auxtrace_resume(s))
		return check_failed("the resume: %s", auxtrace_error());
	traced_work(SOME_WORK);
	if (auxtrace_pause(s) || !traced_status(s, t, &later))
		return check_failed("the pause: %s", auxtrace_error());
	if (later.produced <= page.produced || later.data_head <= page.data_head)
		return check_failed("behind the resume nothing is written");
	return PASSED;
}

static enum outcome snapshot_pause(const struct selftest *t)
{
	struct auxtrace_session *s = traced_begin(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_OVERWRITE, .aux_size = SMALL_AREA,
										.data_size = 64u << 10 });
	enum outcome outcome;

	if (!s)
		return traced_failed(NULL, "a session");
	outcome = cut_and_paused(t, s);
	auxtrace_close(s);
	return outcome;
}

const struct check mode_checks[] = {
	{ "pause-resume", "a paused session writes nothing, a resumed one does", false, pause_and_resume },
	{ "full", "a full area keeps what was not read, counts the gap, and goes on when it is read", false, full_area },
	{ "full-auto", "so asked, it goes on when the tail alone says that it was read", false, full_auto },
	{ "full-stop", "so asked, it goes on at a resume and not before", false, full_stop },
	{ "overwrite", "in overwrite mode the newest data stay, and the others are counted", false, overwrite },
	{ "snapshot", "a snapshot stays as it is while the trace goes on", false, snapshot },
	{ "snapshot-pause", "a snapshot that pauses has all up to its cut, and behind it nothing is written", false, snapshot_pause },
	{ 0 },
};
