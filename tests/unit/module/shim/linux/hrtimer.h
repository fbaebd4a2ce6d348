/* SPDX-License-Identifier: GPL-2.0-only */
/* A timer whose time comes when the test says so: shim_expire(). */
#ifndef SHIM_LINUX_HRTIMER_H
#define SHIM_LINUX_HRTIMER_H

#include <stdbool.h>
#include <time.h>
#include <linux/types.h>

typedef u64 ktime_t;

enum hrtimer_restart { HRTIMER_NORESTART, HRTIMER_RESTART };
enum hrtimer_mode { HRTIMER_MODE_REL_PINNED_HARD };

struct hrtimer {
	enum hrtimer_restart (*function)(struct hrtimer *timer);
	bool queued;
	ktime_t period;
};

static inline void hrtimer_init(struct hrtimer *timer, clockid_t clock, enum hrtimer_mode mode)
{
	timer->queued = false;
}

static inline void hrtimer_start(struct hrtimer *timer, ktime_t period, enum hrtimer_mode mode)
{
	timer->queued = true;
	timer->period = period;
}

static inline int hrtimer_try_to_cancel(struct hrtimer *timer)
{
	int was = timer->queued;

	timer->queued = false;
	return was;
}

static inline void hrtimer_forward_now(struct hrtimer *timer, ktime_t period)
{
	timer->period = period;
}

static inline void shim_expire(struct hrtimer *timer)
{
	if (!timer->queued)
		return;
	timer->queued = false;
	timer->period = 0;
	/* It may have been started again from within. */
	if (timer->function(timer) == HRTIMER_RESTART)
		timer->queued = true;
}

#endif /* SHIM_LINUX_HRTIMER_H */
