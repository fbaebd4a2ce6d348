/* SPDX-License-Identifier: GPL-2.0-only */
/* The trace PMUs that there are. */
#ifndef AUXT_TRACE_PMUS_H
#define AUXT_TRACE_PMUS_H

#include <linux/auxtrace.h>
#include <linux/build_bug.h>
#include <linux/kernel.h>
#include "core/trace_pmu.h"
#include "hw/bts.h"
#include "hw/pt.h"

/* By AUXTRACE_PMU_*. */
static const struct trace_pmu *const auxt_trace_pmus[] = {
	[AUXTRACE_PMU_INTEL_PT] = &auxt_pt,
	[AUXTRACE_PMU_INTEL_BTS] = &auxt_bts,
};
static_assert(ARRAY_SIZE(auxt_trace_pmus) == TRACE_PMUS);

#endif /* AUXT_TRACE_PMUS_H */
