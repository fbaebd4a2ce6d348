// SPDX-License-Identifier: GPL-2.0-only
/*
 * How fast a trace is drained without a loss. A thread on another CPU reads while this one works. It works at full rate in
 * a share of each period, and is not traced in the rest: the share that just loses nothing is searched for.
 */
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "lib/tool.h"
#include "traced.h"

#define DRAIN_AREA	(4u << 20)
#define PERIOD		0.01	/* s */
#define BURST		0.002	/* s: the trace of it fits into the area */
#define BURSTS		10
#define PIECE		500	/* of traced_work() */

struct drain_reader {
	struct auxtrace_session *session;
	struct auxtrace_reader *reader;
	int cpu;		/* -1: that of the work */
	atomic_bool end;
	uint64_t read;
	double copying;		/* s */
	bool failed;
};

/* What came of the work in one share of the time */
struct rate {
	double written, copied;	/* MB/s */
	uint64_t produced, read, gaps;
};

static double seconds_since(const struct timespec *begin)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - begin->tv_sec) + (double)(now.tv_nsec - begin->tv_nsec) / 1e9;
}

static void copy_unread(struct drain_reader *d)
{
	static uint8_t copy[DRAIN_AREA];
	struct auxtrace_spans spans;
	struct timespec begin;
	uint8_t *to = copy;

	if (auxtrace_reader_peek(d->reader, &spans)) {
		d->failed = true;
		return;
	}
	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (int i = 0; i < spans.count; i++) {
		memcpy(to, spans.iov[i].iov_base, spans.iov[i].iov_len);
		to += spans.iov[i].iov_len;
	}
	d->copying += seconds_since(&begin);
	d->read += spans.len;
	if (auxtrace_reader_consume(d->reader, spans.len))
		d->failed = true;
}

/* poll(2) takes the tail, and so lets an area that was full go on. */
static void *drain_read(void *arg)
{
	struct drain_reader *d = arg;
	struct pollfd fd = { .fd = auxtrace_fd(d->session), .events = POLLIN };

	if (d->cpu >= 0)
		traced_pin(d->cpu);
	while (!atomic_load(&d->end) && !d->failed) {
		poll(&fd, 1, 5);
		copy_unread(d);
	}
	return NULL;
}

/* Returns how many seconds it took, or less than 0. */
static double work_in_turns(struct auxtrace_session *s, double share, double seconds)
{
	struct timespec begin, turn;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	if (auxtrace_resume(s))
		return -1;
	while (seconds_since(&begin) < seconds) {
		clock_gettime(CLOCK_MONOTONIC, &turn);
		do
			traced_work(PIECE);
		while (seconds_since(&turn) < share * PERIOD);
		if (share >= 1)
			continue;
		if (auxtrace_pause(s))
			return -1;
		while (seconds_since(&turn) < PERIOD)
			sched_yield();
		if (auxtrace_resume(s))
			return -1;
	}
	if (auxtrace_pause(s))
		return -1;
	return seconds_since(&begin);
}

static struct auxtrace_session *drain_begin(const struct selftest *t)
{
	return traced_begin(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_PAUSED, .aux_size = DRAIN_AREA });
}

/* PASSED: what was written was read, and @r says how fast. Whether anything was lost is no matter. */
static enum outcome drain_at(const struct selftest *t, double share, double seconds, struct rate *r)
{
	struct drain_reader d = { .session = drain_begin(t), .cpu = t->other_cpu };
	struct auxtrace_status_page page;
	pthread_t thread;
	double took;

	if (!d.session)
		return traced_failed(NULL, "a session");
	d.reader = auxtrace_reader(d.session, t->cpu);
	if (pthread_create(&thread, NULL, drain_read, &d)) {
		auxtrace_close(d.session);
		return check_skipped("there is no thread to read");
	}
	took = work_in_turns(d.session, share, seconds);
	atomic_store(&d.end, true);
	traced_join(thread);
	if (took < 0 || d.failed || auxtrace_stop(d.session) || !traced_status(d.session, t, &page))
		return traced_failed(d.session, "reading while the work goes on");
	copy_unread(&d);
	if (d.failed)
		return traced_failed(d.session, "reading the rest");
	auxtrace_close(d.session);
	*r = (struct rate){ .written = (double)page.produced / took / 1e6, .copied = (double)d.read / d.copying / 1e6,
			    .produced = page.produced, .read = d.read, .gaps = page.gaps };
	if (!r->produced || r->read != r->produced)
		return check_failed("%" PRIu64 " of %" PRIu64 " bytes were read, with %" PRIu64 " gaps", r->read, r->produced, r->gaps);
	return PASSED;
}

/* What the hardware writes in a second while it is on: no reader is needed for so little. */
static enum outcome full_rate(const struct selftest *t, double *rate)
{
	struct auxtrace_session *s = drain_begin(t);
	struct auxtrace_status_page page;
	double took;

	if (!s)
		return traced_failed(NULL, "a session");
	took = work_in_turns(s, 1, BURST);
	if (took < 0 || !traced_status(s, t, &page))
		return traced_failed(s, "a burst of work");
	auxtrace_close(s);
	*rate = (double)page.produced / took / 1e6;
	return PASSED;
}

static enum outcome drain(const struct selftest *t)
{
	double seconds = t->quick ? 0.1 : 0.5, hardware = 0, good = 0, bad = 1, best = 0;
	unsigned int steps = t->quick ? 2 : 5;
	enum outcome outcome = PASSED;
	struct rate full = { 0 }, r;

	/* Who else runs here makes a burst slow, nobody makes it fast. */
	for (unsigned int i = 0; i < BURSTS && outcome == PASSED; i++) {
		double rate = 0;

		outcome = full_rate(t, &rate);
		if (rate > hardware)
			hardware = rate;
	}
	if (outcome == PASSED)
		outcome = drain_at(t, 1, seconds, &full);
	if (outcome != PASSED)
		return outcome;
	if (!full.gaps)
		best = full.written;
	if (full.written > hardware)
		hardware = full.written;
	for (unsigned int i = 0; full.gaps && i < steps; i++) {
		double share = (good + bad) / 2;

		outcome = drain_at(t, share, seconds, &r);
		if (outcome != PASSED)
			return outcome;
		if (r.gaps) {
			bad = share;
			continue;
		}
		good = share;
		if (r.written > best)
			best = r.written;
	}
	check_figure("written", hardware, "MB/s");
	check_figure("copied", full.copied, "MB/s");
	check_figure("losses at full rate", (double)full.gaps, "");
	check_figure("without a loss", best, "MB/s");
	if (t->other_cpu < 0)
		check_note("there is no other CPU for the reader: it shares this one with the work");
	else if (full.gaps)
		check_note("at full rate the area was full at times; what the hardware did not write then is counted as gaps");
	return PASSED;
}

const struct check drain_checks[] = {
	{ "drain", "a reader on another CPU gets all that is written, and this is its rate", false, drain },
	{ 0 },
};
