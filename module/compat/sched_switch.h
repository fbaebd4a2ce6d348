/* SPDX-License-Identifier: GPL-2.0-only */
/* See compat.h. */
#ifndef AUXT_COMPAT_SCHED_SWITCH_H
#define AUXT_COMPAT_SCHED_SWITCH_H

#include <linux/sched.h>

/* Parameters of a probe of the tracepoint sched_switch. */
#ifdef AUXT_HAVE_SWITCH_PREV_STATE
# define AUXT_SCHED_SWITCH_ARGS	void *data, bool preempt, struct task_struct *prev, \
				struct task_struct *next, unsigned int prev_state
#else
# define AUXT_SCHED_SWITCH_ARGS	void *data, bool preempt, struct task_struct *prev, \
				struct task_struct *next
#endif

/* In such a probe: does @prev leave its CPU though it could run on? */
static __always_inline bool auxt_is_runnable(const struct task_struct *prev)
{
#ifdef AUXT_HAVE_DELAYED_DEQUEUE
	return READ_ONCE(prev->on_rq) && !READ_ONCE(prev->se.sched_delayed);
#else
	return READ_ONCE(prev->on_rq);
#endif
}

#endif /* AUXT_COMPAT_SCHED_SWITCH_H */
