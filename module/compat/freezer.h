/* SPDX-License-Identifier: GPL-2.0-only */
/* See compat.h. */
#ifndef AUXT_COMPAT_FREEZER_H
#define AUXT_COMPAT_FREEZER_H

#include <linux/freezer.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/sched.h>

/*
 * Sleeps for @left, or shorter, for instance if a fatal signal arrives. A suspend does not wait for the
 * task: it freezes the task where that sleeps. Task context, without locks.
 */
static inline void auxt_sleep_freezable(ktime_t left)
{
#ifdef AUXT_HAVE_TASK_FREEZABLE
	set_current_state(TASK_KILLABLE | TASK_FREEZABLE);
	schedule_hrtimeout(&left, HRTIMER_MODE_REL);
#else
	set_current_state(TASK_KILLABLE);
	freezable_schedule_hrtimeout_range(&left, 0, HRTIMER_MODE_REL);
#endif
}

#endif /* AUXT_COMPAT_FREEZER_H */
