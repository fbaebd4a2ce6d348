// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls_cut.h"
#include "functions.h"
#include "lib/duration.h"
#include "records.h"

/* Wanted calls around @call. */
static unsigned int depth_of(const struct call *call)
{
	return call->caller ? call->caller->wanted : 0;
}

/* Whatever its time and depth */
static bool is_wanted(const struct calls_cut *c, const struct call *call)
{
	if (c->tid && (!call->known || call->thread.tid != c->tid))
		return false;
	return !c->function || depth_of(call) || call_is_of(call, c->function);
}

static bool is_due(const struct call *call)
{
	return call && call->wanted && !call->handed_on;
}

static void hand_on_one(const struct calls_cut *c, struct calls_sink *to, struct call *call)
{
	if (c->depth && call->wanted > c->depth)
		return;
	if (call->begin.tsc < c->begin) {
		call->begin = (struct call_time){ c->begin, c->begin, c->begin };
		call->begun = false;
	}
	call->handed_on = true;
	if (to->begin)
		to->begin(to, call);
}

/* Hand on that @call and those around it have begun, which may have been before the part. They may be many. */
static void hand_on(const struct calls_cut *c, struct calls_sink *to, struct call *call)
{
	struct call **due;
	size_t count = 0;

	if (!is_due(call->caller)) {
		hand_on_one(c, to, call);
		return;
	}
	for (struct call *at = call; is_due(at); at = at->caller)
		count++;
	due = xcalloc(count, sizeof(*due));
	for (size_t i = 0; i < count; i++, call = call->caller)
		due[i] = call;
	while (count > 0)
		hand_on_one(c, to, due[--count]);
	free(due);
}

void calls_cut_begins(const struct calls_cut *c, struct calls_sink *to, struct call *call)
{
	if (!is_wanted(c, call))
		return;
	call->wanted = depth_of(call) + 1;
	if ((c->begin || c->end) && !call->begin.tsc)
		return;
	if (call->begin.tsc >= c->begin && (!c->end || call->begin.tsc < c->end))
		hand_on(c, to, call);
}

void calls_cut_ends(const struct calls_cut *c, struct calls_sink *to, struct call *call)
{
	/* It may reach into the part, or over all of it, with nothing inside that does. */
	if (is_due(call) && c->begin && call->begin.tsc && call->begin.tsc < c->begin && call->end.tsc > c->begin)
		hand_on(c, to, call);
	if (!call->handed_on)
		return;
	if (c->end && call->end.tsc > c->end) {
		call->end = (struct call_time){ c->end, c->end, c->end };
		call->returned = false;
	}
	/* What is not shown of a call is its own. */
	if (call->caller) {
		call->caller->callee_instructions += call->instructions;
		call->caller->callee_ticks += call_own_ticks(call);
	}
	if (to->end)
		to->end(to, call);
}

void calls_cut_line(const struct calls_cut *c, struct calls_sink *to, struct call *call, const struct call_line *line)
{
	if (call->handed_on && line->tsc >= c->begin && (!c->end || line->tsc < c->end))
		to->line(to, call, line);
}

/* ---- times --------------------------------------------------------------------- */

/* Seconds with up to nine digits behind the point, in ns. NULL if @text has none, else what is behind them. */
static const char *parse_seconds(const char *text, uint64_t *ns)
{
	uint64_t unit = 1000000000;
	char *end;

	if (*text < '0' || *text > '9')
		return NULL;
	errno = 0;
	if (__builtin_mul_overflow(strtoull(text, &end, 10), unit, ns) || errno)
		return NULL;
	if (*end != '.')
		return end;
	for (end++; *end >= '0' && *end <= '9'; end++) {
		unit /= 10;
		*ns += (*end - '0') * unit;
	}
	return end;
}

/* The first TSC value whose time is not before @ns. */
static uint64_t tsc_at(const struct meta *meta, uint64_t ns)
{
	uint64_t low = 0, high = UINT64_MAX / 2, at;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		/* The clock may count from before the TSC began: modulo 2^64. */
		if (!meta_clock(meta, middle, &at))
			return 0;
		if ((int64_t)(at - ns) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* When the first freeze of any CPU was, by the kernel's clock. */
static uint64_t freeze_time(const char *dir, const struct meta *meta)
{
	uint64_t first = UINT64_MAX, ns = 0;

	for (unsigned int i = 0; i < meta->nr_cpus; i++) {
		struct records r;

		must(records_read(&r, dir, &meta->cpu[i]));
		for (size_t j = 0; j < r.nr_freezes; j++) {
			uint64_t tsc = auxtrace_record_end(r.freeze[j])->time;

			if (tsc < first)
				first = tsc;
		}
		records_free(&r);
	}
	if (first == UINT64_MAX)
		die(1, "--time: no event froze this recording");
	meta_clock(meta, first, &ns);
	return ns;
}

/* A limit in ns. NULL if @text does not begin with one, else what is behind it. */
static const char *parse_limit(const char *text, const char *dir, const struct meta *meta, uint64_t *ns)
{
	static const char freeze[] = "freeze";
	size_t length;
	uint64_t distance;
	bool before;

	if (strncmp(text, freeze, sizeof(freeze) - 1))
		return parse_seconds(text, ns);
	*ns = freeze_time(dir, meta);
	text += sizeof(freeze) - 1;
	if (*text != '-' && *text != '+')
		return text;
	before = *text++ == '-';
	length = strcspn(text, ",");
	if (!parse_time(text, length, &distance))
		return NULL;
	*ns += before ? -distance : distance;
	return text + length;
}

void calls_cut_time(struct calls_cut *c, const char *text, const char *dir, const struct meta *meta)
{
	const char *at = text;
	uint64_t ns;

	if (!meta_clock(meta, 0, &ns))
		die(1, "--time: this recording has no clock");
	if (*at != ',') {
		at = parse_limit(at, dir, meta, &ns);
		if (at)
			c->begin = tsc_at(meta, ns);
	}
	if (at && *at == ',' && !at[1])
		return;
	at = at && *at == ',' ? parse_limit(at + 1, dir, meta, &ns) : NULL;
	if (!at || *at)
		die(EXIT_USAGE, "--time %s: it takes BEGIN,END in seconds as script shows them, or as freeze-2ms; either may be empty",
		    text);
	c->end = tsc_at(meta, ns);
	if (c->end <= c->begin)
		die(EXIT_USAGE, "--time %s: the end is not behind the begin", text);
}
