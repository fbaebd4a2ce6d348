// SPDX-License-Identifier: GPL-2.0-or-later
#include "state.h"

bool bench_owns(uint32_t msr)
{
	return msr == MSR_PTM_BENCH_ID || msr - MSR_PTM_BENCH_KNOB < PTM_KNOBS ||
	       msr - MSR_PTM_BENCH_COUNT < PTM_COUNTERS;
}

void ptm_bench_enable(struct ptm *p, bool on)
{
	p->bench = on;
}

bool bench_read(const struct ptm *p, uint32_t msr, uint64_t *value)
{
	if (msr == MSR_PTM_BENCH_ID)
		*value = PTM_BENCH_ID_VALUE;
	else if (msr < MSR_PTM_BENCH_COUNT)
		*value = p->knob[msr - MSR_PTM_BENCH_KNOB];
	else
		*value = p->count[msr - MSR_PTM_BENCH_COUNT];
	return true;
}

bool bench_write(struct ptm *p, uint32_t msr, uint64_t v)
{
	if (msr == MSR_PTM_BENCH_ID)
		return false;

	if (msr < MSR_PTM_BENCH_COUNT)
		return knob_write(p, msr - MSR_PTM_BENCH_KNOB, v);
	if (v)
		return false;
	p->count[msr - MSR_PTM_BENCH_COUNT] = 0;
	return true;
}
