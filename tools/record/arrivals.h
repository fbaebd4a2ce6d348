/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * When CPUs come online: perf has dropped the events that it had on them, and none is there on a CPU that is new.
 *
 * The kernel tells of each CPU that an administrator turns on (a uevent), and that time was set or that the machine slept,
 * in which all CPUs but one were off (timerfd_create(2), TFD_TIMER_CANCEL_ON_SET).
 */
#ifndef ARRIVALS_H
#define ARRIVALS_H

#include <stdbool.h>

struct arrivals {
	int epoll, uevents, clock;
};

/* Begin to listen. 0, or -1 with errno. */
int arrivals_open(struct arrivals *a);
/* A file descriptor for poll(2), readable when there is something to hear. */
int arrivals_fd(const struct arrivals *a);
/* May a CPU have come online since the last call? It does not wait. */
bool arrivals_heard(struct arrivals *a);
void arrivals_close(struct arrivals *a);

#endif
