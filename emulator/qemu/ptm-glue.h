/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The interface of the x86 emulation to the Intel PT model, one call per hook.
 *
 * Included by target/i386/cpu.h. On a CPU without PT env->ptm is NULL and the
 * calls do nothing.
 *
 * Addresses are linear (CS.base added), as in the SDM's PT chapter.
 *
 * Concurrency: the thread of the vCPU makes each call, except realize, unrealize
 * and cold reset, which run while that thread does not.
 *
 * HF_PTM in env->hflags means that near branches must be reported. It is part of
 * the translation block key, so an untraced block carries no instrumentation.
 * QEMU chains blocks by the flags at the end of the first block. Therefore the
 * flag may change only where a block ends without a chain: at far transfers,
 * interrupts and exceptions, WRMSR, MOV CR3 and reset. A near branch that stops
 * the trace leaves the flag stale; the model ignores the reports until one of
 * these places clears it. HF_PTM_COUNT means that instructions are counted; it
 * changes at the same places.
 *
 * A counted block subtracts its instructions from env->ptm_budget (see
 * ptm-count.c.inc). The difference since the last report to the model is the
 * number of instructions that have retired since then.
 */
#ifndef PTM_GLUE_H
#define PTM_GLUE_H

struct ptm_cpu;

/* Shift of an instruction's number within its block in its unwind data. */
#define PTM_INSN_SHIFT 8

#if defined(CONFIG_TCG) && !defined(CONFIG_USER_ONLY)

/*
 * Create the model if the CPU has intel-pt, and set the other CPU features of its
 * profile; false with @errp set on bad properties.
 */
bool ptm_cpu_realize(X86CPU *cpu, Error **errp);
void ptm_cpu_unrealize(X86CPU *cpu);

/* Mark the next reset as an INIT, which PT's MSRs survive (SDM, "Reset Behavior"). */
void ptm_cpu_init_pending(CPUX86State *env);
void ptm_cpu_reset(CPUX86State *env);

/* False: the leaf is not the model's; nothing was stored. */
bool ptm_cpu_cpuid(CPUX86State *env, uint32_t leaf, uint32_t subleaf,
                   uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx);

/* RDMSR, WRMSR and RDPMC; false if not the model's. May raise #GP: @ra is GETPC(). */
bool ptm_cpu_rdmsr(CPUX86State *env, uintptr_t ra);
bool ptm_cpu_wrmsr(CPUX86State *env, uint64_t value, uintptr_t ra);
bool ptm_cpu_rdpmc(CPUX86State *env, uintptr_t ra);

/* A fault leaves @tb at the instruction with unwind word @word; returns its CC_OP. */
int ptm_cpu_unwind(CPUX86State *env, const TranslationBlock *tb, uint64_t word);

/* True if the CPU has the instruction PTWRITE. */
bool ptm_cpu_has_ptwrite(CPUX86State *env);

/*
 * HLT, or an MWAIT that halts, has completed and stops the CPU; ptm_cpu_mwait() comes
 * before that of an MWAIT, whose length is @length. The CPU goes on after that.
 */
void ptm_cpu_mwait(CPUX86State *env, unsigned int length);
void ptm_cpu_halt(CPUX86State *env);
void ptm_cpu_wake(CPUX86State *env);

/* Linear address of the current EIP. */
uint64_t ptm_cpu_lip(CPUX86State *env);
/*
 * An SMI, or another interrupt or an exception, has been delivered; @from: the LIP before
 * it; @exception: the CPU raised it, not an instruction INT n or the APIC.
 */
void ptm_cpu_smi(CPUX86State *env, uint64_t from);
void ptm_cpu_interrupt(CPUX86State *env, uint64_t from, int vector,
                       bool exception);

#else

static inline bool ptm_cpu_realize(X86CPU *cpu, Error **errp)
{
    return true;
}

static inline void ptm_cpu_unrealize(X86CPU *cpu)
{
}

static inline void ptm_cpu_init_pending(CPUX86State *env)
{
}

static inline void ptm_cpu_reset(CPUX86State *env)
{
}

static inline bool ptm_cpu_cpuid(CPUX86State *env, uint32_t leaf,
                                 uint32_t subleaf, uint32_t *eax,
                                 uint32_t *ebx, uint32_t *ecx, uint32_t *edx)
{
    return false;
}

static inline int ptm_cpu_unwind(CPUX86State *env, const TranslationBlock *tb,
                                 uint64_t word)
{
    return word;
}

static inline bool ptm_cpu_has_ptwrite(CPUX86State *env)
{
    return false;
}

static inline bool ptm_cpu_rdpmc(CPUX86State *env, uintptr_t ra)
{
    return false;
}

static inline uint64_t ptm_cpu_lip(CPUX86State *env)
{
    return 0;
}

static inline void ptm_cpu_interrupt(CPUX86State *env, uint64_t from,
                                     int vector, bool exception)
{
}

#endif
#endif /* PTM_GLUE_H */
