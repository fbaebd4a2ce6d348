/* SPDX-License-Identifier: GPL-2.0 */
/* MSRs of the guest's CPUs through /dev/cpu/N/msr, and the bench's counters in them. */
#ifndef VM_MSR_H
#define VM_MSR_H

#include <stdbool.h>
#include <stdint.h>

#include "bench.h"

#define MSR_PLATFORM_INFO	0xce
#define MSR_RTIT_OUTPUT_BASE	0x560
#define MSR_RTIT_OUTPUT_MASK	0x561
#define MSR_RTIT_CTL		0x570
#define RTIT_CTL_TRACE_EN	(1ULL << 0)

/* 0 or a negative errno: -ENOENT without the msr driver, -EIO where the read faults. */
int msr_read(int cpu, uint32_t reg, uint64_t *value);
int msr_write(int cpu, uint32_t reg, uint64_t value);

/* Is TraceEn set on @cpu? Fails the running test if that cannot be read. */
bool msr_tracing(int cpu);

/*
 * Skips the running test, saying why, unless the CPUs are the bench's: real
 * hardware does not count its WRMSRs.
 */
void bench_required(void);
uint64_t bench_count(int cpu, enum ptm_counter counter);
/* Turn a knob of the bench; bench_knobs_reset() puts all that were turned back to 0. */
void bench_knob(int cpu, enum ptm_knob knob, uint64_t value);
void bench_knobs_reset(void);

#endif
