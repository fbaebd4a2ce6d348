// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "calls_cut.h"
#include "functions.h"

static struct calls_cut *of_sink(struct calls_sink *s)
{
	return (struct calls_cut *)s;
}

/* Wanted calls around @call. */
static unsigned int depth_of(const struct call *call)
{
	return call->caller && call->caller->wanted ? call->caller->wanted : 0;
}

/* Whatever its time and depth */
static bool is_wanted(const struct calls_cut *c, const struct call *call)
{
	if (c->tid && (!call->known || call->thread.tid != c->tid))
		return false;
	return !c->function || depth_of(call) || call_is_of(call, c->function);
}

/* Hand on that @call and those around it have begun, which may have been before the part. */
static void hand_on(struct calls_cut *c, struct call *call)
{
	if (!call || call->handed_on || !call->wanted)
		return;
	hand_on(c, call->caller);
	if (c->depth && call->wanted > c->depth)
		return;
	if (call->begin.tsc < c->begin) {
		call->begin = (struct call_time){ c->begin, c->begin, c->begin };
		call->begun = false;
	}
	call->handed_on = true;
	if (c->to->begin)
		c->to->begin(c->to, call);
}

static void cut_call_begins(struct calls_sink *s, struct call *call)
{
	struct calls_cut *c = of_sink(s);

	if (!is_wanted(c, call))
		return;
	call->wanted = depth_of(call) + 1;
	if ((c->begin || c->end) && !call->begin.tsc)
		return;
	if (call->begin.tsc >= c->begin && (!c->end || call->begin.tsc < c->end))
		hand_on(c, call);
}

static void cut_call_ends(struct calls_sink *s, struct call *call)
{
	struct calls_cut *c = of_sink(s);

	/* It may reach into the part, or over all of it, with nothing inside that does. */
	if (call->wanted && c->begin && call->begin.tsc && call->begin.tsc < c->begin && call->end.tsc > c->begin)
		hand_on(c, call);
	if (!call->handed_on)
		return;
	if (c->end && call->end.tsc > c->end) {
		call->end = (struct call_time){ c->end, c->end, c->end };
		call->returned = false;
	}
	/* What is not shown of it is its own time. */
	call->callee_ticks = call->kept_ticks;
	call->callee_instructions = call->kept_instructions;
	if (call->caller) {
		call->caller->kept_ticks += call_own_ticks(call);
		call->caller->kept_instructions += call->instructions;
	}
	if (c->to->end)
		c->to->end(c->to, call);
}

static void cut_window(struct calls_sink *s, unsigned int cpu, const struct flow *f, uint64_t seq)
{
	struct calls_cut *c = of_sink(s);

	if (c->to->window)
		c->to->window(c->to, cpu, f, seq);
}

static void cut_sample(struct calls_sink *s, unsigned int cpu, const struct flow *f, size_t nr,
		       const struct auxtrace_record_sample *sample)
{
	struct calls_cut *c = of_sink(s);

	if (c->to->sample)
		c->to->sample(c->to, cpu, f, nr, sample);
}

static void cut_overflow(struct calls_sink *s, unsigned int cpu)
{
	struct calls_cut *c = of_sink(s);

	if (c->to->overflow)
		c->to->overflow(c->to, cpu);
}

static void cut_skip(struct calls_sink *s, unsigned int cpu, const struct flow *f, uint64_t ip, uint64_t cr3)
{
	struct calls_cut *c = of_sink(s);

	if (c->to->skip)
		c->to->skip(c->to, cpu, f, ip, cr3);
}

static void cut_error(struct calls_sink *s, unsigned int cpu, uint64_t offset, uint64_t ip, const char *message)
{
	struct calls_cut *c = of_sink(s);

	if (c->to->error)
		c->to->error(c->to, cpu, offset, ip, message);
}

void calls_cut_begin(struct calls_cut *c, struct calls_sink *to)
{
	c->to = to;
	c->sink = (struct calls_sink){
		.begin = cut_call_begins, .end = cut_call_ends, .window = cut_window, .sample = cut_sample,
		.overflow = cut_overflow, .skip = cut_skip, .error = cut_error,
	};
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

void calls_cut_time(struct calls_cut *c, const char *text, const struct meta *meta)
{
	const char *at = text;
	uint64_t ns;

	if (!meta_clock(meta, 0, &ns))
		die(1, "--time: this recording has no clock");
	if (*at != ',') {
		at = parse_seconds(at, &ns);
		if (at)
			c->begin = tsc_at(meta, ns);
	}
	if (!at || *at != ',')
		die(EXIT_USAGE, "--time %s: it takes BEGIN,END in seconds, as script shows them; either may be empty", text);
	if (!at[1])
		return;
	at = parse_seconds(at + 1, &ns);
	if (!at || *at)
		die(EXIT_USAGE, "--time %s: it takes BEGIN,END in seconds, as script shows them; either may be empty", text);
	c->end = tsc_at(meta, ns);
	if (c->end <= c->begin)
		die(EXIT_USAGE, "--time %s: the end is not behind the begin", text);
}
