// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intel PT's registers: module/hw/pt.c on a simulated CPU, where each WRMSR may fault, and where
 * other code turns tracing on. While the hardware can write to a session's pages, the channel is
 * attached or stuck; after it, the registers are as before. The CPU goes through the tables as it
 * writes: a channel knows where it is.
 */

#include <stdlib.h>
#include <string.h>
#include <linux/err.h>
#include "cmocka_all.h"
#include "compat/compat.h"
#include "core/caps.h"
#include "core/channel.h"
#include "hw/pmi.h"
#include "hw/pt.h"
#include "hw/pt_caps.h"
#include "hw/pt_tables.h"
#include "hw/topa.h"

#define PAGE		AUXT_PAGE_SIZE
#define SLOTS		2
#define LARGE		1024		/* three tables, in overwrite mode five */
#define SMALL		128		/* one table, in overwrite mode for three laps */
#define SIZE		(pages * PAGE)
#define REGION		(PAGE << order)
#define ORDER		3		/* with which a table suffices for LARGE */
#define MOST_TABLES	5
#define TABLE		0x123000ull
#define AREA		0x40000000ull
#define WAS_BASE	0x777000ull
#define WAS_MASK	0x1230000007full
#define WAS_CR3		0x99000ull

int shim_nr_cpus = 1;

void shim_point(void)
{
}

static u64 pages;	/* of a slot */
static unsigned int order;	/* of its regions */
static bool single;	/* tables have one entry */
static u64 tsc;

u64 rdtsc(void)
{
	return ++tsc;
}

/* ---- the CPU: SDM, "Intel Processor Trace", configuration MSRs -------------- */

static struct {
	u64 base, mask, ctl, status, global_status;
	u64 addr[2 * AUXT_MAX_FILTERS];
	u64 cr3_match;
	unsigned int fault;	/* the write that faults: 1 is the next; 0: none */
	unsigned int refuse;	/* likewise, and all later ones */
	unsigned int writes, reads;
	u64 late;		/* bytes that it writes as TraceEn is cleared */
	u64 late_status;	/* bits that it sets in RTIT_STATUS then */
	u32 unreadable;		/* MSR whose RDMSR faults */
	u64 vmx_misc;
	unsigned long cr4;
	bool has_pt, has_vmx;
	struct pt_cpuid leaf[2];	/* leaf 14H */
} cpu;

static u64 *reg(u32 msr)
{
	switch (msr) {
	case MSR_IA32_RTIT_OUTPUT_BASE:
		return &cpu.base;
	case MSR_IA32_RTIT_OUTPUT_MASK:
		return &cpu.mask;
	case MSR_IA32_RTIT_CTL:
		return &cpu.ctl;
	case MSR_IA32_RTIT_STATUS:
		return &cpu.status;
	case MSR_IA32_RTIT_CR3_MATCH:
		assert_true(cpu.leaf[0].ebx & 1);
		return &cpu.cr3_match;
	case MSR_IA32_VMX_MISC:
		return &cpu.vmx_misc;
	case MSR_IA32_RTIT_ADDR0_A ... MSR_IA32_RTIT_ADDR3_B:
		/* A CPU has those of its ranges only. */
		assert_true(msr - MSR_IA32_RTIT_ADDR0_A < 2 * (cpu.leaf[1].eax & 7));
		return &cpu.addr[msr - MSR_IA32_RTIT_ADDR0_A];
	default:
		assert_int_equal(msr, MSR_CORE_PERF_GLOBAL_STATUS);
		return &cpu.global_status;
	}
}

static bool tracing(void)
{
	return cpu.ctl & RTIT_CTL_TRACEEN;
}

static void hardware_writes(u64 bytes);

u64 auxt_rdmsr(u32 msr)
{
	cpu.reads++;
	return *reg(msr);
}

int auxt_rdmsr_safe(u32 msr, u64 *value)
{
	if (msr == cpu.unreadable)
		return -EIO;
	*value = *reg(msr);
	return 0;
}

int auxt_wrmsr(u32 msr, u64 value)
{
	cpu.writes++;
	if (cpu.fault && !--cpu.fault)
		return -EIO;
	if (cpu.refuse == 1)
		return -EIO;
	if (cpu.refuse)
		cpu.refuse--;
	if (msr == MSR_CORE_PERF_GLOBAL_OVF_CTRL) {
		cpu.global_status &= ~value;
		return 0;
	}
	/* While TraceEn is set, only a write that clears it may change anything. */
	if (cpu.ctl & RTIT_CTL_TRACEEN &&
	    (msr != MSR_IA32_RTIT_CTL || (value & RTIT_CTL_TRACEEN && value != cpu.ctl)))
		return -EIO;
	if (tracing() && msr == MSR_IA32_RTIT_CTL) {
		hardware_writes(cpu.late);
		cpu.status |= cpu.late_status;
		cpu.late = cpu.late_status = 0;
	}
	*reg(msr) = value;
	return 0;
}

static const struct pt_cpuid skylake[2] = {
	{ .eax = 1, .ebx = 0xf, .ecx = 7 },
	{ .eax = 0x02490002, .ebx = 0x003f1fff },
};

struct shim_cpu boot_cpu_data;

bool boot_cpu_has(unsigned int feature)
{
	return feature == X86_FEATURE_INTEL_PT ? cpu.has_pt : cpu.has_vmx;
}

unsigned long __read_cr4(void)
{
	return cpu.cr4;
}

void cpuid_count(u32 leaf, u32 subleaf, u32 *eax, u32 *ebx, u32 *ecx, u32 *edx)
{
	assert_int_equal(leaf, 0x14);
	*eax = cpu.leaf[subleaf].eax;
	*ebx = cpu.leaf[subleaf].ebx;
	*ecx = cpu.leaf[subleaf].ecx;
	*edx = cpu.leaf[subleaf].edx;
}

/* ---- the rest of the module -------------------------------------------------- */

static u64 tables[SLOTS][MOST_TABLES][TOPA_ENTRIES_PER_TABLE];
static u64 *pointers[SLOTS][MOST_TABLES];
static u64 phys[SLOTS][MOST_TABLES];
static struct auxt_topa topa[SLOTS];
static u64 single_table[TOPA_ENTRIES_PER_TABLE];
static u8 orders[SLOTS * LARGE];
static struct auxt_topa_single the_single = {
	.table = single_table, .phys = TABLE, .orders = orders,
};
static u64 cleared;	/* bytes of the last page that was cleared */
static u64 cleared_at;	/* position of the first of them, in the area */
static int routed, kept_tables;
static unsigned int pmu_version;
static bool no_tables;

/* As the kernel's pages: those of a slot one after another, in overwrite mode twice. */
static void fill_tables(struct auxt_channel *ch, unsigned int slot)
{
	struct auxt_topa *t = &topa[slot];

	u64 per_lap = pages >> order;

	*t = (struct auxt_topa) { .order = order, .tables = pointers[slot], .phys = phys[slot] };
	t->nr_regions = auxt_topa_nr_regions(SIZE, order, ch->aux.overwrite);
	t->nr_tables = auxt_topa_nr_tables(t->nr_regions);
	assert_true(t->nr_tables <= MOST_TABLES);
	for (unsigned int i = 0; i < t->nr_tables; i++) {
		pointers[slot][i] = tables[slot][i];
		phys[slot][i] = TABLE + (slot * MOST_TABLES + i) * PAGE;
	}
	auxt_topa_link(t);
	for (unsigned long i = 0; i < t->nr_regions; i++) {
		auxt_topa_set_region(t, i, AREA + slot * SIZE + i % per_lap * REGION);
		if (ch->aux.overwrite && i % per_lap == per_lap - 1)
			auxt_topa_mark(t, i, TOPA_ENTRY_INT);
	}
	ch->aux.cycle = t->nr_regions * REGION;
	ch->aux.region = ch->aux.margin = REGION;
}

struct auxt_topa *auxt_pt_tables_new(struct auxt_channel *ch)
{
	if (no_tables)
		return ERR_PTR(-EINTR);
	memset(tables, 0, sizeof(tables));
	for (unsigned int slot = 0; slot < SLOTS; slot++)
		fill_tables(ch, slot);
	return topa;
}

void auxt_pt_tables_free(struct auxt_topa *freed, unsigned int slots, bool keep_tables)
{
	assert_ptr_equal(freed, topa);
	assert_int_equal(slots, SLOTS);
	kept_tables = keep_tables;
}

#define TABLES_PAGES	17
#define SINGLE_PAGES	3

unsigned long auxt_pt_tables_pages(const struct auxtrace_setup *setup)
{
	return TABLES_PAGES;
}

unsigned long auxt_pt_single_pages(const struct auxtrace_setup *setup)
{
	return SINGLE_PAGES;
}

/*
 * With tables of one entry the pages of an area are not in a row: chunks of 32 pages are swapped, and
 * in each fourth chunk neighbours are, so that these have regions of a page.
 */
static u64 page_phys(u64 page)
{
	if (single)
		page ^= page / 32 % 4 == 3 ? 1 : 32;
	return AREA + page * PAGE;
}

static u64 phys_of(const void *area, unsigned long page)
{
	return page_phys(page);
}

struct auxt_topa_single *auxt_pt_single_new(struct auxt_channel *ch)
{
	if (no_tables)
		return ERR_PTR(-EINTR);
	assert_true(single);
	memset(single_table, 0, sizeof(single_table));
	auxt_topa_single_link(&the_single);
	for (unsigned long page = 0; page < SLOTS * pages;)
		page = auxt_topa_single_find(orders, page, pages, phys_of, NULL);
	ch->aux.cycle = ch->aux.size;
	return &the_single;
}

void auxt_pt_single_free(struct auxt_topa_single *freed, bool keep_table)
{
	assert_ptr_equal(freed, &the_single);
	kept_tables = keep_table;
}

u64 auxt_pt_page_phys(const void *area, unsigned long page)
{
	assert_true(page < SLOTS * pages);
	return page_phys(page);
}

void auxt_pt_single_clear(const struct auxt_channel *ch, unsigned long page, size_t from)
{
	assert_false(cpu.ctl & RTIT_CTL_TRACEEN);
	assert_true(from < PAGE);
	cleared_at = page * PAGE + from;
	cleared = PAGE - from;
}

bool auxt_pmi_exists(unsigned int version)
{
	return pmu_version >= version;
}

void auxt_pmi_route(void)
{
	routed++;
}

void auxt_pmi_unroute(bool pmi_pending)
{
	routed--;
}

/* ---- tests ------------------------------------------------------------------- */

static struct auxt_group group;
static struct auxt_channel channel;
static u64 written;	/* by the hardware, since the channel was set up */
static u64 early;	/* how many bytes before a region's end the only entry's PMI comes */

static u64 ptrs(u64 index, u64 offset)
{
	return offset << 32 | index << 7 | 0x7f;
}

static const u64 *table_at(u64 base)
{
	u64 number = (base - TABLE) / PAGE;

	if (single) {
		/* SDM: the END entry behind the only other one. */
		assert_int_equal(base, TABLE);
		assert_int_equal(single_table[1], TABLE | TOPA_ENTRY_END);
		return single_table;
	}
	assert_true(number / MOST_TABLES == channel.now.slot);
	return tables[channel.now.slot][number % MOST_TABLES];
}

static void pmi(void)
{
	cpu.global_status |= MSR_CORE_PERF_GLOBAL_OVF_CTRL_TRACE_TOPA_PMI;
}

/*
 * The CPU writes so many bytes, or as many as there is space for: SDM, "Table of Physical
 * Addresses (ToPA)". Each byte must go to the page that its position has in the slot.
 */
static void hardware_writes(u64 bytes)
{
	assert_true(tracing());
	while (bytes && !(cpu.status & RTIT_STATUS_STOPPED)) {
		u64 index = cpu.mask >> 7 & 0x1ffffff, offset = cpu.mask >> 32;
		u64 entry = table_at(cpu.base)[index];
		u64 size = PAGE << (entry >> 6 & 0xf), at = channel.now.slot * SIZE + written % SIZE;
		u64 n = bytes < PAGE - offset % PAGE ? bytes : PAGE - offset % PAGE;

		if (entry & TOPA_ENTRY_END) {
			cpu.base = entry & -PAGE;
			cpu.mask = ptrs(0, 0);
			continue;
		}
		/* SDM: a region is aligned to its size. */
		assert_int_equal(entry & -PAGE & (size - 1), 0);
		assert_true(offset < size);
		assert_int_equal((entry & -PAGE) + offset, page_phys(at / PAGE) + at % PAGE);
		written += n;
		bytes -= n;
		offset += n;
		/* The PMI of the only entry comes when the region has little space left. */
		if (entry & TOPA_ENTRY_INT && offset + (single ? early : 0) >= size &&
		    offset - n + (single ? early : 0) < size)
			pmi();
		if (offset == size && entry & TOPA_ENTRY_STOP)
			cpu.status |= RTIT_STATUS_STOPPED;
		else if (offset == size)
			index++, offset = 0;
		cpu.mask = ptrs(index, offset);
		cpu.status |= 1ull << 32;	/* PacketByteCnt */
	}
}

static u64 was_addr(unsigned int n)
{
	return 0x5000 + n;
}

static int set_up(u32 flags, u64 config, bool overwrite)
{
	memset(&channel, 0, sizeof(channel));
	channel.group = &group;
	written = 0;
	channel.now.slots = SLOTS;
	auxt_position_init(&channel.aux, SIZE, SIZE, SIZE / 2, overwrite);
	return auxt_pt.setup(&channel, flags, config);
}

static int begin_with(u64 nr_pages, unsigned int of_order, bool single_entry)
{
	pages = nr_pages;
	order = of_order;
	single = single_entry;
	early = TOPA_SINGLE_EARLY;
	cleared = 0;
	memset(&cpu, 0, sizeof(cpu));
	cpu.base = WAS_BASE;
	cpu.mask = WAS_MASK;
	for (unsigned int i = 0; i < 2 * AUXT_MAX_FILTERS; i++)
		cpu.addr[i] = was_addr(i);
	cpu.cr3_match = WAS_CR3;
	memset(&group.filters, 0, sizeof(group.filters));
	cpu.has_pt = true;
	memcpy(cpu.leaf, skylake, sizeof(skylake));
	if (single)
		cpu.leaf[0].ecx &= ~2u;
	boot_cpu_data = (struct shim_cpu) { 6, 0x5e, 0x14 };
	pmu_version = 2;
	no_tables = false;
	routed = 0;
	auxt_pt_detect();
	assert_int_equal(set_up(AUXTRACE_SETUP_USER, 0, false), 0);
	return 0;
}

static int begin(void **state)
{
	return begin_with(LARGE, 0, false);
}

static int begin_small(void **state)
{
	return begin_with(SMALL, 0, false);
}

/* An area whose memory is contiguous. */
static int begin_contiguous(void **state)
{
	return begin_with(LARGE, ORDER, false);
}

static int begin_single(void **state)
{
	return begin_with(SMALL, 0, true);
}

static int end(void **state)
{
	if (channel.hw)
		auxt_pt.cleanup(&channel);
	return 0;
}

static bool are_filters_as_before(void)
{
	if (cpu.cr3_match != WAS_CR3)
		return false;
	for (unsigned int i = 0; i < 2 * AUXT_MAX_FILTERS; i++)
		if (cpu.addr[i] != was_addr(i))
			return false;
	return true;
}

static void as_before(void)
{
	assert_false(tracing());
	assert_int_equal(cpu.base, WAS_BASE);
	assert_int_equal(cpu.mask, WAS_MASK);
	assert_true(are_filters_as_before());
	assert_int_equal(routed, 0);
	assert_false(channel.stuck);
}

/* A session with a pause. Returns what went wrong: -errno of claim, TRACE_* or 0. */
static int live(void)
{
	int err = auxt_pt.claim(&channel), wrong = 0;

	if (err)
		return err;
	for (int i = 0; i < 2 && !wrong; i++) {
		if (auxt_pt.start(&channel, true))
			wrong = TRACE_ERROR;
		else
			wrong = auxt_pt.stop(&channel, false);
		/* Off, whatever was wrong, unless the CPU goes on refusing. */
		if (cpu.refuse != 1)
			assert_false(tracing());
		auxt_pt.relocate(&channel);
	}
	cpu.global_status = MSR_CORE_PERF_GLOBAL_OVF_CTRL_TRACE_TOPA_PMI;
	auxt_pt.release(&channel);
	return wrong;
}

static void a_session_restores_the_registers(void **state)
{
	assert_int_equal(live(), 0);
	as_before();
	assert_int_equal(cpu.global_status, 0);
}

static const struct auxt_filters two_filters = {
	.nr = 2,
	.filter = {
		{ .action = AUXTRACE_FILTER_TRACE, .first = 0x1000, .last = 0x1fff },
		{ .action = AUXTRACE_FILTER_STOP, .first = 0x3000, .last = 0x3000 },
	},
};

static void set_up_with_filters(const struct auxt_filters *filters, bool overwrite)
{
	auxt_pt.cleanup(&channel);
	group.filters = *filters;
	assert_int_equal(set_up(AUXTRACE_SETUP_USER, 0, overwrite), 0);
}

/* @expected_refused: the writes of the claim */
static void fault_at_each_write(unsigned int expected_refused)
{
	unsigned int writes, refused = 0, shown = 0;

	cpu.writes = 0;
	live();
	writes = cpu.writes;
	for (unsigned int n = 1; n <= writes; n++) {
		int wrong;

		cpu.fault = n;
		wrong = live();
		assert_int_equal(cpu.fault, 0);
		refused += wrong == -EIO;
		shown += wrong == TRACE_ERROR;
		as_before();
		/* The next session works. */
		assert_int_equal(live(), 0);
		as_before();
	}
	assert_int_equal(refused, expected_refused);
	/* STATUS and CTL of two starts, and the pointers of the second; the base of the only table stays. */
	assert_int_equal(shown, single ? 5 : 6);
}

/* Two pointers. */
static void each_write_may_fault_once(void **state)
{
	fault_at_each_write(2);
}

/* The page tables of a process, and a range. */
static const struct auxt_filters by_cr3 = {
	.nr = 1,
	.filter = { { .action = AUXTRACE_FILTER_TRACE, .first = 0x1000, .last = 0x1fff } },
	.mm = (struct mm_struct *)&by_cr3,
	.cr3 = 0x1234000,
};

/* The same, and two registers of each range; then those of a range, and CR3_MATCH. */
static void with_filters_each_write_may_fault_once(void **state)
{
	set_up_with_filters(&two_filters, false);
	fault_at_each_write(2 + 4);
	set_up_with_filters(&by_cr3, false);
	fault_at_each_write(2 + 2 + 1);
}

static void keep_what_a_refusing_cpu_may_write(void)
{
	unsigned int writes, stuck = 0;

	cpu.writes = 0;
	live();
	writes = cpu.writes;
	for (unsigned int n = 1; n <= writes; n++) {
		cpu.refuse = n;
		live();
		/* Our tables or ranges are in the registers, or nothing is wrong. */
		if (tracing() || cpu.base != WAS_BASE || cpu.mask != WAS_MASK || !are_filters_as_before())
			assert_true(channel.stuck);
		else
			assert_int_equal(routed, 0);
		stuck += channel.stuck;
		if (tracing())
			assert_int_equal(auxt_pt.claim(&channel), -EBUSY);
		/* It does not give in yet. */
		if (channel.stuck)
			assert_int_equal(auxt_pt.recover(), -EIO);
		/* It gives in: what a later START does, after which perf may have the CPU. */
		cpu.refuse = 0;
		assert_int_equal(auxt_pt.recover(), 0);
		channel.stuck = false;
		as_before();
		/* Nothing is left to restore: what perf writes stays. */
		cpu.base = ~WAS_BASE;
		assert_int_equal(auxt_pt.recover(), 0);
		assert_int_equal(cpu.base, ~WAS_BASE);
		cpu.base = WAS_BASE;
		assert_int_equal(live(), 0);
		as_before();
	}
	assert_true(stuck > 0);
}

static void what_a_refusing_cpu_may_still_write_is_kept(void **state)
{
	keep_what_a_refusing_cpu_may_write();
}

static void with_filters_what_a_refusing_cpu_may_still_write_is_kept(void **state)
{
	set_up_with_filters(&two_filters, false);
	keep_what_a_refusing_cpu_may_write();
	set_up_with_filters(&by_cr3, false);
	keep_what_a_refusing_cpu_may_write();
}

static void tables_of_stuck_hardware_are_kept(void **state)
{
	for (int stuck = 0; stuck < 2; stuck++) {
		assert_int_equal(auxt_pt.claim(&channel), 0);
		assert_int_equal(auxt_pt.start(&channel, true), 0);
		cpu.refuse = stuck;
		auxt_pt.stop(&channel, false);
		auxt_pt.release(&channel);
		auxt_pt.cleanup(&channel);
		assert_int_equal(kept_tables, stuck);
		cpu.refuse = 0;
		begin_with(pages, order, single);
	}
}

static void a_cpu_that_stays_on_is_an_error(void **state)
{
	assert_int_equal(auxt_pt.claim(&channel), 0);
	assert_int_equal(auxt_pt.start(&channel, true), 0);
	cpu.refuse = 1;
	assert_int_equal(auxt_pt.stop(&channel, false), TRACE_ERROR);
	cpu.refuse = 0;
	auxt_pt.release(&channel);
	as_before();
}

static void pointers_that_are_still_to_be_restored_are_not_saved_again(void **state)
{
	assert_int_equal(auxt_pt.claim(&channel), 0);
	cpu.refuse = 1;
	auxt_pt.release(&channel);
	assert_true(channel.stuck);
	assert_true(cpu.base != WAS_BASE);
	cpu.refuse = 0;
	assert_int_equal(live(), 0);
	as_before();
}

/* As KVM, whose write of the register is older than our stop. */
static void others_turn_it_on(void)
{
	u64 on;

	assert_int_equal(auxt_pt.claim(&channel), 0);
	assert_int_equal(auxt_pt.start(&channel, true), 0);
	on = cpu.ctl;
	assert_int_equal(auxt_pt.stop(&channel, false), 0);
	assert_int_equal(auxt_wrmsr(MSR_IA32_RTIT_CTL, on), 0);
}

static void release_turns_off_what_others_turned_on(void **state)
{
	others_turn_it_on();
	auxt_pt.release(&channel);
	as_before();
}

static void a_start_finds_what_others_turned_on(void **state)
{
	others_turn_it_on();
	assert_int_equal(auxt_pt.start(&channel, true), -EIO);
	assert_false(tracing());
	auxt_pt.release(&channel);
	as_before();
}

static void a_cpu_that_has_less_than_the_session_asks_refuses_the_claim(void **state)
{
	auxt_pt.cleanup(&channel);
	assert_int_equal(auxt_pt.setup(&channel, AUXTRACE_SETUP_USER, PT_CONFIG_PTW), 0);
	assert_int_equal(auxt_pt.claim(&channel), -EOPNOTSUPP);
	as_before();
}

/* ---- where the hardware is ----------------------------------------------------- */

/* Within a region, up to its end and beyond, as many regions as a table has, and any number. */
static u64 some_bytes(u64 most)
{
	const u64 bytes[] = {
		0, 1, 100, PAGE - 1, PAGE, PAGE + 1, 511 * PAGE, 511 * PAGE + 100, 512 * PAGE,
		(u64)random() % most,
	};

	return bytes[random() % (sizeof(bytes) / sizeof(bytes[0]))];
}

/*
 * A window of so many bytes, between the present marks. The CPU may write some of them while it is
 * being stopped. Returns what stop() found.
 */
static u32 window(u64 bytes, bool new_window)
{
	u64 status = cpu.status, stopped_at, late = random() % 2 ? bytes / (1 + random() % 3) : 0;
	u32 found;

	assert_int_equal(auxt_pt.start(&channel, new_window), 0);
	assert_true(tracing());
	assert_int_equal(cpu.status, new_window ? 0 : status);
	hardware_writes(bytes - late);
	if (!(cpu.status & RTIT_STATUS_STOPPED))
		cpu.late = late;
	/* In more than a lap an interrupt would have come. */
	if (bytes < SIZE)
		assert_int_equal(auxt_pt.interrupt(&channel), written >= channel.aux.int_mark);
	stopped_at = tsc;
	found = auxt_pt.stop(&channel, false);
	assert_false(tracing());
	assert_true(channel.off_tsc > stopped_at);
	assert_int_equal(channel.aux.produced, written);
	assert_int_equal(auxt_pt.acknowledge(&channel), written >= channel.aux.int_mark);
	return found;
}

static void full_trace_interrupts_and_stops_at_its_marks_only(void **state)
{
	struct auxt_position *pos = &channel.aux;
	unsigned int stopped = 0;
	u32 found = 0;

	srandom(1);
	assert_int_equal(auxt_pt.claim(&channel), 0);
	for (int i = 0; i < 2000; i++) {
		if (random() % 2)
			pos->consumed += (pos->produced - pos->consumed) / (1 + random() % 3);
		auxt_position_plan(pos);
		if (auxt_position_full(pos)) {
			pos->consumed = pos->produced;
			auxt_position_plan(pos);
		}
		found = window(some_bytes(SIZE), found || random() % 2);
		assert_int_equal(found, written == pos->stop_mark ? TRACE_STOPPED : 0);
		stopped += !!found;
	}
	assert_true(stopped > 50);
	auxt_pt.release(&channel);
	as_before();
}

/* Then the pointers are where they were. */
static void an_area_may_fill_from_its_begin_to_its_end(void **state)
{
	assert_int_equal(auxt_pt.claim(&channel), 0);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(window(SIZE, true), TRACE_STOPPED);
		assert_int_equal(channel.aux.produced, (i + 1) * SIZE);
		channel.aux.consumed = channel.aux.produced;
		auxt_position_plan(&channel.aux);
	}
	auxt_pt.release(&channel);
	as_before();
}

static unsigned int writes_of_start(bool new_window)
{
	unsigned int before = cpu.writes, reads, writes;

	assert_int_equal(auxt_pt.start(&channel, new_window), 0);
	writes = cpu.writes - before;
	hardware_writes(100);
	reads = cpu.reads;
	assert_int_equal(auxt_pt.stop(&channel, false), 0);
	assert_int_equal(cpu.writes - before, writes + 1);
	/*
	 * Is tracing on, and a pointer; which table it is, if there are several. With tables of one entry the
	 * status, too.
	 */
	assert_int_equal(cpu.reads - reads, (pages == LARGE && !order) || single ? 3 : 2);
	return writes;
}

static void a_start_writes_what_has_changed_and_a_stop_one_register(void **state)
{
	assert_int_equal(auxt_pt.claim(&channel), 0);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(writes_of_start(false), 1);
		assert_int_equal(writes_of_start(true), 2);
		auxt_pt.relocate(&channel);
		assert_int_equal(writes_of_start(true), single ? 3 : 4);
		auxt_pt.relocate(&channel);
		assert_int_equal(writes_of_start(false), single ? 2 : 3);
	}
	auxt_pt.release(&channel);
	as_before();
}

static void each_lap_of_each_slot_ends_with_an_interrupt(void)
{
	for (unsigned int slot = 0; slot < SLOTS; slot++)
		for (unsigned long end = (pages >> order) - 1; end < topa[slot].nr_regions;
		     end += pages >> order)
			assert_true(*auxt_topa_entry(&topa[slot], end) & TOPA_ENTRY_INT);
}

static void overwrite_mode_interrupts_at_each_lap_and_deadline_in_each_slot(void **state)
{
	struct auxt_position *pos = &channel.aux;

	auxt_pt.cleanup(&channel);
	assert_int_equal(set_up(AUXTRACE_SETUP_USER, 0, true), 0);
	srandom(1);
	assert_int_equal(auxt_pt.claim(&channel), 0);
	for (int i = 0; i < 2000; i++) {
		u64 bytes = some_bytes(SIZE) % pos->cycle;

		/* Round the whole cycle, to just before where it was. */
		if (i % 16 == 0)
			bytes = pos->cycle - 1 - random() % PAGE;
		if (i % 8 == 1) {
			channel.now.slot ^= 1;
			auxt_pt.relocate(&channel);
		}
		if (random() % 2)
			pos->deadline = pos->produced + random() % (SIZE / 2);
		auxt_position_plan(pos);
		assert_int_equal(window(bytes, random() % 2), 0);
		each_lap_of_each_slot_ends_with_an_interrupt();
	}
	auxt_pt.release(&channel);
	as_before();
}

static void a_whole_cycle_within_the_first_region_is_counted(void **state)
{
	auxt_pt.cleanup(&channel);
	assert_int_equal(set_up(AUXTRACE_SETUP_USER, 0, true), 0);
	assert_int_equal(auxt_pt.claim(&channel), 0);
	auxt_position_plan(&channel.aux);
	assert_int_equal(window(200, true), 0);
	auxt_position_plan(&channel.aux);
	assert_int_equal(window(channel.aux.cycle - 100, true), 0);
	auxt_pt.release(&channel);
	as_before();
}

static void pointers_that_no_table_has_are_an_error(void **state)
{
	static const struct {
		u64 base, index, offset;
	} wrong[] = {
		{ WAS_BASE, 0, 0 },
		{ TABLE + MOST_TABLES * PAGE, 0, 0 },	/* of the other slot */
		{ TABLE, 0, PAGE + 1 },
		{ TABLE, 1, PAGE + 1 },
		{ TABLE, 511, 1 },
		{ TABLE, 512, 0 },
	};

	assert_int_equal(auxt_pt.claim(&channel), 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(window(100, true), 0);
		assert_int_equal(auxt_pt.start(&channel, true), 0);
		cpu.base = wrong[i].base;
		cpu.mask = ptrs(wrong[i].index, wrong[i].offset);
		assert_false(auxt_pt.interrupt(&channel));
		assert_int_equal(auxt_pt.stop(&channel, false), TRACE_ERROR);
		/* It goes on where it was, if told to. */
		assert_int_equal(channel.aux.produced, written);
		auxt_pt.relocate(&channel);
	}
	assert_int_equal(window(100, true), 0);
	auxt_pt.release(&channel);
	as_before();
}

static void an_error_and_foreign_code_are_told_with_the_position(void **state)
{
	const u64 steps[] = { 0, REGION, 3 * REGION };

	assert_int_equal(auxt_pt.claim(&channel), 0);
	for (unsigned int i = 0; i < 24; i++) {
		bool error = i & 1, foreign = i & 2, late = i & 4;
		u64 step = steps[i / 8];

		assert_int_equal(auxt_pt.start(&channel, true), 0);
		/* It meets an error at the begin of a region; of the only one, at any time. */
		if (!error || single)
			step = i / 8 * 100;
		else if (step)
			step -= written % REGION;
		/* Late: all of the trace is still in the CPU's buffer. */
		if (late)
			cpu.late = step;
		else
			hardware_writes(step);
		if (error && late)
			cpu.late_status = RTIT_STATUS_ERROR;
		else if (error)
			cpu.status |= RTIT_STATUS_ERROR;
		if (foreign && !late)
			cpu.ctl &= ~RTIT_CTL_TRACEEN;
		assert_int_equal(auxt_pt.interrupt(&channel), error && !late);
		assert_int_equal(auxt_pt.stop(&channel, false),
				 error ? TRACE_ERROR : foreign && !late ? TRACE_FOREIGN : 0);
		assert_int_equal(channel.aux.produced, written);
	}
	auxt_pt.release(&channel);
	as_before();
}

/* Overwrite mode. Two, if nothing was traced: why is what the status may say. */
static void alone_on_the_cpu_a_stop_reads_one_register(void **state)
{
	unsigned int reads;

	auxt_pt.cleanup(&channel);
	assert_int_equal(set_up(AUXTRACE_SETUP_USER, 0, true), 0);
	assert_int_equal(auxt_pt.claim(&channel), 0);
	for (int i = 0; i < 2; i++) {
		/* Older CPUs stop tracing by themselves. */
		cpu.vmx_misc = i ? 0 : 1 << 14;
		cpu.has_vmx = true;
		auxt_pt_detect();
		assert_int_equal(auxt_pt.start(&channel, true), 0);
		for (int regions = 0; regions < 3; regions++) {
			hardware_writes(regions * REGION + 100);
			reads = cpu.reads;
			assert_int_equal(auxt_pt.stop(&channel, true), 0);
			assert_int_equal(cpu.reads - reads, 1 + i);
			assert_int_equal(channel.aux.produced, written);
			assert_int_equal(auxt_pt.start(&channel, true), 0);
		}
		reads = cpu.reads;
		assert_int_equal(auxt_pt.stop(&channel, true), 0);
		assert_int_equal(cpu.reads - reads, 2 + i);
		assert_int_equal(channel.aux.produced, written);
		/* Other code turns it off. */
		assert_int_equal(auxt_pt.start(&channel, true), 0);
		hardware_writes(100);
		cpu.ctl &= ~RTIT_CTL_TRACEEN;
		assert_int_equal(auxt_pt.stop(&channel, true), i ? TRACE_FOREIGN : 0);
		assert_int_equal(channel.aux.produced, written);
	}
	auxt_pt.release(&channel);
	as_before();
}

/* The first window of a new session, and some trace in it. */
static void begin_window(bool overwrite)
{
	auxt_pt.cleanup(&channel);
	assert_int_equal(set_up(AUXTRACE_SETUP_USER, 0, overwrite), 0);
	auxt_position_plan(&channel.aux);
	assert_int_equal(auxt_pt.claim(&channel), 0);
	assert_int_equal(auxt_pt.start(&channel, true), 0);
	hardware_writes(100);
}

/*
 * An NMI of others. In overwrite mode with one table a look at the pointers is enough while the hardware is in
 * the region where it was last seen. In full trace Stopped may be there before the pointers have moved.
 */
static void a_look_for_an_interrupt_reads_few_registers(void **state)
{
	for (int overwrite = 0; overwrite < 2; overwrite++) {
		unsigned int reads;

		begin_window(overwrite);
		reads = cpu.reads;
		assert_false(auxt_pt.interrupt(&channel));
		assert_int_equal(cpu.reads - reads, overwrite ? 1 : 2);
		hardware_writes(REGION);
		assert_false(auxt_pt.interrupt(&channel));
		hardware_writes(SIZE - REGION - 101);
		assert_int_equal(auxt_pt.interrupt(&channel), !overwrite);
		hardware_writes(1);
		assert_true(auxt_pt.interrupt(&channel));
		assert_int_equal(auxt_pt.stop(&channel, false), overwrite ? 0 : TRACE_STOPPED);
		auxt_pt.release(&channel);
	}
	as_before();
}

/* Those of a guest, which KVM is about to enter, or has entered: the machine is in VMX operation. */
static void pointers_of_foreign_code_are_not_taken_for_ours(void **state)
{
	for (int overwrite = 0; overwrite < 2; overwrite++) {
		begin_window(overwrite);
		cpu.cr4 = X86_CR4_VMXE;
		cpu.ctl &= ~RTIT_CTL_TRACEEN;
		cpu.base = WAS_BASE;
		cpu.mask = ptrs(0, 200);
		assert_int_equal(auxt_pt.stop(&channel, overwrite), TRACE_ERROR);
		assert_int_equal(channel.aux.produced, 0);
		cpu.cr4 = 0;
		auxt_pt.release(&channel);
	}
	as_before();
}

static void stopped_is_an_interrupt_before_the_pointers_have_moved(void **state)
{
	assert_int_equal(auxt_pt.claim(&channel), 0);
	assert_int_equal(auxt_pt.start(&channel, true), 0);
	assert_false(auxt_pt.interrupt(&channel));
	cpu.status |= RTIT_STATUS_STOPPED;
	assert_true(auxt_pt.interrupt(&channel));
	auxt_pt.release(&channel);
	as_before();
}

/* ---- filters -------------------------------------------------------------------- */

/* The ranges of a session that is stuck are not its successor's to restore, but perf's are. */
static void ranges_that_are_still_to_be_restored_are_not_saved_again(void **state)
{
	struct auxt_filters one = two_filters;

	one.nr = 1;
	set_up_with_filters(&one, false);
	assert_int_equal(auxt_pt.claim(&channel), 0);
	cpu.refuse = 1;
	auxt_pt.release(&channel);
	assert_true(channel.stuck);
	assert_int_equal(cpu.addr[0], one.filter[0].first);
	cpu.refuse = 0;
	channel.stuck = false;
	routed = 0;
	/* It saves the registers of the second range. */
	set_up_with_filters(&two_filters, false);
	assert_int_equal(live(), 0);
	as_before();
}

static void a_session_writes_the_registers_of_its_ranges_only(void **state)
{
	static const struct auxt_filters one = {
		.nr = 1,
		.filter = { { .action = AUXTRACE_FILTER_STOP, .first = 0x10, .last = 0x20 } },
	};
	const u64 ctl = RTIT_CTL_USR | RTIT_CTL_BRANCH_EN | RTIT_CTL_TOPA | RTIT_CTL_TRACEEN;
	const struct {
		const struct auxt_filters *filters;
		u64 fields;
	} sessions[] = {
		{ &one, 2ull << 32 }, { &two_filters, 1ull << 32 | 2ull << 36 },
	};

	for (size_t i = 0; i < sizeof(sessions) / sizeof(sessions[0]); i++) {
		const struct auxt_filters *filters = sessions[i].filters;

		set_up_with_filters(filters, false);
		assert_int_equal(auxt_pt.claim(&channel), 0);
		for (unsigned int n = 0; n < AUXT_MAX_FILTERS; n++) {
			const struct auxtrace_filter *f = &filters->filter[n];

			assert_int_equal(cpu.addr[2 * n], n < filters->nr ? f->first : was_addr(2 * n));
			assert_int_equal(cpu.addr[2 * n + 1], n < filters->nr ? f->last : was_addr(2 * n + 1));
		}
		assert_int_equal(auxt_pt.start(&channel, true), 0);
		assert_int_equal(cpu.ctl, ctl | sessions[i].fields);
		assert_int_equal(auxt_pt.stop(&channel, false), 0);
		assert_int_equal(cpu.ctl, (ctl | sessions[i].fields) & ~RTIT_CTL_TRACEEN);
		auxt_pt.release(&channel);
		as_before();
	}
}

static void a_session_of_an_address_space_compares_cr3(void **state)
{
	struct auxt_filters alone = by_cr3;

	for (alone.nr = 0; alone.nr < 2; alone.nr++) {
		const u64 ctl = RTIT_CTL_USR | RTIT_CTL_BRANCH_EN | RTIT_CTL_TOPA | RTIT_CTL_CR3EN |
				(alone.nr ? 1ull << 32 : 0);

		set_up_with_filters(&alone, false);
		assert_int_equal(auxt_pt.claim(&channel), 0);
		assert_int_equal(cpu.cr3_match, by_cr3.cr3);
		assert_int_equal(cpu.addr[0], alone.nr ? by_cr3.filter[0].first : was_addr(0));
		assert_int_equal(auxt_pt.start(&channel, true), 0);
		assert_int_equal(cpu.ctl, ctl | RTIT_CTL_TRACEEN);
		assert_int_equal(auxt_pt.stop(&channel, false), 0);
		auxt_pt.release(&channel);
		as_before();
	}
	/* Others leave the register alone, also where the CPU lacks it. */
	set_up_with_filters(&two_filters, false);
	cpu.leaf[0].ebx &= ~1u;
	auxt_pt_detect();
	assert_int_equal(live(), 0);
	as_before();
	set_up_with_filters(&by_cr3, false);
	assert_int_equal(auxt_pt.claim(&channel), -EOPNOTSUPP);
	as_before();
}

static void a_range_that_cannot_be_read_refuses_the_claim(void **state)
{
	set_up_with_filters(&two_filters, false);
	for (unsigned int n = 0; n < 2 * two_filters.nr; n++) {
		cpu.unreadable = MSR_IA32_RTIT_ADDR0_A + n;
		assert_int_equal(auxt_pt.claim(&channel), -EIO);
		as_before();
		/* There is nothing to restore. */
		cpu.addr[0] = 0;
		assert_int_equal(auxt_pt.recover(), 0);
		assert_int_equal(cpu.addr[0], 0);
		cpu.addr[0] = was_addr(0);
	}
	set_up_with_filters(&by_cr3, false);
	cpu.unreadable = MSR_IA32_RTIT_CR3_MATCH;
	assert_int_equal(auxt_pt.claim(&channel), -EIO);
	as_before();
	cpu.unreadable = 0;
	assert_int_equal(live(), 0);
	as_before();
}

/* SDM, "Filtering by IP": the TraceStop packet, then nothing. Then the module stops the hardware. */
static u32 stop_in_a_range(u64 bytes)
{
	hardware_writes(bytes);
	cpu.status |= RTIT_STATUS_STOPPED;
	return auxt_pt.stop(&channel, false);
}

static void a_stop_range_is_not_the_stop_mark(void **state)
{
	static const u64 bytes[] = { 2, PAGE - 2, PAGE, PAGE + 2, 10 * PAGE };

	for (int overwrite = 0; overwrite < 2; overwrite++) {
		set_up_with_filters(&two_filters, overwrite);
		auxt_position_plan(&channel.aux);
		assert_int_equal(auxt_pt.claim(&channel), 0);
		for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
			assert_int_equal(auxt_pt.start(&channel, true), 0);
			assert_int_equal(stop_in_a_range(bytes[i]), 0);
			assert_int_equal(channel.aux.produced, written);
			/* The window goes on without trace: Stopped stays set. */
			for (int again = 0; again < 2; again++) {
				assert_int_equal(auxt_pt.start(&channel, false), 0);
				assert_true(tracing() && cpu.status & RTIT_STATUS_STOPPED);
				/* Nothing to do, whatever NMI comes meanwhile. */
				assert_false(auxt_pt.interrupt(&channel));
				assert_int_equal(auxt_pt.stop(&channel, false), 0);
				assert_int_equal(channel.aux.produced, written);
			}
		}
		/* The next window begins with trace. */
		assert_int_equal(window(100, true), 0);
		auxt_pt.release(&channel);
		as_before();
	}
}

/* The hardware may stay at a region's end until it writes on. In overwrite mode no region has the mark. */
static void in_overwrite_mode_the_end_of_a_region_is_not_the_stop_mark(void **state)
{
	unsigned long last;

	set_up_with_filters(&two_filters, true);
	last = topa[0].nr_regions - 1;
	auxt_position_plan(&channel.aux);
	assert_int_equal(auxt_pt.claim(&channel), 0);
	assert_int_equal(window(channel.aux.cycle - 1, true), 0);
	auxt_position_plan(&channel.aux);
	assert_int_equal(auxt_pt.start(&channel, false), 0);
	hardware_writes(1);
	cpu.base = TABLE + last / TOPA_REGIONS_PER_TABLE * PAGE;
	cpu.mask = ptrs(last % TOPA_REGIONS_PER_TABLE, REGION);
	cpu.status |= RTIT_STATUS_STOPPED;
	assert_int_equal(auxt_pt.stop(&channel, false), 0);
	assert_int_equal(channel.aux.produced, written);
	auxt_pt.release(&channel);
	as_before();
}

static void with_a_stop_range_an_area_still_fills(void **state)
{
	set_up_with_filters(&two_filters, false);
	assert_int_equal(auxt_pt.claim(&channel), 0);
	for (int i = 0; i < 6; i++) {
		/* From begin to end at once, and after a stop within. */
		u64 first = i % 3 * 100;

		if (first)
			assert_int_equal(window(first, true), 0);
		if (i % 3 == 2) {
			assert_int_equal(auxt_pt.start(&channel, true), 0);
			assert_int_equal(stop_in_a_range(PAGE), 0);
			first += PAGE;
		}
		assert_int_equal(window(SIZE - first, true), TRACE_STOPPED);
		assert_int_equal(channel.aux.produced, (i + 1) * SIZE);
		channel.aux.consumed = channel.aux.produced;
		auxt_position_plan(&channel.aux);
	}
	auxt_pt.release(&channel);
	as_before();
}

static void a_session_has_no_more_filters_than_each_cpu_has_ranges(void **state)
{
	struct auxt_filters filters = two_filters;
	struct auxtrace_setup setup = { .config = 0 };

	assert_int_equal(auxt_pt.check(&setup, &filters, NULL), 0);
	filters.nr = 3;
	assert_int_equal(auxt_pt.check(&setup, &filters, NULL), -EOPNOTSUPP);
	/* What config lacks comes first. */
	setup.config = ~0ull;
	assert_int_equal(auxt_pt.check(&setup, &filters, NULL), -EINVAL);
	setup.config = 0;
	cpu.leaf[1].eax = 0x02490004;
	auxt_pt_detect();
	assert_int_equal(auxt_pt.check(&setup, &filters, NULL), 0);
	/* IPFILT_WRSTPRSV is clear: the count means nothing. */
	cpu.leaf[0].ebx &= ~4u;
	auxt_pt_detect();
	filters.nr = 1;
	assert_int_equal(auxt_pt.check(&setup, &filters, NULL), -EOPNOTSUPP);
	filters.nr = 0;
	assert_int_equal(auxt_pt.check(&setup, &filters, NULL), 0);
	filters = by_cr3;
	filters.nr = 0;
	assert_int_equal(auxt_pt.check(&setup, &filters, NULL), 0);
	cpu.leaf[0].ebx &= ~1u;
	auxt_pt_detect();
	assert_int_equal(auxt_pt.check(&setup, &filters, NULL), -EOPNOTSUPP);
}

/* A CPU that came back from offline with fewer. */
static void a_cpu_with_too_few_ranges_refuses_the_claim(void **state)
{
	set_up_with_filters(&two_filters, false);
	cpu.leaf[1].eax = 0x02490001;
	auxt_pt_detect();
	assert_int_equal(auxt_pt.claim(&channel), -EOPNOTSUPP);
	as_before();
}

/* ---- tables of one entry ---------------------------------------------------------- */

/*
 * What stop() has found after a window of so many bytes, with the PMI's software late by @delay bytes.
 * Afterwards the hardware's position is known, and is not so near a page's end that the next PMI could
 * be missed.
 */
static u32 single_window(u64 bytes, u64 delay, bool new_window)
{
	struct auxt_position *pos = &channel.aux;
	u64 end, size, late = random() % 2 ? bytes / 2 : 0;
	u32 found;

	assert_int_equal(auxt_pt.start(&channel, new_window), 0);
	size = PAGE << (single_table[0] >> 6 & 0xf);
	assert_int_equal(single_table[0] & 0xc3f, TOPA_ENTRY_INT | TOPA_ENTRY_STOP);
	end = pos->produced + size - (cpu.mask >> 32);
	assert_true(end <= pos->int_mark);
	assert_true(end - pos->produced > TOPA_SINGLE_EARLY);
	/* Software comes @delay after the PMI at the latest. */
	if (bytes > end - early + delay - written)
		bytes = end - early + delay - written;
	if (late > bytes)
		late = 0;
	cleared = 0;
	hardware_writes(bytes - late);
	assert_int_equal(auxt_pt.interrupt(&channel), written + TOPA_SINGLE_EARLY >= end);
	if (!(cpu.status & RTIT_STATUS_STOPPED))
		cpu.late = late;
	found = auxt_pt.stop(&channel, false);
	cpu.late = 0;
	assert_int_equal(found, cpu.status & RTIT_STATUS_STOPPED ? TRACE_LATE : 0);
	assert_int_equal(!!found, written == end);
	/* Zeros, which are PAD packets, up to the page's end, and nothing else. */
	assert_int_equal(pos->produced - written, cleared);
	if (cleared) {
		assert_true(cleared <= TOPA_SINGLE_EARLY);
		assert_int_equal(pos->produced % PAGE, 0);
		assert_int_equal(cleared_at, channel.now.slot * SIZE + written % SIZE);
	}
	assert_true(pos->produced % PAGE == 0 || PAGE - pos->produced % PAGE > TOPA_SINGLE_EARLY);
	assert_int_equal(auxt_pt.acknowledge(&channel), written + early >= end);
	written = pos->produced;
	return found;
}

static u64 delay_of(int i)
{
	/* In time; just so; a byte, and much, too late. */
	const u64 delays[] = { 0, 100, early - 1, early, early + 1, 2 * early };

	return delays[i % (sizeof(delays) / sizeof(delays[0]))];
}

static void single_entry_full_trace_goes_on_from_region_to_region(void **state)
{
	struct auxt_position *pos = &channel.aux;
	unsigned int late = 0, full = 0;
	u32 found = 0;

	srandom(1);
	assert_int_equal(auxt_pt.claim(&channel), 0);
	for (int i = 0; i < 20000; i++) {
		if (random() % 16 == 0)
			pos->consumed += (pos->produced - pos->consumed) / (1 + random() % 3);
		auxt_position_plan(pos);
		if (auxt_position_full(pos)) {
			full++;
			pos->consumed = pos->produced - random() % 2 * (pos->produced % PAGE);
			auxt_position_plan(pos);
		}
		found = single_window(random() % 8 ? some_bytes(SIZE) : SIZE, delay_of(random()),
				      found || random() % 2);
		late += !!found;
		/* Never into what the reader has not read. */
		assert_true(pos->produced <= pos->stop_mark - pos->margin);
	}
	assert_true(late > 1000);
	assert_true(full > 50);
	auxt_pt.release(&channel);
	as_before();
}

static void single_entry_overwrite_goes_on_in_each_slot(void **state)
{
	struct auxt_position *pos = &channel.aux;
	unsigned int late = 0, laps = 0;
	u32 found = 0;

	auxt_pt.cleanup(&channel);
	assert_int_equal(set_up(AUXTRACE_SETUP_USER, 0, true), 0);
	srandom(1);
	assert_int_equal(auxt_pt.claim(&channel), 0);
	for (int i = 0; i < 20000; i++) {
		u64 was = pos->produced;

		if (i % 8 == 1) {
			channel.now.slot ^= 1;
			auxt_pt.relocate(&channel);
		}
		if (random() % 2)
			pos->deadline = pos->produced + random() % (4 * PAGE);
		auxt_position_plan(pos);
		found = single_window(some_bytes(SIZE), delay_of(random()), found || random() % 2);
		late += !!found;
		laps += pos->produced / SIZE != was / SIZE;
		/* The mark is the end of the deadline's page. */
		assert_true(pos->deadline <= was || was / PAGE == pos->produced / PAGE ||
			    pos->produced < pos->deadline + PAGE);
	}
	assert_true(late > 1000);
	assert_true(laps > 20);
	auxt_pt.release(&channel);
	as_before();
}

/* Without anything in between, a region is as large as the memory allows. */
static void single_entry_regions_are_as_large_as_they_can_be(void **state)
{
	static const unsigned int pages_of[] = { 32, 32, 32, 1, 1 };
	struct auxt_position *pos = &channel.aux;

	assert_int_equal(auxt_pt.claim(&channel), 0);
	pos->watermark = pos->size - PAGE;
	for (size_t i = 0; i < sizeof(pages_of) / sizeof(pages_of[0]); i++) {
		auxt_position_plan(pos);
		assert_int_equal(auxt_pt.start(&channel, true), 0);
		assert_int_equal(PAGE << (single_table[0] >> 6 & 0xf), pages_of[i] * PAGE);
		hardware_writes(pages_of[i] * PAGE - TOPA_SINGLE_EARLY);
		assert_int_equal(auxt_pt.stop(&channel, false), 0);
		written = pos->produced;
		assert_int_equal(written % PAGE, 0);
	}
	/* Near a mark: as many of the next pages as lie before it. */
	pos->produced = written = 0;
	pos->consumed = 0;
	pos->watermark = 7 * PAGE;
	for (size_t i = 4; i; i /= 2) {
		auxt_pt.relocate(&channel);
		auxt_position_plan(pos);
		assert_int_equal(auxt_pt.start(&channel, true), 0);
		assert_int_equal(PAGE << (single_table[0] >> 6 & 0xf), i * PAGE);
		hardware_writes(i * PAGE - 1);
		assert_int_equal(auxt_pt.stop(&channel, false), 0);
		assert_int_equal(cleared, 1);
		written = pos->produced;
	}
	assert_int_equal(written, pos->int_mark);
	auxt_pt.release(&channel);
	as_before();
}

/* An NMI of others, after whose handling by perf the status bit is clear. */
static void single_entry_a_region_that_ends_is_an_interrupt(void **state)
{
	assert_int_equal(auxt_pt.claim(&channel), 0);
	assert_int_equal(auxt_pt.start(&channel, true), 0);
	assert_false(auxt_pt.interrupt(&channel));
	hardware_writes(32 * PAGE - TOPA_SINGLE_EARLY - 1);
	assert_false(auxt_pt.interrupt(&channel));
	hardware_writes(1);
	assert_true(auxt_pt.interrupt(&channel));
	hardware_writes(TOPA_SINGLE_EARLY);
	assert_true(cpu.status & RTIT_STATUS_STOPPED);
	assert_true(auxt_pt.interrupt(&channel));
	/* Whatever the pointers say: those of others are not ours, but Stopped is. */
	cpu.mask = ptrs(0, 0);
	assert_true(auxt_pt.interrupt(&channel));
	cpu.status = 0;
	assert_false(auxt_pt.interrupt(&channel));
	cpu.mask = ptrs(0, 32 * PAGE);
	cpu.base = WAS_BASE;
	assert_false(auxt_pt.interrupt(&channel));
	auxt_pt.release(&channel);
	as_before();
}

/* The CPU may have gone on to the END entry, and by it back to the region's begin, when it stopped. */
static void single_entry_stopped_is_the_end_of_the_region(void **state)
{
	static const u64 offsets[] = { 0, 100, 32 * PAGE };

	assert_int_equal(auxt_pt.claim(&channel), 0);
	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		auxt_position_plan(&channel.aux);
		assert_int_equal(auxt_pt.start(&channel, true), 0);
		assert_int_equal(cpu.status & RTIT_STATUS_STOPPED, 0);
		hardware_writes(32 * PAGE);
		cpu.mask = ptrs(0, offsets[i]);
		assert_int_equal(auxt_pt.stop(&channel, false), TRACE_LATE);
		assert_int_equal(channel.aux.produced, (i + 1) * 32 * PAGE);
		channel.aux.consumed = channel.aux.produced;
	}
	auxt_pt.release(&channel);
	as_before();
}

static void single_entry_pointers_that_are_not_ours_are_an_error(void **state)
{
	static const struct {
		u64 base, index, offset;
	} wrong[] = {
		{ WAS_BASE, 0, 200 }, { TABLE, 1, 200 }, { TABLE, 0, 32 * PAGE + 1 },
		/* Behind the position. */
		{ TABLE, 0, 99 },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		u64 was;

		assert_int_equal(auxt_pt.claim(&channel), 0);
		assert_int_equal(single_window(100, 0, true), 0);
		was = channel.aux.produced;
		assert_int_equal(auxt_pt.start(&channel, true), 0);
		cpu.ctl &= ~RTIT_CTL_TRACEEN;
		cpu.base = wrong[i].base;
		cpu.mask = ptrs(wrong[i].index, wrong[i].offset);
		assert_int_equal(auxt_pt.stop(&channel, false), TRACE_ERROR);
		assert_int_equal(channel.aux.produced, was);
		auxt_pt.release(&channel);
		as_before();
	}
}

/* While others trace, the entry that the CPU reads stays. */
static void single_entry_a_start_that_fails_changes_no_entry(void **state)
{
	u64 on, was;

	assert_int_equal(auxt_pt.claim(&channel), 0);
	assert_int_equal(auxt_pt.start(&channel, true), 0);
	hardware_writes(32 * PAGE - 1);
	on = cpu.ctl;
	assert_int_equal(auxt_pt.stop(&channel, false), 0);
	was = single_table[0];
	assert_int_equal(auxt_wrmsr(MSR_IA32_RTIT_CTL, on), 0);
	assert_int_equal(auxt_pt.start(&channel, false), -EIO);
	assert_int_equal(single_table[0], was);
	assert_false(tracing());
	assert_true(auxt_pt.acknowledge(&channel));
	/* It is still to be written. */
	written = channel.aux.produced;
	assert_int_equal(single_window(100, 0, true), 0);
	assert_int_not_equal(single_table[0], was);
	auxt_pt.release(&channel);
	as_before();
}

/* SDM: while Stopped is set nothing is traced, but the pointers may be written. */
static void single_entry_a_stop_range_is_not_the_end_of_the_region(void **state)
{
	static const u64 bytes[] = { 2, PAGE - TOPA_SINGLE_EARLY - 3, 1, PAGE, 10 * PAGE - 100 };

	for (int overwrite = 0; overwrite < 2; overwrite++) {
		set_up_with_filters(&two_filters, overwrite);
		auxt_position_plan(&channel.aux);
		assert_int_equal(auxt_pt.claim(&channel), 0);
		for (size_t i = 0; i < sizeof(bytes) / sizeof(bytes[0]); i++) {
			assert_int_equal(auxt_pt.start(&channel, true), 0);
			assert_int_equal(stop_in_a_range(bytes[i]), 0);
			assert_true(channel.aux.produced - written <= TOPA_SINGLE_EARLY);
			written = channel.aux.produced;
			for (int again = 0; again < 2; again++) {
				assert_int_equal(auxt_pt.start(&channel, false), 0);
				assert_true(tracing() && cpu.status & RTIT_STATUS_STOPPED);
				assert_false(auxt_pt.interrupt(&channel));
				assert_int_equal(auxt_pt.stop(&channel, false), 0);
				assert_int_equal(channel.aux.produced, written);
			}
		}
		assert_int_equal(single_window(100, 0, true), 0);
		/* And one whose TraceStop packet is the last of the region. */
		assert_int_equal(auxt_pt.start(&channel, true), 0);
		hardware_writes(32 * PAGE - written % (32 * PAGE));
		assert_true(auxt_pt.interrupt(&channel));
		assert_int_equal(auxt_pt.stop(&channel, false), TRACE_LATE);
		assert_int_equal(channel.aux.produced, written);
		auxt_pt.release(&channel);
		as_before();
	}
}

static void single_entry_the_table_is_charged(void **state)
{
	const struct auxtrace_setup setup = { .aux_size = 1 << 20 };

	assert_int_equal(auxt_pt.table_pages(&setup), SINGLE_PAGES);
	auxt_pt.cleanup(&channel);
	begin_with(SMALL, 0, false);
	assert_int_equal(auxt_pt.table_pages(&setup), TABLES_PAGES);
}

/* The tables were made for the CPU as it was. */
static void single_entry_a_cpu_with_other_tables_refuses_the_claim(void **state)
{
	cpu.leaf[0].ecx |= 2;
	auxt_pt_detect();
	assert_int_equal(auxt_pt.claim(&channel), -EOPNOTSUPP);
	as_before();
	auxt_pt.cleanup(&channel);
	begin_with(SMALL, 0, false);
	cpu.leaf[0].ecx &= ~2u;
	auxt_pt_detect();
	assert_int_equal(auxt_pt.claim(&channel), -EOPNOTSUPP);
	as_before();
}

/* ---- what a session asks for, and what the CPU has ------------------------------ */

static void a_session_traces_what_it_asks_for(void **state)
{
	static const struct {
		u32 flags;
		u64 config, ctl;
	} sessions[] = {
		{ AUXTRACE_SETUP_USER, 0, RTIT_CTL_USR | RTIT_CTL_BRANCH_EN },
		{ AUXTRACE_SETUP_KERNEL, PT_CONFIG_TSC,
		  RTIT_CTL_OS | RTIT_CTL_TSC_EN | RTIT_CTL_BRANCH_EN },
		{ AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER, PT_CONFIG_PT,
		  RTIT_CTL_OS | RTIT_CTL_USR },
	};

	for (size_t i = 0; i < sizeof(sessions) / sizeof(sessions[0]); i++) {
		u64 ctl = sessions[i].ctl | RTIT_CTL_TOPA;

		auxt_pt.cleanup(&channel);
		assert_null(channel.hw);
		assert_int_equal(set_up(sessions[i].flags, sessions[i].config, false), 0);
		assert_int_equal(auxt_pt.claim(&channel), 0);
		assert_int_equal(auxt_pt.start(&channel, true), 0);
		assert_int_equal(cpu.ctl, ctl | RTIT_CTL_TRACEEN);
		assert_int_equal(auxt_pt.stop(&channel, false), 0);
		assert_int_equal(cpu.ctl, ctl);
		auxt_pt.release(&channel);
		as_before();
	}
}

static void a_setup_without_tables_leaves_nothing(void **state)
{
	auxt_pt.cleanup(&channel);
	no_tables = true;
	assert_int_equal(set_up(AUXTRACE_SETUP_USER, 0, false), -EINTR);
	assert_null(channel.hw);
}

static void tracing_that_is_on_or_unknown_refuses_the_claim(void **state)
{
	static const u32 unreadable[] = {
		MSR_IA32_RTIT_CTL, MSR_IA32_RTIT_OUTPUT_BASE, MSR_IA32_RTIT_OUTPUT_MASK,
	};

	assert_int_equal(auxt_pt.in_use(), 0);
	for (size_t i = 0; i < sizeof(unreadable) / sizeof(unreadable[0]); i++) {
		cpu.unreadable = unreadable[i];
		assert_int_equal(auxt_pt.claim(&channel), -EIO);
		as_before();
		/* There is nothing to restore. */
		cpu.base = 0;
		assert_int_equal(auxt_pt.recover(), 0);
		assert_int_equal(cpu.base, 0);
		cpu.base = WAS_BASE;
	}
	cpu.unreadable = 0;
	cpu.ctl = RTIT_CTL_TRACEEN;
	assert_int_equal(auxt_pt.in_use(), -EBUSY);
	assert_int_equal(auxt_pt.claim(&channel), -EBUSY);
	assert_int_equal(cpu.writes, 0);
}

static void an_emergency_stop_clears_one_bit(void **state)
{
	cpu.ctl = RTIT_CTL_TRACEEN | RTIT_CTL_OS | RTIT_CTL_TSC_EN;
	auxt_pt.emergency_stop();
	assert_int_equal(cpu.ctl, RTIT_CTL_OS | RTIT_CTL_TSC_EN);
	assert_int_equal(cpu.writes, 1);
	/* It is off: there is nothing to write. */
	auxt_pt.emergency_stop();
	assert_int_equal(cpu.writes, 1);
}

static void an_acknowledgement_leaves_the_interrupts_of_others(void **state)
{
	const u64 ours = MSR_CORE_PERF_GLOBAL_OVF_CTRL_TRACE_TOPA_PMI, others = 0x100000003ull;

	cpu.global_status = others;
	assert_false(auxt_pt.acknowledge(&channel));
	assert_int_equal(cpu.global_status, others);
	assert_int_equal(cpu.writes, 0);
	cpu.global_status = others | ours;
	assert_true(auxt_pt.acknowledge(&channel));
	assert_int_equal(cpu.global_status, others);
	/* An interrupt of the time before the claim is not ours. */
	cpu.global_status = others | ours;
	assert_int_equal(auxt_pt.claim(&channel), 0);
	assert_int_equal(cpu.global_status, others);
	auxt_pt.release(&channel);
	as_before();
}

/* IA32_VMX_MISC[14]; without it tracing ends with VMXON, and cannot be turned on again. */
static void in_vmx_operation_tracing_starts_if_the_cpu_allows_it(void **state)
{
	for (unsigned int i = 0; i < 16; i++) {
		bool vmx = i & 1, readable = i & 2, allowed = i & 4, on = i & 8;

		cpu.has_vmx = vmx;
		cpu.vmx_misc = allowed ? 1 << 14 : ~(1 << 14);
		cpu.unreadable = readable ? 0 : MSR_IA32_VMX_MISC;
		cpu.cr4 = on ? X86_CR4_VMXE | 0x20 : 0x20;
		auxt_pt_detect();
		assert_int_equal(auxt_pt.claim(&channel), 0);
		assert_int_equal(auxt_pt.start(&channel, true),
				 vmx && on && !(readable && allowed) ? -EIO : 0);
		auxt_pt.release(&channel);
		as_before();
	}
}

/* The first test: nothing has been detected. */
static void a_cpu_without_the_leaf_has_no_capabilities(void **state)
{
	static const struct pt_caps none;
	struct pt_caps caps;

	memset(&cpu, 0, sizeof(cpu));
	memcpy(cpu.leaf, skylake, sizeof(skylake));
	boot_cpu_data = (struct shim_cpu) { 6, 0x5e, 0x14 };
	auxt_pt_detect();
	cpu.has_pt = true;
	boot_cpu_data.cpuid_level = 0x13;
	auxt_pt_detect();
	caps = auxt_pt_caps();
	assert_memory_equal(&caps, &none, sizeof(caps));
	assert_int_equal(auxt_pt.excludes(), AUXTRACE_EXCLUDES_TASK_EVENTS);
}

static void what_a_cpu_lacks_is_named(void **state)
{
	assert_int_equal(auxt_pt.missing(), AUXTRACE_PMU_STATE_OK);
	pmu_version = 1;
	assert_int_equal(auxt_pt.missing(), AUXTRACE_PMU_STATE_NO_PMI);
	/* No ToPA output. Tables of one entry will do. */
	pmu_version = 2;
	cpu.leaf[0].ecx = 5;
	auxt_pt_detect();
	assert_int_equal(auxt_pt.missing(), AUXTRACE_PMU_STATE_OK);
	cpu.leaf[0].ecx = 4;
	auxt_pt_detect();
	assert_int_equal(auxt_pt.missing(), AUXTRACE_PMU_STATE_NO_TOPA);
	boot_cpu_data.cpuid_level = 0x13;
	assert_int_equal(auxt_pt.missing(), AUXTRACE_PMU_STATE_NO_CPUID);
	boot_cpu_data.cpuid_level = 0x14;
	cpu.has_pt = false;
	assert_int_equal(auxt_pt.missing(), AUXTRACE_PMU_STATE_NO_CPUID);
}

static void the_capability_is_what_cpuid_says(void **state)
{
	struct auxt_caps list = { .len = 0 };
	const struct auxtrace_cap_intel_pt *cap = (const void *)list.bytes;

	/* Any byte ends a piece that can be decoded. */
	assert_int_equal(auxt_pt.granule, 1);
	auxt_pt.describe(&list);
	assert_int_equal(list.len, sizeof(*cap));
	assert_int_equal(cap->cap.tag, AUXTRACE_CAP_INTEL_PT);
	assert_int_equal(cap->cap.size, sizeof(*cap));
	assert_int_equal(cap->mtc_periods, 0x249);
	assert_int_equal(cap->cyc_thresholds, 0x1fff);
	assert_int_equal(cap->psb_periods, 0x3f);
	assert_int_equal(cap->nr_ranges, 2);
	assert_int_equal(cap->flags, AUXTRACE_PT_CR3_FILTER);
	assert_int_equal(cap->reserved, 0);
	assert_int_equal(cap->config & (PT_CONFIG_CYC | PT_CONFIG_PTW), PT_CONFIG_CYC);
	/* A CPU without ToPA output has no tables at all. */
	for (u32 ecx = 4; ecx <= 7; ecx++) {
		cpu.leaf[0].ecx = ecx;
		auxt_pt_detect();
		list.len = 0;
		auxt_pt.describe(&list);
		assert_int_equal(cap->flags, AUXTRACE_PT_CR3_FILTER |
					     (ecx == 5 ? AUXTRACE_PT_SINGLE_ENTRY : 0));
	}
	/* Subleaf 1 means nothing if there is none. */
	cpu.leaf[0].eax = 0;
	cpu.leaf[0].ebx &= ~1u;
	auxt_pt_detect();
	list.len = 0;
	auxt_pt.describe(&list);
	assert_int_equal(cap->flags, 0);
	assert_int_equal(cap->nr_ranges, 0);
	assert_int_equal(cap->mtc_periods, 0);
	cpu.has_pt = false;
	list.len = 0;
	auxt_pt.describe(&list);
	assert_int_equal(list.len, 0);
}

static void last_branch_records_are_excluded_where_the_cpu_cannot_have_both(void **state)
{
	assert_int_equal(auxt_pt.excludes(), AUXTRACE_EXCLUDES_TASK_EVENTS | AUXTRACE_EXCLUDES_LBR |
					     AUXTRACE_EXCLUDES_PT_BTS);
	boot_cpu_data.x86_model = 0x8f;		/* Sapphire Rapids */
	auxt_pt_detect();
	assert_int_equal(auxt_pt.excludes(), AUXTRACE_EXCLUDES_TASK_EVENTS);
}

static void a_setup_is_checked_against_the_cpus(void **state)
{
	struct auxtrace_setup setup = { .config = PT_CONFIG_CYC };
	const struct auxt_filters none = { .nr = 0 };

	assert_int_equal(auxt_pt.check(&setup, &none, NULL), 0);
	setup.config = PT_CONFIG_PTW;
	assert_int_equal(auxt_pt.check(&setup, &none, NULL), -EOPNOTSUPP);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, begin, end)
#define SMALL_T(f) { "small_area_" #f, f, begin_small, end, NULL }
#define CONTIGUOUS_T(f) { "contiguous_" #f, f, begin_contiguous, end, NULL }
#define SINGLE_T(f) { "single_entry_" #f, f, begin_single, end, NULL }
#define SINGLE(f) cmocka_unit_test_setup_teardown(f, begin_single, end)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_cpu_without_the_leaf_has_no_capabilities),
		T(a_session_restores_the_registers),
		T(each_write_may_fault_once),
		T(with_filters_each_write_may_fault_once),
		T(what_a_refusing_cpu_may_still_write_is_kept),
		T(with_filters_what_a_refusing_cpu_may_still_write_is_kept),
		T(tables_of_stuck_hardware_are_kept),
		T(a_cpu_that_stays_on_is_an_error),
		T(pointers_that_are_still_to_be_restored_are_not_saved_again),
		T(release_turns_off_what_others_turned_on),
		T(a_start_finds_what_others_turned_on),
		T(a_cpu_that_has_less_than_the_session_asks_refuses_the_claim),
		T(full_trace_interrupts_and_stops_at_its_marks_only),
		SMALL_T(full_trace_interrupts_and_stops_at_its_marks_only),
		CONTIGUOUS_T(full_trace_interrupts_and_stops_at_its_marks_only),
		T(an_area_may_fill_from_its_begin_to_its_end),
		SMALL_T(an_area_may_fill_from_its_begin_to_its_end),
		CONTIGUOUS_T(an_area_may_fill_from_its_begin_to_its_end),
		T(a_start_writes_what_has_changed_and_a_stop_one_register),
		SMALL_T(a_start_writes_what_has_changed_and_a_stop_one_register),
		CONTIGUOUS_T(a_start_writes_what_has_changed_and_a_stop_one_register),
		T(overwrite_mode_interrupts_at_each_lap_and_deadline_in_each_slot),
		SMALL_T(overwrite_mode_interrupts_at_each_lap_and_deadline_in_each_slot),
		CONTIGUOUS_T(overwrite_mode_interrupts_at_each_lap_and_deadline_in_each_slot),
		T(a_whole_cycle_within_the_first_region_is_counted),
		SMALL_T(a_whole_cycle_within_the_first_region_is_counted),
		CONTIGUOUS_T(a_whole_cycle_within_the_first_region_is_counted),
		T(pointers_that_no_table_has_are_an_error),
		T(an_error_and_foreign_code_are_told_with_the_position),
		SMALL_T(an_error_and_foreign_code_are_told_with_the_position),
		CONTIGUOUS_T(an_error_and_foreign_code_are_told_with_the_position),
		T(pointers_of_foreign_code_are_not_taken_for_ours),
		SMALL_T(pointers_of_foreign_code_are_not_taken_for_ours),
		CONTIGUOUS_T(pointers_of_foreign_code_are_not_taken_for_ours),
		SMALL_T(alone_on_the_cpu_a_stop_reads_one_register),
		CONTIGUOUS_T(alone_on_the_cpu_a_stop_reads_one_register),
		SMALL_T(a_look_for_an_interrupt_reads_few_registers),
		CONTIGUOUS_T(a_look_for_an_interrupt_reads_few_registers),
		T(stopped_is_an_interrupt_before_the_pointers_have_moved),
		T(ranges_that_are_still_to_be_restored_are_not_saved_again),
		T(a_session_writes_the_registers_of_its_ranges_only),
		T(a_session_of_an_address_space_compares_cr3),
		T(a_range_that_cannot_be_read_refuses_the_claim),
		T(a_stop_range_is_not_the_stop_mark),
		SMALL_T(a_stop_range_is_not_the_stop_mark),
		CONTIGUOUS_T(a_stop_range_is_not_the_stop_mark),
		T(in_overwrite_mode_the_end_of_a_region_is_not_the_stop_mark),
		SMALL_T(in_overwrite_mode_the_end_of_a_region_is_not_the_stop_mark),
		CONTIGUOUS_T(in_overwrite_mode_the_end_of_a_region_is_not_the_stop_mark),
		T(with_a_stop_range_an_area_still_fills),
		SMALL_T(with_a_stop_range_an_area_still_fills),
		CONTIGUOUS_T(with_a_stop_range_an_area_still_fills),
		T(a_session_has_no_more_filters_than_each_cpu_has_ranges),
		T(a_cpu_with_too_few_ranges_refuses_the_claim),
		T(a_session_traces_what_it_asks_for),
		T(a_setup_without_tables_leaves_nothing),
		T(tracing_that_is_on_or_unknown_refuses_the_claim),
		T(an_emergency_stop_clears_one_bit),
		T(an_acknowledgement_leaves_the_interrupts_of_others),
		T(in_vmx_operation_tracing_starts_if_the_cpu_allows_it),
		T(what_a_cpu_lacks_is_named),
		T(the_capability_is_what_cpuid_says),
		T(last_branch_records_are_excluded_where_the_cpu_cannot_have_both),
		T(a_setup_is_checked_against_the_cpus),
		SINGLE_T(a_session_restores_the_registers),
		SINGLE_T(each_write_may_fault_once),
		SINGLE_T(with_filters_each_write_may_fault_once),
		SINGLE_T(what_a_refusing_cpu_may_still_write_is_kept),
		SINGLE_T(with_filters_what_a_refusing_cpu_may_still_write_is_kept),
		SINGLE_T(tables_of_stuck_hardware_are_kept),
		SINGLE_T(a_cpu_that_stays_on_is_an_error),
		SINGLE_T(pointers_that_are_still_to_be_restored_are_not_saved_again),
		SINGLE_T(release_turns_off_what_others_turned_on),
		SINGLE_T(a_start_finds_what_others_turned_on),
		SINGLE_T(a_cpu_that_has_less_than_the_session_asks_refuses_the_claim),
		SINGLE_T(a_start_writes_what_has_changed_and_a_stop_one_register),
		SINGLE_T(an_error_and_foreign_code_are_told_with_the_position),
		SINGLE_T(pointers_of_foreign_code_are_not_taken_for_ours),
		SINGLE_T(stopped_is_an_interrupt_before_the_pointers_have_moved),
		SINGLE_T(a_setup_without_tables_leaves_nothing),
		SINGLE_T(a_setup_is_checked_against_the_cpus),
		SINGLE(single_entry_full_trace_goes_on_from_region_to_region),
		SINGLE(single_entry_overwrite_goes_on_in_each_slot),
		SINGLE(single_entry_regions_are_as_large_as_they_can_be),
		SINGLE(single_entry_a_region_that_ends_is_an_interrupt),
		SINGLE(single_entry_stopped_is_the_end_of_the_region),
		SINGLE(single_entry_pointers_that_are_not_ours_are_an_error),
		SINGLE(single_entry_a_start_that_fails_changes_no_entry),
		SINGLE(single_entry_a_stop_range_is_not_the_end_of_the_region),
		SINGLE(single_entry_the_table_is_charged),
		SINGLE(single_entry_a_cpu_with_other_tables_refuses_the_claim),
	};

	return cmocka_run_group_tests_name("pt", tests, NULL, NULL);
}
