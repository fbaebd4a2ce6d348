/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ties the Intel PT model (ptm.h) to an x86 vCPU of TCG.
 */
#include "qemu/osdep.h"
#include "qemu/main-loop.h"
#include "qapi/error.h"
#include "cpu.h"
#include "exec/address-spaces.h"
#include "exec/helper-proto.h"
#include "hw/core/cpu.h"
#include "hw/i386/apic.h"
#include "migration/blocker.h"
#include "tcg/helper-tcg.h"
#include "core/ptm.h"

/* MSR_IA32_MISC_ENABLE bits that are read-only facts of this CPU */
#define MISC_ENABLE_EMON        (1u << 7)   /* performance monitoring available */
#define MISC_ENABLE_BTS_UNAVAIL (1u << 11)
#define MISC_ENABLE_PEBS_UNAVAIL (1u << 12)

/* Highest basic leaf: 15H, the ratio of TSC and ART, which MTC packets count in. */
#define PTM_CPUID_LEVEL 0x15

struct ptm_cpu {
    struct ptm *ptm;
    X86CPU *cpu;
    bool init_pending;
};

static bool phys_read(void *opaque, uint64_t addr, void *buf, unsigned int len)
{
    struct ptm_cpu *pc = opaque;

    return address_space_read(cpu_get_address_space(CPU(pc->cpu), X86ASIdx_MEM),
                              addr, MEMTXATTRS_UNSPECIFIED, buf, len) == MEMTX_OK;
}

static bool phys_write(void *opaque, uint64_t addr, const void *buf,
                       unsigned int len)
{
    struct ptm_cpu *pc = opaque;

    return address_space_write(cpu_get_address_space(CPU(pc->cpu), X86ASIdx_MEM),
                               addr, MEMTXATTRS_UNSPECIFIED, buf, len) == MEMTX_OK;
}

static uint64_t guest_tsc(void *opaque)
{
    struct ptm_cpu *pc = opaque;

    return cpu_get_tsc(&pc->cpu->env) + pc->cpu->env.tsc_offset;
}

/* In the vCPU's thread, between translation blocks, with the BQL held. */
static void pmi_deliver(CPUState *cs, run_on_cpu_data data)
{
    apic_deliver_perf(X86_CPU(cs)->apic_state);
}

static void pmi_request(void *opaque)
{
    struct ptm_cpu *pc = opaque;

    if (pc->cpu->apic_state) {
        async_run_on_cpu(CPU(pc->cpu), pmi_deliver, RUN_ON_CPU_NULL);
    }
}

static const struct ptm_ops ops = {
    .phys_read = phys_read,
    .phys_write = phys_write,
    .tsc = guest_tsc,
    .pmi = pmi_request,
};

static struct ptm_context context(const CPUX86State *env)
{
    return (struct ptm_context) {
        .cr3 = env->cr[3],
        .cpl = env->hflags & HF_CPL_MASK,
        .cs_l = env->hflags & HF_CS64_MASK,
        .cs_d = env->hflags & HF_CS32_MASK,
        .smm = env->hflags & HF_SMM_MASK,
    };
}

static void refresh_tb_flag(CPUX86State *env)
{
    if (ptm_tracing(env->ptm->ptm)) {
        env->hflags |= HF_PTM_MASK;
    } else {
        env->hflags &= ~HF_PTM_MASK;
    }
}

static const struct ptm_profile *find_profile(const char *name, Error **errp)
{
    g_autoptr(GString) known = g_string_new(NULL);
    const struct ptm_profile *profile;
    unsigned int i;

    if (!name) {
        return ptm_profile_at(0);
    }
    profile = ptm_profile_find(name);
    if (profile) {
        return profile;
    }
    for (i = 0; (profile = ptm_profile_at(i)); i++) {
        g_string_append_printf(known, "%s%s", i ? ", " : "", profile->name);
    }
    error_setg(errp, "x-ptm-profile: no profile '%s'; known are: %s",
               name, known->str);
    return NULL;
}

static bool block_migration(Error **errp)
{
    static Error *reason;

    if (reason) {
        return true;
    }
    error_setg(&reason, "the state of the Intel PT model is not migrated");
    return migrate_add_blocker(&reason, errp) >= 0;
}

bool ptm_cpu_realize(X86CPU *cpu, Error **errp)
{
    CPUX86State *env = &cpu->env;
    const struct ptm_profile *profile;
    struct ptm_cpu *pc;

    if (!(env->features[FEAT_7_0_EBX] & CPUID_7_0_EBX_INTEL_PT)) {
        if (cpu->ptm_profile || cpu->ptm_bench) {
            error_setg(errp, "x-ptm-profile and x-ptm-bench need intel-pt=on");
            return false;
        }
        return true;
    }
    profile = find_profile(cpu->ptm_profile, errp);
    if (!profile || !block_migration(errp)) {
        return false;
    }
    pc = g_new0(struct ptm_cpu, 1);
    pc->cpu = cpu;
    pc->ptm = ptm_new(profile, &ops, pc);
    if (!pc->ptm) {
        g_free(pc);
        error_setg(errp, "no memory for the Intel PT model");
        return false;
    }
    if (cpu->ptm_bench) {
        ptm_bench_enable(pc->ptm, true);
    }
    env->cpuid_level = MAX(env->cpuid_level, PTM_CPUID_LEVEL);
    env->ptm = pc;
    return true;
}

void ptm_cpu_unrealize(X86CPU *cpu)
{
    struct ptm_cpu *pc = cpu->env.ptm;

    if (pc) {
        cpu->env.ptm = NULL;
        ptm_free(pc->ptm);
        g_free(pc);
    }
}

void ptm_cpu_init_pending(CPUX86State *env)
{
    if (env->ptm) {
        env->ptm->init_pending = true;
    }
}

void ptm_cpu_reset(CPUX86State *env)
{
    struct ptm_cpu *pc = env->ptm;

    if (pc) {
        ptm_reset(pc->ptm, pc->init_pending);
        pc->init_pending = false;
        refresh_tb_flag(env);
    }
}

bool ptm_cpu_cpuid(CPUX86State *env, uint32_t leaf, uint32_t subleaf,
                   uint32_t *eax, uint32_t *ebx, uint32_t *ecx, uint32_t *edx)
{
    uint32_t regs[4];

    if (!env->ptm || (leaf == 0xa && !env->ptm->cpu->enable_pmu) ||
        !ptm_cpuid(env->ptm->ptm, leaf, subleaf, regs)) {
        return false;
    }
    *eax = regs[0];
    *ebx = regs[1];
    *ecx = regs[2];
    *edx = regs[3];
    return true;
}

static void store_edx_eax(CPUX86State *env, uint64_t value)
{
    env->regs[R_EAX] = (uint32_t)value;
    env->regs[R_EDX] = value >> 32;
}

bool ptm_cpu_rdmsr(CPUX86State *env, uintptr_t ra)
{
    uint32_t msr = env->regs[R_ECX];
    uint64_t value;

    if (!env->ptm) {
        return false;
    }
    if (msr == MSR_IA32_MISC_ENABLE) {
        value = env->msr_ia32_misc_enable | MISC_ENABLE_EMON |
                MISC_ENABLE_BTS_UNAVAIL | MISC_ENABLE_PEBS_UNAVAIL;
    } else if (!ptm_owns_msr(env->ptm->ptm, msr)) {
        return false;
    } else if (!ptm_rdmsr(env->ptm->ptm, msr, &value)) {
        raise_exception_err_ra(env, EXCP0D_GPF, 0, ra);
    }
    store_edx_eax(env, value);
    return true;
}

bool ptm_cpu_wrmsr(CPUX86State *env, uint64_t value, uintptr_t ra)
{
    uint32_t msr = env->regs[R_ECX];
    struct ptm_context ctx;
    uint64_t clip;

    if (!env->ptm || !ptm_owns_msr(env->ptm->ptm, msr)) {
        return false;
    }
    ctx = context(env);
    clip = ptm_cpu_lip(env);
    if (!ptm_wrmsr(env->ptm->ptm, msr, value, &ctx, clip,
                   clip + env->ptm_insn_len)) {
        raise_exception_err_ra(env, EXCP0D_GPF, 0, ra);
    }
    refresh_tb_flag(env);
    return true;
}

bool ptm_cpu_rdpmc(CPUX86State *env, uintptr_t ra)
{
    uint64_t value;

    if (!env->ptm || !env->ptm->cpu->enable_pmu) {
        return false;
    }
    if (!ptm_rdpmc(env->ptm->ptm, env->regs[R_ECX], &value)) {
        raise_exception_err_ra(env, EXCP0D_GPF, 0, ra);
    }
    store_edx_eax(env, value);
    return true;
}

uint64_t ptm_cpu_lip(CPUX86State *env)
{
    if (env->hflags & HF_CS64_MASK) {
        return env->eip;
    }
    return (uint32_t)(env->segs[R_CS].base + env->eip);
}

static void report_far(CPUX86State *env, enum ptm_branch_kind kind,
                       uint64_t from, uint64_t next)
{
    struct ptm *ptm = env->ptm->ptm;
    struct ptm_context ctx;

    if (ptm_enabled(ptm)) {
        ctx = context(env);
        ptm_branch(ptm, kind, &ctx, from, next, ptm_cpu_lip(env));
        refresh_tb_flag(env);
    }
}

void ptm_cpu_event(CPUX86State *env, uint64_t from)
{
    if (env->ptm) {
        report_far(env, PTM_EVENT, from, from);
    }
}

void helper_ptm_far(CPUX86State *env, target_ulong from, target_ulong next)
{
    if (env->ptm) {
        report_far(env, PTM_FAR, from, next);
    }
}

void helper_ptm_cr3(CPUX86State *env, target_ulong nlip)
{
    struct ptm_context ctx;

    if (env->ptm && ptm_enabled(env->ptm->ptm)) {
        ctx = context(env);
        ptm_cr3_write(env->ptm->ptm, &ctx, nlip);
        refresh_tb_flag(env);
    }
}

/* No refresh of the flag here: see "HF_PTM" in ptm-glue.h. */
void helper_ptm_near(CPUX86State *env, uint32_t kind, target_ulong from,
                     target_ulong next, target_ulong to)
{
    ptm_branch(env->ptm->ptm, kind, NULL, from, next, to);
}
