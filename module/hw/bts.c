// SPDX-License-Identifier: GPL-2.0
/*
 * Branch Trace Store: the only file that touches IA32_DEBUGCTL and the debug store.
 *
 * SDM volume 3, "Debug, Branch Profile, TSC...", sections "Branch Trace Store (BTS)"
 * and "BTS and DS Save Area". What this file rests on:
 *  - IA32_DS_AREA leads, by a linear address, to a struct whose first four words say
 *    where records go. That is perf's, which PEBS shares: the MSR is never written. perf
 *    puts the struct into the CPU entry area of each CPU and keeps it there as long as
 *    an event like our guard exists. Only its four words for BTS are ours meanwhile;
 *  - records are stored by linear addresses of the present page tables;
 *  - with BTINT, a record that reaches the threshold is followed by an interrupt, and
 *    one that does not fit below the absolute maximum is dropped. No status bit tells
 *    of either: the index does;
 *  - the CPL filters look at the CPL behind the branch.
 *
 * DOC: where the records go
 *
 * Pages of an AUX area lie anywhere, but the hardware wants one range of addresses. So
 * they are mapped for it: each slot several times in a row, and each start goes on
 * where the last one stopped, in the first of them. There are no chunks to change,
 * and no wrap: records at multiples of their size, from the first to the last.
 *
 * That range is the kernel's own and what stands in it is the user's at once. Where
 * one of the two cannot be, there is a buffer between: the one of 64 KiB that perf has
 * in the CPU entry area for its old form of BTS, from which we copy at each interrupt
 * and pause:
 *  - page tables are isolated: while user code runs, of all of the kernel's memory that
 *    could be written only this area is mapped. (Found by looking for what else is:
 *    what a module maps is not, and the kernel offers it no way to do that);
 *  - the session may not see the kernel, but the records of returns from there tell its
 *    addresses: they are masked on the way.
 *
 * DOC: IA32_DEBUGCTL belongs to others as well
 *
 * Single-stepping by branches and LBRs change it by reading, changing and writing it,
 * with interrupts off; so does this file. An NMI of ours between their read and write
 * is undone by the write. If they so turn off what we turned on, the next look finds it:
 * a gap. If they turn on what we turned off, nothing is written: a stop takes all
 * room away.
 */

#include <linux/auxtrace.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>
#include <asm/cpu_entry_area.h>
#include <asm/intel_ds.h>
#include <asm/tsc.h>
#include "hw/bts.h"
#include "hw/bts_plan.h"
#include "core/channel.h"
#include "compat/compat.h"
#include "hw/pmi.h"
#include "base/aux_buffer.h"
#include "core/trace_pmu.h"

/* What turns it on, and what goes with that. */
#define ON	((u64)(DEBUGCTLMSR_TR | DEBUGCTLMSR_BTS))
#define OURS	(ON | DEBUGCTLMSR_BTINT | DEBUGCTLMSR_BTS_OFF_OS | DEBUGCTLMSR_BTS_OFF_USR)

static_assert(sizeof(struct auxtrace_branch) == 24);

/**
 * struct bts - BTS of one channel
 * @ds: of the CPU
 * @map: the AUX area, as described above
 * @laps: how often each slot is in it
 * @buffer: what the hardware writes to instead; NULL: it writes to @map
 * @bits: of IA32_DEBUGCTL that are set to trace
 * @begin: address at which the hardware began
 * @room: bytes from there on that it may fill
 * @pmi_pending: it was stopped beyond the threshold, so that there comes, or has come, an
 *	interrupt; nothing else will tell whose that is
 * @was: of @ds, as we found it
 */
struct bts {
	struct debug_store *ds;
	char *map;
	u64 laps;
	struct auxtrace_branch *buffer;
	u64 bits;
	u64 begin;
	u64 room;
	bool pmi_pending;
	struct {
		u64 base;
		u64 index;
		u64 maximum;
		u64 threshold;
	} was;
};

static struct bts *bts_of(const struct auxt_channel *ch)
{
	return ch->hw;
}
NOKPROBE_SYMBOL(bts_of);

/* ---- what there is ---------------------------------------------------- */

static bool pages_are_isolated(void)
{
	return boot_cpu_has(X86_FEATURE_PTI);
}

static u32 bts_missing(void)
{
	if (!boot_cpu_has(X86_FEATURE_DS) || !boot_cpu_has(X86_FEATURE_DTES64))
		return AUXTRACE_BTS_NO_CPUID;
	/* The kernel has looked at IA32_MISC_ENABLE, on CPUs of the vendor only. */
	if (!boot_cpu_has(X86_FEATURE_BTS))
		return AUXTRACE_BTS_DISABLED;
	/* The debug store is mapped for this vendor's CPUs. */
	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL)
		return AUXTRACE_BTS_NO_CPUID;
	if (!auxt_pmi_exists(1))
		return AUXTRACE_BTS_NO_PMI;
	return AUXTRACE_BTS_OK;
}

/**
 * auxt_bts_flags() - for INFO
 *
 * Return: AUXTRACE_BTS_CPL, AUXTRACE_BTS_BUFFERED
 */
u32 auxt_bts_flags(void)
{
	return (boot_cpu_has(X86_FEATURE_DSCPL) ? AUXTRACE_BTS_CPL : 0) |
	       (pages_are_isolated() ? AUXTRACE_BTS_BUFFERED : 0);
}

static int bts_check(const struct auxtrace_setup *setup)
{
	const u32 both = AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER;

	if (setup->config)
		return -EINVAL;
	if ((setup->flags & both) != both && !boot_cpu_has(X86_FEATURE_DSCPL))
		return -EOPNOTSUPP;
	return 0;
}

static int bts_in_use(void)
{
	u64 debugctl;

	if (auxt_rdmsr_safe(MSR_IA32_DEBUGCTLMSR, &debugctl))
		return -EIO;
	return (debugctl & ON) == ON ? -EBUSY : 0;
}

/* ---- memory ----------------------------------------------------------- */

static unsigned long bts_table_pages(const struct auxtrace_setup *setup)
{
	u64 slot_size = setup->aux_size / max(setup->slots, 1U);
	u64 laps = auxt_bts_laps(slot_size, setup->flags & AUXTRACE_SETUP_OVERWRITE);

	/* Of the kernel's page tables. */
	return DIV_ROUND_UP((setup->aux_size >> PAGE_SHIFT) * laps * sizeof(pte_t), PAGE_SIZE);
}

static void bts_cleanup(struct auxt_channel *ch)
{
	vunmap(bts_of(ch)->map);
	kfree(bts_of(ch));
	ch->hw = NULL;
}

static int bts_setup(struct auxt_channel *ch, u32 flags, u64 config)
{
	struct bts *bts = kzalloc_node(sizeof(*bts), GFP_KERNEL, cpu_to_node(ch->cpu));
	struct cpu_entry_area *area = get_cpu_entry_area(ch->cpu);

	if (!bts)
		return -ENOMEM;
	bts->laps = auxt_bts_laps(ch->aux.size, ch->aux.overwrite);
	bts->map = auxt_aux_buffer_map_aux(ch->buffer, ch->cpu, ch->now.slots, bts->laps);
	if (!bts->map) {
		kfree(bts);
		return -ENOMEM;
	}
	bts->ds = &area->cpu_debug_store;
	if (pages_are_isolated() || !(flags & AUXTRACE_SETUP_KERNEL))
		bts->buffer = (struct auxtrace_branch *)area->cpu_debug_buffers.bts_buffer;
	bts->bits = ON | DEBUGCTLMSR_BTINT;
	if (!(flags & AUXTRACE_SETUP_KERNEL))
		bts->bits |= DEBUGCTLMSR_BTS_OFF_OS;
	if (!(flags & AUXTRACE_SETUP_USER))
		bts->bits |= DEBUGCTLMSR_BTS_OFF_USR;
	ch->aux.margin = auxt_bts_margin(ch->aux.size);
	ch->hw = bts;
	return 0;
}

/* Where the ring's produced position is. */
static __always_inline char *place(const struct auxt_channel *ch)
{
	const struct auxt_position *ring = &ch->aux;
	const struct bts *bts = bts_of(ch);

	return bts->map + ch->now.slot * bts->laps * ring->size +
	       ring->produced % ring->size;
}

/* ---- the debug store and IA32_DEBUGCTL -------------------------------- */

/*
 * No index reaches it. So it is while the hardware is off, lest perf's NMI handler take
 * an interrupt for its own; and from the time that one has been looked at: each record
 * beyond the threshold asks for another, also those of the kernel's own way out of the
 * NMI, which could so go round until there is no room.
 */
#define NEVER	(~0ull)

/* No room, and nothing to call for. */
static __always_inline void close(struct bts *bts)
{
	struct debug_store *ds = bts->ds;

	WRITE_ONCE(ds->bts_interrupt_threshold, NEVER);
	WRITE_ONCE(ds->bts_absolute_maximum, bts->begin);
	WRITE_ONCE(ds->bts_index, bts->begin);
}

static __always_inline void open(struct auxt_channel *ch)
{
	struct bts *bts = bts_of(ch);
	struct debug_store *ds = bts->ds;
	struct auxt_bts_plan plan = auxt_bts_plan(&ch->aux, bts->laps);

	bts->begin = (unsigned long)place(ch);
	if (bts->buffer) {
		bts->begin = (unsigned long)bts->buffer;
		plan = auxt_bts_plan_buffered(plan, BTS_BUFFER_SIZE,
					      ch->flags & AUXTRACE_SETUP_KERNEL);
	}
	bts->room = plan.room;
	WRITE_ONCE(ds->bts_buffer_base, bts->begin);
	WRITE_ONCE(ds->bts_index, bts->begin);
	WRITE_ONCE(ds->bts_absolute_maximum, bts->begin + plan.room);
	/* Last, as close() has it first: an NMI in between finds nothing to look at. */
	WRITE_ONCE(ds->bts_interrupt_threshold, bts->begin + plan.call);
	/* All of it is there before the hardware looks. */
	wmb();
}

static int bts_claim(struct auxt_channel *ch)
{
	struct bts *bts = bts_of(ch);
	struct debug_store *ds = bts->ds;
	u64 area;
	int err = bts_in_use();

	if (err)
		return err;
	if (auxt_rdmsr_safe(MSR_IA32_DS_AREA, &area) || area != (unsigned long)ds)
		return -EIO;
	/* perf has no buffer there if it got no memory for it. */
	if (bts->buffer && ds->bts_buffer_base != (unsigned long)bts->buffer)
		return -EIO;
	bts->was.base = ds->bts_buffer_base;
	bts->was.index = ds->bts_index;
	bts->was.maximum = ds->bts_absolute_maximum;
	bts->was.threshold = ds->bts_interrupt_threshold;
	bts->pmi_pending = false;
	bts->begin = ds->bts_buffer_base;
	close(bts);
	auxt_pmi_route();
	return 0;
}

static void bts_emergency_stop(void)
{
	u64 debugctl = auxt_rdmsr(MSR_IA32_DEBUGCTLMSR);

	if ((debugctl & ON) == ON)
		auxt_wrmsr(MSR_IA32_DEBUGCTLMSR, debugctl & ~OURS);
}
NOKPROBE_SYMBOL(bts_emergency_stop);

static void bts_release(struct auxt_channel *ch)
{
	struct bts *bts = bts_of(ch);
	struct debug_store *ds = bts->ds;

	/* What somebody has turned on meanwhile is not to write where perf's records go. */
	bts_emergency_stop();
	auxt_pmi_unroute(bts->pmi_pending);
	ds->bts_buffer_base = bts->was.base;
	ds->bts_index = bts->was.index;
	ds->bts_absolute_maximum = bts->was.maximum;
	ds->bts_interrupt_threshold = bts->was.threshold;
}

static int bts_start(struct auxt_channel *ch, bool new_window)
{
	u64 debugctl = auxt_rdmsr(MSR_IA32_DEBUGCTLMSR) & ~OURS;

	open(ch);
	return auxt_wrmsr_safe(MSR_IA32_DEBUGCTLMSR, debugctl | bts_of(ch)->bits);
}
NOKPROBE_SYMBOL(bts_start);

static bool is_kernel_address(u64 address)
{
	return address >> 63;
}
NOKPROBE_SYMBOL(is_kernel_address);

/*
 * What a session may not see of the kernel: addresses that returns to user code come from
 * read as 0 from here on; what the CPL filter lets through on its way there is left out.
 * Returns the end of what stays.
 */
static struct auxtrace_branch *censor(struct auxtrace_branch *branch,
				      const struct auxtrace_branch *end)
{
	struct auxtrace_branch *to = branch;

	for (; branch < end; branch++) {
		if (unlikely(is_kernel_address(branch->from | branch->to))) {
			if (is_kernel_address(branch->to))
				continue;
			branch->from = 0;
		}
		if (unlikely(to != branch))
			*to = *branch;
		to++;
	}
	return to;
}
NOKPROBE_SYMBOL(censor);

/* From the buffer to the area, which users see. Returns how many bytes. */
static u64 collect(const struct auxt_channel *ch, u64 bytes)
{
	struct auxtrace_branch *buffer = bts_of(ch)->buffer;
	struct auxtrace_branch *end = buffer + bytes / BTS_RECORD;
	u64 gone = 0;

	if (!(ch->flags & AUXTRACE_SETUP_KERNEL))
		end = censor(buffer, end);
	bytes = (char *)end - (char *)buffer;
	/* Of a small area no byte twice: memcpy() may go backwards. */
	if (bytes > ch->aux.size)
		gone = bytes - ch->aux.size;
	memcpy(place(ch) + gone, (char *)buffer + gone, bytes - gone);
	return bytes;
}
NOKPROBE_SYMBOL(collect);

static u32 bts_stop(struct auxt_channel *ch)
{
	u64 debugctl = auxt_rdmsr(MSR_IA32_DEBUGCTLMSR);
	bool foreign = (debugctl & ON) != ON;
	struct bts *bts = bts_of(ch);
	u64 end, bytes;

	if (!foreign)
		auxt_wrmsr(MSR_IA32_DEBUGCTLMSR, debugctl & ~OURS);
	end = READ_ONCE(bts->ds->bts_index);
	bts->pmi_pending |= end >= bts->ds->bts_interrupt_threshold;
	close(bts);
	/* As in pt.c: the records are in memory before their position is told. */
	wmb();
	ch->off_tsc = rdtsc();
	bytes = end - bts->begin;
	/* Somebody has changed what was ours. */
	if (end < bts->begin || bytes > bts->room || bytes % BTS_RECORD)
		return TRACE_ERROR;
	ch->aux.produced += bts->buffer ? collect(ch, bytes) : bytes;
	if (bytes == bts->room)
		return TRACE_STOPPED;
	return foreign ? TRACE_FOREIGN : 0;
}
NOKPROBE_SYMBOL(bts_stop);

/* Each start looks for its slot itself. */
static void bts_relocate(struct auxt_channel *ch)
{
}
NOKPROBE_SYMBOL(bts_relocate);

/* There is none but what bts_acknowledge() finds: that bit nobody else takes away. */
static bool bts_interrupt(struct auxt_channel *ch)
{
	return false;
}
NOKPROBE_SYMBOL(bts_interrupt);

static bool bts_acknowledge(struct auxt_channel *ch)
{
	struct bts *bts = bts_of(ch);
	bool asserted = bts->pmi_pending;

	bts->pmi_pending = false;
	if (READ_ONCE(bts->ds->bts_index) >= READ_ONCE(bts->ds->bts_interrupt_threshold)) {
		WRITE_ONCE(bts->ds->bts_interrupt_threshold, NEVER);
		asserted = true;
	}
	return asserted;
}
NOKPROBE_SYMBOL(bts_acknowledge);

/*
 * With isolated page tables perf has no PMU "intel_bts", only its old form of BTS: an
 * event of branches with period 1. It keeps the debug store and its buffer alive, and
 * LBRs out (and they it), but not another event like itself.
 */
static const struct perf_event_attr old_form = {
	.type = PERF_TYPE_HARDWARE,
	.size = sizeof(old_form),
	.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	.sample_period = 1,
	.exclude_kernel = 1,
	.disabled = 1,
};

const struct trace_pmu auxt_bts = {
	.number = AUXTRACE_PMU_INTEL_BTS,
	.name = "intel_bts",
	.reserve_instead = &old_form,
	.granule = sizeof(struct auxtrace_branch),
	.missing = bts_missing,
	.check = bts_check,
	.in_use = bts_in_use,
	.table_pages = bts_table_pages,
	.setup = bts_setup,
	.cleanup = bts_cleanup,
	.claim = bts_claim,
	.release = bts_release,
	.start = bts_start,
	.stop = bts_stop,
	.relocate = bts_relocate,
	.interrupt = bts_interrupt,
	.acknowledge = bts_acknowledge,
	.emergency_stop = bts_emergency_stop,
};
