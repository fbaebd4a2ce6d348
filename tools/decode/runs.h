/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Which thread a CPU ran, and from when on: by the records of its context switches. */
#ifndef RUNS_H
#define RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "records.h"
#include "side.h"

struct run {
	uint64_t tsc;		/* of the switch to it; 0: it ran before the first switch */
	uint32_t pid, tid;	/* pid 0, but not tid: the process is not known */
	bool lost;		/* records are missing behind it: it may have ended before the next one */
};

struct runs {
	struct run *run;	/* in the order of time */
	size_t count;
};

/* From the data ring if that has switches, else from perf's records. @flags: of the session, AUXTRACE_SETUP_*. */
void runs_find(struct runs *r, const struct records *records, const struct side *side, unsigned int cpu, uint32_t flags);
void runs_free(struct runs *r);

/* The index of the thread that ran at @tsc; r->count if that is not known (@tsc 0: the time is not). */
size_t runs_at(const struct runs *r, uint64_t tsc);

/**
 * runs_after_switch - who runs behind an instruction by which the kernel switches to another thread
 * @run: index of the thread before it; r->count: not known
 * @switched: the switch to that one has been seen. Else control appeared behind its record
 * @after: TSC before the instruction; 0: not known
 * @before: TSC behind it
 *
 * The record of a switch is written some instructions before it. So it is the one that follows
 * the record of the last switch, unless the times say that more have passed, or that
 * the record is that of a later switch.
 */
size_t runs_after_switch(const struct runs *r, size_t run, bool switched, uint64_t after, uint64_t before);

#endif
