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

struct relays;

struct replay {
	int cpu;		/* only this one; -1: all */
	uint64_t window;	/* only this one of each CPU; 0: all */
	bool samples;		/* the samples that triggers took instead, each on its own */
	bool by_time;		/* turns in the order of time */
	unsigned int jobs;	/* so many CPUs are decoded at a time, each by a thread of its own; 0, 1: by this one */
	volatile bool stop;	/* a view, or a signal handler, may set this: replay_run() returns soon */

	/* Set by replay_open(): */
	const char *dir;
	struct meta *meta;
	const struct flow_decoder *decoder;
	struct side side;
	struct threads threads;
	struct code_image *code;
	struct code_blocks *blocks;
	struct flow_sum sum;	/* of what replay_run() decoded */
	/*
	 * Bytes of trace that are decoded, of so many. Any thread may read them meanwhile. Threads decode ahead: what the views
	 * have heard is in @sum. 0 wanted: not known, as with a window or samples.
	 */
	_Atomic uint64_t decoded, wanted;
	struct relays *relays;	/* while it runs, the threads that decode; NULL: there are none */
};

/*
 * Open the recording in @dir; the files of programs are below @symfs. Returns false, with a message, if it cannot be
 * read. What is wanted of it may be set before or after.
 */
bool replay_open(struct replay *r, const char *dir, const char *symfs);

/*
 * Decode it. @view_of returns the view for the next CPU; it may be the same for all. Returns 0; or with a message
 * -EBADMSG: a file cannot be read, -ENOENT: the recording does not have the CPU or window that is wanted,
 * -ENOMEM: a thread has no memory. All callbacks are made by this thread, in the same order
 * whatever r->jobs is. After a stop, threads' sums may lack the last of what was told, but no error.
 */
int replay_run(struct replay *r, struct view *(*view_of)(void *context), void *context);

void replay_close(struct replay *r);

#endif
