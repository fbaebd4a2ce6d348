// SPDX-License-Identifier: GPL-2.0-only
/* The data ring: what the records say of the trace. */
#include <inttypes.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "traced.h"

static enum outcome records(const struct selftest *t)
{
	struct auxtrace_session *s = traced_begin(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_PAUSED |
										AUXTRACE_SETUP_OVERWRITE,
										.data_size = 256u << 10 });
	unsigned int rounds = t->quick ? 20 : 200;
	uint64_t window = 0, position = 0;
	const union auxtrace_record *r;
	struct auxtrace_status_page page;
	struct auxtrace_reader *reader;
	enum outcome outcome;
	int result;

	if (!s)
		return traced_failed(NULL, "a session");
	reader = auxtrace_reader(s, t->cpu);
	for (unsigned int i = 0; i < rounds; i++) {
		if (auxtrace_resume(s))
			return traced_failed(s, "the resume");
		traced_work(SOME_WORK / 10);
		if (auxtrace_pause(s))
			return traced_failed(s, "the pause");
	}
	if (!traced_status(s, t, &page))
		return traced_failed(s, "the status");
	while ((result = auxtrace_reader_next_record(reader, &r)) == 1) {
		if (r->header.type != AUXTRACE_RECORD_WINDOW)
			continue;
		if (r->window.window != window + 1 || r->window.begin != position || r->window.end_position < position ||
		    r->window.end_time < r->window.begin_time) {
			outcome = check_failed("window %" PRIu64 ", bytes %" PRIu64 " to %" PRIu64 ", comes behind window %" PRIu64
					       ", which ends at %" PRIu64, (uint64_t)r->window.window, (uint64_t)r->window.begin,
					       (uint64_t)r->window.end_position, window, position);
			/* The record is in the mapping of the ring. */
			auxtrace_close(s);
			return outcome;
		}
		window++;
		position = r->window.end_position;
	}
	if (result)
		return traced_failed(s, "the data ring");
	auxtrace_close(s);
	if (window != page.windows || window < rounds || position != page.produced || page.data_lost)
		return check_failed("%" PRIu64 " records of %" PRIu64 " windows, bytes %" PRIu64 " of %" PRIu64 ", %" PRIu64 " lost",
				    window, (uint64_t)page.windows, position, (uint64_t)page.produced, (uint64_t)page.data_lost);
	check_figure("windows", (double)window, "");
	return PASSED;
}

/* What AUX and ITRACE_START records say */
struct news {
	uint64_t position;	/* up to which AUX records have told of new data */
	uint64_t full;		/* of them, those that say that trace was lost for lack of space */
	unsigned int starts;
	bool broken;		/* one does not begin where the one before ended, or a START was on no thread that ran */
};

static int read_news(struct auxtrace_reader *reader, struct news *news)
{
	const union auxtrace_record *r;
	int result;

	while ((result = auxtrace_reader_next_record(reader, &r)) == 1) {
		if (r->header.type == AUXTRACE_RECORD_ITRACE_START) {
			news->starts++;
			news->broken |= r->itrace_start.tid != auxtrace_record_end(r)->tid;
		}
		if (r->header.type != AUXTRACE_RECORD_AUX)
			continue;
		news->broken |= r->aux.offset != news->position || !news->starts;
		news->position = r->aux.offset + r->aux.length;
		news->full += !!(r->aux.flags & AUXTRACE_AUX_TRUNCATED);
	}
	return result;
}

/* Two STARTs, and the area is filled behind each. */
static enum outcome aux_records(const struct selftest *t)
{
	struct auxtrace_session *s = traced_begin(t, (struct auxtrace_options){ .aux_size = SMALL_AREA, .data_size = 256u << 10,
										.records = AUXTRACE_WANT_AUX |
											   AUXTRACE_WANT_ITRACE_START });
	struct auxtrace_status_page page;
	struct news news = { 0 };

	if (!s)
		return traced_failed(NULL, "a session");
	/* STATUS takes the tail, so that the area is empty at the second START. */
	if (!traced_fill(s, t, 0, &page) || auxtrace_stop(s) || !traced_read(s, t) || !traced_status(s, t, &page) || auxtrace_start(s) ||
	    !traced_fill(s, t, page.gaps_full, &page) || auxtrace_stop(s) || !traced_status(s, t, &page) ||
	    read_news(auxtrace_reader(s, t->cpu), &news))
		return traced_failed(s, "a session that is started twice, and its records");
	auxtrace_close(s);
	if (page.gaps_full < 2 || page.data_lost)
		return check_failed("%" PRIu64 " bytes in an area of %u, %" PRIu64 " gaps; %" PRIu64 " records were lost", (uint64_t)page.produced,
				    SMALL_AREA, (uint64_t)page.gaps_full, (uint64_t)page.data_lost);
	if (news.broken || news.position != page.produced || news.full != page.gaps_full || news.starts != 2)
		return check_failed("of %" PRIu64 " bytes AUX records tell up to %" PRIu64 "%s, of %" PRIu64 " gaps %" PRIu64
				    ", and ITRACE_START records of %u STARTs, of 2", (uint64_t)page.produced, news.position,
				    news.broken ? ", and not of all" : "", (uint64_t)page.gaps_full, news.full, news.starts);
	return PASSED;
}

/* What was read of a ring that was full */
struct sum {
	uint64_t records, windows, newest, lost;
	bool broken;	/* a LOST record does not count what is missing between two windows */
};

/* LOST records are told from the windows between which they stand: their numbers have no other gap. */
static int sum_up(struct auxtrace_reader *reader, struct sum *sum)
{
	const union auxtrace_record *r;
	uint64_t lost = 0;
	int result;

	while ((result = auxtrace_reader_next_record(reader, &r)) == 1) {
		sum->records++;
		if (r->header.type == AUXTRACE_RECORD_LOST) {
			lost += r->lost.lost;
		} else if (r->header.type == AUXTRACE_RECORD_WINDOW) {
			sum->broken |= r->window.window != sum->newest + lost + 1;
			sum->newest = r->window.window;
			sum->windows++;
			sum->lost += lost;
			lost = 0;
		}
	}
	return result;
}

static bool make_windows(struct auxtrace_session *s, unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		if (auxtrace_resume(s))
			return false;
		traced_work(10);
		if (auxtrace_pause(s))
			return false;
	}
	return true;
}

/* A ring of one page, which windows fill several times, read twice */
static enum outcome data_loss(const struct selftest *t)
{
	struct auxtrace_session *s = traced_begin(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_PAUSED |
										AUXTRACE_SETUP_OVERWRITE,
										.data_size = (uint64_t)sysconf(_SC_PAGESIZE),
										.records = AUXTRACE_WANT_WINDOW });
	struct auxtrace_status_page page;
	struct auxtrace_reader *reader;
	struct sum sum = { 0 };

	if (!s)
		return traced_failed(NULL, "a session");
	reader = auxtrace_reader(s, t->cpu);
	for (unsigned int i = 0; i < 3; i++) {
		/* The last windows find space, and tell of those before. */
		if (!make_windows(s, i < 2 ? 200 : 2) || sum_up(reader, &sum))
			return traced_failed(s, "windows and their records");
		auxtrace_reader_consume_records(reader);
	}
	if (!traced_status(s, t, &page))
		return traced_failed(s, "the status");
	auxtrace_close(s);
	if (!page.data_lost)
		return check_failed("nothing was lost of %" PRIu64 " records in a ring of %" PRIu64 " bytes",
				    (uint64_t)page.data_records, (uint64_t)page.data_size);
	if (sum.broken || sum.records != page.data_records || sum.lost != page.data_lost ||
	    sum.windows + sum.lost != page.windows)
		return check_failed("of %" PRIu64 " windows %" PRIu64 " have a record, and %" PRIu64 " are counted as lost; of %" PRIu64
				    " records %" PRIu64 " were read, and the status page counts %" PRIu64 " as lost",
				    (uint64_t)page.windows, sum.windows, sum.lost, (uint64_t)page.data_records, sum.records,
				    (uint64_t)page.data_lost);
	check_figure("read", (double)sum.windows, "");
	check_figure("lost", (double)sum.lost, "");
	return PASSED;
}

/* Records that are dropped while the output is paused are counted, where they are missing. */
static enum outcome output(const struct selftest *t)
{
	struct auxtrace_session *s = traced_begin(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_PAUSED |
										AUXTRACE_SETUP_OVERWRITE,
										.data_size = 64u << 10,
										.records = AUXTRACE_WANT_WINDOW });
	struct auxtrace_status_page page;
	struct sum sum = { 0 };

	if (!s)
		return traced_failed(NULL, "a session");
	if (!make_windows(s, 3) || auxtrace_pause_output(s, NULL, true) || !make_windows(s, 4) ||
	    auxtrace_pause_output(s, NULL, false) || !make_windows(s, 5) || sum_up(auxtrace_reader(s, t->cpu), &sum) ||
	    !traced_status(s, t, &page))
		return traced_failed(s, "windows and their records");
	auxtrace_close(s);
	/* Each time that the scheduler takes the CPU from this thread ends a window, too. */
	if (sum.broken || sum.windows < 8 || sum.lost < 4 || sum.lost != page.data_lost || sum.windows + sum.lost != page.windows)
		return check_failed("of %" PRIu64 " windows, 4 of them without output, %" PRIu64 " have a record, LOST records count %" PRIu64
				    ", and the status page %" PRIu64, (uint64_t)page.windows, sum.windows, sum.lost,
				    (uint64_t)page.data_lost);
	return PASSED;
}

/* A ring of one page has the newest of many windows, whichever way it is written. */
static enum outcome newest_stay(const struct selftest *t, uint32_t flags)
{
	struct auxtrace_session *s = traced_begin(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_PAUSED |
										AUXTRACE_SETUP_OVERWRITE | flags,
										.data_size = (uint64_t)sysconf(_SC_PAGESIZE),
										.records = AUXTRACE_WANT_WINDOW });
	uint64_t records[4096 / sizeof(uint64_t)], first = 0, newest = 0;
	struct auxtrace_status_page page;
	const union auxtrace_record *r;
	struct auxtrace_copy copy;
	bool broken = false;
	size_t at = 0;

	if (!s)
		return traced_failed(NULL, "a session");
	if (!make_windows(s, 200) || !traced_status(s, t, &page) ||
	    auxtrace_reader_copy_records(auxtrace_reader(s, t->cpu), NULL, records, sizeof(records), &copy))
		return traced_failed(s, "windows and their records");
	auxtrace_close(s);
	while ((r = auxtrace_record_next(records, copy.len, &at))) {
		if (r->header.type != AUXTRACE_RECORD_WINDOW)
			continue;
		if (!first)
			first = r->window.window;
		broken |= newest && r->window.window != newest + 1;
		newest = r->window.window;
	}
	if (broken || !first || newest != page.windows || page.data_lost ||
	    (newest - first + 2) * sizeof(r->window) <= sizeof(records))
		return check_failed("of %" PRIu64 " windows the ring has %" PRIu64 " to %" PRIu64 "%s, %" PRIu64 " were lost",
				    (uint64_t)page.windows, first, newest, broken ? ", and not all of them" : "", (uint64_t)page.data_lost);
	return PASSED;
}

static enum outcome newest(const struct selftest *t)
{
	enum outcome outcome = newest_stay(t, AUXTRACE_SETUP_DATA_OVERWRITE);

	if (outcome == PASSED)
		outcome = newest_stay(t, AUXTRACE_SETUP_DATA_OVERWRITE | AUXTRACE_SETUP_DATA_BACKWARD);
	return outcome;
}

/* What the SWITCH records of a CPU say: each one leaves the thread that the one before came to. */
struct turns {
	uint32_t self, runs;	/* this thread, as records number it; that which runs: 0 at first */
	unsigned int left;	/* so often this thread was left */
	bool begun, broken;
};

static int follow_turns(struct auxtrace_reader *reader, struct turns *turns)
{
	const union auxtrace_record *r;
	int result;

	while ((result = auxtrace_reader_next_record(reader, &r)) == 1) {
		uint32_t leaves = auxtrace_record_end(r)->tid;

		if (r->header.type == AUXTRACE_RECORD_WINDOW)
			turns->self = r->window.begin_tid;
		if (r->header.type != AUXTRACE_RECORD_SWITCH)
			continue;
		turns->broken |= turns->begun && leaves != turns->runs;
		turns->begun = true;
		turns->left += leaves == turns->self;
		turns->runs = r->context_switch.next_prev_tid;
	}
	return result;
}

/* How often the scheduler has taken the CPU from this thread */
static unsigned int switches_of_this(void)
{
	struct rusage usage;

	return getrusage(RUSAGE_THREAD, &usage) ? 0 : (unsigned int)(usage.ru_nvcsw + usage.ru_nivcsw);
}

static enum outcome switches_are_recorded(const struct selftest *t)
{
	struct auxtrace_session *s = traced_begin(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_PAUSED |
										AUXTRACE_SETUP_OVERWRITE,
										.data_size = 256u << 10,
										.records = AUXTRACE_WANT_WINDOW |
											   AUXTRACE_WANT_SWITCH });
	unsigned int sleeps = t->quick ? 10 : 100, switches;
	const struct timespec short_time = { .tv_nsec = 100000 };
	struct auxtrace_status_page page;
	struct turns turns = { 0 };

	if (!s)
		return traced_failed(NULL, "a session");
	/* One window says how records number this thread. */
	if (!make_windows(s, 1) || follow_turns(auxtrace_reader(s, t->cpu), &turns))
		return traced_failed(s, "a window and its record");
	turns.left = 0;
	/* A sleep whose time is over before it begins is no switch: the kernel counts those that were. */
	switches = switches_of_this();
	for (unsigned int i = 0; i < sleeps; i++)
		nanosleep(&short_time, NULL);
	switches = switches_of_this() - switches;
	if (follow_turns(auxtrace_reader(s, t->cpu), &turns) || !traced_status(s, t, &page))
		return traced_failed(s, "the records of switches");
	auxtrace_close(s);
	if (page.data_lost)
		return check_skipped("so many threads run here that %" PRIu64 " records were lost", (uint64_t)page.data_lost);
	if (turns.broken)
		return check_failed("a record leaves another thread than the one that the record before came to");
	if (!switches || turns.left < switches || turns.runs != turns.self)
		return check_failed("of %u switches away from this thread %u have a record; thread %u runs, and the records end with %u",
				    switches, turns.left, turns.self, turns.runs);
	check_figure("switches", turns.left, "");
	return PASSED;
}

const struct check ring_checks[] = {
	{ "records", "each window has a record, and they have all that was written", false, records },
	{ "aux", "records of new data, of gaps and of starts tell of all of them", false, aux_records },
	{ "data", "of a full data ring the records that are missing are counted where they are missing", false, data_loss },
	{ "output", "what is dropped while the output is paused is counted, and the rest is there", false, output },
	{ "newest", "an overwritable data ring has the newest records, forward and backward", false, newest },
	{ "switch", "each context switch of the CPU has a record, and they follow one another", false, switches_are_recorded },
	{ 0 },
};
