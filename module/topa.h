/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Table of Physical Addresses: the layout that tells Intel PT where to write
 * (SDM volume 3, "Table of Physical Addresses (ToPA)"). Pure arithmetic on
 * tables that somebody else has allocated: also compiled in user space.
 *
 * Every output region is one page. A table is one page of 512 entries, the last
 * of which (END) leads to the next table; that of the last table leads back to
 * the first, so the output is a ring.
 */
#ifndef AUXT_TOPA_H
#define AUXT_TOPA_H

#include <linux/types.h>

#define TOPA_ENTRIES_PER_TABLE	512
#define TOPA_REGIONS_PER_TABLE	(TOPA_ENTRIES_PER_TABLE - 1)

#define TOPA_ENTRY_END		(1ull << 0)
#define TOPA_ENTRY_INT		(1ull << 2)
#define TOPA_ENTRY_STOP		(1ull << 4)
/* Bits 9:6 hold log2(size / 4 KiB): 0 for our regions. */

/**
 * struct auxt_topa - a ring of tables
 * @nr_regions: output regions in all
 * @nr_tables: tables
 * @tables: the tables
 * @phys: their physical addresses
 * @hint: the table where the hardware was last seen
 */
struct auxt_topa {
	unsigned long nr_regions;
	unsigned int nr_tables;
	u64 **tables;
	u64 *phys;
	unsigned int hint;
};

unsigned int auxt_topa_nr_tables(unsigned long nr_regions);
void auxt_topa_link(struct auxt_topa *topa);
void auxt_topa_set_region(struct auxt_topa *topa, unsigned long region, u64 phys);
void auxt_topa_mark(struct auxt_topa *topa, unsigned long region, u64 marks);
void auxt_topa_unmark(struct auxt_topa *topa, unsigned long region);
void auxt_topa_pointers(const struct auxt_topa *topa, u64 offset,
			u64 *base, u64 *mask_ptrs);
int auxt_topa_locate(struct auxt_topa *topa, u64 base, u64 mask_ptrs, u64 *offset);

#endif /* AUXT_TOPA_H */
