/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When CPUs may have come online: perf drops its events on a CPU that goes offline, and has none on one that is new.
 *
 * As a rule the kernel tells: of a CPU that an administrator turns on by a uevent, of a sleep, in which all CPUs but one were
 * off, as of any change of the time (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET). It tells nothing of a suspend that it
 * gave up, or to a network namespace that is not the initial user namespace's. So look without being told, too, where it
 * matters.
 */
#ifndef ARRIVALS_H
#define ARRIVALS_H

#include <stdbool.h>
#include <stdint.h>

struct arrivals {
	int epoll, uevents, clock;	/* -1: not available */
	int64_t slept;			/* at most so many ns since the boot */
};

/* Before arrivals_open() */
#define ARRIVALS_NONE	{ .epoll = -1, .uevents = -1, .clock = -1 }

/* Begin to listen, to what of both there is. */
void arrivals_open(struct arrivals *a);
/* A file descriptor for poll(2), readable when there is something to hear. -1: nothing can be heard. */
int arrivals_fd(const struct arrivals *a);
/* May a CPU have come online since the last call? It does not wait. */
bool arrivals_heard(struct arrivals *a);
/* Has the machine slept since the last call? */
bool arrivals_slept(struct arrivals *a);
void arrivals_close(struct arrivals *a);

#endif
