// SPDX-License-Identifier: GPL-2.0
/*
 * Intel Processor Trace: the only file that touches its MSRs.
 *
 * SDM volume 3, chapter "Intel Processor Trace". Its rules that this file rests on:
 *  - while TraceEn is set, no PT MSR may be written but IA32_RTIT_CTL, and of that
 *    only TraceEn may change (else #GP);
 *  - clearing TraceEn flushes the packets out of the CPU; a fence makes them
 *    visible to others;
 *  - the output pointers and PacketByteCnt are stable only while TraceEn is clear;
 *  - ToPA entries may be cached while TraceEn is set;
 *  - setting TraceEn with PacketByteCnt zero emits PSB+ first;
 *  - a region with STOP leaves the pointers at its end: they must be moved before
 *    Stopped is cleared, else the next TraceEn is an operational error.
 */

#include <linux/auxtrace.h>
#include <linux/build_bug.h>
#include <linux/err.h>
#include <linux/gfp.h>
#include <linux/io.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include "core/channel.h"
#include "compat/compat.h"
#include "hw/pmi.h"
#include "hw/pt.h"
#include "base/aux_buffer.h"
#include "hw/topa.h"
#include "core/trace_pmu.h"

static_assert(PT_CONFIG_CYC == RTIT_CTL_CYCLEACC);
static_assert(PT_CONFIG_FUP_ON_PTW == RTIT_CTL_FUP_ON_PTW);
static_assert(PT_CONFIG_MTC == RTIT_CTL_MTC_EN);
static_assert(PT_CONFIG_TSC == RTIT_CTL_TSC_EN);
static_assert(PT_CONFIG_NORETCOMP == RTIT_CTL_DISRETC);
static_assert(PT_CONFIG_PTW == RTIT_CTL_PTW_EN);
static_assert(PT_CONFIG_BRANCH == RTIT_CTL_BRANCH_EN);
static_assert(PT_CONFIG_MTC_PERIOD == RTIT_CTL_MTC_RANGE);
static_assert(PT_CONFIG_CYC_THRESH == RTIT_CTL_CYC_THRESH);
static_assert(PT_CONFIG_PSB_PERIOD == RTIT_CTL_PSB_FREQ);
static_assert(AUXT_REGION_SIZE == PAGE_SIZE);

#define PMI_BIT	MSR_CORE_PERF_GLOBAL_OVF_CTRL_TRACE_TOPA_PMI

/* IA32_VMX_MISC[14]: PT may be used in VMX operation. The kernel's name moved. */
#define VMX_MISC_PT	BIT_ULL(14)

static struct pt_caps caps;
static u32 why_missing;		/* AUXTRACE_PT_* */
static bool works_in_vmx;

/**
 * struct pt - Intel PT of one channel
 * @topa: the tables, by slot
 * @ctl: IA32_RTIT_CTL of the session, TraceEn clear
 * @call: entry that has the INT mark: full trace, or overwrite with a deadline within the
 *	lap; NULL: none
 * @stop: entry that has the STOP mark, full trace; NULL: none
 * @seen_base: IA32_RTIT_OUTPUT_BASE when the place was last read or written
 * @seen_index: the lower half of IA32_RTIT_OUTPUT_MASK_PTRS, with the index of the region
 * @seen_region: position at which that region begins
 * @pointers_stale: the output pointers must be written before the next start
 * @was_base: IA32_RTIT_OUTPUT_BASE as we found it
 * @was_mask_ptrs: IA32_RTIT_OUTPUT_MASK_PTRS as we found it
 */
struct pt {
	struct auxt_topa *topa;
	u64 ctl;
	u64 *call;
	u64 *stop;
	u64 seen_base;
	u32 seen_index;
	u64 seen_region;
	bool pointers_stale;
	u64 was_base;
	u64 was_mask_ptrs;
};

static struct pt *pt_of(const struct auxt_channel *ch)
{
	return ch->hw;
}
NOKPROBE_SYMBOL(pt_of);

/* Those of the present slot. */
static struct auxt_topa *topa_of(const struct auxt_channel *ch)
{
	return &pt_of(ch)->topa[ch->now.slot];
}
NOKPROBE_SYMBOL(topa_of);

/* ---- what there is ---------------------------------------------------- */

static struct pt_cpuid read_leaf(u32 leaf, u32 subleaf)
{
	struct pt_cpuid r;

	cpuid_count(leaf, subleaf, &r.eax, &r.ebx, &r.ecx, &r.edx);
	return r;
}

/**
 * auxt_pt_init() - look what the CPU has
 *
 * Absence is no error: INFO tells of it.
 */
void auxt_pt_init(void)
{
	struct pt_cpuid leaf[2] = { };
	u64 vmx_misc;

	if (!boot_cpu_has(X86_FEATURE_INTEL_PT) || boot_cpu_data.cpuid_level < 0x14) {
		/* A CPU without PT may answer leaf 14H with rubbish: not asked. */
		why_missing = AUXTRACE_PT_NO_CPUID;
		return;
	}
	leaf[0] = read_leaf(0x14, 0);
	if (leaf[0].eax >= 1)
		leaf[1] = read_leaf(0x14, 1);
	pt_caps_decode(&caps, leaf, boot_cpu_data.x86, boot_cpu_data.x86_model);
	works_in_vmx = !boot_cpu_has(X86_FEATURE_VMX) ||
		       (!auxt_rdmsr_safe(MSR_IA32_VMX_MISC, &vmx_misc) && vmx_misc & VMX_MISC_PT);

	if (!caps.topa || !caps.topa_multi)
		why_missing = AUXTRACE_PT_NO_TOPA;
	/* Version 2 brought IA32_PERF_GLOBAL_STATUS, which tells the ToPA interrupt from others. */
	else if (!auxt_pmi_exists(2))
		why_missing = AUXTRACE_PT_NO_PMI;
}

/**
 * auxt_pt_caps() - capabilities of this CPU
 *
 * Return: them; all zero without PT.
 */
const struct pt_caps *auxt_pt_caps(void)
{
	return &caps;
}

static u32 pt_missing(void)
{
	return why_missing;
}

static int pt_check(const struct auxtrace_setup *setup)
{
	return pt_caps_check(&caps, setup->config);
}

static int pt_in_use(void)
{
	u64 ctl;

	if (auxt_rdmsr_safe(MSR_IA32_RTIT_CTL, &ctl))
		return -EIO;
	return ctl & RTIT_CTL_TRACEEN ? -EBUSY : 0;
}

/* ---- tables ----------------------------------------------------------- */

/* There may be many, as the areas before them: nobody is killed for them either. */
#define TABLES_GFP	(GFP_KERNEL | __GFP_NOWARN | __GFP_RETRY_MAYFAIL)

static void free_tables(struct auxt_topa *topa)
{
	unsigned int i;

	if (topa->tables)
		for (i = 0; i < topa->nr_tables; i++)
			free_page((unsigned long)topa->tables[i]);
	kvfree(topa->tables);
	kvfree(topa->phys);
}

static int alloc_tables(struct auxt_topa *topa, unsigned long nr_regions, int node)
{
	unsigned int i;

	topa->nr_regions = nr_regions;
	topa->nr_tables = auxt_topa_nr_tables(nr_regions);
	topa->tables = kvcalloc(topa->nr_tables, sizeof(*topa->tables), TABLES_GFP);
	topa->phys = kvcalloc(topa->nr_tables, sizeof(*topa->phys), TABLES_GFP);
	if (!topa->tables || !topa->phys)
		return -ENOMEM;
	for (i = 0; i < topa->nr_tables; i++) {
		struct page *page;

		if (fatal_signal_pending(current))
			return -EINTR;
		page = alloc_pages_node(node, TABLES_GFP | __GFP_ZERO, 0);
		if (!page)
			return -ENOMEM;
		topa->tables[i] = page_address(page);
		topa->phys[i] = page_to_phys(page);
	}
	return 0;
}

static void pt_cleanup(struct auxt_channel *ch)
{
	struct pt *pt = pt_of(ch);
	unsigned int slot;

	for (slot = 0; pt->topa && slot < ch->now.slots; slot++)
		free_tables(&pt->topa[slot]);
	kfree(pt->topa);
	kfree(pt);
	ch->hw = NULL;
}

static unsigned long pt_table_pages(const struct auxtrace_setup *setup)
{
	u32 slots = max(setup->slots, 1U);
	unsigned long regions = auxt_topa_nr_regions(setup->aux_size / slots,
						     setup->flags & AUXTRACE_SETUP_OVERWRITE);
	unsigned long tables = (unsigned long)slots * auxt_topa_nr_tables(regions);

	/* Beside each table its two addresses. */
	return tables + DIV_ROUND_UP(tables * (sizeof(u64 *) + sizeof(u64)), PAGE_SIZE);
}

static int set_up_slot(struct auxt_channel *ch, unsigned int slot)
{
	struct auxt_topa *topa = &pt_of(ch)->topa[slot];
	unsigned long nr_pages = ch->aux.size >> AUXT_REGION_SHIFT;
	unsigned long nr_regions = auxt_topa_nr_regions(ch->aux.size, ch->aux.overwrite);
	unsigned long i;
	int err;

	err = alloc_tables(topa, nr_regions, cpu_to_node(ch->cpu));
	if (err)
		return err;
	auxt_topa_link(topa);
	for (i = 0; i < nr_regions; i++) {
		struct page *page = auxt_aux_buffer_aux_page(ch->buffer, ch->cpu,
							slot * nr_pages + i % nr_pages);

		auxt_topa_set_region(topa, i, page_to_phys(page));
		/* An interrupt a lap. Full trace moves its marks as it goes: arm(). */
		if (ch->aux.overwrite && i % nr_pages == nr_pages - 1)
			auxt_topa_mark(topa, i, TOPA_ENTRY_INT);
		if (!(i % TOPA_REGIONS_PER_TABLE))
			cond_resched();
	}
	ch->aux.cycle = (u64)nr_regions << AUXT_REGION_SHIFT;
	return 0;
}

static int pt_setup(struct auxt_channel *ch, u32 flags, u64 config)
{
	struct pt *pt = kzalloc_node(sizeof(*pt), GFP_KERNEL, cpu_to_node(ch->cpu));
	unsigned int slot;
	int err = 0;

	if (!pt)
		return -ENOMEM;
	ch->hw = pt;
	pt->ctl = pt_caps_ctl(config) | RTIT_CTL_TOPA;
	if (flags & AUXTRACE_SETUP_KERNEL)
		pt->ctl |= RTIT_CTL_OS;
	if (flags & AUXTRACE_SETUP_USER)
		pt->ctl |= RTIT_CTL_USR;

	pt->topa = kcalloc(ch->now.slots, sizeof(*pt->topa), GFP_KERNEL);
	if (!pt->topa)
		err = -ENOMEM;
	for (slot = 0; !err && slot < ch->now.slots; slot++)
		err = set_up_slot(ch, slot);
	if (err)
		pt_cleanup(ch);
	return err;
}

/* The laps' marks stand; a deadline before the end of this one has its own. */
static __always_inline void arm_overwrite(struct auxt_channel *ch)
{
	struct pt *pt = pt_of(ch);

	if (unlikely(pt->call))
		auxt_topa_unmark(pt->call);
	pt->call = NULL;
	if (unlikely(ch->aux.int_mark & (ch->aux.size - 1)))
		pt->call = auxt_topa_mark(topa_of(ch), (ch->aux.int_mark >> AUXT_REGION_SHIFT) - 1,
					  TOPA_ENTRY_INT);
}

/* The marks to where the ring wants its stop and call. */
static __always_inline void arm(struct auxt_channel *ch)
{
	struct auxt_topa *topa = topa_of(ch);
	struct pt *pt = pt_of(ch);

	if (ch->aux.overwrite) {
		arm_overwrite(ch);
		return;
	}
	if (pt->call) {
		auxt_topa_unmark(pt->call);
		auxt_topa_unmark(pt->stop);
	}
	/* A position that is a page boundary is the end of the region before it. */
	pt->call = auxt_topa_mark(topa, (ch->aux.int_mark >> AUXT_REGION_SHIFT) - 1,
				  TOPA_ENTRY_INT);
	/* INT as well: if the call came too late, the reader is still told. */
	pt->stop = auxt_topa_mark(topa, (ch->aux.stop_mark >> AUXT_REGION_SHIFT) - 1,
				  TOPA_ENTRY_STOP | TOPA_ENTRY_INT);
}

/* ---- registers -------------------------------------------------------- */

static __always_inline void see(struct pt *pt, u64 base, u64 mask_ptrs, u64 position)
{
	pt->seen_base = base;
	pt->seen_index = lower_32_bits(mask_ptrs);
	pt->seen_region = position - (mask_ptrs >> TOPA_POINTER_OFFSET_SHIFT);
}

/*
 * Is it still in the region where it was last seen, and not behind that place, as after
 * a cycle? Then its position is told by the offset alone: most windows are shorter
 * than a region.
 */
static __always_inline bool is_near(const struct pt *pt, u64 base, u64 mask_ptrs, u64 *position)
{
	u64 offset = mask_ptrs >> TOPA_POINTER_OFFSET_SHIFT;

	if (base != pt->seen_base || lower_32_bits(mask_ptrs) != pt->seen_index ||
	    offset > AUXT_REGION_SIZE || pt->seen_region + offset < *position)
		return false;
	*position = pt->seen_region + offset;
	return true;
}

static int write_pointers(struct auxt_channel *ch)
{
	u64 base, mask_ptrs;
	int err;

	auxt_topa_pointers(topa_of(ch), ch->aux.produced % ch->aux.cycle, &base, &mask_ptrs);
	see(pt_of(ch), base, mask_ptrs, ch->aux.produced);
	err = auxt_wrmsr_safe(MSR_IA32_RTIT_OUTPUT_BASE, base);
	if (!err)
		err = auxt_wrmsr_safe(MSR_IA32_RTIT_OUTPUT_MASK, mask_ptrs);
	return err;
}
NOKPROBE_SYMBOL(write_pointers);

static bool pt_acknowledge(struct auxt_channel *ch)
{
	if (!(auxt_rdmsr(MSR_CORE_PERF_GLOBAL_STATUS) & PMI_BIT))
		return false;
	auxt_wrmsr(MSR_CORE_PERF_GLOBAL_OVF_CTRL, PMI_BIT);
	return true;
}
NOKPROBE_SYMBOL(pt_acknowledge);

/* perf's driver remembers what it wrote to the pointers and does not write the
 * same twice: they must be as they were when it comes back, or its trace would
 * go to our pages.
 */
static void restore_pointers(const struct pt *pt)
{
	auxt_wrmsr_safe(MSR_IA32_RTIT_OUTPUT_BASE, pt->was_base);
	auxt_wrmsr_safe(MSR_IA32_RTIT_OUTPUT_MASK, pt->was_mask_ptrs);
}

static int pt_claim(struct auxt_channel *ch)
{
	struct pt *pt = pt_of(ch);
	int err = pt_in_use();

	if (err)
		return err;
	if (auxt_rdmsr_safe(MSR_IA32_RTIT_OUTPUT_BASE, &pt->was_base) ||
	    auxt_rdmsr_safe(MSR_IA32_RTIT_OUTPUT_MASK, &pt->was_mask_ptrs))
		return -EIO;
	err = write_pointers(ch);
	if (err) {
		restore_pointers(pt);
		return err;
	}
	pt->pointers_stale = false;
	/* What stands there was not for us. */
	pt_acknowledge(ch);
	auxt_pmi_route();
	return 0;
}

static void pt_release(struct auxt_channel *ch)
{
	struct pt *pt = pt_of(ch);

	auxt_pmi_unroute(pt_acknowledge(ch));
	restore_pointers(pt);
}

/* VMXON has cleared TraceEn, and setting it again would fault. */
static bool vmx_forbids(void)
{
	return !works_in_vmx && __read_cr4() & X86_CR4_VMXE;
}
NOKPROBE_SYMBOL(vmx_forbids);

static int pt_start(struct auxt_channel *ch, bool new_window)
{
	struct pt *pt = pt_of(ch);

	if (vmx_forbids())
		return -EIO;
	arm(ch);
	if (pt->pointers_stale) {
		if (write_pointers(ch))
			return -EIO;
		pt->pointers_stale = false;
	}
	/* PacketByteCnt := 0, so that the window begins with PSB+; no Error, no Stopped. */
	if (new_window)
		auxt_wrmsr(MSR_IA32_RTIT_STATUS, 0);
	return auxt_wrmsr_safe(MSR_IA32_RTIT_CTL, pt->ctl | RTIT_CTL_TRACEEN);
}
NOKPROBE_SYMBOL(pt_start);

/* Not near, or not as it was left. */
static noinline u32 locate(struct auxt_channel *ch, u32 status, u64 base, u64 mask_ptrs)
{
	struct pt *pt = pt_of(ch);
	u64 offset;

	if (!is_near(pt, base, mask_ptrs, &ch->aux.produced)) {
		if (auxt_topa_locate(topa_of(ch), base, mask_ptrs, &offset))
			return TRACE_ERROR;
		ch->aux.produced = auxt_position_at(&ch->aux, offset);
		see(pt, base, mask_ptrs, ch->aux.produced);
	}
	if (status & RTIT_STATUS_ERROR)
		return TRACE_ERROR;
	if (status & RTIT_STATUS_STOPPED) {
		/*
		 * At the mark it is at the limit, by definition. This tells a full
		 * area from one in which nothing happened.
		 */
		ch->aux.produced = ch->aux.stop_mark;
		pt->pointers_stale = true;
		return TRACE_STOPPED;
	}
	return 0;
}
NOKPROBE_SYMBOL(locate);

static u32 pt_stop(struct auxt_channel *ch)
{
	struct pt *pt = pt_of(ch);
	u64 base, mask_ptrs;
	u32 status, found = 0;

	if (likely(auxt_rdmsr(MSR_IA32_RTIT_CTL) & RTIT_CTL_TRACEEN))
		auxt_wrmsr(MSR_IA32_RTIT_CTL, pt->ctl);
	else
		found = TRACE_FOREIGN;
	/* The trace is in memory before anybody learns of its position: pairs with
	 * the read barriers of those who read the status page and then the area.
	 */
	wmb();
	ch->off_tsc = rdtsc();
	status = auxt_rdmsr(MSR_IA32_RTIT_STATUS);
	base = auxt_rdmsr(MSR_IA32_RTIT_OUTPUT_BASE);
	mask_ptrs = auxt_rdmsr(MSR_IA32_RTIT_OUTPUT_MASK);
	if (likely(!(status & (RTIT_STATUS_ERROR | RTIT_STATUS_STOPPED)) &&
		   is_near(pt, base, mask_ptrs, &ch->aux.produced)))
		return found;
	return locate(ch, status, base, mask_ptrs) ?: found;
}
NOKPROBE_SYMBOL(pt_stop);

static void pt_relocate(struct auxt_channel *ch)
{
	pt_of(ch)->pointers_stale = true;
}
NOKPROBE_SYMBOL(pt_relocate);

/*
 * The pointers may lag behind while tracing is on: never ahead, so that nothing is made
 * up. In the region where it was last seen it has not filled one since, and marks are
 * at the ends of regions. It cannot have come round: before that there is the STOP
 * mark, or in overwrite mode a cycle of interrupts.
 */
static bool pt_interrupt(struct auxt_channel *ch)
{
	const struct pt *pt = pt_of(ch);
	u64 base, mask_ptrs, offset;

	if (auxt_rdmsr(MSR_IA32_RTIT_STATUS) & (RTIT_STATUS_ERROR | RTIT_STATUS_STOPPED))
		return true;
	base = auxt_rdmsr(MSR_IA32_RTIT_OUTPUT_BASE);
	mask_ptrs = auxt_rdmsr(MSR_IA32_RTIT_OUTPUT_MASK);
	if (base == pt->seen_base && lower_32_bits(mask_ptrs) == pt->seen_index)
		return false;
	return !auxt_topa_locate(topa_of(ch), base, mask_ptrs, &offset) &&
	       auxt_position_at(&ch->aux, offset) >= ch->aux.int_mark;
}
NOKPROBE_SYMBOL(pt_interrupt);

static void pt_emergency_stop(void)
{
	u64 ctl = auxt_rdmsr(MSR_IA32_RTIT_CTL);

	if (ctl & RTIT_CTL_TRACEEN)
		auxt_wrmsr(MSR_IA32_RTIT_CTL, ctl & ~(u64)RTIT_CTL_TRACEEN);
}
NOKPROBE_SYMBOL(pt_emergency_stop);

const struct trace_pmu auxt_pt = {
	.number = AUXTRACE_PMU_INTEL_PT,
	.name = "intel_pt",
	.granule = 1,
	.missing = pt_missing,
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
};
