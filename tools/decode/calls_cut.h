/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A part of the calls of a recording: a sink that hands on to another sink what the user wants to see. What it
 * hands on is whole in itself: a call that lies in the part only in part is cut at its edges.
 */
#ifndef CALLS_CUT_H
#define CALLS_CUT_H

#include "calls.h"

struct calls_cut {
	struct calls_sink sink;		/* set by calls_cut_begin() */
	struct calls_sink *to;
	/* What is wanted, as TSC values; 0: no limit. Calls whose time is not known are wanted only without. */
	uint64_t begin, end;
	uint32_t tid;			/* this thread only; 0: all */
	unsigned int depth;		/* so many calls deep; 0: all */
	const char *function;		/* NAME or NAME@FILE: its calls, and what is inside; NULL: all */
};

/* Hand on to @to, with the limits that are set in @c. */
void calls_cut_begin(struct calls_cut *c, struct calls_sink *to);

/*
 * "A,B": the limits in seconds of the kernel's clock, as script prints them; either may be empty. Dies for anything
 * else, and if the recording has no such clock.
 */
void calls_cut_time(struct calls_cut *c, const char *text, const struct meta *meta);

#endif
