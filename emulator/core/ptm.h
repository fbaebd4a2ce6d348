/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ptm: a model of Intel Processor Trace, Branch Trace Store and the architectural
 * performance-monitoring unit, one instance per logical CPU.
 *
 * The model is plain C and independent of QEMU. The machine that embeds it
 *   - provides memory, a time-stamp counter and a way to raise a PMI
 *     (struct ptm_ops),
 *   - routes CPUID, RDMSR, WRMSR and RDPMC to it,
 *   - reports each near branch, and each CLI, STI and POPF, while ptm_near_wanted()
 *     is true, and each far transfer, event and CR3 load while ptm_far_wanted() is true,
 *   - reports how many instructions have retired while ptm_counting() is true.
 *
 * References: Intel SDM volume 3, chapters "Intel Processor Trace", "Debug,
 * Branch Profile, TSC, ..." (BTS) and "Performance Monitoring". Comments cite
 * section titles, because section numbers move between editions.
 *
 * Threading: only the thread that runs the CPU may use its instance. No function
 * takes a lock; only ptm_new() allocates.
 */
#ifndef PTM_H
#define PTM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Kinds of control transfer; "indirect" and "far" as in the SDM's COFI table. */
enum ptm_branch_kind {
	PTM_JCC_NOT_TAKEN,	/* Jcc, JrCXZ, LOOPcc: fell through */
	PTM_JCC_TAKEN,
	PTM_JMP,		/* direct near JMP */
	PTM_CALL,		/* direct near CALL */
	PTM_JMP_INDIRECT,
	PTM_CALL_INDIRECT,
	PTM_RET,		/* near RET */
	PTM_FAR,		/* far JMP/CALL/RET, SYSCALL, SYSRET, SYSENTER, SYSEXIT, RSM */
	PTM_IRET,
	PTM_EVENT,		/* SMI; ptm_interrupt() reports the others */
};

/*
 * The part of the CPU's state that decides what is traced, sampled after the
 * operation that is reported.
 */
struct ptm_context {
	uint64_t cr3;
	uint8_t cpl;
	bool cs_l;		/* CS.L: 64-bit code */
	bool cs_d;		/* CS.D: 32-bit code when !cs_l */
	bool smm;
	bool iflag;		/* RFLAGS.IF */
};

struct ptm_ops {
	/* Guest-physical accesses; false if the address has no memory. */
	bool (*phys_read)(void *opaque, uint64_t addr, void *buf, unsigned int len);
	bool (*phys_write)(void *opaque, uint64_t addr, const void *buf, unsigned int len);
	/*
	 * Accesses to linear addresses through the current page tables, with
	 * supervisor rights at any CPL. They never fault: false means that some
	 * byte is not mapped with these rights; nothing has been written then.
	 * Required with PTM_F_BTS only.
	 */
	bool (*virt_read)(void *opaque, uint64_t addr, void *buf, unsigned int len);
	bool (*virt_write)(void *opaque, uint64_t addr, const void *buf, unsigned int len);
	uint64_t (*tsc)(void *opaque);
	/* Instructions retired since power-up, for the log only; NULL: unknown. */
	uint64_t (*instructions)(void *opaque);
	/*
	 * Requests a performance-monitoring interrupt through LVTPC. The model
	 * calls it from within an instruction; the machine delivers it between
	 * instructions and sets the LVT mask bit then (SDM, "Local Vector Table").
	 */
	void (*pmi)(void *opaque);
};

/* ptm_profile.features, which the machine reports in CPUID.1 and IA32_MISC_ENABLE. */
#define PTM_F_BTS	(1U << 0)	/* 1:EDX.DS, 1:ECX.DTES64; MISC_ENABLE[11] is 0 */
#define PTM_F_DS_CPL	(1U << 1)	/* 1:ECX.DS-CPL */

/* Of IA32_PERF_CAPABILITIES: full-width writes of the counters through 4C1H. */
#define PTM_FW_WRITE	(1ULL << 13)

/* A capability set, as CPUID reports it. */
struct ptm_profile {
	const char *name;
	uint32_t leaf14_0_ebx;	/* CPUID.(14H,0):EBX */
	uint32_t leaf14_0_ecx;	/* CPUID.(14H,0):ECX */
	uint32_t leaf14_1_eax;	/* CPUID.(14H,1):EAX: ranges, MTC periods */
	uint32_t leaf14_1_ebx;	/* CPUID.(14H,1):EBX: cycle thresholds, PSB frequencies */
	uint32_t features;	/* PTM_F_* */
	uint64_t perf_capabilities; /* IA32_PERF_CAPABILITIES: PTM_FW_WRITE or 0 */
	uint8_t maxphyaddr;
	uint8_t core_ratio;	/* core crystal to bus ratio: the CBR payload, PLATFORM_INFO[15:8] */
	uint32_t art_num, art_den; /* CPUID.15H: TSC = ART * num / den */
	/* Erratum of Broadwell: TraceEn without BranchEn raises #GP. */
	bool branch_en_required;
	/*
	 * The model reads the machine's clock at one near branch in this many,
	 * and at each far transfer and event. A higher number costs less and
	 * makes MTCs late by at most that many branches. At least 1.
	 */
	uint16_t clock_stride;
};

/* The known profiles, the default first; NULL after the last, or for an unknown name. */
const struct ptm_profile *ptm_profile_at(unsigned int index);
const struct ptm_profile *ptm_profile_find(const char *name);

/*
 * Parses a profile with capabilities switched off: "NAME[:-CAPABILITY]..."; ","
 * may replace ":". On false, @why has a sentence that names what is wrong and what
 * is accepted, and @out is undefined.
 */
bool ptm_profile_parse(const char *text, struct ptm_profile *out, char *why, size_t why_size);

struct ptm;

/* One instance per CPU; NULL if out of memory. @profile must outlive it. */
struct ptm *ptm_new(const struct ptm_profile *profile, const struct ptm_ops *ops,
		    void *opaque);
void ptm_free(struct ptm *p);

/* Power-up clears everything; INIT clears TraceEn only (SDM, "Reset behaviour"). */
void ptm_reset(struct ptm *p, bool warm);

/* Leaves 0AH, 14H and 15H, as EAX, EBX, ECX, EDX; false for any other leaf. */
bool ptm_cpuid(const struct ptm *p, uint32_t leaf, uint32_t subleaf, uint32_t regs[4]);

/* True for the MSRs of registers.h and, if enabled, the synthetic ones (synthetic.h). */
bool ptm_owns_msr(const struct ptm *p, uint32_t msr);

/* Both return false if the CPU raises #GP(0); nothing has changed then. */
bool ptm_rdmsr(struct ptm *p, uint32_t msr, uint64_t *value);
/* @clip: address of the WRMSR, @nlip: of the instruction after it. */
bool ptm_wrmsr(struct ptm *p, uint32_t msr, uint64_t value,
	       const struct ptm_context *ctx, uint64_t clip, uint64_t nlip);

/* RDPMC with this ECX; false means #GP(0). */
bool ptm_rdpmc(struct ptm *p, uint32_t ecx, uint64_t *value);

/*
 * True while near branches must be reported: PT traces, BTS records or a counter
 * counts them in the current context, or a PMI is pending. The machine keeps a copy
 * in its translation flags, so that other code carries no instrumentation.
 *
 * This and ptm_far_wanted() may change in ptm_wrmsr(), ptm_cr3_write(),
 * ptm_reset() and at far transfers and events. A near branch or ptm_retire() may
 * change them too: the machine may notice that later, and the model ignores what
 * it still reports.
 */
bool ptm_near_wanted(const struct ptm *p);

/*
 * True while PTM_FAR and those behind it, interrupts and CR3 loads must be reported: TraceEn or BTS is
 * set, a counter counts, or a PMI is pending. While it is false the machine need
 * not report them: ptm_wrmsr() passes the context that they have changed.
 */
bool ptm_far_wanted(const struct ptm *p);

/* PT's part of the above: TriggerEn and ContextEn are set; TraceEn is set. */
bool ptm_tracing(const struct ptm *p);
bool ptm_enabled(const struct ptm *p);
/* BTS's part: a taken branch would be recorded at the current CPL. */
bool ptm_bts_active(const struct ptm *p);

/*
 * True while a counter of instructions or cycles is enabled, at any CPL. The
 * machine must then call ptm_retire() before any RDMSR, WRMSR, RDPMC, far transfer
 * or event.
 */
bool ptm_counting(const struct ptm *p);

/* @instructions have retired at @cpl since the last report. */
void ptm_retire(struct ptm *p, uint64_t instructions, unsigned int cpl);

/*
 * How many instructions may retire before the next ptm_retire() without delaying
 * an overflow; UINT64_MAX if no counter runs. A larger report is counted in full,
 * and its PMI is as late as the report. Each ptm_retire() and ptm_wrmsr() changes
 * the number.
 */
uint64_t ptm_retire_horizon(const struct ptm *p);

/*
 * Reports a transfer of control from the instruction at @from to @to.
 * @next: the address after the instruction at @from, which is the return address
 * of a CALL; used for calls only.
 * @ctx: may be NULL for near branches, which cannot change it.
 * For PTM_EVENT, @from is the next instruction.
 */
void ptm_branch(struct ptm *p, enum ptm_branch_kind kind,
		const struct ptm_context *ctx,
		uint64_t from, uint64_t next, uint64_t to);

/* An interrupt, NMI, exception, INT n, INT3, INTO or INT1. */
struct ptm_interrupt {
	uint8_t vector;
	bool page_fault;	/* @cr2 is its address */
	uint64_t cr2;
};

/*
 * Reports that one was delivered. @from is the instruction itself for faults and INT n, and
 * the next instruction for interrupts and traps; @to: the handler.
 */
void ptm_interrupt(struct ptm *p, const struct ptm_interrupt *interrupt,
		   const struct ptm_context *ctx, uint64_t from, uint64_t to);

/* Reports RFLAGS.IF after CLI, STI or POPF at @ip, changed or not. */
void ptm_iflag(struct ptm *p, bool iflag, uint64_t ip);

/* Reports that MOV CR3 or a task switch has loaded ctx->cr3. @nlip: next instruction. */
void ptm_cr3_write(struct ptm *p, const struct ptm_context *ctx, uint64_t nlip);

/*
 * Reports that PTWRITE at @ip has executed with operand @value, of 64 bits if
 * @is64, else of 32; @nlip: next instruction. CPUID.(14H,0):EBX[4] enumerates
 * the instruction.
 */
void ptm_ptwrite(struct ptm *p, uint64_t value, bool is64, uint64_t ip, uint64_t nlip);

/* The operands of an MWAIT: EAX and ECX. */
struct ptm_mwait {
	uint32_t hints, extensions;
};

/*
 * Reports that the instruction at @ip has stopped the CPU until an interrupt or INIT: HLT,
 * then @mwait is NULL, or an MWAIT that found its monitor armed. The CPU is in C1 then: no
 * deeper C-state is modelled.
 */
void ptm_sleep(struct ptm *p, const struct ptm_mwait *mwait, uint64_t ip);

/*
 * Reports that the CPU runs again; @ip: the next instruction. Comes before the report of the
 * event that woke it, if that is delivered. Without a ptm_sleep() before it, it does nothing.
 */
void ptm_wake(struct ptm *p, uint64_t ip);

/* Makes the synthetic MSRs (synthetic.h) present or absent; they start absent. */
void ptm_synthetic_enable(struct ptm *p, bool on);

/*
 * Sets a knob (synthetic.h), now and at each power-up: "pmi-skid=8". On false, @why
 * has a sentence that names what is wrong and what is accepted.
 */
bool ptm_knob_set(struct ptm *p, const char *assignment, char *why, size_t why_size);

/*
 * Prints what the model has counted since power-up, as lines of text:
 *	counter NAME N
 *	msr NAME NUMBER reads N writes N faults N		(only those touched)
 *	log-lost N
 *	log INSTRUCTIONS rdmsr|wrmsr NAME NUMBER VALUE|#GP
 *	log INSTRUCTIONS pmi
 * The log has the latest accesses, the oldest first; log-lost counts those before
 * them. It has no accesses to synthetic MSRs. Call it from the CPU's thread or
 * while the CPU is stopped.
 */
void ptm_report(const struct ptm *p, FILE *to);

#endif /* PTM_H */
