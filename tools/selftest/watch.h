/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A child process that works step by step. The parent notices how it ends, and when a step takes
 * too long. Signals that are to end the parent end the child first: the parent tells of the work,
 * and cleans up, whatever becomes of the child.
 */
#ifndef WATCH_H
#define WATCH_H

#include <stdbool.h>

/**
 * struct watch - a child process, and what became of it
 * @work: what the child does. It ends behind that
 * @context: for @work
 * @step: grows with each step of the child
 * @limit: a step takes at most so many seconds, of those in which the parent is not stopped
 * @status: the wait status of the child
 * @signal: that was to end the work: INT, TERM or HUP, to the parent or to the child, or the
 *	child's PIPE; 0: none
 * @overdue: a step took longer than @limit, so the child was killed
 * @stays: the child has not ended though it was killed; there is no @status
 */
struct watch {
	void (*work)(void *context);
	void *context;
	unsigned int (*step)(void);
	unsigned int limit;

	int status;
	int signal;
	bool overdue, stays;
};

/*
 * From here to watch_end() signals that would end this process wait. Those that whoever started
 * it has ignored stay ignored.
 */
void watch_begin(void);
/* Work in a child, and wait for its end. False with errno if there can be no child. */
bool watch_run(struct watch *w);
/* Signals are delivered again, first those that came meanwhile and that no watch_run() told of. */
void watch_end(void);

#endif
