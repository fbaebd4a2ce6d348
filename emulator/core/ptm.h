/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * ptm: a model of Intel Processor Trace, one instance per logical CPU.
 *
 * The model is plain C and knows no emulator. The embedding machine
 *   - gives it memory, a time-stamp counter and a way to raise a PMI
 *     (struct ptm_ops),
 *   - routes CPUID, RDMSR, WRMSR and RDPMC to it,
 *   - reports every change of flow while ptm_tracing() is true, and every
 *     far transfer, event and CR3 load always.
 *
 * References: Intel SDM volume 3, chapter "Intel Processor Trace"; section
 * titles rather than numbers are cited, because the numbers move between
 * editions.
 *
 * Threading: an instance is only ever touched by the thread that runs its
 * CPU. Nothing here takes a lock; only ptm_new() allocates.
 */
#ifndef PTM_H
#define PTM_H

#include <stdbool.h>
#include <stdint.h>

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
	uint64_t (*tsc)(void *opaque);
	/*
	 * Ask for a performance-monitoring interrupt through LVTPC. The model
	 * calls it from inside an instruction; the machine delivers between
	 * instructions and sets the LVT mask bit as it does (SDM, "Local
	 * Vector Table").
	 */
	void (*pmi)(void *opaque);
};

/* What CPUID says of the CPU: profile of a capability set. */
struct ptm_profile {
	const char *name;
	uint32_t leaf14_0_ebx;	/* CPUID.(14H,0):EBX */
	uint32_t leaf14_0_ecx;	/* CPUID.(14H,0):ECX */
	uint32_t leaf14_1_eax;	/* CPUID.(14H,1):EAX: ranges, MTC periods */
	uint32_t leaf14_1_ebx;	/* CPUID.(14H,1):EBX: cycle thresholds, PSB frequencies */
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

struct ptm;

/* One instance a CPU; NULL when memory is short. The profile must outlive it. */
struct ptm *ptm_new(const struct ptm_profile *profile, const struct ptm_ops *ops,
		    void *opaque);
void ptm_free(struct ptm *p);

/* Power-up clears everything; INIT clears TraceEn only (SDM, "Reset behaviour"). */
void ptm_reset(struct ptm *p, bool warm);

/* Leaves 0AH, 14H and 15H in EAX, EBX, ECX, EDX order; false for any other leaf. */
bool ptm_cpuid(const struct ptm *p, uint32_t leaf, uint32_t subleaf, uint32_t regs[4]);

/* RTIT_*, the architectural PMU's, PLATFORM_INFO and, if enabled, the bench's own. */
bool ptm_owns_msr(const struct ptm *p, uint32_t msr);

/* Both return false where the CPU raises #GP(0); nothing has changed then. */
bool ptm_rdmsr(struct ptm *p, uint32_t msr, uint64_t *value);
/* @clip: address of the WRMSR, @nlip: of the instruction after it. */
bool ptm_wrmsr(struct ptm *p, uint32_t msr, uint64_t value,
	       const struct ptm_context *ctx, uint64_t clip, uint64_t nlip);

/* RDPMC with this ECX; false means #GP(0). */
bool ptm_rdpmc(struct ptm *p, uint32_t ecx, uint64_t *value);

/*
 * True when near branches must be reported: TriggerEn and ContextEn hold. The
 * machine keeps a copy in its translation flags, so that untraced code carries
 * no instrumentation; it must refresh the copy after each call below.
 */
bool ptm_tracing(const struct ptm *p);

/*
 * TraceEn, whatever the rest: PTM_FAR, PTM_EVENT and CR3 loads change nothing
 * while it is false except the context, which the next call brings again; the
 * machine may leave them out then.
 */
bool ptm_enabled(const struct ptm *p);

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

/* The bench's own MSRs (bench.h), absent until this enables them. */
void ptm_bench_enable(struct ptm *p, bool on);

#endif /* PTM_H */
