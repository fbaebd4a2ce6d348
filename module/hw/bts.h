/* SPDX-License-Identifier: GPL-2.0 */
/* Branch Trace Store as a trace PMU. */
#ifndef AUXT_BTS_H
#define AUXT_BTS_H

#include <linux/types.h>

struct trace_pmu;

extern const struct trace_pmu auxt_bts;

u32 auxt_bts_flags(void);

#endif /* AUXT_BTS_H */
