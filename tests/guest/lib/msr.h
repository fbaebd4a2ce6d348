/* SPDX-License-Identifier: GPL-2.0-only */
/* MSRs of the guest's CPUs through /dev/cpu/N/msr, and the emulator's counters in them. */
#ifndef VM_MSR_H
#define VM_MSR_H

#include <stdbool.h>
#include <stdint.h>

#include "synthetic.h"

#define MSR_PLATFORM_INFO	0xce
#define MSR_RTIT_OUTPUT_BASE	0x560
#define MSR_RTIT_OUTPUT_MASK	0x561
#define MSR_RTIT_CTL		0x570
#define RTIT_CTL_TRACE_EN	(1ULL << 0)
#define MSR_DEBUGCTL		0x1d9
#define DEBUGCTL_TR		(1ULL << 6)
#define DEBUGCTL_BTS		(1ULL << 7)
#define DEBUGCTL_BTINT		(1ULL << 8)
#define DEBUGCTL_BTS_OFF_OS	(1ULL << 9)
#define DEBUGCTL_BTS_OFF_USR	(1ULL << 10)
#define MSR_DS_AREA		0x600

/* The test machines have no memory at this address. */
#define NO_MEMORY		0xff00000000ULL

/* 0 or a negative errno: -ENOENT without the msr driver, -EIO where the read faults. */
int msr_read(int cpu, uint32_t reg, uint64_t *value);
int msr_write(int cpu, uint32_t reg, uint64_t value);

/* The MSR that turns the trace PMU on, and its bits that are set while the PMU is on. */
uint32_t msr_control(void);
uint64_t msr_enables(void);
/* Is the trace PMU of @cpu on? Fails the running test if the MSR cannot be read. */
bool msr_tracing(int cpu);

/*
 * Skips the running test, saying why, unless the CPUs are the emulator's: real
 * hardware does not count its WRMSRs.
 */
void emulator_required(void);
uint64_t emulator_count(int cpu, enum ptm_counter counter);
/* WRMSRs that drive @cpu's trace PMU: of IA32_RTIT_*, or of IA32_DEBUGCTL and IA32_DS_AREA. */
uint64_t emulator_wrmsrs(int cpu);
/* Bytes of trace that @cpu wrote. */
uint64_t emulator_bytes(int cpu);
/* The same for any machine: false if it has no such counter. */
bool emulator_bytes_plain(int cpu, uint64_t *bytes);
/* Set a knob of the emulator; emulator_knobs_reset() sets every knob that was set back to 0. */
void emulator_knob(int cpu, enum ptm_knob knob, uint64_t value);
void emulator_knobs_reset(void);

#endif
