/* SPDX-License-Identifier: GPL-2.0-only */
/* Reservations keep perf and other sessions off a CPU's trace PMU. */
#ifndef AUXT_RESERVATION_H
#define AUXT_RESERVATION_H

#include <linux/types.h>

struct auxt_channel;
struct trace_pmu;

int auxt_reservation_init(void);

/* Callers hold cpus_read_lock(), or run in a hotplug callback. */
int auxt_reservation_probe(const struct trace_pmu *pmu, int cpu);
int auxt_reservation_take(struct auxt_channel *ch);
void auxt_reservation_release(struct auxt_channel *ch);
void auxt_reservation_drop(struct auxt_channel *ch);
int auxt_reservation_renew(struct auxt_channel *ch);
void auxt_reservation_online(int cpu);
struct auxt_channel *auxt_reservation_owner(int cpu, u32 pmu);

/* Any context. */
bool auxt_reservation_is_stuck(int cpu, u32 pmu);
void auxt_reservation_stop_stuck(void);

#endif /* AUXT_RESERVATION_H */
