/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Synthetic MSRs: counters and knobs that no real CPU has. Tests in the guest
 * reach them through /dev/cpu/N/msr. They are absent, like any unknown MSR,
 * until ptm_synthetic_enable(p, true).
 *
 * Each register belongs to one logical CPU. A counter has 64 bits, starts at 0
 * at power-up and survives INIT. The WRMSR counters count completed WRMSRs;
 * one that raised #GP counts in PTM_N_FAULTS alone. Writing 0 to a counter
 * clears it; writing any other value raises #GP.
 */
#ifndef PTM_SYNTHETIC_H
#define PTM_SYNTHETIC_H

/* Reads PTM_ID_VALUE; read-only. */
#define MSR_PTM_ID		0x4b500000
#define PTM_ID_VALUE		0x313030424d5450ULL	/* "PTMB001", low byte first */

/*
 * Knobs trigger on demand what silicon does by chance. Knob i is MSR_PTM_KNOB
 * + i. RDMSR returns its current value; WRMSR of a value out of its range raises
 * #GP. Knobs survive INIT; power-up sets each to its value from ptm_knob_set().
 */
#define MSR_PTM_KNOB		0x4b500001

enum ptm_knob {
	/*
	 * N (1 to 2^32-1): drop at least the next N bytes of trace of this CPU,
	 * rounded up to whole packet groups, as an internal buffer overflow
	 * does; OVF follows. Counts down to 0; 0 cannot be written. With
	 * TraceEn clear the loss begins at the next enable. Clearing TraceEn
	 * ends it with an OVF.
	 */
	PTM_KNOB_DROP,
	/*
	 * N (0 to 2^32-1): request each PMI N reported branches late. Near
	 * branches are reported while ptm_near_wanted() is true, which it is
	 * while a PMI is pending. A PMI that is pending when a smaller N is
	 * written comes at most N branches after that; with 0, at the next one.
	 */
	PTM_KNOB_PMI_SKID,
	/* 1: PMIs are counted in PTM_N_PMI_WITHHELD instead of delivered; 0: off */
	PTM_KNOB_PMI_WITHHOLD,
	/*
	 * 1: the model caches 64 bytes of the ToPA table at a time and does not
	 * see later changes to them until TraceEn is cleared; 0: it caches the
	 * current entry only.
	 */
	PTM_KNOB_TOPA_CACHE,
	/*
	 * N (1 to 2^32-1): the Nth write of trace from now on fails, as if the
	 * address had no memory. Counts down; 0: no write fails.
	 */
	PTM_KNOB_WRITE_FAIL,
	/*
	 * N (1 to 2^32-1): the Nth WRMSR from now on that drives tracing raises #GP and
	 * changes nothing. These WRMSRs count: IA32_RTIT_*, IA32_DEBUGCTL, and
	 * IA32_PERF_GLOBAL_OVF_CTRL with the ToPA PMI's bit alone. Counts down; 0: none
	 * faults.
	 */
	PTM_KNOB_WRMSR_FAULT,
	/*
	 * N (1 to 2^32-1): the Nth WRMSR of IA32_RTIT_* or IA32_DEBUGCTL from now on and
	 * all later ones raise #GP. Counts down to 1; 0: none faults.
	 */
	PTM_KNOB_WRMSR_REFUSE,
	PTM_KNOBS
};

#define MSR_PTM_DROP		(MSR_PTM_KNOB + PTM_KNOB_DROP)

/* Counter i is MSR_PTM_COUNTER + i. */
#define MSR_PTM_COUNTER		0x4b500010

enum ptm_counter {
	PTM_N_WRMSR,		/* any IA32_RTIT_* MSR */
	PTM_N_WRMSR_CTL,
	PTM_N_WRMSR_STATUS,
	PTM_N_WRMSR_BASE,	/* IA32_RTIT_OUTPUT_BASE */
	PTM_N_WRMSR_MASK,	/* IA32_RTIT_OUTPUT_MASK_PTRS */
	PTM_N_FAULTS,		/* WRMSR and RDMSR of IA32_RTIT_* that raised #GP */
	PTM_N_PMI,		/* PMIs requested, including those withheld */
	PTM_N_ERRORS,		/* operational errors */
	PTM_N_BYTES,		/* bytes that reached memory */
	PTM_N_LOST,		/* bytes that did not: whole packets or the rest of a cut one */
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
	PTM_N_BTS_FULL,		/* dropped: no space below the absolute maximum */
	PTM_N_BTS_UNMAPPED,	/* dropped: the DS area or the record's address is not mapped */
	PTM_N_WRMSR_DEBUGCTL,
	PTM_N_WRMSR_DS_AREA,
	PTM_N_PWRE,
	PTM_N_EXSTOP,
	PTM_N_PWRX,
	PTM_N_MWAIT,
	PTM_N_CFE,
	PTM_N_EVD,
	PTM_COUNTERS
};

#endif /* PTM_SYNTHETIC_H */
