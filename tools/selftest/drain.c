// SPDX-License-Identifier: GPL-2.0-only
/* How fast a trace is drained without a loss. */
#include <inttypes.h>
#include <string.h>
#include <time.h>

#include "traced.h"

#define DRAIN_AREA	(4u << 20)

static double seconds_since(const struct timespec *begin)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - begin->tv_sec) + (double)(now.tv_nsec - begin->tv_nsec) / 1e9;
}

static double copy_spans(const struct auxtrace_spans *spans, uint8_t *to)
{
	struct timespec begin;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	for (int i = 0; i < spans->count; i++) {
		memcpy(to, spans->iov[i].iov_base, spans->iov[i].iov_len);
		to += spans->iov[i].iov_len;
	}
	return seconds_since(&begin);
}

/*
 * The thread works and copies in turn, so the area can only fill between two turns. The figures are of each alone: the
 * rate at which the hardware writes, and that at which a reader copies. Nothing is lost while the second is higher.
 */
static enum outcome drain(const struct selftest *t)
{
	static uint8_t copy[DRAIN_AREA];
	struct auxtrace_session *s = traced_begin(t, (struct auxtrace_options){ .aux_size = DRAIN_AREA });
	struct auxtrace_status_page page;
	struct auxtrace_reader *reader;
	struct auxtrace_spans spans;
	uint64_t read = 0, branches = 0;
	struct timespec begin;
	double working = 0, copying = 0;

	if (!s)
		return traced_failed(NULL, "a session");
	reader = auxtrace_reader(s, t->cpu);
	while (working < (t->quick ? 0.1 : 1)) {
		clock_gettime(CLOCK_MONOTONIC, &begin);
		traced_work(2000);
		working += seconds_since(&begin);
		branches += 2000;
		if (!traced_status(s, t, &page) || auxtrace_reader_peek(reader, &spans))
			return traced_failed(s, "reading");
		copying += copy_spans(&spans, copy);
		if (auxtrace_reader_consume(reader, spans.len))
			return traced_failed(s, "reading");
		read += spans.len;
	}
	if (auxtrace_stop(s) || !traced_status(s, t, &page) || auxtrace_reader_peek(reader, &spans))
		return traced_failed(s, "the rest");
	copying += copy_spans(&spans, copy);
	read += spans.len;
	auxtrace_close(s);
	if (read != page.produced)
		return check_failed("%" PRIu64 " of %" PRIu64 " bytes were read", read, (uint64_t)page.produced);
	if (page.gaps)
		return check_failed("%" PRIu64 " gaps in %" PRIu64 " bytes", (uint64_t)page.gaps, (uint64_t)page.produced);
	check_figure("rate", (double)read / working / 1e6, "MB/s");
	check_figure("copied", (double)read / copying / 1e6, "MB/s");
	check_figure("rounds", (double)branches / working / 1e6, "M/s");
	return PASSED;
}

const struct check drain_checks[] = {
	{ "drain", "a reader that keeps up misses nothing", false, drain },
	{ 0 },
};
