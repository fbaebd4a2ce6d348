/* SPDX-License-Identifier: GPL-2.0-only */
/* How often something may be done. */
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

u64 auxt_pace_turn(struct auxt_pace *pace, u64 interval, unsigned int burst, unsigned int waiters);

/* Task context, without locks. */
int auxt_pace_wait(u64 turn);

#endif /* AUXT_PACE_H */
