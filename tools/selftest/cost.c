// SPDX-License-Identifier: GPL-2.0-only
/* What requests cost on this machine, and how fast a trace is drained without a loss. */
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

#include "lib/tool.h"
#include "traced.h"

#define DRAIN_AREA	(4u << 20)

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static double median(uint64_t *values, unsigned int n)
{
	qsort(values, n, sizeof(*values), by_size);
	return (double)values[n / 2];
}

/* Ticks of the time-stamp counter around each call, the median of many */
static enum outcome request_cost(const struct selftest *t)
{
	struct auxtrace_session *s = traced_begin(t, (struct auxtrace_options){ .flags = AUXTRACE_SETUP_OVERWRITE });
	unsigned int n = t->quick ? 200 : 5000;
	uint64_t *pauses, *resumes, *empty;
	struct auxtrace_status status = { .size = sizeof(status) };
	bool good = true;

	if (!s)
		return traced_failed(NULL, "a session");
	pauses = xcalloc(n, sizeof(*pauses));
	resumes = xcalloc(n, sizeof(*resumes));
	empty = xcalloc(n, sizeof(*empty));
	for (unsigned int i = 0; i < n && good; i++) {
		uint64_t at[4];

		at[0] = __rdtsc();
		good &= !auxtrace_pause(s);
		at[1] = __rdtsc();
		good &= !auxtrace_resume(s);
		at[2] = __rdtsc();
		good &= !auxtrace_status(s, 0, &status);
		at[3] = __rdtsc();
		pauses[i] = at[1] - at[0];
		resumes[i] = at[2] - at[1];
		empty[i] = at[3] - at[2];
	}
	if (good) {
		check_figure("pause", median(pauses, n), "ticks");
		check_figure("resume", median(resumes, n), "ticks");
		check_figure("status", median(empty, n), "ticks");
	}
	free(pauses);
	free(resumes);
	free(empty);
	if (!good)
		return traced_failed(s, "a request");
	auxtrace_close(s);
	return PASSED;
}

static double seconds_since(const struct timespec *begin)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - begin->tv_sec) + (double)(now.tv_nsec - begin->tv_nsec) / 1e9;
}

/*
 * The thread works and reads in turn, so the area can only fill between two turns. It is given back without being copied:
 * this is the rate of the hardware, which is as high as a reader may have to be.
 */
static enum outcome drain(const struct selftest *t)
{
	struct auxtrace_session *s = traced_begin(t, (struct auxtrace_options){ .aux_size = DRAIN_AREA });
	struct auxtrace_status_page page;
	struct auxtrace_reader *reader;
	struct auxtrace_spans spans;
	uint64_t read = 0, branches = 0;
	struct timespec begin;
	double working = 0;

	if (!s)
		return traced_failed(NULL, "a session");
	reader = auxtrace_reader(s, t->cpu);
	while (working < (t->quick ? 0.1 : 1)) {
		clock_gettime(CLOCK_MONOTONIC, &begin);
		traced_work(2000);
		working += seconds_since(&begin);
		branches += 2000;
		if (!traced_status(s, t, &page) || auxtrace_reader_peek(reader, &spans) ||
		    auxtrace_reader_consume(reader, spans.len))
			return traced_failed(s, "reading");
		read += spans.len;
	}
	if (auxtrace_stop(s) || !traced_status(s, t, &page) || auxtrace_reader_peek(reader, &spans))
		return traced_failed(s, "the rest");
	read += spans.len;
	auxtrace_close(s);
	if (read != page.produced)
		return check_failed("%" PRIu64 " of %" PRIu64 " bytes were read", read, (uint64_t)page.produced);
	if (page.gaps)
		return check_failed("%" PRIu64 " gaps in %" PRIu64 " bytes", (uint64_t)page.gaps, (uint64_t)page.produced);
	check_figure("rate", (double)read / working / 1e6, "MB/s");
	check_figure("rounds", (double)branches / working / 1e6, "M/s");
	return PASSED;
}

const struct check cost_checks[] = {
	{ "drain", "a reader that keeps up misses nothing", false, drain },
	{ "cost", "a pause and a resume of this CPU take so long", false, request_cost },
	{ 0 },
};
