/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Table of Physical Addresses: the tables that tell Intel PT where to write
 * (SDM volume 3, "Table of Physical Addresses (ToPA)"). Pure arithmetic on tables that
 * pt_tables.c allocates: the tests compile it in user space.
 *
 * All output regions of an area have one size, 2^n pages: as small as one table allows, so that marks
 * are close to where they are wanted, and no larger than the pieces of contiguous memory. A table is
 * one page of 512 entries. Its last entry (END) points to the next table, and that of the last table to
 * the first, so the output is a ring.
 */
#ifndef AUXT_TOPA_H
#define AUXT_TOPA_H

#include <linux/errno.h>
#include <linux/types.h>
#include "core/position.h"

#define TOPA_ENTRIES_PER_TABLE	512
#define TOPA_REGIONS_PER_TABLE	(TOPA_ENTRIES_PER_TABLE - 1)

#define TOPA_ENTRY_END		(1ull << 0)
#define TOPA_ENTRY_INT		(1ull << 2)
#define TOPA_ENTRY_STOP		(1ull << 4)
#define TOPA_ENTRY_SIZE_SHIFT	6	/* of the order: a region of order n has 2^n pages */
#define TOPA_MOST_ORDER		15u	/* 128 MiB */

/* Physical address of a page of an AUX area. */
typedef u64 (*auxt_topa_phys_t)(const void *area, unsigned long page);

/**
 * struct auxt_topa - a ring of tables
 * @order: order of the regions
 * @nr_regions: number of output regions, of all tables
 * @nr_tables: number of tables
 * @tables: the tables
 * @phys: their physical addresses
 * @hint: the table where the hardware was last seen
 */
struct auxt_topa {
	unsigned int order;
	unsigned long nr_regions;
	unsigned int nr_tables;
	u64 **tables;
	u64 *phys;
	unsigned int hint;
};

unsigned int auxt_topa_order(u64 size, bool overwrite, u64 most);
unsigned int auxt_topa_contiguous(unsigned int most, unsigned long first, unsigned long nr_pages,
				  auxt_topa_phys_t phys, const void *area);
unsigned long auxt_topa_nr_regions(u64 size, unsigned int order, bool overwrite);
unsigned int auxt_topa_nr_tables(unsigned long nr_regions);
void auxt_topa_link(struct auxt_topa *topa);
void auxt_topa_set_region(struct auxt_topa *topa, unsigned long region, u64 phys);
void auxt_topa_pointers(struct auxt_topa *topa, u64 offset,
			u64 *base, u64 *mask_ptrs);

/* The rest is inline: it runs between a pause and the next start, while trace is lost. */

/* IA32_RTIT_OUTPUT_MASK_PTRS: 6:0 read as ones, 31:7 table index, 63:32 offset. */
#define TOPA_POINTER_ONES		0x7full
#define TOPA_POINTER_INDEX_SHIFT	7
#define TOPA_POINTER_INDEX		0x1ffffffull
#define TOPA_POINTER_OFFSET_SHIFT	32

/* log2 of the bytes of a region. */
static __always_inline unsigned int auxt_topa_shift(const struct auxt_topa *topa)
{
	return AUXT_PAGE_SHIFT + topa->order;
}

static __always_inline u64 *auxt_topa_entry(const struct auxt_topa *topa, unsigned long region)
{
	if (topa->nr_tables == 1)
		return &topa->tables[0][region];
	return &topa->tables[region / TOPA_REGIONS_PER_TABLE][region % TOPA_REGIONS_PER_TABLE];
}

/* Number of regions of one table. Only the last table may have fewer than the others. */
static __always_inline unsigned long auxt_topa_regions_of(const struct auxt_topa *topa,
							  unsigned int table)
{
	unsigned long before = (unsigned long)table * TOPA_REGIONS_PER_TABLE;
	unsigned long rest = topa->nr_regions - before;

	return rest < TOPA_REGIONS_PER_TABLE ? rest : TOPA_REGIONS_PER_TABLE;
}

/**
 * auxt_topa_mark() - interrupt or stop when a region is full
 * @topa: the tables; the hardware must be off, as it caches entries
 * @region: number of the region
 * @marks: TOPA_ENTRY_INT, TOPA_ENTRY_STOP, added to those of the entry
 *
 * Return: the entry, for auxt_topa_unmark().
 */
static __always_inline u64 *auxt_topa_mark(struct auxt_topa *topa, unsigned long region,
					   u64 marks)
{
	u64 *entry = auxt_topa_entry(topa, region);

	*entry |= marks;
	return entry;
}

/**
 * auxt_topa_unmark() - clear all marks of a region
 * @entry: what auxt_topa_mark() returned; the hardware must be off
 */
static __always_inline void auxt_topa_unmark(u64 *entry)
{
	*entry &= ~(TOPA_ENTRY_INT | TOPA_ENTRY_STOP);
}

/**
 * auxt_topa_locate() - translate the hardware's pointers to an offset
 * @topa: the tables
 * @base: IA32_RTIT_OUTPUT_BASE
 * @mask_ptrs: IA32_RTIT_OUTPUT_MASK_PTRS
 * @offset: bytes from the begin of the first region; the size of all regions if the
 *	hardware is at the end of the last one
 *
 * The index may be that of an END entry, and after a STOP the offset may be the size of
 * its region: both mean the begin of the next region.
 *
 * Return: 0, or -EIO if the pointers are outside of these tables.
 */
static __always_inline int auxt_topa_locate(struct auxt_topa *topa, u64 base, u64 mask_ptrs,
					    u64 *offset)
{
	u64 index = mask_ptrs >> TOPA_POINTER_INDEX_SHIFT & TOPA_POINTER_INDEX;
	u64 in_region = mask_ptrs >> TOPA_POINTER_OFFSET_SHIFT;
	unsigned int table = topa->hint;
	unsigned long regions;
	unsigned int tries;

	/* The hardware only moves forward: it is in the hinted table or soon after it. */
	for (tries = 0; topa->phys[table] != base; tries++) {
		if (tries == topa->nr_tables)
			return -EIO;
		table = (table + 1) % topa->nr_tables;
	}
	regions = auxt_topa_regions_of(topa, table);
	if (index > regions || in_region > 1ull << auxt_topa_shift(topa) ||
	    (index == regions && in_region))
		return -EIO;
	topa->hint = table;
	*offset = (((u64)table * TOPA_REGIONS_PER_TABLE + index) << auxt_topa_shift(topa)) + in_region;
	return 0;
}

#endif /* AUXT_TOPA_H */
