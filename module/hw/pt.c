// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intel Processor Trace. No other file touches its MSRs.
 *
 * This file rests on these rules of the SDM, volume 3, chapter "Intel Processor Trace":
 *  - while TraceEn is set, no PT MSR may be written but IA32_RTIT_CTL, and that only if
 *    the write clears TraceEn or changes nothing (else #GP);
 *  - clearing TraceEn flushes the packets out of the CPU; a fence makes them
 *    visible to others;
 *  - the output pointers and PacketByteCnt are stable only while TraceEn is clear;
 *  - ToPA entries may be cached while TraceEn is set;
 *  - setting TraceEn with PacketByteCnt zero emits PSB+ first;
 *  - after a region with STOP is full, the pointers stay at its end: software must
 *    move them before it clears Stopped, else the next TraceEn is an operational error;
 *  - where tables have one entry, the PMI of a region comes before the region is full;
 *  - what is wrong with a ToPA entry is an error when the hardware reaches that entry; a
 *    region in memory that is restricted may be one later ("ToPA Errors", "Restricted Memory Access");
 *  - a TraceStop range sets Stopped, too, wherever the pointers are. While Stopped is set,
 *    nothing is traced, whatever TraceEn is.
 */

#include <linux/auxtrace.h>
#include <linux/build_bug.h>
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include "base/aux_buffer.h"
#include "compat/compat.h"
#include "core/caps.h"
#include "core/channel.h"
#include "core/filters.h"
#include "core/trace_pmu.h"
#include "hw/msr.h"
#include "hw/pmi.h"
#include "hw/pt.h"
#include "hw/pt_tables.h"
#include "hw/topa.h"
#include "hw/topa_single.h"

static_assert(PT_CONFIG_CYC == RTIT_CTL_CYCLEACC);
static_assert(PT_CONFIG_PWR_EVT == RTIT_CTL_PWR_EVT_EN);
static_assert(PT_CONFIG_FUP_ON_PTW == RTIT_CTL_FUP_ON_PTW);
static_assert(PT_CONFIG_MTC == RTIT_CTL_MTC_EN);
static_assert(PT_CONFIG_TSC == RTIT_CTL_TSC_EN);
static_assert(PT_CONFIG_NORETCOMP == RTIT_CTL_DISRETC);
static_assert(PT_CONFIG_PTW == RTIT_CTL_PTW_EN);
static_assert(PT_CONFIG_BRANCH == RTIT_CTL_BRANCH_EN);
static_assert(PT_CONFIG_MTC_PERIOD == RTIT_CTL_MTC_RANGE);
static_assert(PT_CONFIG_CYC_THRESH == RTIT_CTL_CYC_THRESH);
static_assert(PT_CONFIG_PSB_PERIOD == RTIT_CTL_PSB_FREQ);
static_assert(AUXT_PAGE_SIZE == PAGE_SIZE);

/* The registers of filters: those of the ranges, then IA32_RTIT_CR3_MATCH. Masks have a bit for each. */
#define PT_FILTER_REGISTERS	(2 * AUXT_MAX_FILTERS + 1)
#define PT_CR3_MATCH		(2 * AUXT_MAX_FILTERS)

/* The registers of range n are IA32_RTIT_ADDR0_A + 2n and the next; its field in CTL is 4n higher. */
static_assert(MSR_IA32_RTIT_ADDR3_B == MSR_IA32_RTIT_ADDR0_A + 2 * AUXT_MAX_FILTERS - 1);
static_assert(RTIT_CTL_ADDR3_OFFSET == RTIT_CTL_ADDR0_OFFSET + 4 * (AUXT_MAX_FILTERS - 1));
static_assert(PT_FILTER_REGISTERS <= 32);
/* The field's encodings, SDM, "IA32_RTIT_CTL MSR": 1 is a FilterEn range, 2 a TraceStop range. */
static_assert(AUXTRACE_FILTER_TRACE == 1 && AUXTRACE_FILTER_STOP == 2);

#define PMI_BIT	MSR_CORE_PERF_GLOBAL_OVF_CTRL_TRACE_TOPA_PMI

/* IA32_VMX_MISC[14]: PT may be used in VMX operation. The kernel renamed its macro. */
#define VMX_MISC_PT	BIT_ULL(14)

/**
 * struct pt_cpu - Intel PT of a CPU. The CPUs of a hybrid machine may differ
 * @caps: its capabilities; all zero without Intel PT, and before the CPU is online
 * @works_in_vmx: it traces in VMX operation, too
 */
struct pt_cpu {
	struct pt_caps caps;
	bool works_in_vmx;
};

static DEFINE_PER_CPU(struct pt_cpu, pt_cpus);

/**
 * struct pt - Intel PT of one channel
 * @topa: the tables of each slot; NULL with @single
 * @single: the one table, of one entry, of a CPU that knows no other; else NULL
 * @config: configuration of the session
 * @filters: filters of the session
 * @ctl: IA32_RTIT_CTL of the session, TraceEn clear
 * @int_entry: entry with a movable INT mark: in full trace, and in overwrite mode if a
 *	deadline falls within the lap; else NULL
 * @stop_entry: full trace: entry with the STOP mark; else NULL
 * @seen_base: IA32_RTIT_OUTPUT_BASE when the pointers were last read or written
 * @seen_index: lower half of IA32_RTIT_OUTPUT_MASK_PTRS then; holds the region's index. @single:
 *	SEEN_NOWHERE
 * @seen_region: position at which that region begins
 * @order: @single: the region's order
 * @stops_in_ranges: a filter may set Stopped, and not the STOP mark only
 * @one_table: each slot has one table, so our own tracing does not change IA32_RTIT_OUTPUT_BASE
 * @pointers_stale: the output pointers must be written before the next start
 */
struct pt {
	struct auxt_topa *topa;
	struct auxt_topa_single *single;
	u64 config;
	const struct auxt_filters *filters;
	u64 ctl;
	u64 *int_entry;
	u64 *stop_entry;
	u64 seen_base;
	u32 seen_index;
	u64 seen_region;
	unsigned int order;
	bool stops_in_ranges;
	bool one_table;
	bool pointers_stale;
};

/**
 * struct pt_registers - registers of a CPU before pt_claim()
 * @base: IA32_RTIT_OUTPUT_BASE
 * @mask_ptrs: IA32_RTIT_OUTPUT_MASK_PTRS
 * @saved: mask of the entries of @filter in use: what the session writes
 * @filter: the registers of filters
 * @restore_pending: they are still to be restored
 */
struct pt_registers {
	u64 base;
	u64 mask_ptrs;
	u32 saved;
	u64 filter[PT_FILTER_REGISTERS];
	bool restore_pending;
};

static DEFINE_PER_CPU(struct pt_registers, pt_registers_before);

static __always_inline struct pt *pt_of(const struct auxt_channel *ch)
{
	return ch->hw;
}

/* The tables of the slot that is traced into. */
static __always_inline struct auxt_topa *pt_topa_of(const struct auxt_channel *ch)
{
	return &pt_of(ch)->topa[ch->now.slot];
}

/* ---- capabilities ----------------------------------------------------- */

static struct pt_cpuid pt_read_leaf(u32 leaf, u32 subleaf)
{
	struct pt_cpuid r;

	cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
	return r;
}
NOKPROBE_SYMBOL(pt_read_leaf);

/* Leaf 14H is undefined on a CPU without PT. The kernel's bit says that all CPUs have PT. */
static bool pt_exists(void)
{
	return boot_cpu_has(X86_FEATURE_INTEL_PT) && boot_cpu_data.cpuid_level >= 0x14;
}
NOKPROBE_SYMBOL(pt_exists);

/**
 * auxt_pt_detect() - find out what Intel PT of this CPU can do
 *
 * Runs on each CPU before a session can use it: at module load, and when the CPU comes online.
 */
void auxt_pt_detect(void)
{
	struct pt_cpu cpu = { };
	struct pt_cpuid leaf[2] = { };
	u64 vmx_misc;

	if (!pt_exists())
		return;
	leaf[0] = pt_read_leaf(0x14, 0);
	if (leaf[0].eax >= 1)
		leaf[1] = pt_read_leaf(0x14, 1);
	pt_caps_decode(&cpu.caps, leaf, boot_cpu_data.x86, boot_cpu_data.x86_model);
	cpu.works_in_vmx = !boot_cpu_has(X86_FEATURE_VMX) ||
			   (!auxt_rdmsr_safe(MSR_IA32_VMX_MISC, &vmx_misc) &&
			    vmx_misc & VMX_MISC_PT);
	*this_cpu_ptr(&pt_cpus) = cpu;
}
NOKPROBE_SYMBOL(auxt_pt_detect);

/**
 * auxt_pt_caps() - the capabilities that all online CPUs have
 *
 * Return: the capabilities, all zero without PT.
 */
struct pt_caps auxt_pt_caps(void)
{
	unsigned int cpu;
	struct pt_caps caps;

	cpus_read_lock();
	caps = per_cpu(pt_cpus, cpumask_first(cpu_online_mask)).caps;
	for_each_online_cpu(cpu)
		pt_caps_intersect(&caps, &per_cpu(pt_cpus, cpu).caps);
	cpus_read_unlock();
	return caps;
}
NOKPROBE_SYMBOL(auxt_pt_caps);

static u32 pt_missing(void)
{
	struct pt_caps caps = auxt_pt_caps();

	if (!pt_exists())
		return AUXTRACE_PMU_STATE_NO_CPUID;
	if (!caps.topa)
		return AUXTRACE_PMU_STATE_NO_TOPA;
	/*
	 * Only version 2 and later have IA32_PERF_GLOBAL_STATUS, whose bit 55 tells the
	 * ToPA interrupt from others.
	 */
	if (!auxt_pmi_exists(2))
		return AUXTRACE_PMU_STATE_NO_PMI;
	return AUXTRACE_PMU_STATE_OK;
}
NOKPROBE_SYMBOL(pt_missing);

static u32 pt_excludes(void)
{
	return AUXTRACE_EXCLUDES_TASK_EVENTS |
	       (auxt_pt_caps().excludes_lbr ? AUXTRACE_EXCLUDES_LBR | AUXTRACE_EXCLUDES_PT_BTS : 0);
}
NOKPROBE_SYMBOL(pt_excludes);

static void pt_describe(struct auxt_caps *list)
{
	const struct pt_caps caps = auxt_pt_caps();
	const struct auxtrace_cap_intel_pt cap = {
		.cap = { .tag = AUXTRACE_CAP_INTEL_PT, .size = sizeof(cap) },
		.config = pt_caps_config(&caps),
		.mtc_periods = caps.mtc_periods,
		.cyc_thresholds = caps.cyc_thresholds,
		.psb_periods = caps.psb_periods,
		.nr_ranges = caps.nr_ranges,
		.flags = (caps.cr3_filter ? AUXTRACE_PT_CR3_FILTER : 0) |
			 (caps.topa && !caps.topa_multi ? AUXTRACE_PT_SINGLE_ENTRY : 0),
	};

	if (pt_exists())
		auxt_caps_add(list, &cap.cap);
}
NOKPROBE_SYMBOL(pt_describe);

/* Does a CPU have what a session asks for? 0, -EINVAL or -EOPNOTSUPP. */
static int pt_check_cpu(const struct pt_caps *caps, u64 config, const struct auxt_filters *filters)
{
	int err = pt_caps_check(caps, config);

	if (!err && (filters->nr > caps->nr_ranges || (filters->mm && !caps->cr3_filter)))
		err = -EOPNOTSUPP;
	return err;
}
NOKPROBE_SYMBOL(pt_check_cpu);

static int pt_check(const struct auxtrace_setup *setup, const struct auxt_filters *filters,
		    const struct cpumask *cpus)
{
	unsigned int cpu;
	int err = 0;

	/* A CPU that comes online detects its capabilities again. */
	cpus_read_lock();
	for_each_cpu(cpu, cpus)
		err = err ?: pt_check_cpu(&per_cpu(pt_cpus, cpu).caps, setup->config, filters);
	cpus_read_unlock();
	return err;
}
NOKPROBE_SYMBOL(pt_check);

static int pt_in_use(void)
{
	u64 ctl;

	if (auxt_rdmsr_safe(MSR_IA32_RTIT_CTL, &ctl))
		return -EIO;
	return ctl & RTIT_CTL_TRACEEN ? -EBUSY : 0;
}
NOKPROBE_SYMBOL(pt_in_use);

/* ---- memory ----------------------------------------------------------- */

/* Of CPUs that differ, as many pages as for those that need the most. */
static unsigned long pt_table_pages(const struct auxtrace_setup *setup)
{
	unsigned int cpu;

	for_each_possible_cpu(cpu)
		if (per_cpu(pt_cpus, cpu).caps.topa_multi)
			return auxt_pt_tables_pages(setup);
	return auxt_pt_single_pages(setup);
}
NOKPROBE_SYMBOL(pt_table_pages);

static int pt_new_tables(struct pt *pt, struct auxt_channel *ch)
{
	if (per_cpu(pt_cpus, ch->cpu).caps.topa_multi) {
		pt->topa = auxt_pt_tables_new(ch);
		if (IS_ERR(pt->topa))
			return PTR_ERR(pt->topa);
		pt->one_table = pt->topa->nr_tables == 1;
	} else {
		pt->single = auxt_pt_single_new(ch);
		if (IS_ERR(pt->single))
			return PTR_ERR(pt->single);
		pt->one_table = true;
	}
	return 0;
}
NOKPROBE_SYMBOL(pt_new_tables);

static void pt_cleanup(struct auxt_channel *ch)
{
	if (pt_of(ch)->single)
		auxt_pt_single_free(pt_of(ch)->single, ch->stuck);
	else
		auxt_pt_tables_free(pt_of(ch)->topa, ch->now.slots, ch->stuck);
	kfree(pt_of(ch));
	ch->hw = NULL;
}
NOKPROBE_SYMBOL(pt_cleanup);

/* Turns the filters on. */
static void pt_setup_filters(struct pt *pt, const struct auxt_filters *filters)
{
	u32 i;

	pt->filters = filters;
	if (filters->mm)
		pt->ctl |= RTIT_CTL_CR3EN;
	for (i = 0; i < filters->nr; i++) {
		pt->ctl |= (u64)filters->filter[i].action << (RTIT_CTL_ADDR0_OFFSET + 4 * i);
		pt->stops_in_ranges |= filters->filter[i].action == AUXTRACE_FILTER_STOP;
	}
}
NOKPROBE_SYMBOL(pt_setup_filters);

static int pt_setup(struct auxt_channel *ch, u32 flags, u64 config)
{
	struct pt *pt = kzalloc_node(sizeof(*pt), AUXT_SESSION_GFP, cpu_to_node(ch->cpu));
	int err;

	if (!pt)
		return -ENOMEM;
	err = pt_new_tables(pt, ch);
	if (err) {
		kfree(pt);
		return err;
	}
	pt->config = config;
	pt->ctl = pt_caps_ctl(config) | RTIT_CTL_TOPA;
	if (flags & AUXTRACE_SETUP_KERNEL)
		pt->ctl |= RTIT_CTL_OS;
	if (flags & AUXTRACE_SETUP_USER)
		pt->ctl |= RTIT_CTL_USR;
	pt_setup_filters(pt, &ch->group->filters);
	ch->hw = pt;
	return 0;
}
NOKPROBE_SYMBOL(pt_setup);

/* ---- marks ------------------------------------------------------------ */

/* A mark at @position belongs to the region that ends there. */
static __always_inline unsigned long pt_region_before(const struct auxt_topa *topa, u64 position)
{
	return (position >> auxt_topa_shift(topa)) - 1;
}

/* The INT mark at each lap's end is fixed; a deadline within this lap gets another INT mark. */
static __always_inline void pt_arm_overwrite(struct auxt_channel *ch)
{
	struct pt *pt = pt_of(ch);

	if (unlikely(pt->int_entry))
		auxt_topa_unmark(pt->int_entry);
	pt->int_entry = NULL;
	if (unlikely(ch->aux.int_mark & (ch->aux.size - 1)))
		pt->int_entry = auxt_topa_mark(pt_topa_of(ch),
					       pt_region_before(pt_topa_of(ch), ch->aux.int_mark) %
					       pt_topa_of(ch)->nr_regions, TOPA_ENTRY_INT);
}

/* Full trace. The regions are those of the area, whose number is a power of two. */
static __always_inline void pt_arm_full_trace(struct auxt_channel *ch)
{
	struct auxt_topa *topa = pt_topa_of(ch);
	unsigned long mask = topa->nr_regions - 1;
	struct pt *pt = pt_of(ch);

	if (pt->int_entry) {
		auxt_topa_unmark(pt->int_entry);
		auxt_topa_unmark(pt->stop_entry);
	}
	pt->int_entry = auxt_topa_mark(topa, pt_region_before(topa, ch->aux.int_mark) & mask,
				       TOPA_ENTRY_INT);
	/* INT as well: if the first interrupt came too late, this one notifies the reader. */
	pt->stop_entry = auxt_topa_mark(topa, pt_region_before(topa, ch->aux.stop_mark) & mask,
					TOPA_ENTRY_STOP | TOPA_ENTRY_INT);
}

/* The page of the AUX area to which @position belongs, in the present slot. */
static __always_inline unsigned long pt_page_at(const struct auxt_channel *ch, u64 position)
{
	return (ch->now.slot * ch->aux.size + (position & (ch->aux.size - 1))) >> AUXT_PAGE_SHIFT;
}

/* Tables of one entry: position at which the region ends. */
static __always_inline u64 pt_region_end(const struct pt *pt)
{
	return pt->seen_region + auxt_topa_single_size(pt->order);
}

/* Tables of one entry: chooses the region that contains the produced position. */
static void pt_choose_region(struct auxt_channel *ch)
{
	struct pt *pt = pt_of(ch);
	u64 produced = ch->aux.produced;

	pt->order = auxt_topa_single_order(pt->single->orders[pt_page_at(ch, produced)], produced,
					   ch->aux.int_mark);
	pt->seen_region = produced & ~(auxt_topa_single_size(pt->order) - 1);
	pt->pointers_stale = true;
}
NOKPROBE_SYMBOL(pt_choose_region);

/*
 * Tables of one entry: goes on in the same region, unless that is behind or ends beyond the next mark.
 * pt_write_pointers() writes the entry, after it has found that the hardware is off.
 */
static noinline void pt_arm_single(struct auxt_channel *ch)
{
	struct pt *pt = pt_of(ch);

	if (pt->pointers_stale || pt_region_end(pt) > ch->aux.int_mark)
		pt_choose_region(ch);
}
NOKPROBE_SYMBOL(pt_arm_single);

/* Moves the INT and STOP entries to the positions that auxt_position_plan() chose. */
static __always_inline void pt_arm(struct auxt_channel *ch)
{
	if (unlikely(pt_of(ch)->single))
		pt_arm_single(ch);
	else if (ch->aux.overwrite)
		pt_arm_overwrite(ch);
	else
		pt_arm_full_trace(ch);
}

/* ---- registers -------------------------------------------------------- */

/* Of no region: those of the register end with ones. */
#define SEEN_NOWHERE	0u

static __always_inline void pt_remember(struct pt *pt, u64 base, u64 mask_ptrs, u64 position)
{
	pt->seen_base = base;
	pt->seen_index = lower_32_bits(mask_ptrs);
	pt->seen_region = position - (mask_ptrs >> TOPA_POINTER_OFFSET_SHIFT);
}

/*
 * True if the hardware has written since it was last seen, and is still within the same region: the
 * offset alone gives the position. (After a whole cycle it would be behind that position.) That is the
 * common case: most windows are shorter than a region.
 *
 * Then it has neither met an operational error nor a STOP mark, which would have kept it at an end of a
 * region. (Memory that it may not write to is an error in the middle, too; our pages are no such memory.)
 */
static __always_inline bool pt_is_within(const struct auxt_channel *ch, u64 base, u64 mask_ptrs)
{
	const struct pt *pt = pt_of(ch);
	u64 offset = mask_ptrs >> TOPA_POINTER_OFFSET_SHIFT;

	return base == pt->seen_base && lower_32_bits(mask_ptrs) == pt->seen_index &&
	       offset < ch->aux.region && pt->seen_region + offset > ch->aux.produced;
}

/*
 * Tables of one entry, whose base stays as pt_claim_single() has written it. While TraceEn is set, the
 * write faults, and the entry, which the hardware may read then, stays as it is.
 */
static noinline int pt_write_pointers_single(struct auxt_channel *ch)
{
	struct pt *pt = pt_of(ch);
	u64 offset = ch->aux.produced - pt->seen_region;
	u64 phys = auxt_pt_page_phys(ch, pt_page_at(ch, pt->seen_region));

	if (auxt_wrmsr(MSR_IA32_RTIT_OUTPUT_MASK,
		       offset << TOPA_POINTER_OFFSET_SHIFT | TOPA_POINTER_ONES))
		return -EIO;
	WRITE_ONCE(pt->single->table[0], auxt_topa_single_entry(phys, pt->order));
	return 0;
}
NOKPROBE_SYMBOL(pt_write_pointers_single);

/*
 * Tables of one entry. The hardware is never near: so pt_stop() always looks whether it must go on to
 * another region.
 */
static int pt_claim_single(struct auxt_channel *ch)
{
	struct pt *pt = pt_of(ch);

	pt->seen_base = pt->single->phys;
	pt->seen_index = SEEN_NOWHERE;
	pt_choose_region(ch);
	return auxt_wrmsr(MSR_IA32_RTIT_OUTPUT_BASE, pt->single->phys);
}
NOKPROBE_SYMBOL(pt_claim_single);

static int pt_write_pointers(struct auxt_channel *ch)
{
	u64 base, mask_ptrs;
	int err;

	if (pt_of(ch)->single)
		return pt_write_pointers_single(ch);
	auxt_topa_pointers(pt_topa_of(ch), ch->aux.produced % ch->aux.cycle, &base, &mask_ptrs);
	pt_remember(pt_of(ch), base, mask_ptrs, ch->aux.produced);
	err = auxt_wrmsr(MSR_IA32_RTIT_OUTPUT_BASE, base);
	if (!err)
		err = auxt_wrmsr(MSR_IA32_RTIT_OUTPUT_MASK, mask_ptrs);
	return err;
}
NOKPROBE_SYMBOL(pt_write_pointers);

static bool pt_acknowledge(struct auxt_channel *ch)
{
	if (!(auxt_rdmsr(MSR_CORE_PERF_GLOBAL_STATUS) & PMI_BIT))
		return false;
	auxt_wrmsr_twice(MSR_CORE_PERF_GLOBAL_OVF_CTRL, PMI_BIT);
	return true;
}
NOKPROBE_SYMBOL(pt_acknowledge);

static u32 pt_filter_msr(u32 i)
{
	return i == PT_CR3_MATCH ? MSR_IA32_RTIT_CR3_MATCH : MSR_IA32_RTIT_ADDR0_A + i;
}
NOKPROBE_SYMBOL(pt_filter_msr);

/* What a session has in register @i of those in pt_filters_mask(). */
static u64 pt_filter_value(const struct auxt_filters *filters, u32 i)
{
	if (i == PT_CR3_MATCH)
		return filters->cr3;
	return i % 2 ? filters->filter[i / 2].last : filters->filter[i / 2].first;
}
NOKPROBE_SYMBOL(pt_filter_value);

/* The registers that a session with these filters writes. */
static u32 pt_filters_mask(const struct auxt_filters *filters)
{
	return ((1u << 2 * filters->nr) - 1) | (filters->mm ? 1u << PT_CR3_MATCH : 0);
}
NOKPROBE_SYMBOL(pt_filters_mask);

/*
 * perf's driver caches what it wrote to the pointers and to the ranges of its filters, and skips a
 * write of the same value. They must be as it left them when it uses PT again, or its trace would
 * go to our pages.
 */
static int pt_restore_registers(void)
{
	struct pt_registers *before = this_cpu_ptr(&pt_registers_before);
	u32 i;

	if (auxt_wrmsr_twice(MSR_IA32_RTIT_OUTPUT_BASE, before->base) ||
	    auxt_wrmsr_twice(MSR_IA32_RTIT_OUTPUT_MASK, before->mask_ptrs))
		return -EIO;
	for (i = 0; i < PT_FILTER_REGISTERS; i++)
		if (before->saved >> i & 1 &&
		    auxt_wrmsr_twice(pt_filter_msr(i), before->filter[i]))
			return -EIO;
	before->restore_pending = false;
	return 0;
}
NOKPROBE_SYMBOL(pt_restore_registers);

/*
 * Of the filters only what the session writes is saved: a CPU need not have all. If an earlier session
 * could not restore its own, more may have to be saved now.
 */
static int pt_save_registers(u32 mask)
{
	struct pt_registers *before = this_cpu_ptr(&pt_registers_before);
	u32 i;

	if (!before->restore_pending) {
		before->saved = 0;
		if (auxt_rdmsr_safe(MSR_IA32_RTIT_OUTPUT_BASE, &before->base) ||
		    auxt_rdmsr_safe(MSR_IA32_RTIT_OUTPUT_MASK, &before->mask_ptrs))
			return -EIO;
	}
	for (i = 0; i < PT_FILTER_REGISTERS; i++) {
		if (!((mask & ~before->saved) >> i & 1))
			continue;
		if (auxt_rdmsr_safe(pt_filter_msr(i), &before->filter[i]))
			return -EIO;
		before->saved |= 1u << i;
	}
	before->restore_pending = true;
	return 0;
}
NOKPROBE_SYMBOL(pt_save_registers);

static int pt_write_filters(const struct auxt_filters *filters)
{
	u32 mask = pt_filters_mask(filters), i;

	for (i = 0; i < PT_FILTER_REGISTERS; i++)
		if (mask >> i & 1 && auxt_wrmsr(pt_filter_msr(i), pt_filter_value(filters, i)))
			return -EIO;
	return 0;
}
NOKPROBE_SYMBOL(pt_write_filters);

/*
 * Clears TraceEn, whatever code set it, and leaves the other bits alone. KVM, for one, may set it
 * behind our back: while it enters a guest, an NMI may stop our tracing; afterwards KVM writes
 * the value back that it had read before that NMI.
 */
static int pt_turn_off(void)
{
	u64 ctl = auxt_rdmsr(MSR_IA32_RTIT_CTL);

	if (!(ctl & RTIT_CTL_TRACEEN))
		return 0;
	return auxt_wrmsr_twice(MSR_IA32_RTIT_CTL, ctl & ~(u64)RTIT_CTL_TRACEEN);
}
NOKPROBE_SYMBOL(pt_turn_off);

static int pt_claim(struct auxt_channel *ch)
{
	const struct pt_caps *caps = &this_cpu_ptr(&pt_cpus)->caps;
	struct pt *pt = pt_of(ch);
	int err;

	/* A CPU that was offline may have come back with other capabilities. */
	err = pt_check_cpu(caps, pt->config, pt->filters);
	if (!err && caps->topa_multi == !!pt->single)
		err = -EOPNOTSUPP;
	if (!err)
		err = pt_in_use() ?: pt_save_registers(pt_filters_mask(pt->filters));
	if (err)
		return err;
	if (pt->single)
		err = pt_claim_single(ch);
	err = err ?: pt_write_pointers(ch) ?: pt_write_filters(pt->filters);
	if (err) {
		ch->stuck = pt_restore_registers();
		return err;
	}
	pt->pointers_stale = false;
	/* An interrupt that is asserted now is not ours. */
	pt_acknowledge(ch);
	auxt_pmi_route();
	return 0;
}
NOKPROBE_SYMBOL(pt_claim);

static void pt_release(struct auxt_channel *ch)
{
	/* The registers cannot be written while TraceEn is set. */
	int err = pt_turn_off();

	auxt_pmi_unroute(pt_acknowledge(ch));
	ch->stuck = err || pt_restore_registers();
}
NOKPROBE_SYMBOL(pt_release);

/* VMXON cleared TraceEn; while in VMX operation, setting it again would fault. */
static bool pt_vmx_forbids(void)
{
	return !this_cpu_read(pt_cpus.works_in_vmx) && __read_cr4() & X86_CR4_VMXE;
}
NOKPROBE_SYMBOL(pt_vmx_forbids);

static __always_inline int pt_try_start(struct auxt_channel *ch, bool new_window)
{
	struct pt *pt = pt_of(ch);

	if (pt->pointers_stale) {
		if (pt_write_pointers(ch))
			return -EIO;
		pt->pointers_stale = false;
	}
	/* PacketByteCnt = 0 makes the window begin with PSB+. Clears Error and Stopped, too. */
	if (new_window && auxt_wrmsr(MSR_IA32_RTIT_STATUS, 0))
		return -EIO;
	return auxt_wrmsr(MSR_IA32_RTIT_CTL, pt->ctl | RTIT_CTL_TRACEEN);
}

static int pt_start(struct auxt_channel *ch, bool new_window)
{
	int err;

	if (pt_vmx_forbids())
		return -EIO;
	pt_arm(ch);
	err = pt_try_start(ch, new_window);
	/* The writes fault, too, if other code has set TraceEn meanwhile. */
	if (unlikely(err))
		pt_turn_off();
	return err;
}
NOKPROBE_SYMBOL(pt_start);

/*
 * Stopped is set, and the position known up to a whole lap. Did the STOP mark do that, or a filter's
 * range? The hardware stays at the end of the region that has the mark.
 */
static __always_inline bool pt_is_at_stop_mark(const struct auxt_channel *ch, u64 mask_ptrs)
{
	const struct auxt_position *aux = &ch->aux;

	if (!pt_of(ch)->stops_in_ranges)
		return true;
	return !aux->overwrite && mask_ptrs >> TOPA_POINTER_OFFSET_SHIFT == aux->region &&
	       !((aux->stop_mark - aux->produced) % aux->cycle);
}

static __always_inline u32 pt_trouble(void)
{
	return auxt_rdmsr(MSR_IA32_RTIT_STATUS) & (RTIT_STATUS_ERROR | RTIT_STATUS_STOPPED);
}

/*
 * Tables of one entry. At the region's end the hardware stops, whatever has become of the pointers.
 * Then what it should have traced since is lost, and the last packet may be cut. The zeros are in memory
 * before the position is published, by the write barrier of settle_publish().
 */
static __always_inline u32 pt_locate_single(struct auxt_channel *ch, u32 found, u64 base,
					    u64 mask_ptrs)
{
	u32 status = pt_trouble();
	struct pt *pt = pt_of(ch);
	u64 offset = mask_ptrs >> TOPA_POINTER_OFFSET_SHIFT, rest;
	u64 size = auxt_topa_single_size(pt->order);
	bool late;

	if (base != pt->seen_base || lower_32_bits(mask_ptrs) != TOPA_POINTER_ONES || offset > size)
		return TRACE_ERROR;
	late = status & RTIT_STATUS_STOPPED && (!pt->stops_in_ranges || offset == size);
	if (late)
		offset = size;
	if (pt->seen_region + offset < ch->aux.produced)
		return TRACE_ERROR;
	ch->aux.produced = pt->seen_region + offset;
	rest = auxt_topa_single_rest(ch->aux.produced);
	/* A CPU that cannot be turned off goes on writing there. */
	if (rest && !(found & TRACE_ERROR)) {
		auxt_pt_single_clear(ch, pt_page_at(ch, ch->aux.produced), AUXT_PAGE_SIZE - rest);
		ch->aux.produced += rest;
	}
	/* The region is behind, or the pointers are. */
	if (rest || offset == size)
		pt->pointers_stale = true;
	if (status & RTIT_STATUS_ERROR)
		return TRACE_ERROR;
	return late ? TRACE_LATE : 0;
}

/* The slow part of pt_stop(): another region, nothing written, Error or Stopped. */
static noinline u32 pt_locate(struct auxt_channel *ch, u32 found, u64 base, u64 mask_ptrs)
{
	u64 offset, in_region = mask_ptrs >> TOPA_POINTER_OFFSET_SHIFT, was = ch->aux.produced;
	struct pt *pt = pt_of(ch);
	u32 status;

	if (pt->single)
		return pt_locate_single(ch, found, base, mask_ptrs);
	if (auxt_topa_locate(pt_topa_of(ch), base, mask_ptrs, &offset))
		return TRACE_ERROR;
	ch->aux.produced = auxt_position_at(&ch->aux, offset);
	pt_remember(pt, base, mask_ptrs, ch->aux.produced);
	/* Within a region: see pt_is_within(). */
	if (likely(in_region && in_region < ch->aux.region && ch->aux.produced != was))
		return 0;
	status = pt_trouble();
	if (status & RTIT_STATUS_ERROR)
		return TRACE_ERROR;
	/* After a filter's STOP the window goes on, without trace, until it ends for another reason. */
	if (status & RTIT_STATUS_STOPPED && pt_is_at_stop_mark(ch, mask_ptrs)) {
		/* The pointers alone cannot tell a full area from an empty one. */
		ch->aux.produced = ch->aux.stop_mark;
		pt->pointers_stale = true;
		return TRACE_STOPPED;
	}
	return 0;
}
NOKPROBE_SYMBOL(pt_locate);

/*
 * Finds out up to where the hardware has written, with TraceEn clear. @found: TRACE_* so far.
 *
 * The write that clears TraceEn makes the CPU write out what it buffers, and only then it may meet an
 * operational error or the STOP mark. In a short window all of the trace is still in that buffer. So
 * pointers and status are read afterwards.
 *
 * The base need not be read if there is one table and tracing was on. If other code has turned it
 * off, that code may have written its own pointers: KVM does so before it enters a guest.
 */
static __always_inline u32 pt_find(struct auxt_channel *ch, u32 found)
{
	struct pt *pt = pt_of(ch);
	u64 base, mask_ptrs;

	/*
	 * The trace is in memory before its position is published: pairs with the read
	 * barrier of a reader between the status page and the area.
	 */
	wmb();
	ch->off_tsc = rdtsc();
	mask_ptrs = auxt_rdmsr(MSR_IA32_RTIT_OUTPUT_MASK);
	if (likely(pt->one_table && !found))
		base = pt->seen_base;
	else
		base = auxt_rdmsr(MSR_IA32_RTIT_OUTPUT_BASE);
	if (unlikely(!pt_is_within(ch, base, mask_ptrs)))
		return pt_locate(ch, found, base, mask_ptrs) ?: found;
	ch->aux.produced = pt->seen_region + (mask_ptrs >> TOPA_POINTER_OFFSET_SHIFT);
	return found;
}

/* A function of its own: so pt_stop() saves no registers. */
static noinline u32 pt_find_after(struct auxt_channel *ch, u32 found)
{
	return pt_find(ch, found);
}
NOKPROBE_SYMBOL(pt_find_after);

/*
 * May KVM, or the CPU itself, have cleared TraceEn? A CPU that does not trace in VMX operation does so as
 * it enters that.
 */
static __always_inline bool pt_vmx_interferes(void)
{
	return !this_cpu_read(pt_cpus.works_in_vmx) || __read_cr4() & X86_CR4_VMXE;
}

static u32 pt_stop(struct auxt_channel *ch, bool alone)
{
	if ((!alone || unlikely(pt_vmx_interferes())) &&
	    unlikely(!(auxt_rdmsr(MSR_IA32_RTIT_CTL) & RTIT_CTL_TRACEEN)))
		return pt_find_after(ch, TRACE_FOREIGN);
	if (unlikely(auxt_wrmsr(MSR_IA32_RTIT_CTL, pt_of(ch)->ctl) && pt_turn_off()))
		return pt_find_after(ch, TRACE_ERROR);
	return pt_find(ch, 0);
}
NOKPROBE_SYMBOL(pt_stop);

static void pt_relocate(struct auxt_channel *ch)
{
	pt_of(ch)->pointers_stale = true;
}
NOKPROBE_SYMBOL(pt_relocate);

/* Tables of one entry: must software go on to another region? */
static bool pt_is_due(const struct pt *pt, u64 base, u64 mask_ptrs)
{
	return base == pt->seen_base && lower_32_bits(mask_ptrs) == TOPA_POINTER_ONES &&
	       (mask_ptrs >> TOPA_POINTER_OFFSET_SHIFT) + TOPA_SINGLE_EARLY >=
	       auxt_topa_single_size(pt->order);
}
NOKPROBE_SYMBOL(pt_is_due);

/*
 * While tracing is on, the pointers may lag behind the hardware, but are never ahead, so
 * true is never wrong. Marks are at the ends of regions: pointers into the region where the
 * hardware was last seen imply that it has passed no mark since. It cannot have come round
 * a whole cycle: the STOP mark, or in overwrite mode an interrupt each lap, comes first. In overwrite mode the
 * status says no more than that. In full trace Stopped may be seen before the pointers have moved.
 */
static bool pt_interrupt(struct auxt_channel *ch)
{
	const struct pt *pt = pt_of(ch);
	u64 base, offset, status, mask_ptrs = auxt_rdmsr(MSR_IA32_RTIT_OUTPUT_MASK);
	bool same = pt->one_table && lower_32_bits(mask_ptrs) == pt->seen_index;

	if (likely(ch->aux.overwrite && same))
		return false;
	status = auxt_rdmsr(MSR_IA32_RTIT_STATUS);
	if (likely(same && !(status & (RTIT_STATUS_ERROR | RTIT_STATUS_STOPPED))))
		return false;
	if (status & RTIT_STATUS_ERROR || (status & RTIT_STATUS_STOPPED && !pt->stops_in_ranges))
		return true;
	base = auxt_rdmsr(MSR_IA32_RTIT_OUTPUT_BASE);
	if (pt->single)
		return pt_is_due(pt, base, mask_ptrs);
	/* A sync would not clear the Stopped of a range, and each NMI would ask for another one. */
	if (status & RTIT_STATUS_STOPPED && !ch->aux.overwrite &&
	    mask_ptrs >> TOPA_POINTER_OFFSET_SHIFT == ch->aux.region)
		return true;
	if (base == pt->seen_base && lower_32_bits(mask_ptrs) == pt->seen_index)
		return false;
	return !auxt_topa_locate(pt_topa_of(ch), base, mask_ptrs, &offset) &&
	       auxt_position_at(&ch->aux, offset) >= ch->aux.int_mark;
}
NOKPROBE_SYMBOL(pt_interrupt);

static void pt_emergency_stop(void)
{
	pt_turn_off();
}
NOKPROBE_SYMBOL(pt_emergency_stop);

static int pt_recover(void)
{
	int err = pt_turn_off();

	if (!err && this_cpu_read(pt_registers_before.restore_pending))
		err = pt_restore_registers();
	return err;
}
NOKPROBE_SYMBOL(pt_recover);

const struct trace_pmu auxt_pt = {
	.number = AUXTRACE_PMU_INTEL_PT,
	.name = "intel_pt",
	.granule = 1,
	.missing = pt_missing,
	.excludes = pt_excludes,
	.describe = pt_describe,
	.check = pt_check,
	.in_use = pt_in_use,
	.table_pages = pt_table_pages,
	.setup = pt_setup,
	.cleanup = pt_cleanup,
	.claim = pt_claim,
	.release = pt_release,
	.start = pt_start,
	.stop = pt_stop,
	.relocate = pt_relocate,
	.interrupt = pt_interrupt,
	.acknowledge = pt_acknowledge,
	.emergency_stop = pt_emergency_stop,
	.recover = pt_recover,
};
