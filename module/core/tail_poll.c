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
#include <linux/time64.h>
#include "core/channel.h"
#include "compat/timer.h"
#include "core/tail_poll.h"

#define PERIOD	ns_to_ktime(NSEC_PER_MSEC)

static bool waits(const struct auxt_channel *ch)
{
	return ch->attached && atomic_read(&ch->inhibit) == AUXTRACE_INHIBIT_FULL;
}
NOKPROBE_SYMBOL(waits);

static enum hrtimer_restart look(struct hrtimer *timer)
{
	struct auxt_channel *ch = container_of(timer, struct auxt_channel, tail_poll);

	if (waits(ch) && auxt_channel_has_new_tail(ch))
		auxt_channel_sync_tails(ch);
	/* Before the last look: whoever fills the area after that finds us gone. */
	WRITE_ONCE(ch->tail_polling, false);
	barrier();
	if (!waits(ch))
		return HRTIMER_NORESTART;
	WRITE_ONCE(ch->tail_polling, true);
	hrtimer_forward_now(timer, PERIOD);
	return HRTIMER_RESTART;
}

/**
 * auxt_tail_poll_is_due() - must somebody call auxt_tail_poll_begin()?
 * @ch: the channel
 *
 * Return: true if the channel is to be looked after and is not.
 */
bool auxt_tail_poll_is_due(const struct auxt_channel *ch)
{
	return ch->flags & AUXTRACE_SETUP_FULL_AUTO && waits(ch) && !READ_ONCE(ch->tail_polling);
}
NOKPROBE_SYMBOL(auxt_tail_poll_is_due);

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

/**
 * auxt_tail_poll_init() - of a new channel
 * @ch: the channel
 */
void auxt_tail_poll_init(struct auxt_channel *ch)
{
	auxt_hrtimer_setup(&ch->tail_poll, look, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
}
