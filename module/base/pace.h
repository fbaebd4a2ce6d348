/* SPDX-License-Identifier: GPL-2.0 */
/* How often something may be done: the caller waits. */
#ifndef AUXT_PACE_H
#define AUXT_PACE_H

#include <linux/atomic.h>
#include <linux/types.h>

/**
 * struct auxt_pace - how often something may be done
 * @next: when it is the next caller's turn, on ktime_get_ns()'s clock. Zero to begin with
 */
struct auxt_pace {
	atomic64_t next;
};

/* Task context, without locks that others wait for. */
int auxt_pace_wait(struct auxt_pace *pace, u64 interval, unsigned int burst, unsigned int waiters);

#endif /* AUXT_PACE_H */
