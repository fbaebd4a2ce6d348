/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Threads that repeat a step. They end at their limit, at their first error, or by
 * workers_join(). They are kept here so that teardown can end those of a failed test. All but
 * the steps are for the main thread.
 */
#ifndef VM_WORKER_H
#define VM_WORKER_H

#include <pthread.h>

#include "uapi.h"

struct worker {
	pthread_t thread;
	int (*step)(struct worker *w);	/* 0 or a negative errno; no cmocka in it */
	struct session session;		/* a copy of the starter's */
	int cpu;			/* that it is pinned to; -1: any */
	unsigned int round, limit;	/* limit 0: until workers_join() */
	uint64_t random;		/* state of worker_random() */
	int ret;
};

/* The result is valid until the next worker_start() after a workers_join(). */
const struct worker *worker_start(const struct session *s, int cpu,
				  int (*step)(struct worker *), unsigned int limit);
/* Have all workers with a limit reached it, or failed? */
bool workers_are_done(void);
/*
 * Wait for those with a limit, stop the others, wait for all; fails the test on the first
 * error of any.
 */
void workers_join(void);
/* For teardown: stop and wait for all, without a verdict. */
void workers_end(void);

uint64_t worker_random(struct worker *w);

/* ---- steps that several tests take ------------------------------------------ */

/* PAUSE and RESUME of the worker's own CPU, and some user code to fill the area with. */
int pause_and_resume(struct worker *w);
int pause_and_resume_all(struct worker *w);
int sync_all(struct worker *w);
int poll_any(struct worker *w);

#endif
