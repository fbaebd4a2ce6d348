// SPDX-License-Identifier: GPL-2.0-or-later
#include "state.h"

bool synthetic_owns(uint32_t msr)
{
	return msr == MSR_PTM_ID || msr - MSR_PTM_KNOB < PTM_KNOBS ||
	       msr - MSR_PTM_COUNTER < PTM_COUNTERS;
}

void ptm_synthetic_enable(struct ptm *p, bool on)
{
	p->synthetic = on;
}

bool synthetic_read(const struct ptm *p, uint32_t msr, uint64_t *value)
{
	if (msr == MSR_PTM_ID)
		*value = PTM_ID_VALUE;
	else if (msr < MSR_PTM_COUNTER)
		*value = p->knob[msr - MSR_PTM_KNOB];
	else
		*value = p->count[msr - MSR_PTM_COUNTER];
	return true;
}

bool synthetic_write(struct ptm *p, uint32_t msr, uint64_t v)
{
	if (msr == MSR_PTM_ID)
		return false;

	if (msr < MSR_PTM_COUNTER)
		return knob_write(p, msr - MSR_PTM_KNOB, v);
	if (v)
		return false;
	p->count[msr - MSR_PTM_COUNTER] = 0;
	return true;
}
