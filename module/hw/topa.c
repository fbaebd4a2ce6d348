// SPDX-License-Identifier: GPL-2.0-only
/* Table of Physical Addresses: the arithmetic of its layout. */

#include <linux/kprobes.h>
#include "core/position.h"
#include "hw/topa.h"

/**
 * auxt_topa_nr_regions() - number of regions that the tables of an area need
 * @size: bytes of the area, or of a slot of it
 * @overwrite: see struct auxt_position
 *
 * In overwrite mode the tables go through the area at least twice, and through a small
 * one more often. So the number of laps stays known even if an interrupt is late by more
 * than one lap.
 *
 * Return: number of regions.
 */
unsigned long auxt_topa_nr_regions(u64 size, bool overwrite)
{
	unsigned long nr_pages = size >> AUXT_REGION_SHIFT;
	unsigned long laps = TOPA_REGIONS_PER_TABLE / nr_pages;

	if (!overwrite)
		return nr_pages;
	return nr_pages * (laps > 2 ? laps : 2);
}
NOKPROBE_SYMBOL(auxt_topa_nr_regions);

/**
 * auxt_topa_nr_tables() - number of tables for a number of regions
 * @nr_regions: output regions
 *
 * Return: number of pages to allocate for tables.
 */
unsigned int auxt_topa_nr_tables(unsigned long nr_regions)
{
	return (nr_regions + TOPA_REGIONS_PER_TABLE - 1) / TOPA_REGIONS_PER_TABLE;
}
NOKPROBE_SYMBOL(auxt_topa_nr_tables);

/**
 * auxt_topa_link() - link the tables into a ring
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
}
NOKPROBE_SYMBOL(auxt_topa_link);

/**
 * auxt_topa_set_region() - set the page of a region
 * @topa: the tables
 * @region: its number
 * @phys: physical address of its page
 */
void auxt_topa_set_region(struct auxt_topa *topa, unsigned long region, u64 phys)
{
	*auxt_topa_entry(topa, region) = phys;
}
NOKPROBE_SYMBOL(auxt_topa_set_region);

/**
 * auxt_topa_pointers() - register values that make the hardware write at an offset
 * @topa: the tables; also sets the hint for the next auxt_topa_locate()
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
