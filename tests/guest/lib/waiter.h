/* SPDX-License-Identifier: GPL-2.0-only */
/* Waiting: for a condition, in poll(2), by a thread in poll(2). */
#ifndef VM_WAITER_H
#define VM_WAITER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

#include "uapi.h"

/* Far more than any wait takes; a wait that takes longer fails. */
#define WAIT_MS	10000

struct waiter {
	pthread_t thread;
	int fd;
	pid_t tid;
	bool done;
	short events;
	uint64_t ms;
};

/* Returns when the thread sleeps. Nothing may be traced meanwhile: this thread spins. */
void waiter_start(struct waiter *w, int fd);
/*
 * Fails the test unless the thread was woken. poll(2) checks again at its timeout, so POLLIN
 * alone proves nothing.
 */
void waiter_join(struct waiter *w);

/* Fails the running test unless @condition becomes true; main thread only. */
#define wait_until(condition) \
	do { \
		for (int ms_ = 0; !(condition); ms_++) { \
			assert_true(ms_ < WAIT_MS); \
			usleep(1000); \
		} \
	} while (0)

/* What poll(2) reports after at most @ms: POLLIN, or POLLPRI of poll_urgent(), and errors. */
short poll_events(int fd, int ms);
short poll_urgent(int fd, int ms);
#define wait_readable(fd) assert_int_equal(poll_events(fd, WAIT_MS), POLLIN)

/* Wait until each channel of the session has exactly these reasons to be off. */
void wait_for_inhibit(const struct session *s, uint32_t inhibit);

#endif
