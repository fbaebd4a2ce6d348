/* SPDX-License-Identifier: GPL-2.0 */
/* The settle loop: hardware, accounting and status page agree with what is asked. */
#ifndef AUXT_SETTLE_H
#define AUXT_SETTLE_H

#include <linux/types.h>

struct auxt_channel;

/* What it has to do (auxt_channel.todo). */
#define AUXT_TODO_APPLY	(1u << 0)	/* the mask or a counter has changed */
#define AUXT_TODO_SYNC	(1u << 1)	/* at the hardware and the reader's tail */
#define AUXT_TODO_SWITCH	(1u << 2)	/* to the next slot */

/* On the channel's CPU with interrupts off, also in NMIs; or in its place. */
void auxt_settle_only(struct auxt_channel *ch, u32 todo);
void auxt_settle_notify(struct auxt_channel *ch);

static inline void auxt_settle(struct auxt_channel *ch, u32 todo)
{
	auxt_settle_only(ch, todo);
	auxt_settle_notify(ch);
}

/* Before the channel is seen by anybody. */
void auxt_settle_init(struct auxt_channel *ch);

/* As auxt_settle(), in it or not in an NMI. */
void auxt_settle_cut(const struct auxt_channel *ch, struct auxtrace_cut *to);

#endif /* AUXT_SETTLE_H */
