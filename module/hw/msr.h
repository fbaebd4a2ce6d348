/* SPDX-License-Identifier: GPL-2.0-only */
/* Writes to the trace PMUs' MSRs that must not fail. */
#ifndef AUXT_MSR_H
#define AUXT_MSR_H

#include "compat/compat.h"

/*
 * Tries twice. The hardware goes on writing to memory, or perf's registers are lost, if this
 * fails; one fault may be due to code that the CPU ran at that moment (a hypervisor, firmware).
 * Returns 0 or -EIO. Any context.
 */
static __always_inline int auxt_wrmsr_twice(u32 msr, u64 value)
{
	return auxt_wrmsr(msr, value) ? auxt_wrmsr(msr, value) : 0;
}

#endif /* AUXT_MSR_H */
