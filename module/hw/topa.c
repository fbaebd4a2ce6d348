// SPDX-License-Identifier: GPL-2.0-only
/* Table of Physical Addresses: the arithmetic of its layout. */

#include <linux/kprobes.h>
#include "core/position.h"
#include "hw/topa.h"

/**
 * auxt_topa_order() - choose the order of an area's regions
 * @size: bytes of the area, or of a slot of it
 * @overwrite: see struct auxt_position
 * @most: bytes of the largest region that may be, at least a page
 *
 * Return: the least order with which one table suffices: for a small area 0. Or the largest that may be.
 */
unsigned int auxt_topa_order(u64 size, bool overwrite, u64 most)
{
	unsigned int order = 0;

	while (order < TOPA_MOST_ORDER && AUXT_PAGE_SIZE << (order + 1) <= most &&
	       auxt_topa_nr_tables(auxt_topa_nr_regions(size, order, overwrite)) > 1)
		order++;
	return order;
}
NOKPROBE_SYMBOL(auxt_topa_order);

/* Are the 2^@order pages from @page on, a multiple of that, one region as the hardware wants it? */
static bool topa_is_region(unsigned long page, unsigned int order, auxt_topa_phys_t phys, const void *area)
{
	u64 first = phys(area, page);
	unsigned long i;

	if (first & ((AUXT_PAGE_SIZE << order) - 1))
		return false;
	for (i = 1; i < 1ul << order; i++)
		if (phys(area, page + i) != first + ((u64)i << AUXT_PAGE_SHIFT))
			return false;
	return true;
}
NOKPROBE_SYMBOL(topa_is_region);

/**
 * auxt_topa_contiguous() - the largest order of which all regions of a part of an area can be
 * @most: no larger order
 * @first: the part's first page, a multiple of 2^@most
 * @nr_pages: its pages, likewise
 * @phys: physical address of a page of @area
 * @area: the AUX area
 *
 * A region is contiguous, and its address is a multiple of its size (SDM volume 3, "ToPA Table Entry
 * Fields"). If that holds for those of an order, it does for those of each lower order.
 *
 * Return: the order.
 */
unsigned int auxt_topa_contiguous(unsigned int most, unsigned long first, unsigned long nr_pages,
				  auxt_topa_phys_t phys, const void *area)
{
	unsigned int order = most;
	unsigned long page = first;

	while (order && page < first + nr_pages)
		if (topa_is_region(page, order, phys, area))
			page += 1ul << order;
		else
			order--;
	return order;
}
NOKPROBE_SYMBOL(auxt_topa_contiguous);

/**
 * auxt_topa_nr_regions() - number of regions that the tables of an area need
 * @size: bytes of the area, or of a slot of it
 * @order: order of the regions
 * @overwrite: see struct auxt_position
 *
 * In overwrite mode the tables go through the area at least twice, and through a small
 * one more often. So the number of laps stays known even if an interrupt is late by more
 * than one lap.
 *
 * Return: number of regions.
 */
unsigned long auxt_topa_nr_regions(u64 size, unsigned int order, bool overwrite)
{
	unsigned long per_lap = size >> (AUXT_PAGE_SHIFT + order);
	unsigned long laps = TOPA_REGIONS_PER_TABLE / per_lap;

	if (!overwrite)
		return per_lap;
	return per_lap * (laps > 2 ? laps : 2);
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
 * auxt_topa_set_region() - set where a region is
 * @topa: the tables
 * @region: its number
 * @phys: its physical address
 */
void auxt_topa_set_region(struct auxt_topa *topa, unsigned long region, u64 phys)
{
	*auxt_topa_entry(topa, region) = phys | (u64)topa->order << TOPA_ENTRY_SIZE_SHIFT;
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
	unsigned long region = offset >> auxt_topa_shift(topa);
	u64 in_region = offset & ((1ull << auxt_topa_shift(topa)) - 1);

	topa->hint = region / TOPA_REGIONS_PER_TABLE;
	*base = topa->phys[topa->hint];
	*mask_ptrs = in_region << TOPA_POINTER_OFFSET_SHIFT |
		     (u64)(region % TOPA_REGIONS_PER_TABLE) << TOPA_POINTER_INDEX_SHIFT |
		     TOPA_POINTER_ONES;
}
NOKPROBE_SYMBOL(auxt_topa_pointers);
