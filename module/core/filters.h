/* SPDX-License-Identifier: GPL-2.0 */
/* The filters of a session: ranges of addresses, and an address space. */
#ifndef AUXT_CORE_FILTERS_H
#define AUXT_CORE_FILTERS_H

#include <linux/auxtrace.h>

/* IA32_RTIT_CTL has fields for so many. */
#define AUXT_MAX_FILTERS	4

struct mm_struct;

/**
 * struct auxt_filters - copied from user space, and checked
 * @nr: number of entries in use
 * @filter: the ranges
 * @mm: ADDRESS_SPACE: whose page tables must be in use; NULL: any. Holds a reference that keeps the
 *	page tables themselves, so that no other process gets their addresses
 * @cr3: with @mm: CR3 while they are in use, bits 63:5
 */
struct auxt_filters {
	u32 nr;
	struct auxtrace_filter filter[AUXT_MAX_FILTERS];
	struct mm_struct *mm;
	u64 cr3;
};

#endif /* AUXT_CORE_FILTERS_H */
