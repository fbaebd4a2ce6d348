/* SPDX-License-Identifier: GPL-2.0 */
/* Clocks that run from one trigger's hit to another's, one for each task. */
#ifndef AUXT_LATENCY_H
#define AUXT_LATENCY_H

struct auxt_trigger;

/* Any context, interrupts off: a trigger that clocks wait for has hit. */
void auxt_latency_tick(struct auxt_trigger *t);

#endif /* AUXT_LATENCY_H */
