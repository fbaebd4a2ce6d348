/* SPDX-License-Identifier: GPL-2.0 */
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
void auxt_settle_notify(struct auxt_channel *ch);

static inline void auxt_settle(struct auxt_channel *ch, u32 todo)
{
	auxt_settle_run(ch, todo);
	auxt_settle_notify(ch);
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
