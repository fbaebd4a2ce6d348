/* SPDX-License-Identifier: GPL-2.0-only */
/* Latency triggers: for each task, a clock from one trigger's hit to another's. */
#ifndef AUXT_LATENCY_H
#define AUXT_LATENCY_H

struct auxt_trigger;

/* Any context, interrupts off. */
void auxt_latency_tick(struct auxt_trigger *t, bool start);

#endif /* AUXT_LATENCY_H */
