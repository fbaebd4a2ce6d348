/* SPDX-License-Identifier: GPL-2.0-only */
/* Triggers that act some time after their hit. */
#ifndef AUXT_DELAY_H
#define AUXT_DELAY_H

#include <linux/types.h>

struct auxt_channel;
struct auxt_trigger;

/* Task context. */
int auxt_delay_new(struct auxt_trigger *t);
void auxt_delay_free(struct auxt_trigger *t);

/* Interrupts off or NMI. */
bool auxt_delay_begin(struct auxt_trigger *t, struct auxt_channel *ch, u64 value);

#endif /* AUXT_DELAY_H */
