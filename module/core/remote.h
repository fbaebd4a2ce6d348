/* SPDX-License-Identifier: GPL-2.0-only */
/* Delivery of a trigger's request to the session's other CPUs. */
#ifndef AUXT_REMOTE_H
#define AUXT_REMOTE_H

#include "core/state.h"

/* Task context. */
void auxt_remote_init(struct auxt_channel *ch);
void auxt_remote_flush(const struct auxt_group *group);

/* On the channel's CPU with interrupts off, or in its place: see channel.c. */
void auxt_remote_forget(struct auxt_channel *ch);
void auxt_remote_thaw(struct auxt_channel *ch);

/* On the channel's CPU, interrupts off. */
void auxt_remote_run(struct auxt_channel *ch);

#endif /* AUXT_REMOTE_H */
