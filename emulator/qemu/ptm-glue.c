/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Connects the Intel PT, BTS and PMU model (ptm.h) to an x86 vCPU of TCG.
 */
#include "qemu/osdep.h"
#include "qemu/error-report.h"
#include "qemu/main-loop.h"
#include "qemu/notify.h"
#include "qapi/error.h"
#include "cpu.h"
#include "exec/address-spaces.h"
#include "exec/exec-all.h"
#include "exec/helper-proto.h"
#include "hw/core/cpu.h"
#include "hw/i386/apic.h"
#include "migration/blocker.h"
#include "system/system.h"
#include "tcg/helper-tcg.h"
#include "core/ptm.h"

/* Read-only bits of MSR_IA32_MISC_ENABLE */
#define MISC_ENABLE_EMON        (1u << 7)   /* performance monitoring available */
#define MISC_ENABLE_BTS_UNAVAIL (1u << 11)
#define MISC_ENABLE_PEBS_UNAVAIL (1u << 12)

#define LEAF14_PTWRITE          (1u << 4)   /* CPUID.(14H,0):EBX */

/* Highest basic leaf: 15H, the ratio of TSC to ART, the unit of MTC packets. */
#define PTM_CPUID_LEVEL 0x15

/* At most this many instructions between two calls of ptm_retire(). */
#define PTM_BUDGET_MAX (1 << 30)

/* Properties of a realized vCPU, for qom-get and qom-set. */
#define PTM_PROP_COUNTERS       "x-ptm-counters"
#define PTM_PROP_KNOB           "x-ptm-knob"

struct ptm_cpu {
    struct ptm *ptm;
    X86CPU *cpu;
    struct ptm_profile profile;
    bool init_pending;
    bool pmi_pending;       /* pmi_request() has queued pmi_deliver() */
    bool retire_pending;    /* helper_ptm_overflow() has queued retire_work() */
    int64_t budget;         /* env->ptm_budget at the last report */
    uint64_t retired;       /* instructions reported to the model since power-up */
    unsigned int cpl;       /* of all instructions since the last report */
    Notifier at_exit;
    struct ptm_mwait mwait; /* of the instruction that halts now */
    bool mwait_halts;
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

/*
 * A part of a linear range of at most two pages. The CPU accesses it implicitly:
 * with supervisor rights at any CPL, subject to SMAP's rule for implicit accesses.
 * No access faults, and nothing is transferred unless the whole range is mapped.
 */
struct linear_part {
    void *host;             /* NULL: not plain RAM, use @phys */
    hwaddr phys;
    MemTxAttrs attrs;
    unsigned int len;
};

static int linear_index(const CPUX86State *env)
{
    return (env->hflags & HF_SMAP_MASK ? MMU_KSMAP64_IDX : MMU_KNOSMAP64_IDX) +
           (env->hflags & HF_LMA_MASK ? 0 : 1);
}

/*
 * The fast path of translated code: returns the host address if the TLB has the
 * page without special flags, else NULL. A BTS record makes three accesses, and
 * probe_access_full() takes longer than the rest of the record.
 */
static inline void *linear_tlb_hit(X86CPU *cpu, uint64_t addr,
                                   unsigned int len, bool write)
{
    const CPUTLBDescFast *tlb = &CPU(cpu)->neg.tlb.f[linear_index(&cpu->env)];
    uintptr_t at = (addr >> (TARGET_PAGE_BITS - CPU_TLB_ENTRY_BITS)) & tlb->mask;
    const CPUTLBEntry *entry = (void *)((uintptr_t)tlb->table + at);
    /* Other threads may set flags in addr_write (see cputlb.c). */
    uint64_t tag = write ? qatomic_read(&entry->addr_write) : entry->addr_read;

    if (tag != (addr & TARGET_PAGE_MASK) ||
        ((addr ^ (addr + len - 1)) & TARGET_PAGE_MASK)) {
        return NULL;
    }
    return (void *)(uintptr_t)(addr + entry->addend);
}

static bool linear_look_up(X86CPU *cpu, uint64_t addr, unsigned int len,
                           MMUAccessType type, struct linear_part *part)
{
    CPUX86State *env = &cpu->env;
    CPUTLBEntryFull *full;
    int flags;

    flags = probe_access_full(env, addr, len, type, linear_index(env), true,
                              &part->host, &full, 0);
    if (flags & TLB_INVALID_MASK) {
        return false;
    }
    part->phys = full->phys_addr | (addr & ~TARGET_PAGE_MASK);
    part->attrs = full->attrs;
    part->len = len;
    return true;
}

static bool linear_access(X86CPU *cpu, uint64_t addr, void *buf,
                          unsigned int len, MMUAccessType type)
{
    AddressSpace *as = cpu_get_address_space(CPU(cpu), X86ASIdx_MEM);
    unsigned int first = MIN(len, TARGET_PAGE_SIZE - (addr & ~TARGET_PAGE_MASK));
    struct linear_part parts[2];
    unsigned int i, n = first < len ? 2 : 1;
    bool write = type == MMU_DATA_STORE;
    uint8_t *bytes = buf;

    if (!linear_look_up(cpu, addr, first, type, &parts[0]) ||
        (n > 1 &&
         !linear_look_up(cpu, addr + first, len - first, type, &parts[1]))) {
        return false;
    }
    for (i = 0; i < n; bytes += parts[i].len, i++) {
        if (!parts[i].host) {
            if (address_space_rw(as, parts[i].phys, parts[i].attrs, bytes,
                                 parts[i].len, write) != MEMTX_OK) {
                return false;
            }
        } else if (write) {
            memcpy(parts[i].host, bytes, parts[i].len);
        } else {
            memcpy(bytes, parts[i].host, parts[i].len);
        }
    }
    return true;
}

/*
 * By words: a wider load of the DS fields would stall until the preceding store of
 * the index, which is one word, reaches the cache.
 */
static void copy(void *to, const void *from, unsigned int len)
{
    for (; len >= 8; to += 8, from += 8, len -= 8) {
        stq_he_p(to, ldq_he_p(from));
    }
    memcpy(to, from, len);
}

static bool virt_read(void *opaque, uint64_t addr, void *buf, unsigned int len)
{
    struct ptm_cpu *pc = opaque;
    void *host = linear_tlb_hit(pc->cpu, addr, len, false);

    if (host) {
        copy(buf, host, len);
        return true;
    }
    return linear_access(pc->cpu, addr, buf, len, MMU_DATA_LOAD);
}

static bool virt_write(void *opaque, uint64_t addr, const void *buf,
                       unsigned int len)
{
    struct ptm_cpu *pc = opaque;
    void *host = linear_tlb_hit(pc->cpu, addr, len, true);

    if (host) {
        copy(host, buf, len);
        return true;
    }
    return linear_access(pc->cpu, addr, (void *)buf, len, MMU_DATA_STORE);
}

static uint64_t retired(void *opaque)
{
    struct ptm_cpu *pc = opaque;

    return pc->retired;
}

static uint64_t guest_tsc(void *opaque)
{
    struct ptm_cpu *pc = opaque;

    return cpu_get_tsc(&pc->cpu->env) + pc->cpu->env.tsc_offset;
}

/* Runs in the vCPU's thread between translation blocks, with the BQL held. */
static void pmi_deliver(CPUState *cs, run_on_cpu_data data)
{
    cpu_env(cs)->ptm->pmi_pending = false;
    apic_deliver_perf(X86_CPU(cs)->apic_state);
}

static void pmi_request(void *opaque)
{
    struct ptm_cpu *pc = opaque;

    /* BTS requests a PMI for each record beyond the threshold. */
    if (pc->cpu->apic_state && !pc->pmi_pending) {
        pc->pmi_pending = true;
        async_run_on_cpu(CPU(pc->cpu), pmi_deliver, RUN_ON_CPU_NULL);
    }
}

static const struct ptm_ops ops = {
    .phys_read = phys_read,
    .phys_write = phys_write,
    .virt_read = virt_read,
    .virt_write = virt_write,
    .instructions = retired,
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
        .iflag = env->eflags & IF_MASK,
    };
}

static void refresh_tb_flags(CPUX86State *env)
{
    struct ptm *ptm = env->ptm->ptm;

    env->hflags &= ~(HF_PTM_MASK | HF_PTM_COUNT_MASK);
    if (ptm_near_wanted(ptm)) {
        env->hflags |= HF_PTM_MASK;
    }
    if (ptm_counting(ptm)) {
        env->hflags |= HF_PTM_COUNT_MASK;
    }
}

static void renew_budget(CPUX86State *env)
{
    struct ptm_cpu *pc = env->ptm;
    uint64_t horizon = ptm_retire_horizon(pc->ptm);

    /* The budget goes negative with the instruction that reaches the horizon. */
    pc->budget = MIN(MAX(horizon, 1), PTM_BUDGET_MAX) - 1;
    env->ptm_budget = pc->budget;
}

/*
 * Report retired instructions to the model, except @keep ones that were subtracted
 * from the budget but have not completed.
 */
static void report_retired(CPUX86State *env, unsigned int keep)
{
    struct ptm_cpu *pc = env->ptm;
    int64_t n = pc->budget - env->ptm_budget - keep;

    if (n > 0) {
        pc->retired += n;
        ptm_retire(pc->ptm, n, pc->cpl);
        renew_budget(env);
        env->ptm_budget -= keep;
    }
}

/* Runs between blocks, where the budget is exact. */
static void retire_work(CPUState *cs, run_on_cpu_data data)
{
    CPUX86State *env = cpu_env(cs);

    env->ptm->retire_pending = false;
    report_retired(env, 0);
}

/* The block that starts exhausts the budget. */
void helper_ptm_overflow(CPUX86State *env)
{
    if (!env->ptm->retire_pending) {
        env->ptm->retire_pending = true;
        async_run_on_cpu(env_cpu(env), retire_work, RUN_ON_CPU_NULL);
    }
}

int ptm_cpu_unwind(CPUX86State *env, const TranslationBlock *tb, uint64_t word)
{
    if (tb->flags & HF_PTM_COUNT_MASK) {
        env->ptm_budget += tb->icount - (word >> PTM_INSN_SHIFT);
    }
    return word & ((1 << PTM_INSN_SHIFT) - 1);
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

/* NAME=VALUE:NAME=VALUE... */
static bool set_knobs(struct ptm *ptm, const char *knobs, Error **errp)
{
    g_auto(GStrv) list = g_strsplit(knobs, ":", -1);
    char why[512];
    char **knob;

    for (knob = list; *knob; knob++) {
        if (!ptm_knob_set(ptm, *knob, why, sizeof(why))) {
            error_setg(errp, "x-ptm-knobs: %s", why);
            return false;
        }
    }
    return true;
}

static void set_feature(CPUX86State *env, FeatureWord word, uint64_t bit, bool on)
{
    if (on) {
        env->features[word] |= bit;
    } else {
        env->features[word] &= ~bit;
    }
}

/* QEMU has left its main loop: the vCPU is stopped. */
static void write_report(Notifier *notifier, void *data)
{
    struct ptm_cpu *pc = container_of(notifier, struct ptm_cpu, at_exit);
    g_autofree char *name = g_strdup_printf("%s.%d", pc->cpu->ptm_report,
                                            CPU(pc->cpu)->cpu_index);
    FILE *file = fopen(name, "w");

    if (file) {
        ptm_report(pc->ptm, file);
    }
    if (!file || fclose(file)) {
        error_report("x-ptm-report: %s: %s", name, strerror(errno));
    }
}

/*
 * Only the vCPU's thread may use the model. So the monitor's thread runs this
 * there, between two blocks, whether the guest runs or is stopped.
 */
static void report_here(CPUState *cs, run_on_cpu_data data)
{
    ptm_report(cpu_env(cs)->ptm->ptm, data.host_ptr);
}

static char *get_counters(Object *obj, Error **errp)
{
    g_autofree char *reply = NULL;
    char *text = NULL;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    if (to) {
        run_on_cpu(CPU(obj), report_here, RUN_ON_CPU_HOST_PTR(to));
        if (fclose(to) == 0) {
            reply = g_strdup(text);
        }
    }
    free(text);
    if (!reply) {
        error_setg(errp, PTM_PROP_COUNTERS ": no memory for the report");
    }
    return g_steal_pointer(&reply);
}

struct knob_order {
    const char *knob;
    Error **errp;
};

static void set_knob_here(CPUState *cs, run_on_cpu_data data)
{
    struct knob_order *order = data.host_ptr;
    char why[512];

    if (!ptm_knob_set(cpu_env(cs)->ptm->ptm, order->knob, why, sizeof(why))) {
        error_setg(order->errp, PTM_PROP_KNOB ": %s", why);
    }
}

static void set_knob(Object *obj, const char *knob, Error **errp)
{
    struct knob_order order = { knob, errp };

    run_on_cpu(CPU(obj), set_knob_here, RUN_ON_CPU_HOST_PTR(&order));
}

static struct ptm_cpu *model_new(X86CPU *cpu, Error **errp)
{
    const char *profile = cpu->ptm_profile ? cpu->ptm_profile :
                          ptm_profile_at(0)->name;
    struct ptm_cpu *pc = g_new0(struct ptm_cpu, 1);
    char why[512];

    pc->cpu = cpu;
    if (!ptm_profile_parse(profile, &pc->profile, why, sizeof(why))) {
        error_setg(errp, "x-ptm-profile: %s", why);
        goto free_pc;
    }
    pc->ptm = ptm_new(&pc->profile, &ops, pc);
    if (!pc->ptm) {
        error_setg(errp, "no memory for the Intel PT model");
        goto free_pc;
    }
    if (cpu->ptm_synthetic_msrs) {
        ptm_synthetic_enable(pc->ptm, true);
    }
    if (cpu->ptm_knobs && !set_knobs(pc->ptm, cpu->ptm_knobs, errp)) {
        goto free_ptm;
    }
    return pc;

free_ptm:
    ptm_free(pc->ptm);
free_pc:
    g_free(pc);
    return NULL;
}

static void add_properties(Object *obj)
{
    object_property_add_str(obj, PTM_PROP_COUNTERS, get_counters, NULL);
    object_property_set_description(obj, PTM_PROP_COUNTERS,
                                    "the current text of x-ptm-report");
    object_property_add_str(obj, PTM_PROP_KNOB, NULL, set_knob);
    object_property_set_description(obj, PTM_PROP_KNOB,
                                    "sets a knob of x-ptm-knobs: NAME=VALUE");
}

static void remove_properties(Object *obj)
{
    object_property_del(obj, PTM_PROP_COUNTERS);
    object_property_del(obj, PTM_PROP_KNOB);
}

bool ptm_cpu_realize(X86CPU *cpu, Error **errp)
{
    CPUX86State *env = &cpu->env;
    struct ptm_cpu *pc;
    bool bts;

    if (!(env->features[FEAT_7_0_EBX] & CPUID_7_0_EBX_INTEL_PT)) {
        if (cpu->ptm_profile || cpu->ptm_synthetic_msrs || cpu->ptm_knobs ||
            cpu->ptm_report) {
            error_setg(errp, "x-ptm-profile, x-ptm-synthetic-msrs, x-ptm-knobs and "
                             "x-ptm-report need intel-pt=on");
            return false;
        }
        return true;
    }
    if (!block_migration(errp)) {
        return false;
    }
    pc = model_new(cpu, errp);
    if (!pc) {
        return false;
    }
    if (cpu->ptm_report) {
        pc->at_exit.notify = write_report;
        qemu_add_exit_notifier(&pc->at_exit);
    }
    bts = pc->profile.features & PTM_F_BTS;
    set_feature(env, FEAT_1_EDX, CPUID_DTS, bts);
    set_feature(env, FEAT_1_ECX, CPUID_EXT_DTES64, bts);
    set_feature(env, FEAT_1_ECX, CPUID_EXT_DSCPL,
                bts && (pc->profile.features & PTM_F_DS_CPL));
    env->cpuid_level = MAX(env->cpuid_level, PTM_CPUID_LEVEL);
    env->ptm = pc;
    add_properties(OBJECT(cpu));
    return true;
}

void ptm_cpu_unrealize(X86CPU *cpu)
{
    struct ptm_cpu *pc = cpu->env.ptm;

    if (pc) {
        remove_properties(OBJECT(cpu));
        cpu->env.ptm = NULL;
        if (pc->at_exit.notify) {
            qemu_remove_exit_notifier(&pc->at_exit);
        }
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
        pc->cpl = env->hflags & HF_CPL_MASK;
        renew_budget(env);
        refresh_tb_flags(env);
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

/* 1 if the instruction being executed was subtracted from the budget already, else 0. */
static unsigned int in_flight(CPUX86State *env)
{
    return env->hflags & HF_PTM_COUNT_MASK ? 1 : 0;
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
    report_retired(env, in_flight(env));
    if (msr == MSR_IA32_MISC_ENABLE) {
        value = env->msr_ia32_misc_enable | MISC_ENABLE_EMON |
                MISC_ENABLE_PEBS_UNAVAIL;
        if (!(env->ptm->profile.features & PTM_F_BTS)) {
            value |= MISC_ENABLE_BTS_UNAVAIL;
        }
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
    unsigned int keep;
    uint64_t clip;

    if (!env->ptm || !ptm_owns_msr(env->ptm->ptm, msr)) {
        return false;
    }
    keep = in_flight(env);
    report_retired(env, keep);
    ctx = context(env);
    clip = ptm_cpu_lip(env);
    if (!ptm_wrmsr(env->ptm->ptm, msr, value, &ctx, clip,
                   clip + env->ptm_insn_len)) {
        raise_exception_err_ra(env, EXCP0D_GPF, 0, ra);
    }
    renew_budget(env);
    env->ptm_budget -= keep;
    refresh_tb_flags(env);
    return true;
}

bool ptm_cpu_rdpmc(CPUX86State *env, uintptr_t ra)
{
    uint64_t value;

    if (!env->ptm || !env->ptm->cpu->enable_pmu) {
        return false;
    }
    report_retired(env, in_flight(env));
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

/* @interrupt: NULL unless it is one. */
static void report_far(CPUX86State *env, enum ptm_branch_kind kind,
                       const struct ptm_interrupt *interrupt,
                       uint64_t from, uint64_t next)
{
    struct ptm *ptm = env->ptm->ptm;
    struct ptm_context ctx;

    if (ptm_far_wanted(ptm)) {
        report_retired(env, 0);
        ctx = context(env);
        if (interrupt) {
            ptm_interrupt(ptm, interrupt, &ctx, from, ptm_cpu_lip(env));
        } else {
            ptm_branch(ptm, kind, &ctx, from, next, ptm_cpu_lip(env));
        }
        refresh_tb_flags(env);
    }
    env->ptm->cpl = env->hflags & HF_CPL_MASK;
}

void ptm_cpu_smi(CPUX86State *env, uint64_t from)
{
    if (env->ptm) {
        report_far(env, PTM_EVENT, NULL, from, from);
    }
}

void ptm_cpu_interrupt(CPUX86State *env, uint64_t from, int vector,
                       bool exception)
{
    const struct ptm_interrupt interrupt = {
        .vector = vector,
        .page_fault = exception && vector == EXCP0E_PAGE,
        .cr2 = env->cr[2],
    };

    if (env->ptm) {
        report_far(env, PTM_EVENT, &interrupt, from, from);
    }
}

void helper_ptm_far(CPUX86State *env, uint32_t kind, target_ulong from,
                    target_ulong next)
{
    if (env->ptm) {
        report_far(env, kind, NULL, from, next);
    }
}

/* The flags must not change here: see "HF_PTM" in ptm-glue.h. */
void helper_ptm_iflag(CPUX86State *env, target_ulong ip)
{
    ptm_iflag(env->ptm->ptm, env->eflags & IF_MASK, ip);
}

void helper_ptm_cr3(CPUX86State *env, target_ulong nlip)
{
    struct ptm_context ctx;

    if (env->ptm && ptm_far_wanted(env->ptm->ptm)) {
        ctx = context(env);
        ptm_cr3_write(env->ptm->ptm, &ctx, nlip);
        refresh_tb_flags(env);
    }
}

/* The flags must not change here: see "HF_PTM" in ptm-glue.h. */
void helper_ptm_near(CPUX86State *env, uint32_t kind, target_ulong from,
                     target_ulong next, target_ulong to)
{
    ptm_branch(env->ptm->ptm, kind, NULL, from, next, to);
}

bool ptm_cpu_has_ptwrite(CPUX86State *env)
{
    return env->ptm && (env->ptm->profile.leaf14_0_ebx & LEAF14_PTWRITE);
}

void helper_ptm_ptwrite(CPUX86State *env, target_ulong value, uint32_t is64,
                        target_ulong ip, target_ulong nlip)
{
    if (ptm_enabled(env->ptm->ptm)) {
        ptm_ptwrite(env->ptm->ptm, value, is64, ip, nlip);
    }
}

void ptm_cpu_mwait(CPUX86State *env, unsigned int length)
{
    if (env->ptm) {
        env->ptm_insn_len = length;
        env->ptm->mwait.hints = env->regs[R_EAX];
        env->ptm->mwait.extensions = env->regs[R_ECX];
        env->ptm->mwait_halts = true;
    }
}

void ptm_cpu_halt(CPUX86State *env)
{
    struct ptm_cpu *pc = env->ptm;
    uint64_t ip;

    if (pc) {
        /* EIP is that of the next instruction already. */
        ip = ptm_cpu_lip(env) - env->ptm_insn_len;
        if (!(env->hflags & HF_CS64_MASK)) {
            ip = (uint32_t)ip;
        }
        ptm_sleep(pc->ptm, pc->mwait_halts ? &pc->mwait : NULL, ip);
        pc->mwait_halts = false;
    }
}

void ptm_cpu_wake(CPUX86State *env)
{
    if (env->ptm) {
        ptm_wake(env->ptm->ptm, ptm_cpu_lip(env));
    }
}
