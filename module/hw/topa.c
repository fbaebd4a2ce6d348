// SPDX-License-Identifier: GPL-2.0
/* Table of Physical Addresses: layout arithmetic. */

#include <linux/kprobes.h>
#include "core/position.h"
#include "hw/topa.h"

/**
 * auxt_topa_nr_regions() - regions through which the hardware runs
 * @size: bytes of the area, or of a slot of it
 * @overwrite: see struct auxt_position
 *
 * In overwrite mode the tables run through the area at least twice, and more
 * often through a small one, so that an interrupt may come late by more than a
 * lap and the laps are still told apart.
 *
 * Return: their number.
 */
unsigned long auxt_topa_nr_regions(u64 size, bool overwrite)
{
	unsigned long nr_pages = size >> AUXT_REGION_SHIFT;
	unsigned long laps = TOPA_REGIONS_PER_TABLE / nr_pages;

	if (!overwrite)
		return nr_pages;
	return nr_pages * (laps > 2 ? laps : 2);
}

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

/**
 * auxt_topa_link() - chain the tables to a ring
 * @topa: tables, allocated and zeroed
 */
void auxt_topa_link(struct auxt_topa *topa)
{
	unsigned int table;

	for (table = 0; table < topa->nr_tables; table++) {
		unsigned int next = (table + 1) % topa->nr_tables;

		topa->tables[table][auxt_topa_regions_of(topa, table)] =
			topa->phys[next] | TOPA_ENTRY_END;
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
	*auxt_topa_entry(topa, region) = phys;
}

/**
 * auxt_topa_pointers() - register values that make the hardware write at an offset
 * @topa: the tables, where the next auxt_topa_locate() is expected from there on
 * @offset: in bytes from the begin of the first region, less than all regions
 * @base: IA32_RTIT_OUTPUT_BASE
 * @mask_ptrs: IA32_RTIT_OUTPUT_MASK_PTRS
 */
void auxt_topa_pointers(struct auxt_topa *topa, u64 offset,
			u64 *base, u64 *mask_ptrs)
{
	unsigned long region = offset >> AUXT_REGION_SHIFT;
	u64 in_region = offset & (AUXT_REGION_SIZE - 1);

	topa->hint = region / TOPA_REGIONS_PER_TABLE;
	*base = topa->phys[topa->hint];
	*mask_ptrs = in_region << TOPA_POINTER_OFFSET_SHIFT |
		     (u64)(region % TOPA_REGIONS_PER_TABLE) << TOPA_POINTER_INDEX_SHIFT |
		     TOPA_POINTER_ONES;
}
NOKPROBE_SYMBOL(auxt_topa_pointers);
