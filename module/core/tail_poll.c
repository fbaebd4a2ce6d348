// SPDX-License-Identifier: GPL-2.0-only
/*
 * FULL_AUTO: a full channel polls the reader's tail.
 *
 * A timer runs on the channel's CPU while the channel waits for space and for nothing else. The
 * settle loop may run in an NMI, where no timer can be started, so the channel's irq_work starts
 * it. The timer stops when the channel no longer waits, and is cancelled when the channel is
 * detached. So it never runs on a CPU other than the channel's.
 */

#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/poll.h>
#include <linux/time64.h>
#include <linux/wait.h>
#include "compat/hrtimer.h"
#include "compat/irq_work.h"
#include "compat/workqueue.h"
#include "core/settle.h"
#include "core/state.h"
#include "core/tail_poll.h"

#define TAIL_POLL_PERIOD	ns_to_ktime(NSEC_PER_MSEC)

static enum hrtimer_restart tail_poll_tick(struct hrtimer *timer)
{
	struct auxt_channel *ch = container_of(timer, struct auxt_channel, tail_poll);

	if (auxt_tail_poll_waits(ch) && auxt_settle_has_new_tail(ch))
		auxt_settle_sync_tails(ch);
	/* Cleared before the check, so that a channel that fills up after it starts a new poll. */
	WRITE_ONCE(ch->tail_polling, false);
	barrier();
	if (!auxt_tail_poll_waits(ch))
		return HRTIMER_NORESTART;
	WRITE_ONCE(ch->tail_polling, true);
	hrtimer_forward_now(timer, TAIL_POLL_PERIOD);
	return HRTIMER_RESTART;
}
NOKPROBE_SYMBOL(tail_poll_tick);

/**
 * auxt_tail_poll_begin() - start the poll if it is due
 * @ch: the channel
 */
void auxt_tail_poll_begin(struct auxt_channel *ch)
{
	unsigned long flags;

	local_irq_save(flags);
	if (auxt_channel_here(ch->pmu->number) == ch && auxt_tail_poll_is_due(ch)) {
		WRITE_ONCE(ch->tail_polling, true);
		hrtimer_start(&ch->tail_poll, TAIL_POLL_PERIOD, HRTIMER_MODE_REL_PINNED_HARD);
	}
	local_irq_restore(flags);
}
NOKPROBE_SYMBOL(auxt_tail_poll_begin);

static void tail_poll_wake_waiters(struct auxt_group *group)
{
	wake_up_interruptible_poll(&group->waiters, EPOLLIN | EPOLLRDNORM | EPOLLPRI | EPOLLERR);
}
NOKPROBE_SYMBOL(tail_poll_wake_waiters);

static void tail_poll_wake_later(struct work_struct *work)
{
	tail_poll_wake_waiters(container_of(work, struct auxt_group, wakeup));
}
NOKPROBE_SYMBOL(tail_poll_wake_later);

/*
 * Wakes readers, and begins the poll: the settle loop can do neither in an NMI.
 *
 * On PREEMPT_RT a wait queue's lock may sleep. An irq_work that runs in a thread there could take
 * it. But that thread touches the irq_work after irq_work_sync() has found it done, and nothing
 * bounds the time until then. (Some kernels wait for a grace period in each irq_work_sync()
 * therefore.) So there this irq_work runs in hard interrupt context and has a work of the session
 * wake readers. That work may run on any CPU, so a busy real-time task does not delay it.
 */
static void tail_poll_wake(struct irq_work *work)
{
	struct auxt_channel *ch = container_of(work, struct auxt_channel, wake);

	auxt_tail_poll_begin(ch);
	/* The queue's lock is the session's: leave it alone if nobody waits. See settle_wake(). */
	if (!wq_has_sleeper(&ch->group->waiters))
		return;
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		auxt_queue_unbound_work(&ch->group->wakeup);
	else
		tail_poll_wake_waiters(ch->group);
}
NOKPROBE_SYMBOL(tail_poll_wake);

/**
 * auxt_tail_poll_end() - stop the poll
 * @ch: a channel that has just been detached
 */
void auxt_tail_poll_end(struct auxt_channel *ch)
{
	/* The handler runs on this CPU only, and interrupts are off: the cancel succeeds. */
	hrtimer_try_to_cancel(&ch->tail_poll);
	WRITE_ONCE(ch->tail_polling, false);
}
NOKPROBE_SYMBOL(auxt_tail_poll_end);

/**
 * auxt_tail_poll_init() - set up the poll and the irq_work that starts it
 * @ch: a new channel
 */
void auxt_tail_poll_init(struct auxt_channel *ch)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		auxt_irq_work_init_hard(&ch->wake, tail_poll_wake);
	else
		init_irq_work(&ch->wake, tail_poll_wake);
	auxt_hrtimer_setup(&ch->tail_poll, tail_poll_tick, CLOCK_MONOTONIC,
			   HRTIMER_MODE_REL_PINNED_HARD);
}
NOKPROBE_SYMBOL(auxt_tail_poll_init);

/**
 * auxt_tail_poll_init_group() - set up what wakes the readers of a session
 * @group: the channels of a new session
 */
void auxt_tail_poll_init_group(struct auxt_group *group)
{
	init_waitqueue_head(&group->waiters);
	INIT_WORK(&group->wakeup, tail_poll_wake_later);
}
NOKPROBE_SYMBOL(auxt_tail_poll_init_group);
