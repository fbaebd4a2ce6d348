/* SPDX-License-Identifier: GPL-2.0-only */
/* Intel Processor Trace as a trace PMU. */
#ifndef AUXT_PT_H
#define AUXT_PT_H

#include "hw/pt_caps.h"

struct trace_pmu;

extern const struct trace_pmu auxt_pt;

void auxt_pt_detect(void);
struct pt_caps auxt_pt_caps(void);

#endif /* AUXT_PT_H */
