/* SPDX-License-Identifier: GPL-2.0 */
/* Intel Processor Trace as a trace PMU. */
#ifndef AUXT_PT_H
#define AUXT_PT_H

#include "pt_caps.h"

struct trace_pmu;

extern const struct trace_pmu auxt_pt;

void auxt_pt_init(void);
const struct pt_caps *auxt_pt_caps(void);

/* NMI, interrupts off: the PMI of this CPU's trace unit. */
bool auxt_pt_pmi_asserted(void);
void auxt_pt_pmi_ack(void);

/* Any context, this CPU: tracing off, whatever state the session is in. */
void auxt_pt_emergency_stop(void);

#endif /* AUXT_PT_H */
