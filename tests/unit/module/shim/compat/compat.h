/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * In place of module/compat/compat.h: what files of module/hw/ need to run on one CPU whose
 * registers are the test's.
 */
#ifndef SHIM_COMPAT_H
#define SHIM_COMPAT_H

#include <errno.h>
#include <linux/bits.h>
#include <linux/types.h>
#include <asm/tsc.h>

#define PAGE_SIZE			4096ull
#define lower_32_bits(n)		((u32)(n))

/* ---- registers: the numbers are the SDM's ---------------------------------- */

#define MSR_IA32_VMX_MISC		0x485
#define MSR_CORE_PERF_GLOBAL_STATUS	0x38e
#define MSR_CORE_PERF_GLOBAL_OVF_CTRL	0x390
#define MSR_CORE_PERF_GLOBAL_OVF_CTRL_TRACE_TOPA_PMI	(1ull << 55)
#define MSR_IA32_RTIT_OUTPUT_BASE	0x560
#define MSR_IA32_RTIT_OUTPUT_MASK	0x561
#define MSR_IA32_RTIT_CTL		0x570
#define RTIT_CTL_TRACEEN		(1ull << 0)
#define RTIT_CTL_CYCLEACC		(1ull << 1)
#define RTIT_CTL_OS			(1ull << 2)
#define RTIT_CTL_USR			(1ull << 3)
#define RTIT_CTL_PWR_EVT_EN		(1ull << 4)
#define RTIT_CTL_FUP_ON_PTW		(1ull << 5)
#define RTIT_CTL_CR3EN			(1ull << 7)
#define RTIT_CTL_TOPA			(1ull << 8)
#define RTIT_CTL_MTC_EN			(1ull << 9)
#define RTIT_CTL_TSC_EN			(1ull << 10)
#define RTIT_CTL_DISRETC		(1ull << 11)
#define RTIT_CTL_PTW_EN			(1ull << 12)
#define RTIT_CTL_BRANCH_EN		(1ull << 13)
#define RTIT_CTL_MTC_RANGE		(0xfull << 14)
#define RTIT_CTL_CYC_THRESH		(0xfull << 19)
#define RTIT_CTL_PSB_FREQ		(0xfull << 24)
#define RTIT_CTL_ADDR0_OFFSET		32
#define RTIT_CTL_ADDR3_OFFSET		44
#define MSR_IA32_RTIT_STATUS		0x571
#define RTIT_STATUS_ERROR		(1ull << 4)
#define RTIT_STATUS_STOPPED		(1ull << 5)
#define MSR_IA32_RTIT_CR3_MATCH		0x572
#define MSR_IA32_RTIT_ADDR0_A		0x580
#define MSR_IA32_RTIT_ADDR3_B		0x587

u64 auxt_rdmsr(u32 msr);
int auxt_rdmsr_safe(u32 msr, u64 *value);
int auxt_wrmsr(u32 msr, u64 value);
#define wmb()				barrier()

/* ---- the CPU ----------------------------------------------------------------- */

#define X86_FEATURE_INTEL_PT		0
#define X86_FEATURE_VMX			1
#define X86_FEATURE_APIC		2
#define X86_CR4_VMXE			(1ul << 13)

struct shim_cpu {
	u32 x86, x86_model;
	int cpuid_level;
};

extern struct shim_cpu boot_cpu_data;
bool boot_cpu_has(unsigned int feature);
unsigned long __read_cr4(void);

/* ---- the local APIC: the SDM's LVT entry of the performance counters -------- */

#define APIC_LVTPC			0x340
#define APIC_MODE_MASK			0x700u
#define APIC_VECTOR_MASK		0xffu
#define APIC_DM_NMI			0x400u
#define APIC_LVT_MASKED			(1u << 16)

u32 auxt_apic_read(u32 reg);
void auxt_apic_write(u32 reg, u32 value);

u32 cpuid_eax(u32 leaf);
void cpuid_count(u32 leaf, u32 subleaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx);

#define per_cpu(name, cpu)		(*((void)(cpu), &(name)))
#define this_cpu_ptr(pointer)		(pointer)
#define cpumask_first(mask)		0
#define for_each_online_cpu(cpu)	for ((cpu) = 0; (cpu) < 1; (cpu)++)
#define for_each_possible_cpu(cpu)	for ((cpu) = 0; (cpu) < 1; (cpu)++)

#define __init

#ifndef IS_ERR
# define IS_ERR(pointer)		((unsigned long)(pointer) > -4096ul)
# define PTR_ERR(pointer)		((long)(pointer))
#endif

#endif /* SHIM_COMPAT_H */
