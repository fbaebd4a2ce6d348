// SPDX-License-Identifier: GPL-2.0-only
/*
 * Branch Trace Store. No other file touches IA32_DEBUGCTL and the debug store.
 *
 * This file rests on these rules of the SDM, volume 3, "Branch Trace Store (BTS)" and
 * "BTS and DS Save Area":
 *  - IA32_DS_AREA holds the linear address of a struct, the debug store, whose first four
 *    words say where BTS records go. perf owns it and PEBS shares it, so this file never
 *    writes the MSR. perf keeps the struct in the CPU entry area as long as an event like
 *    our reservation exists. Meanwhile its four words for BTS are ours;
 *  - the CPU stores records by linear addresses of the current page tables;
 *  - with BTINT set, a record that reaches the threshold raises an interrupt. A record
 *    that does not fit below the absolute maximum is dropped. No status bit reports
 *    either: software reads the index;
 *  - the CPL filters test the CPL after the branch.
 *
 * DOC: where the records go
 *
 * The pages of an AUX area are scattered, but the hardware needs one range of addresses.
 * So the module maps each slot several times in a row. Each start continues where the last
 * one stopped, in the first of these copies, and the hardware runs on into the next copy.
 * It never wraps, and the records lie at multiples of their size throughout.
 *
 * The hardware then writes straight to memory that users map. This is impossible in two
 * cases. There, records go to the buffer of 64 KiB that perf keeps in the CPU entry area
 * for its older form of BTS, and this file copies them at each interrupt and pause:
 *  - page-table isolation: while user code runs, the CPU entry area is the only writable
 *    kernel memory that is mapped. A module cannot map anything else there;
 *  - the session may not see the kernel: records of returns from the kernel hold kernel
 *    addresses, which the copy masks.
 *
 * DOC: IA32_DEBUGCTL is shared
 *
 * Block-stepping and LBRs change it by read-modify-write with interrupts off; so does this file.
 * Our NMI handler may run between the read and the write of other code; that write then undoes
 * ours. If that turns BTS off, the next sync finds it and counts a gap. If that turns BTS on, no
 * record is stored: bts_stop() leaves no space in the buffer. That holds as well if the CPU refuses
 * to turn BTS off. bts_release() turns it off whatever turned it on.
 */

#include <linux/auxtrace.h>
#include <linux/build_bug.h>
#include <linux/compiler.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/topology.h>
#include <linux/vmalloc.h>
#include <asm/cpu_entry_area.h>
#include <asm/intel_ds.h>
#include <asm/tsc.h>
#include "base/aux_buffer.h"
#include "compat/compat.h"
#include "core/caps.h"
#include "core/channel.h"
#include "core/filters.h"
#include "core/trace_pmu.h"
#include "hw/bts.h"
#include "hw/bts_plan.h"
#include "hw/msr.h"
#include "hw/pmi.h"
#include "hw/pt.h"

/* BTS_ON turns BTS on; BTS_OURS is all that this file changes in IA32_DEBUGCTL. */
#define BTS_ON		((u64)(DEBUGCTLMSR_TR | DEBUGCTLMSR_BTS))
#define BTS_OURS	(BTS_ON | DEBUGCTLMSR_BTINT | \
			 DEBUGCTLMSR_BTS_OFF_OS | DEBUGCTLMSR_BTS_OFF_USR)

static_assert(sizeof(struct auxtrace_branch) == 24);

/**
 * struct bts - BTS of one channel
 * @ds: the CPU's debug store
 * @map: the AUX area, mapped as described above
 * @laps: copies of each slot in @map
 * @buffer: buffer in the CPU entry area; NULL: the hardware writes to @map
 * @bits: bits of IA32_DEBUGCTL that are set to trace
 * @begin: address at which the hardware began to write
 * @space: bytes that it may fill from there on
 * @pmi_pending: BTS was stopped beyond the threshold, so an interrupt has come or will
 *	come, and nothing else says that it is BTS's
 */
struct bts {
	struct debug_store *ds;
	char *map;
	u64 laps;
	struct auxtrace_branch *buffer;
	u64 bits;
	u64 begin;
	u64 space;
	bool pmi_pending;
};

/**
 * struct bts_words - the words of a CPU's debug store before bts_claim()
 * @base: bts_buffer_base
 * @index: bts_index
 * @maximum: bts_absolute_maximum
 * @threshold: bts_interrupt_threshold
 * @restore_pending: they are still to be restored
 */
struct bts_words {
	u64 base;
	u64 index;
	u64 maximum;
	u64 threshold;
	bool restore_pending;
};

/* Of the CPU, not of the channel: if the CPU refuses to turn BTS off, they outlive the channel. */
static DEFINE_PER_CPU(struct bts_words, bts_words_before);

static __always_inline struct bts *bts_of(const struct auxt_channel *ch)
{
	return ch->hw;
}

/* ---- capabilities ----------------------------------------------------- */

static bool bts_has_pti(void)
{
	return boot_cpu_has(X86_FEATURE_PTI);
}
NOKPROBE_SYMBOL(bts_has_pti);

static u32 bts_missing(void)
{
	if (!boot_cpu_has(X86_FEATURE_DS) || !boot_cpu_has(X86_FEATURE_DTES64))
		return AUXTRACE_PMU_STATE_NO_CPUID;
	/* The kernel sets this from IA32_MISC_ENABLE, on Intel CPUs only. */
	if (!boot_cpu_has(X86_FEATURE_BTS))
		return AUXTRACE_PMU_STATE_DISABLED;
	/* The kernel maps the debug store on Intel CPUs only. */
	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL)
		return AUXTRACE_PMU_STATE_NO_CPUID;
	if (!auxt_pmi_exists(1))
		return AUXTRACE_PMU_STATE_NO_PMI;
	return AUXTRACE_PMU_STATE_OK;
}
NOKPROBE_SYMBOL(bts_missing);

/*
 * perf lets one of BTS and LBR be in use at a time (x86_add_exclusive() in
 * arch/x86/events/core.c), and Intel PT be a third where the CPU cannot have it beside LBR. With
 * page-table isolation the reservation is an event of PMU "cpu" (bts_branch_event), which excludes
 * no other event of that PMU.
 */
static u32 bts_excludes(void)
{
	return AUXTRACE_EXCLUDES_LBR | (bts_has_pti() ? 0 : AUXTRACE_EXCLUDES_TASK_EVENTS) |
	       (auxt_pt_caps().excludes_lbr ? AUXTRACE_EXCLUDES_PT_BTS : 0);
}
NOKPROBE_SYMBOL(bts_excludes);

static void bts_describe(struct auxt_caps *caps)
{
	const struct auxtrace_cap_intel_bts cap = {
		.cap = { .tag = AUXTRACE_CAP_INTEL_BTS, .size = sizeof(cap) },
		.flags = (boot_cpu_has(X86_FEATURE_DSCPL) ? AUXTRACE_BTS_CPL : 0) |
			 (bts_has_pti() ? AUXTRACE_BTS_BUFFERED : 0),
	};

	if (bts_missing() == AUXTRACE_PMU_STATE_OK)
		auxt_caps_add(caps, &cap.cap);
}
NOKPROBE_SYMBOL(bts_describe);

static int bts_check(const struct auxtrace_setup *setup, const struct auxt_filters *filters,
		     const struct cpumask *cpus)
{
	const u32 both = AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER;

	if (setup->config)
		return -EINVAL;
	/* The hardware has no filters but the CPL. */
	if (filters->nr || filters->mm)
		return -EOPNOTSUPP;
	if ((setup->flags & both) != both && !boot_cpu_has(X86_FEATURE_DSCPL))
		return -EOPNOTSUPP;
	return 0;
}
NOKPROBE_SYMBOL(bts_check);

static int bts_in_use(void)
{
	u64 debugctl;

	if (auxt_rdmsr_safe(MSR_IA32_DEBUGCTLMSR, &debugctl))
		return -EIO;
	return (debugctl & BTS_ON) == BTS_ON ? -EBUSY : 0;
}
NOKPROBE_SYMBOL(bts_in_use);

/* ---- memory ----------------------------------------------------------- */

static unsigned long bts_table_pages(const struct auxtrace_setup *setup)
{
	u64 slot_size = setup->aux_size / max(setup->slots, 1U);
	u64 laps = auxt_bts_laps(slot_size, setup->flags & AUXTRACE_SETUP_OVERWRITE);

	/* The kernel's page tables of the map. */
	return DIV_ROUND_UP((setup->aux_size >> PAGE_SHIFT) * laps * sizeof(pte_t), PAGE_SIZE);
}
NOKPROBE_SYMBOL(bts_table_pages);

static void bts_cleanup(struct auxt_channel *ch)
{
	if (!ch->stuck)
		vunmap(bts_of(ch)->map);
	kfree(bts_of(ch));
	ch->hw = NULL;
}
NOKPROBE_SYMBOL(bts_cleanup);

static int bts_setup(struct auxt_channel *ch, u32 flags, u64 config)
{
	struct bts *bts = kzalloc_node(sizeof(*bts), AUXT_SESSION_GFP, cpu_to_node(ch->cpu));
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
	if (bts_has_pti() || !(flags & AUXTRACE_SETUP_KERNEL))
		bts->buffer = (struct auxtrace_branch *)area->cpu_debug_buffers.bts_buffer;
	bts->bits = BTS_ON | DEBUGCTLMSR_BTINT;
	if (!(flags & AUXTRACE_SETUP_KERNEL))
		bts->bits |= DEBUGCTLMSR_BTS_OFF_OS;
	if (!(flags & AUXTRACE_SETUP_USER))
		bts->bits |= DEBUGCTLMSR_BTS_OFF_USR;
	ch->aux.margin = auxt_bts_margin(ch->aux.size);
	ch->hw = bts;
	return 0;
}
NOKPROBE_SYMBOL(bts_setup);

/* Address of the position up to which the hardware has produced. */
static __always_inline char *bts_place(const struct auxt_channel *ch)
{
	const struct auxt_position *aux = &ch->aux;
	const struct bts *bts = bts_of(ch);

	return bts->map + ch->now.slot * bts->laps * aux->size +
	       aux->produced % aux->size;
}

/* ---- the debug store and IA32_DEBUGCTL -------------------------------- */

/*
 * A threshold that no index reaches. It is in place while the hardware is off, because perf's
 * NMI handler would take our interrupt for its own. It is also in place after an interrupt
 * is acknowledged: each record beyond the threshold raises another interrupt, even a record
 * of the kernel's return from the NMI, so interrupts could repeat until the space is full.
 */
#define BTS_NEVER	(~0ull)

/* Leaves no space for records, and no threshold to reach. */
static __always_inline void bts_close(struct bts *bts)
{
	struct debug_store *ds = bts->ds;

	WRITE_ONCE(ds->bts_interrupt_threshold, BTS_NEVER);
	WRITE_ONCE(ds->bts_absolute_maximum, bts->begin);
	WRITE_ONCE(ds->bts_index, bts->begin);
}

/* Points the debug store at the space that the plan allows. */
static __always_inline void bts_open(struct auxt_channel *ch)
{
	struct bts *bts = bts_of(ch);
	struct debug_store *ds = bts->ds;
	struct auxt_bts_plan plan = auxt_bts_plan(&ch->aux, bts->laps);

	bts->begin = (unsigned long)bts_place(ch);
	if (bts->buffer) {
		bts->begin = (unsigned long)bts->buffer;
		plan = auxt_bts_plan_buffered(plan, BTS_BUFFER_SIZE,
					      ch->flags & AUXTRACE_SETUP_KERNEL);
	}
	bts->space = plan.space;
	WRITE_ONCE(ds->bts_buffer_base, bts->begin);
	WRITE_ONCE(ds->bts_index, bts->begin);
	WRITE_ONCE(ds->bts_absolute_maximum, bts->begin + plan.space);
	/* Written last; bts_close() writes it first. An NMI in between sees an index below it. */
	WRITE_ONCE(ds->bts_interrupt_threshold, bts->begin + plan.threshold);
	/* The words are in memory before the hardware is turned on and reads them. */
	wmb();
}

static void bts_save_words(const struct debug_store *ds)
{
	*this_cpu_ptr(&bts_words_before) = (struct bts_words) {
		.base = ds->bts_buffer_base,
		.index = ds->bts_index,
		.maximum = ds->bts_absolute_maximum,
		.threshold = ds->bts_interrupt_threshold,
		.restore_pending = true,
	};
}
NOKPROBE_SYMBOL(bts_save_words);

/* BTS is off, or the hardware would write to perf's buffer. */
static void bts_restore_words(void)
{
	struct debug_store *ds = &get_cpu_entry_area(smp_processor_id())->cpu_debug_store;
	struct bts_words *before = this_cpu_ptr(&bts_words_before);

	if (!before->restore_pending)
		return;
	ds->bts_buffer_base = before->base;
	ds->bts_index = before->index;
	ds->bts_absolute_maximum = before->maximum;
	ds->bts_interrupt_threshold = before->threshold;
	before->restore_pending = false;
}
NOKPROBE_SYMBOL(bts_restore_words);

static int bts_claim(struct auxt_channel *ch)
{
	struct bts *bts = bts_of(ch);
	struct debug_store *ds = bts->ds;
	u64 area;
	int err = bts_in_use();

	if (err)
		return err;
	/* A release before a suspend may have left BTS on. It is off now. */
	bts_restore_words();
	if (auxt_rdmsr_safe(MSR_IA32_DS_AREA, &area) || area != (unsigned long)ds)
		return -EIO;
	/* perf has set up no buffer if it could not allocate the memory. */
	if (bts->buffer && ds->bts_buffer_base != (unsigned long)bts->buffer)
		return -EIO;
	bts_save_words(ds);
	bts->pmi_pending = false;
	bts->begin = ds->bts_buffer_base;
	bts_close(bts);
	auxt_pmi_route();
	return 0;
}
NOKPROBE_SYMBOL(bts_claim);

static int bts_turn_off(void)
{
	u64 debugctl = auxt_rdmsr(MSR_IA32_DEBUGCTLMSR);

	if ((debugctl & BTS_ON) != BTS_ON)
		return 0;
	return auxt_wrmsr_twice(MSR_IA32_DEBUGCTLMSR, debugctl & ~BTS_OURS);
}
NOKPROBE_SYMBOL(bts_turn_off);

static void bts_emergency_stop(void)
{
	bts_turn_off();
}
NOKPROBE_SYMBOL(bts_emergency_stop);

static int bts_recover(void)
{
	int err = bts_turn_off();

	if (!err)
		bts_restore_words();
	return err;
}
NOKPROBE_SYMBOL(bts_recover);

static void bts_release(struct auxt_channel *ch)
{
	/* If other code turned BTS on meanwhile, the hardware must not write to perf's buffer. */
	ch->stuck = bts_recover();
	/* If it is stuck, the debug store has no space, and stays so. */
	auxt_pmi_unroute(bts_of(ch)->pmi_pending);
}
NOKPROBE_SYMBOL(bts_release);

static int bts_start(struct auxt_channel *ch, bool new_window)
{
	u64 debugctl = auxt_rdmsr(MSR_IA32_DEBUGCTLMSR) & ~BTS_OURS;

	bts_open(ch);
	if (likely(!auxt_wrmsr(MSR_IA32_DEBUGCTLMSR, debugctl | bts_of(ch)->bits)))
		return 0;
	/* Other code may have turned BTS on meanwhile. */
	bts_turn_off();
	bts_close(bts_of(ch));
	return -EIO;
}
NOKPROBE_SYMBOL(bts_start);

static bool bts_is_kernel(u64 address)
{
	return address >> 63;
}
NOKPROBE_SYMBOL(bts_is_kernel);

/*
 * Hides the kernel from a session that may not see it: a return to user code gets the
 * source address 0, and a branch into the kernel, which the CPL filter may let through, is
 * dropped. Returns the end of the records that remain.
 */
static struct auxtrace_branch *bts_censor(struct auxtrace_branch *branch,
					  const struct auxtrace_branch *end)
{
	struct auxtrace_branch *to = branch;

	for (; branch < end; branch++) {
		if (unlikely(bts_is_kernel(branch->from | branch->to))) {
			if (bts_is_kernel(branch->to))
				continue;
			branch->from = 0;
		}
		if (unlikely(to != branch))
			*to = *branch;
		to++;
	}
	return to;
}
NOKPROBE_SYMBOL(bts_censor);

/* Copies the records from the buffer to the AUX area. Returns how many bytes. */
static u64 bts_collect(const struct auxt_channel *ch, u64 bytes)
{
	struct auxtrace_branch *buffer = bts_of(ch)->buffer;
	struct auxtrace_branch *end = buffer + bytes / BTS_RECORD;
	u64 skip = 0;

	if (!(ch->flags & AUXTRACE_SETUP_KERNEL))
		end = bts_censor(buffer, end);
	bytes = (char *)end - (char *)buffer;
	/* If the area is smaller, skip records that newer ones overwrite: memcpy() has no order. */
	if (bytes > ch->aux.size)
		skip = bytes - ch->aux.size;
	memcpy(bts_place(ch) + skip, (char *)buffer + skip, bytes - skip);
	return bytes;
}
NOKPROBE_SYMBOL(bts_collect);

static u32 bts_stop(struct auxt_channel *ch, bool alone)
{
	u64 debugctl = auxt_rdmsr(MSR_IA32_DEBUGCTLMSR);
	bool foreign = (debugctl & BTS_ON) != BTS_ON;
	struct bts *bts = bts_of(ch);
	bool refused = false;
	u64 end, bytes;

	if (!foreign)
		refused = auxt_wrmsr_twice(MSR_IA32_DEBUGCTLMSR, debugctl & ~BTS_OURS);
	end = READ_ONCE(bts->ds->bts_index);
	bts->pmi_pending |= end >= bts->ds->bts_interrupt_threshold;
	bts_close(bts);
	/* As in pt_stop(): the records are in memory before their position is published. */
	wmb();
	ch->off_tsc = rdtsc();
	bytes = end - bts->begin;
	/* Other code has changed the debug store. */
	if (end < bts->begin || bytes > bts->space || bytes % BTS_RECORD)
		return TRACE_ERROR;
	ch->aux.produced += bts->buffer ? bts_collect(ch, bytes) : bytes;
	if (unlikely(refused))
		return TRACE_ERROR;
	if (bytes == bts->space)
		return TRACE_STOPPED;
	return foreign ? TRACE_FOREIGN : 0;
}
NOKPROBE_SYMBOL(bts_stop);

/* Nothing to do: bts_open() finds the slot at each start. */
static void bts_relocate(struct auxt_channel *ch)
{
}
NOKPROBE_SYMBOL(bts_relocate);

/* bts_acknowledge() finds every reason, as no other handler changes the index. */
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
		WRITE_ONCE(bts->ds->bts_interrupt_threshold, BTS_NEVER);
		asserted = true;
	}
	return asserted;
}
NOKPROBE_SYMBOL(bts_acknowledge);

/*
 * With page-table isolation perf has no PMU "intel_bts", only its older form of BTS: a
 * branch event with period 1. Such an event keeps the debug store and its buffer alive and
 * excludes LBRs, and LBRs exclude it. It does not exclude another event like itself.
 */
static const struct perf_event_attr bts_branch_event = {
	.type = PERF_TYPE_HARDWARE,
	.size = sizeof(bts_branch_event),
	.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	.sample_period = 1,
	.exclude_kernel = 1,
	.disabled = 1,
};

const struct trace_pmu auxt_bts = {
	.number = AUXTRACE_PMU_INTEL_BTS,
	.name = "intel_bts",
	.reserve_instead = &bts_branch_event,
	.granule = sizeof(struct auxtrace_branch),
	.missing = bts_missing,
	.excludes = bts_excludes,
	.describe = bts_describe,
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
	.recover = bts_recover,
};
