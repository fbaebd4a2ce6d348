/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ptm: a model of Intel Processor Trace, Branch Trace Store and the architectural
 * performance-monitoring unit, one instance per logical CPU.
 *
 * The model is plain C and knows no emulator. The embedding machine
 *   - gives it memory, a time-stamp counter and a way to raise a PMI
 *     (struct ptm_ops),
 *   - routes CPUID, RDMSR, WRMSR and RDPMC to it,
 *   - reports every near branch while ptm_near_wanted() is true, and every
 *     far transfer, event and CR3 load while ptm_far_wanted() is,
 *   - reports how many instructions have retired while ptm_counting() is.
 *
 * References: Intel SDM volume 3, chapters "Intel Processor Trace", "Debug,
 * Branch Profile, TSC, ..." (BTS) and "Performance Monitoring"; section titles
 * rather than numbers are cited, because the numbers move between editions.
 *
 * Threading: an instance is only ever touched by the thread that runs its
 * CPU. Nothing here takes a lock; only ptm_new() allocates.
 */
#ifndef PTM_H
#define PTM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* How control moved. "Indirect" and "far" as in the SDM's COFI table. */
enum ptm_branch_kind {
	PTM_JCC_NOT_TAKEN,	/* Jcc, JrCXZ, LOOPcc: fell through */
	PTM_JCC_TAKEN,
	PTM_JMP,		/* direct near JMP */
	PTM_CALL,		/* direct near CALL */
	PTM_JMP_INDIRECT,
	PTM_CALL_INDIRECT,
	PTM_RET,		/* near RET */
	PTM_FAR,		/* far JMP/CALL/RET, IRET, SYSCALL, SYSRET, SYSENTER, SYSEXIT */
	PTM_EVENT,		/* interrupt, NMI, exception, INT n, INT3, INTO, INT1 */
};

/* The part of the CPU's state that decides what is traced, sampled after the
 * operation that is reported.
 */
struct ptm_context {
	uint64_t cr3;
	uint8_t cpl;
	bool cs_l;		/* CS.L: 64-bit code */
	bool cs_d;		/* CS.D: 32-bit code when !cs_l */
	bool smm;
};

struct ptm_ops {
	/* Guest-physical accesses. False: the address has no memory. */
	bool (*phys_read)(void *opaque, uint64_t addr, void *buf, unsigned int len);
	bool (*phys_write)(void *opaque, uint64_t addr, const void *buf, unsigned int len);
	/*
	 * Accesses to linear addresses through the current page tables, as
	 * supervisor whatever the CPL. They never fault: false means that some
	 * byte of it is not mapped so, and that nothing was written. Needed
	 * with PTM_F_BTS only.
	 */
	bool (*virt_read)(void *opaque, uint64_t addr, void *buf, unsigned int len);
	bool (*virt_write)(void *opaque, uint64_t addr, const void *buf, unsigned int len);
	uint64_t (*tsc)(void *opaque);
	/* Instructions retired since power-up, for the log alone; NULL: not known. */
	uint64_t (*instructions)(void *opaque);
	/*
	 * Ask for a performance-monitoring interrupt through LVTPC. The model
	 * calls it from inside an instruction; the machine delivers between
	 * instructions and sets the LVT mask bit as it does (SDM, "Local
	 * Vector Table").
	 */
	void (*pmi)(void *opaque);
};

/* What of ptm_profile.features the machine shows in CPUID.1 and IA32_MISC_ENABLE. */
#define PTM_F_BTS	(1U << 0)	/* 1:EDX.DS, 1:ECX.DTES64; MISC_ENABLE[11] is 0 */
#define PTM_F_DS_CPL	(1U << 1)	/* 1:ECX.DS-CPL */

/* Of IA32_PERF_CAPABILITIES: the counters can be written at full width at 4C1H. */
#define PTM_FW_WRITE	(1ULL << 13)

/* What CPUID says of the CPU: profile of a capability set. */
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
	 * The clock is looked at once in this many near branches (at every far
	 * transfer and event in any case): MTCs come late by at most so many
	 * branches, and the machine's clock need not be read at each of them.
	 * At least 1.
	 */
	uint16_t clock_stride;
};

/* The known profiles, the default first; NULL after the last / for no such name. */
const struct ptm_profile *ptm_profile_at(unsigned int index);
const struct ptm_profile *ptm_profile_find(const char *name);

/*
 * A profile by name, with capabilities switched off: "NAME[:-CAPABILITY]...";
 * "," serves as well as ":". False with a sentence in @why, which says what is
 * wrong and what would be right; @out is undefined then.
 */
bool ptm_profile_parse(const char *text, struct ptm_profile *out, char *why, size_t why_size);

struct ptm;

/* One instance a CPU; NULL when memory is short. The profile must outlive it. */
struct ptm *ptm_new(const struct ptm_profile *profile, const struct ptm_ops *ops,
		    void *opaque);
void ptm_free(struct ptm *p);

/* Power-up clears everything; INIT clears TraceEn only (SDM, "Reset behaviour"). */
void ptm_reset(struct ptm *p, bool warm);

/* Leaves 0AH, 14H and 15H in EAX, EBX, ECX, EDX order; false for any other leaf. */
bool ptm_cpuid(const struct ptm *p, uint32_t leaf, uint32_t subleaf, uint32_t regs[4]);

/* True for the MSRs of registers.h and, if enabled, the synthetic ones (synthetic.h). */
bool ptm_owns_msr(const struct ptm *p, uint32_t msr);

/* Both return false where the CPU raises #GP(0); nothing has changed then. */
bool ptm_rdmsr(struct ptm *p, uint32_t msr, uint64_t *value);
/* @clip: address of the WRMSR, @nlip: of the instruction after it. */
bool ptm_wrmsr(struct ptm *p, uint32_t msr, uint64_t value,
	       const struct ptm_context *ctx, uint64_t clip, uint64_t nlip);

/* RDPMC with this ECX; false means #GP(0). */
bool ptm_rdpmc(struct ptm *p, uint32_t ecx, uint64_t *value);

/*
 * True when near branches must be reported: PT traces here, BTS records here
 * or a counter counts them here. The machine keeps a copy in its translation
 * flags, so that other code carries no instrumentation. It and
 * ptm_far_wanted() may change in ptm_wrmsr(), ptm_cr3_write(), ptm_reset(),
 * at far transfers and events; where a near branch or ptm_retire() changes
 * them the machine may take note later, and what it still reports is ignored.
 */
bool ptm_near_wanted(const struct ptm *p);

/*
 * True when PTM_FAR, PTM_EVENT and CR3 loads must be reported: TraceEn or BTS
 * is set, or a counter counts. While it is false the machine may leave them
 * out: a WRMSR brings the context that they have changed.
 */
bool ptm_far_wanted(const struct ptm *p);

/* Of the above, PT's own part: TriggerEn and ContextEn hold; TraceEn is set. */
bool ptm_tracing(const struct ptm *p);
bool ptm_enabled(const struct ptm *p);
/* And BTS's: a taken branch would be recorded at the current CPL. */
bool ptm_bts_active(const struct ptm *p);

/*
 * True when a counter of instructions or cycles is enabled, at whatever CPL.
 * While it is, what has retired must be reported before any RDMSR, WRMSR,
 * RDPMC, far transfer or event.
 */
bool ptm_counting(const struct ptm *p);

/* So many instructions have retired at this CPL since the last report. */
void ptm_retire(struct ptm *p, uint64_t instructions, unsigned int cpl);

/*
 * As many instructions may retire before the next report without its being
 * too late for an overflow; UINT64_MAX: no counter runs. A larger report is
 * counted whole, with the PMI as late as the report. Changes with each
 * ptm_retire() and ptm_wrmsr().
 */
uint64_t ptm_retire_horizon(const struct ptm *p);

/*
 * Control went from the instruction at @from to @to. @next is the address
 * after the instruction at @from (the return address of a CALL). For
 * PTM_EVENT @from is the address the handler sees as return address: of the
 * instruction itself for faults and INT n, of the next one for interrupts and
 * traps. @ctx may be NULL for near branches, which cannot change it; @next
 * matters for calls only.
 */
void ptm_branch(struct ptm *p, enum ptm_branch_kind kind,
		const struct ptm_context *ctx,
		uint64_t from, uint64_t next, uint64_t to);

/* MOV CR3 or a task switch has loaded ctx->cr3. @nlip: next instruction. */
void ptm_cr3_write(struct ptm *p, const struct ptm_context *ctx, uint64_t nlip);

/*
 * PTWRITE at @ip has executed with this operand, of 64 or else 32 bits; @nlip:
 * next instruction. The instruction exists if CPUID.(14H,0):EBX[4] says so.
 */
void ptm_ptwrite(struct ptm *p, uint64_t value, bool is64, uint64_t ip, uint64_t nlip);

/* The synthetic MSRs (synthetic.h) are absent until this enables them. */
void ptm_synthetic_enable(struct ptm *p, bool on);

/*
 * One of the knobs (synthetic.h), now and after each power-up: "pmi-skid=8". False
 * with a sentence in @why, which says what is wrong and what is accepted.
 */
bool ptm_knob_set(struct ptm *p, const char *assignment, char *why, size_t why_size);

/*
 * All that the model has counted since power-up, as lines of text:
 *	counter NAME N
 *	msr NAME NUMBER reads N writes N faults N		(only those touched)
 *	log-lost N
 *	log INSTRUCTIONS rdmsr|wrmsr NAME NUMBER VALUE|#GP
 *	log INSTRUCTIONS pmi
 * The log has the latest accesses, the oldest first; log-lost counts those
 * before them. Accesses to synthetic MSRs are not in it. To be called by
 * the CPU's thread or while the CPU stands still.
 */
void ptm_report(const struct ptm *p, FILE *to);

#endif /* PTM_H */
