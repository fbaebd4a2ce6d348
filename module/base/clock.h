/* SPDX-License-Identifier: GPL-2.0-only */
/* Conversion from the TSC of a trace to perf's clock. */
#ifndef AUXT_CLOCK_H
#define AUXT_CLOCK_H

#include <linux/types.h>

struct auxtrace_info;

void auxt_clock_describe(struct auxtrace_info *info);

/* Any context. */
u64 auxt_ns_to_tsc(u64 ns);
u64 auxt_tsc_to_ns(u64 ticks);

#endif /* AUXT_CLOCK_H */
