// SPDX-License-Identifier: LGPL-2.1-or-later
#include "trace_pmu.h"

const struct trace_pmu *const trace_pmus[] = { &trace_pmu_pt, &trace_pmu_bts, NULL };

const struct trace_pmu *trace_pmu_of(uint32_t pmu)
{
	for (unsigned int i = 0; trace_pmus[i]; i++)
		if (trace_pmus[i]->pmu == pmu)
			return trace_pmus[i];
	return NULL;
}
