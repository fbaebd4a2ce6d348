/* SPDX-License-Identifier: GPL-2.0 */
/* Waiting: a thread in poll(2), and how long that took; for a state of channels. */
#ifndef VM_WAITER_H
#define VM_WAITER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "uapi.h"

/* Far more than any wait takes; expiry is a failure. */
#define WAIT_MS	10000

struct waiter {
	pthread_t thread;
	int fd;
	pid_t tid;
	bool done;
	short events;
	uint64_t ms;
};

/* Returns when the thread sleeps. Nothing may be traced meanwhile: we are busy here. */
void waiter_start(struct waiter *w, int fd);
/* It was woken: poll(2) looks once more when its time is over, so that is no proof. */
void waiter_join(struct waiter *w);

/* What poll(2) says after at most @ms. */
short poll_events(int fd, int ms);
#define wait_readable(fd) assert_int_equal(poll_events(fd, WAIT_MS), POLLIN)

/* Until each channel of the session has these reasons to be off, and no other. */
void wait_for_inhibit(const struct session *s, uint32_t inhibit);

#endif
