/* SPDX-License-Identifier: GPL-2.0-only */
/* FULL_AUTO: a full channel polls the reader's tail. */
#ifndef AUXT_TAIL_POLL_H
#define AUXT_TAIL_POLL_H

#include <linux/types.h>

struct auxt_channel;
struct auxt_group;

/* Task context. */
void auxt_tail_poll_init(struct auxt_channel *ch);
void auxt_tail_poll_init_group(struct auxt_group *group);

/* Interrupt or task context, any CPU. */
void auxt_tail_poll_begin(struct auxt_channel *ch);

/* On the channel's CPU with interrupts off, after the detach, so that no new poll can begin. */
void auxt_tail_poll_end(struct auxt_channel *ch);

#endif /* AUXT_TAIL_POLL_H */
