/* SPDX-License-Identifier: GPL-2.0-only */
/* The hit of a trigger. */
#ifndef AUXT_HIT_H
#define AUXT_HIT_H

#include <linux/types.h>

struct auxt_trigger;

/* Any context; the caller need not have disabled anything. */
void auxt_trigger_hit(struct auxt_trigger *t, u64 value);

#endif /* AUXT_HIT_H */
