/* SPDX-License-Identifier: GPL-2.0-only */
/* Branch Trace Store as a trace PMU. */
#ifndef AUXT_BTS_H
#define AUXT_BTS_H

struct trace_pmu;

extern const struct trace_pmu auxt_bts;

#endif /* AUXT_BTS_H */
