/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A recording that is decoded from its begin to its end: all CPUs that are wanted, each to a view.
 *
 * Where views follow threads, the turns of threads on all CPUs come in the order of time, because a
 * thread may go from CPU to CPU. Else one CPU comes after the other.
 */
#ifndef REPLAY_H
#define REPLAY_H

#include "decode/flow.h"
#include "decode/side.h"
#include "decode/threads.h"
#include "source.h"

struct replay {
	int cpu;		/* only this one; -1: all */
	uint64_t window;	/* only this one of each CPU; 0: all */
	bool samples;		/* the samples that triggers took instead, each on its own */
	bool by_time;		/* turns in the order of time */

	/* Set by replay_open(): */
	const char *dir;
	struct meta *meta;
	const struct source *source;
	struct side side;
	struct threads threads;
	struct code_image *code;
	struct code_blocks *blocks;
	struct flow_sum sum;	/* of what replay_run() decoded */
};

/*
 * Open the recording in @dir; the files of programs are below @symfs. Returns false, with a message, if it cannot be
 * read. What is wanted of it may be set before or after.
 */
bool replay_open(struct replay *r, const char *dir, const char *symfs);

/*
 * Decode it. @view_of returns the view for the next CPU; it may be the same for all.
 * Dies if the recording does not have the CPU or window that is wanted.
 */
void replay_run(struct replay *r, struct view *(*view_of)(void *context), void *context);

/* Say what was decoded and what could not be, on stderr. */
void replay_summary(const struct replay *r);

void replay_close(struct replay *r);

#endif
