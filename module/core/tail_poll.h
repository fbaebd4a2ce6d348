/* SPDX-License-Identifier: GPL-2.0 */
/* FULL_AUTO: a channel that is full looks for the reader's tail by itself. */
#ifndef AUXT_TAIL_POLL_H
#define AUXT_TAIL_POLL_H

#include <linux/types.h>

struct auxt_channel;

void auxt_tail_poll_init(struct auxt_channel *ch);
/* Any context on the channel's CPU: must auxt_tail_poll_begin() be called? */
bool auxt_tail_poll_is_due(const struct auxt_channel *ch);
/* Interrupt or task context, anywhere. */
void auxt_tail_poll_begin(struct auxt_channel *ch);
/* On the channel's CPU with interrupts off; detached, so that none begins any more. */
void auxt_tail_poll_end(struct auxt_channel *ch);

#endif /* AUXT_TAIL_POLL_H */
