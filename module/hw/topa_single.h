/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A ToPA table of one entry (SDM volume 3, "Single Output Region ToPA Implementation"): the only
 * kind that a CPU with CPUID.(14H,0):ECX[1] clear knows. An END entry behind that entry points
 * back to the table. Pure arithmetic: the tests compile it in user space.
 *
 * A channel has one such table. While the hardware is off, software points the entry to the
 * region that is written next, and the hardware always stops at the region's end. So the region
 * may be as large as the memory has contiguous pages, and ends at the next mark at the latest:
 * marks lie where they lie on other CPUs.
 *
 * The PMI of a region comes before the region is full. Software then goes on to the next region
 * between two packets, and fills what is left with zeros: PAD packets.
 */
#ifndef AUXT_TOPA_SINGLE_H
#define AUXT_TOPA_SINGLE_H

#include <linux/types.h>
#include "core/position.h"
#include "hw/topa.h"

/*
 * The SDM does not say how many bytes before a region's end the PMI comes. Linux's driver counts
 * on 512 (TOPA_PMI_MARGIN in arch/x86/events/intel/pt.h).
 */
#define TOPA_SINGLE_EARLY	512ull

/**
 * struct auxt_topa_single - a table of one entry
 * @table: the table
 * @phys: its physical address
 * @orders: for each page of the AUX area the order of the largest region that contains the page. A
 *	region of order n has 2^n pages
 */
struct auxt_topa_single {
	u64 *table;
	u64 phys;
	u8 *orders;
};

unsigned long auxt_topa_single_find(u8 *orders, unsigned long page, unsigned long most,
				    auxt_topa_phys_t phys, const void *area);
void auxt_topa_single_link(struct auxt_topa_single *single);
unsigned int auxt_topa_single_order(unsigned int largest, u64 position, u64 mark);

static __always_inline u64 auxt_topa_single_size(unsigned int order)
{
	return AUXT_PAGE_SIZE << order;
}

/* The entry of a region, which is at physical address @phys. */
static __always_inline u64 auxt_topa_single_entry(u64 phys, unsigned int order)
{
	return phys | (u64)order << TOPA_ENTRY_SIZE_SHIFT | TOPA_ENTRY_INT | TOPA_ENTRY_STOP;
}

/**
 * auxt_topa_single_rest() - bytes that PAD packets fill
 * @position: position at which the hardware was stopped
 *
 * The PMI of a region that ends here would come at once, or not at all. So no start leaves less
 * than TOPA_SINGLE_EARLY to a page's end, where the next mark may be.
 *
 * Return: the bytes up to the page's end if they are that few; else 0.
 */
static __always_inline u64 auxt_topa_single_rest(u64 position)
{
	u64 rest = auxt_page_up(position) - position;

	return rest <= TOPA_SINGLE_EARLY ? rest : 0;
}

#endif /* AUXT_TOPA_SINGLE_H */
