/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A part of the calls of a recording: what a sink is told of. The part is whole in itself: a call that lies in it
 * only in part is cut at its edges.
 */
#ifndef CALLS_CUT_H
#define CALLS_CUT_H

#include "calls.h"

struct calls_cut {
	/* TSC values; 0: no limit. Calls whose time is not known are wanted only without. */
	uint64_t begin, end;
	uint32_t tid;			/* this thread only; 0: all */
	unsigned int depth;		/* so many calls deep; 0: all */
	const char *function;		/* NAME or NAME@FILE: its calls, and what is inside; NULL: all */
};

/* So much of the time from @begin to @end is in the part, in TSC ticks. */
uint64_t calls_cut_ticks(const struct calls_cut *c, uint64_t begin, uint64_t end);

/* For calls.c: @call begins, ends, or executes @line; or @event of a CPU. @to is told if that is wanted. */
void calls_cut_begins(const struct calls_cut *c, struct calls_sink *to, struct call *call);
void calls_cut_ends(const struct calls_cut *c, struct calls_sink *to, struct call *call);
void calls_cut_event(const struct calls_cut *c, struct calls_sink *to, unsigned int cpu,
		     const struct cpu_event *event, uint64_t tsc);
void calls_cut_line(const struct calls_cut *c, struct calls_sink *to, struct call *call, const struct call_line *line);

#endif
