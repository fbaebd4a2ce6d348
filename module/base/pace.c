// SPDX-License-Identifier: GPL-2.0-only
/* How often something may be done. */

#include <linux/errno.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/minmax.h>
#include <linux/sched/signal.h>
#include <linux/timekeeping.h>
#include "base/pace.h"
#include "compat/freezer.h"

/**
 * auxt_pace_turn() - take the next turn
 * @pace: the pace, which all callers share
 * @interval: nanoseconds that one time takes
 * @burst: so much unused time may be made up for: this many intervals
 * @waiters: at most so many callers wait at a time
 *
 * Any context. The caller keeps to it. In a stretch of N intervals at most N + 1 + @burst turns come.
 *
 * A caller that is killed keeps its turn, in which nobody does anything. So that such turns make nobody wait for
 * long, no turn is later than those of @waiters callers: then as many as these may have their turns at
 * once, as often as the intervals of all of them.
 *
 * Return: when it comes, on ktime_get_ns()'s clock; it may have come already.
 */
u64 auxt_pace_turn(struct auxt_pace *pace, u64 interval, unsigned int burst, unsigned int waiters)
{
	u64 now = ktime_get_ns(), made_up = min(now, burst * interval), turn;
	s64 next = atomic64_read(&pace->next);

	do {
		turn = clamp_t(u64, next, now - made_up, now + waiters * interval);
	} while (!atomic64_try_cmpxchg(&pace->next, &next, turn + interval));
	return turn;
}
NOKPROBE_SYMBOL(auxt_pace_turn);

/**
 * auxt_pace_wait() - wait for the caller's turn
 * @turn: when it comes, of auxt_pace_turn()
 *
 * A suspend freezes the caller where it waits. So it must hold no lock: who waits for that lock could not
 * be frozen, and the machine would not sleep.
 *
 * Return: 0; -EINTR a fatal signal.
 */
int auxt_pace_wait(u64 turn)
{
	u64 now = ktime_get_ns();

	while (turn > now) {
		/* It ends at once if a fatal signal is pending. */
		auxt_sleep_freezable(ns_to_ktime(turn - now));
		if (fatal_signal_pending(current))
			return -EINTR;
		now = ktime_get_ns();
	}
	return 0;
}
NOKPROBE_SYMBOL(auxt_pace_wait);
