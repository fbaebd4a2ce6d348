// SPDX-License-Identifier: GPL-2.0
/*
 * FULL_AUTO: a channel that is full looks for the reader's tail by itself.
 *
 * A timer on the channel's CPU runs while the channel waits for room and for
 * nothing else. The settle loop, which may run in an NMI, cannot start it: it has
 * the channel's irq_work do so. The timer stops by itself when there is nothing to
 * wait for, and with the channel's detaching: so it never comes to run on a CPU
 * that is not the channel's.
 */

#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/poll.h>
#include <linux/time64.h>
#include "compat/hrtimer.h"
#include "core/settle.h"
#include "core/state.h"
#include "core/tail_poll.h"

#define PERIOD	ns_to_ktime(NSEC_PER_MSEC)

static enum hrtimer_restart tail_poll_tick(struct hrtimer *timer)
{
	struct auxt_channel *ch = container_of(timer, struct auxt_channel, tail_poll);

	if (auxt_tail_poll_waits(ch) && auxt_settle_has_new_tail(ch))
		auxt_settle_sync_tails(ch);
	/* Before the last look: whoever fills the area after that finds us gone. */
	WRITE_ONCE(ch->tail_polling, false);
	barrier();
	if (!auxt_tail_poll_waits(ch))
		return HRTIMER_NORESTART;
	WRITE_ONCE(ch->tail_polling, true);
	hrtimer_forward_now(timer, PERIOD);
	return HRTIMER_RESTART;
}
NOKPROBE_SYMBOL(tail_poll_tick);

/**
 * auxt_tail_poll_begin() - look from now on, if that is due
 * @ch: the channel
 */
void auxt_tail_poll_begin(struct auxt_channel *ch)
{
	unsigned long flags;

	local_irq_save(flags);
	if (auxt_channel_here(ch->pmu->number) == ch && auxt_tail_poll_is_due(ch)) {
		WRITE_ONCE(ch->tail_polling, true);
		hrtimer_start(&ch->tail_poll, PERIOD, HRTIMER_MODE_REL_PINNED_HARD);
	}
	local_irq_restore(flags);
}
NOKPROBE_SYMBOL(auxt_tail_poll_begin);

static void tail_poll_wake(struct irq_work *work)
{
	struct auxt_channel *ch = container_of(work, struct auxt_channel, wake);

	auxt_tail_poll_begin(ch);
	wake_up_interruptible_poll(&ch->group->waiters, EPOLLIN | EPOLLRDNORM | EPOLLPRI | EPOLLERR);
}
NOKPROBE_SYMBOL(tail_poll_wake);

/**
 * auxt_tail_poll_end() - look no more
 * @ch: a channel that has just been detached
 */
void auxt_tail_poll_end(struct auxt_channel *ch)
{
	/* It runs with interrupts off on this CPU, so not now: this cannot fail. */
	hrtimer_try_to_cancel(&ch->tail_poll);
	WRITE_ONCE(ch->tail_polling, false);
}
NOKPROBE_SYMBOL(auxt_tail_poll_end);

/**
 * auxt_tail_poll_init() - of a new channel
 * @ch: the channel
 */
void auxt_tail_poll_init(struct auxt_channel *ch)
{
	init_irq_work(&ch->wake, tail_poll_wake);
	auxt_hrtimer_setup(&ch->tail_poll, tail_poll_tick, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
}
NOKPROBE_SYMBOL(auxt_tail_poll_init);
