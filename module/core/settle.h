/* SPDX-License-Identifier: GPL-2.0-only */
/* The settle loop: brings hardware, accounting and status page in line with the inhibit mask. */
#ifndef AUXT_SETTLE_H
#define AUXT_SETTLE_H

#include "core/state.h"

/* auxt_channel.todo: 0, or the loop is running; then also the work that it has not taken yet. */
#define AUXT_TODO_APPLY		(1u << 0)	/* the mask or a counter has changed */
#define AUXT_TODO_SYNC		(1u << 1)	/* read the hardware's position and the tail */
#define AUXT_TODO_SWITCH	(1u << 2)	/* continue in auxt_channel.next_slot */
#define AUXT_TODO_RUNNING	(1u << 31)	/* set exactly while the loop is running */

/* On the channel's CPU with interrupts off, also in NMIs; or in its place. */
void auxt_settle_run(struct auxt_channel *ch, u32 todo);
void auxt_settle_apply(struct auxt_channel *ch);
void auxt_settle_wake(struct auxt_channel *ch, u32 ready);
void auxt_settle(struct auxt_channel *ch, u32 todo);

/*
 * What readers can wait for (auxt_channel.notified): AUXT_READY_READABLE, and AUXTRACE_INHIBIT_FROZEN,
 * _HWERROR and _FULL.
 */
#define AUXT_READY_READABLE	(1u << 31)	/* there is something to read */

static __always_inline u32 auxt_settle_ready(const struct auxt_channel *ch)
{
	u32 inhibit = auxt_channel_inhibited(ch);
	u32 ready = inhibit & (AUXTRACE_INHIBIT_HWERROR | AUXTRACE_INHIBIT_FROZEN);

	/* FULL is told apart: the last bytes before it may be fewer than a watermark. */
	if (ch->drained && auxt_channel_is_readable(ch, inhibit & AUXTRACE_INHIBIT_SETUP))
		ready |= AUXT_READY_READABLE | (inhibit & AUXTRACE_INHIBIT_FULL);
	return ready;
}

/**
 * auxt_settle_notify() - wake readers if there is something new for them
 * @ch: the channel
 *
 * See "readers that sleep" in settle.c. Inline, because in most cases there is nothing to read.
 */
static __always_inline void auxt_settle_notify(struct auxt_channel *ch)
{
	u32 ready;

	WRITE_ONCE(ch->notify_ended, false);
	ready = auxt_settle_ready(ch);
	if (unlikely(ready || READ_ONCE(ch->is) & AUXT_IS_STARVED)) {
		auxt_settle_wake(ch, ready);
		return;
	}
	WRITE_ONCE(ch->notified, 0);
	WRITE_ONCE(ch->notify_ended, true);
}

/* As auxt_settle(), but not in an NMI. */
void auxt_settle_sync(struct auxt_channel *ch);
void auxt_settle_sync_tails(struct auxt_channel *ch);

/* From any CPU: the answer may be out of date at once. */
bool auxt_settle_has_new_tail(const struct auxt_channel *ch);

/* Task context, before any other code can see the channel. */
void auxt_settle_init(struct auxt_channel *ch);

/* Within the settle loop; or as auxt_settle(), but not in an NMI. */
void auxt_settle_cut(const struct auxt_channel *ch, struct auxtrace_cut *to);

#endif /* AUXT_SETTLE_H */
