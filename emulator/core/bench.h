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
 * Knobs: what silicon does by chance, on demand. Knob i is MSR_PTM_BENCH_KNOB
 * + i. Each reads what it holds and raises #GP when a value out of its range
 * is written; they survive INIT, and power-up sets them to what
 * ptm_knob_set() said.
 */
#define MSR_PTM_BENCH_KNOB	0x4b500001

enum ptm_knob {
	/*
	 * N (1 to 2^32-1): lose at least the next N bytes of trace of this
	 * CPU, rounded up to whole packet groups, as an internal buffer
	 * overflow does; OVF follows. Counts down to 0, which cannot be
	 * written. With TraceEn clear the loss begins at the next enable.
	 * Clearing TraceEn ends it with an OVF.
	 */
	PTM_KNOB_DROP,
	/*
	 * N (0 to 2^32-1): a PMI is asked for N reported branches late. Near
	 * ones are reported where ptm_near_wanted() says, and while one waits.
	 */
	PTM_KNOB_PMI_SKID,
	/* 1: PMIs are not delivered, and counted in PTM_N_PMI_WITHHELD; 0 */
	PTM_KNOB_PMI_WITHHOLD,
	/*
	 * 1: ToPA entries are read 64 bytes of the table at a time and what is
	 * changed behind that is not seen before TraceEn is cleared; 0: only the
	 * current entry is kept.
	 */
	PTM_KNOB_TOPA_CACHE,
	/*
	 * N (1 to 2^32-1): the Nth write of trace from here on fails, as if no
	 * memory were there. Counts down; 0: none will.
	 */
	PTM_KNOB_WRITE_FAIL,
	PTM_KNOBS
};

#define MSR_PTM_BENCH_DROP	(MSR_PTM_BENCH_KNOB + PTM_KNOB_DROP)

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
	PTM_N_PTW,
	PTM_N_PMI_WITHHELD,
	PTM_N_OVERFLOW,		/* performance counters that overflowed */
	PTM_N_BTS,		/* BTS records written */
	PTM_N_BTS_FULL,		/* dropped: no room below the absolute maximum */
	PTM_N_BTS_UNMAPPED,	/* dropped: the DS area or the record's place is not mapped */
	PTM_N_WRMSR_DEBUGCTL,
	PTM_N_WRMSR_DS_AREA,
	PTM_COUNTERS
};

#endif /* PTM_BENCH_H */
