/* SPDX-License-Identifier: GPL-2.0 */
/* What a trigger on one CPU asks of the session's other CPUs. */
#ifndef AUXT_REMOTE_H
#define AUXT_REMOTE_H

#include "core/state.h"

/* Task context. */
void auxt_remote_init(struct auxt_channel *ch);
void auxt_remote_flush(struct auxt_channel *ch);

/* On the channel's CPU or in its place, interrupts off. */
void auxt_remote_forget(struct auxt_channel *ch);
void auxt_remote_thaw(struct auxt_channel *ch);

/* On the channel's CPU, interrupts off. */
void auxt_remote_run(struct auxt_channel *ch);

#endif /* AUXT_REMOTE_H */
