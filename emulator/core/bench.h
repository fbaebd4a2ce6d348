/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The bench's own MSRs: what no real CPU tells, for tests that run in the
 * guest and read them through /dev/cpu/N/msr. Absent (the machine treats them
 * as any unknown MSR) until ptm_bench_enable(p, true).
 *
 * Every register is of one logical CPU. All counters are 64 bits, start at 0
 * at power-up, survive INIT and count WRMSRs that were carried out; one that
 * raised #GP counts in PTM_N_FAULTS alone. Writing 0 to a counter clears it,
 * writing anything else raises #GP.
 */
#ifndef PTM_BENCH_H
#define PTM_BENCH_H

/* Reads PTM_BENCH_ID_VALUE; read-only. */
#define MSR_PTM_BENCH_ID	0x4b500000
#define PTM_BENCH_ID_VALUE	0x313030424d5450ULL	/* "PTMB001", low byte first */

/*
 * Write N (1 to 2^32-1) to lose at least the next N bytes of trace of this
 * CPU, rounded up to whole packet groups, as an internal buffer overflow
 * does; OVF follows. Reads the bytes still to be lost; 0: none. Other values
 * raise #GP. With TraceEn clear the loss begins at the next enable. Clearing
 * TraceEn ends it with an OVF.
 */
#define MSR_PTM_BENCH_DROP	0x4b500001

/* Counter i is MSR_PTM_BENCH_COUNT + i. */
#define MSR_PTM_BENCH_COUNT	0x4b500010

enum ptm_counter {
	PTM_N_WRMSR,		/* any IA32_RTIT_* MSR */
	PTM_N_WRMSR_CTL,
	PTM_N_WRMSR_STATUS,
	PTM_N_WRMSR_BASE,	/* IA32_RTIT_OUTPUT_BASE */
	PTM_N_WRMSR_MASK,	/* IA32_RTIT_OUTPUT_MASK_PTRS */
	PTM_N_FAULTS,		/* WRMSR and RDMSR of IA32_RTIT_* that raised #GP */
	PTM_N_PMI,		/* PMIs asked for */
	PTM_N_ERRORS,		/* operational errors */
	PTM_N_BYTES,		/* bytes that reached memory */
	PTM_N_LOST,		/* bytes of whole or cut packets that did not */
	PTM_N_PSB,
	PTM_N_OVF,
	PTM_N_TNT,
	PTM_N_TIP,
	PTM_N_PGE,
	PTM_N_PGD,
	PTM_N_FUP,
	PTM_N_PIP,
	PTM_N_MODE,
	PTM_N_TSC,
	PTM_N_TMA,
	PTM_N_MTC,
	PTM_N_CBR,
	PTM_N_CYC,
	PTM_N_STOP,		/* TraceStop packets */
	PTM_COUNTERS
};

#endif /* PTM_BENCH_H */
