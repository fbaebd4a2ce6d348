/* SPDX-License-Identifier: GPL-2.0-only */
/* Requests of triggers to a channel. */
#ifndef AUXT_REQUEST_H
#define AUXT_REQUEST_H

#include "core/state.h"

/* On the channel's CPU with interrupts off, also in NMIs. */
bool auxt_request_make(struct auxt_channel *ch, const struct auxt_request *request, u64 value);

/* As above, but not in an NMI. */
void auxt_request_forget(struct auxt_channel *ch, u32 trigger);

#endif /* AUXT_REQUEST_H */
