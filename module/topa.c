// SPDX-License-Identifier: GPL-2.0
/* Table of Physical Addresses: layout arithmetic. */

#include <linux/errno.h>
#include <linux/kprobes.h>
#include "position.h"
#include "topa.h"

/* IA32_RTIT_OUTPUT_MASK_PTRS: 6:0 read as ones, 31:7 table index, 63:32 offset. */
#define MASK_PTRS_ONES		0x7full
#define MASK_PTRS_INDEX_SHIFT	7
#define MASK_PTRS_INDEX		0x1ffffffull
#define MASK_PTRS_OFFSET_SHIFT	32

/**
 * auxt_topa_nr_tables() - tables that so many regions need
 * @nr_regions: output regions
 *
 * Return: number of pages to allocate for tables.
 */
unsigned int auxt_topa_nr_tables(unsigned long nr_regions)
{
	return (nr_regions + TOPA_REGIONS_PER_TABLE - 1) / TOPA_REGIONS_PER_TABLE;
}

static u64 *entry(const struct auxt_topa *topa, unsigned long region)
{
	return &topa->tables[region / TOPA_REGIONS_PER_TABLE][region % TOPA_REGIONS_PER_TABLE];
}

/* Regions of one table: all have the same number but the last, which may have fewer. */
static unsigned long regions_of(const struct auxt_topa *topa, unsigned int table)
{
	unsigned long before = (unsigned long)table * TOPA_REGIONS_PER_TABLE;
	unsigned long rest = topa->nr_regions - before;

	return rest < TOPA_REGIONS_PER_TABLE ? rest : TOPA_REGIONS_PER_TABLE;
}

/**
 * auxt_topa_link() - chain the tables to a ring
 * @topa: tables, allocated and zeroed
 */
void auxt_topa_link(struct auxt_topa *topa)
{
	unsigned int table;

	for (table = 0; table < topa->nr_tables; table++) {
		unsigned int next = (table + 1) % topa->nr_tables;

		topa->tables[table][regions_of(topa, table)] = topa->phys[next] | TOPA_ENTRY_END;
	}
	topa->hint = 0;
}

/**
 * auxt_topa_set_region() - where a region lies
 * @topa: the tables
 * @region: its number
 * @phys: physical address of its page
 */
void auxt_topa_set_region(struct auxt_topa *topa, unsigned long region, u64 phys)
{
	*entry(topa, region) = phys;
}

/**
 * auxt_topa_mark() - stop or call when a region is full
 * @topa: the tables; the hardware must be off (it may have cached the entry)
 * @region: number of the region, taken modulo their number
 * @marks: TOPA_ENTRY_INT, TOPA_ENTRY_STOP, added to those that are there
 */
void auxt_topa_mark(struct auxt_topa *topa, unsigned long region, u64 marks)
{
	*entry(topa, region % topa->nr_regions) |= marks;
}
NOKPROBE_SYMBOL(auxt_topa_mark);

/**
 * auxt_topa_unmark() - take all marks off a region
 * @topa: the tables; the hardware must be off
 * @region: number of the region, taken modulo their number
 */
void auxt_topa_unmark(struct auxt_topa *topa, unsigned long region)
{
	*entry(topa, region % topa->nr_regions) &= ~(TOPA_ENTRY_INT | TOPA_ENTRY_STOP);
}
NOKPROBE_SYMBOL(auxt_topa_unmark);

/**
 * auxt_topa_pointers() - register values that make the hardware write at an offset
 * @topa: the tables
 * @offset: in bytes from the begin of the first region, less than all regions
 * @base: IA32_RTIT_OUTPUT_BASE
 * @mask_ptrs: IA32_RTIT_OUTPUT_MASK_PTRS
 */
void auxt_topa_pointers(const struct auxt_topa *topa, u64 offset,
			u64 *base, u64 *mask_ptrs)
{
	unsigned long region = offset >> AUXT_REGION_SHIFT;
	u64 in_region = offset & (AUXT_REGION_SIZE - 1);

	*base = topa->phys[region / TOPA_REGIONS_PER_TABLE];
	*mask_ptrs = in_region << MASK_PTRS_OFFSET_SHIFT |
		     (u64)(region % TOPA_REGIONS_PER_TABLE) << MASK_PTRS_INDEX_SHIFT |
		     MASK_PTRS_ONES;
}
NOKPROBE_SYMBOL(auxt_topa_pointers);

/**
 * auxt_topa_locate() - where the hardware's registers point to
 * @topa: the tables
 * @base: IA32_RTIT_OUTPUT_BASE
 * @mask_ptrs: IA32_RTIT_OUTPUT_MASK_PTRS
 * @offset: bytes from the begin of the first region; equal to the size of all
 *	regions if the hardware stands at the end of the last one
 *
 * The index may stand on an END entry, and the offset at the size of its region
 * (after a STOP): both mean the begin of the next region.
 *
 * Return: 0, or -EIO if they point nowhere into these tables.
 */
int auxt_topa_locate(struct auxt_topa *topa, u64 base, u64 mask_ptrs, u64 *offset)
{
	u64 index = mask_ptrs >> MASK_PTRS_INDEX_SHIFT & MASK_PTRS_INDEX;
	u64 in_region = mask_ptrs >> MASK_PTRS_OFFSET_SHIFT;
	unsigned int table = topa->hint;
	unsigned int tries;

	/* The hardware goes forward, so it is at the hint or close behind. */
	for (tries = 0; topa->phys[table] != base; tries++) {
		if (tries == topa->nr_tables)
			return -EIO;
		table = (table + 1) % topa->nr_tables;
	}
	if (index > regions_of(topa, table) || in_region > AUXT_REGION_SIZE ||
	    (index == regions_of(topa, table) && in_region))
		return -EIO;
	topa->hint = table;
	*offset = (((u64)table * TOPA_REGIONS_PER_TABLE + index) << AUXT_REGION_SHIFT) + in_region;
	return 0;
}
NOKPROBE_SYMBOL(auxt_topa_locate);
