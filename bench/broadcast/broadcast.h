/* SPDX-License-Identifier: GPL-2.0-only */
/* ioctls of /dev/broadcast. */
#ifndef BROADCAST_H
#define BROADCAST_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Runs an empty function on CPUs 0 to argument - 1 and waits for all of them. */
#define BROADCAST_EMPTY	_IO('b', 0)

/* The same on CPUs 0 to @nr - 1, with a function that records its TSC; @last_tsc is the latest. */
struct broadcast_reach {
	__u64 nr;
	__u64 last_tsc;
};
#define BROADCAST_REACH	_IOWR('b', 1, struct broadcast_reach)

#endif
