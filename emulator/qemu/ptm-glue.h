/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the x86 emulation asks of the Intel PT model, one call per hook.
 *
 * Included by target/i386/cpu.h. Every call is harmless and cheap on a CPU
 * without PT: env->ptm is NULL then.
 *
 * Addresses are linear (CS.base added), as the SDM's PT chapter counts them.
 *
 * Concurrency: each call is made by the thread of the vCPU it names, except
 * realize, unrealize and cold reset, which run while that thread does not.
 *
 * HF_PTM in env->hflags says "near branches must be reported". It is part of
 * the translation block key, so an untraced block carries no instrumentation.
 * Blocks are chained on the flags as they were when the first one ended;
 * therefore the flag may change only where a block ends without a chain: at
 * far transfers, interrupts and exceptions, WRMSR, MOV CR3, reset. A near
 * branch that stops the trace leaves it stale, and the model ignores what
 * arrives until the next of these places. HF_PTM_COUNT says "instructions are
 * counted" and changes at the same places.
 *
 * env->ptm_budget is what a counted block takes its instructions from, see
 * ptm-count.c.inc; what it has been lowered by since the model was last told
 * is what has retired since.
 */
#ifndef PTM_GLUE_H
#define PTM_GLUE_H

struct ptm_cpu;

/* Where an instruction's number in its block lies in its unwind data. */
#define PTM_INSN_SHIFT 8

#if defined(CONFIG_TCG) && !defined(CONFIG_USER_ONLY)

/*
 * Create the model if the CPU has intel-pt, and give the CPU the other features
 * its profile calls for; false with @errp set on bad properties.
 */
bool ptm_cpu_realize(X86CPU *cpu, Error **errp);
void ptm_cpu_unrealize(X86CPU *cpu);

/* The reset that follows is an INIT, which the model survives (SDM, "Reset Behavior"). */
void ptm_cpu_init_pending(CPUX86State *env);
void ptm_cpu_reset(CPUX86State *env);

/* False: the leaf is not the model's, nothing was stored. */
bool ptm_cpu_cpuid(CPUX86State *env, uint32_t leaf, uint32_t subleaf,
                   uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx);

/* RDMSR, WRMSR, RDPMC: false: not the model's. May raise #GP, so @ra is GETPC(). */
bool ptm_cpu_rdmsr(CPUX86State *env, uintptr_t ra);
bool ptm_cpu_wrmsr(CPUX86State *env, uint64_t value, uintptr_t ra);
bool ptm_cpu_rdpmc(CPUX86State *env, uintptr_t ra);

/* A fault leaves @tb in the instruction with this unwind word; returns its CC_OP. */
int ptm_cpu_unwind(CPUX86State *env, const TranslationBlock *tb, uint64_t word);

/* PTWRITE is an instruction of this CPU. */
bool ptm_cpu_has_ptwrite(CPUX86State *env);

/* Linear address of the current EIP. */
uint64_t ptm_cpu_lip(CPUX86State *env);
/* An interrupt, exception, SMI has been delivered; @from: LIP before it. */
void ptm_cpu_event(CPUX86State *env, uint64_t from);

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

static inline void ptm_cpu_event(CPUX86State *env, uint64_t from)
{
}

#endif
#endif /* PTM_GLUE_H */
