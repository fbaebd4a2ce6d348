// SPDX-License-Identifier: GPL-2.0-only
/* A ToPA table of one entry: the arithmetic of its regions. */

#include <linux/kprobes.h>
#include <linux/string.h>
#include "hw/topa_single.h"

/**
 * auxt_topa_single_find() - find the largest region that begins at a page
 * @orders: see struct auxt_topa_single
 * @page: a page of the AUX area: the first, or what this function returned last
 * @most: pages of the largest region, a power of two: those of a slot
 * @phys: physical address of a page of @area
 * @area: the AUX area
 *
 * A region begins at a multiple of its size, in the slot as in memory. So any two regions are
 * disjoint, or one contains the other; and the regions that this function finds from the first page
 * on contain all others.
 *
 * Return: the page behind the region.
 */
unsigned long auxt_topa_single_find(u8 *orders, unsigned long page, unsigned long most,
				    auxt_topa_phys_t phys, const void *area)
{
	u64 first = phys(area, page);
	unsigned long count = 1;
	unsigned int order = 0;

	while (order < TOPA_MOST_ORDER) {
		unsigned long twice = 2ul << order;

		if (twice > most || (page | first >> AUXT_PAGE_SHIFT) & (twice - 1))
			break;
		while (count < twice &&
		       phys(area, page + count) == first + ((u64)count << AUXT_PAGE_SHIFT))
			count++;
		if (count < twice)
			break;
		order++;
	}
	memset(orders + page, order, 1ul << order);
	return page + (1ul << order);
}
NOKPROBE_SYMBOL(auxt_topa_single_find);

/**
 * auxt_topa_single_link() - write the END entry
 * @single: a table, allocated and zeroed
 */
void auxt_topa_single_link(struct auxt_topa_single *single)
{
	single->table[1] = single->phys | TOPA_ENTRY_END;
}
NOKPROBE_SYMBOL(auxt_topa_single_link);

/**
 * auxt_topa_single_order() - choose the region that is written next
 * @largest: order of the largest region that contains the page of @position
 * @position: position at which the hardware goes on
 * @mark: position of the next mark, a page boundary beyond @position
 *
 * Return: the order of the largest region that contains @position and ends at @mark or before.
 */
unsigned int auxt_topa_single_order(unsigned int largest, u64 position, u64 mark)
{
	while (largest && (position | (auxt_topa_single_size(largest) - 1)) + 1 > mark)
		largest--;
	return largest;
}
NOKPROBE_SYMBOL(auxt_topa_single_order);
