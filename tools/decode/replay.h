/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A recording that is decoded from its begin to its end: all CPUs that are wanted, each to a view.
 *
 * Where views follow threads, the turns of threads on all CPUs come in the order of time, because a
 * thread may go from CPU to CPU. Else one CPU comes after the other.
 */
#ifndef REPLAY_H
#define REPLAY_H

#include "flow.h"
#include "side.h"
#include "threads.h"

struct replay {
	int cpu;		/* only this one; -1: all */
	uint64_t window;	/* only this one of each CPU; 0: all */
	bool samples;		/* the samples that triggers took instead, each on its own */
	bool by_time;		/* turns in the order of time */
	bool stop;		/* a view may set this: replay_run() returns soon */

	/* Set by replay_open(): */
	const char *dir;
	struct meta *meta;
	const struct flow_decoder *decoder;
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
 * Decode it. @view_of returns the view for the next CPU; it may be the same for all. Returns 0; or with a message
 * -EBADMSG: a file cannot be read, -ENOENT: the recording does not have the CPU or window that is wanted.
 */
int replay_run(struct replay *r, struct view *(*view_of)(void *context), void *context);

void replay_close(struct replay *r);

#endif
