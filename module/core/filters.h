/* SPDX-License-Identifier: GPL-2.0-only */
/* The filters of a session: ranges of addresses, and an address space. */
#ifndef AUXT_CORE_FILTERS_H
#define AUXT_CORE_FILTERS_H

#include <linux/auxtrace.h>
#include <linux/types.h>

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

/*
 * With page-table isolation the tables that user code runs with are behind those of the kernel: bit
 * 12 of CR3 is set. If the kernel uses PCIDs, bit 11 is, too. The other bits of the kernel's PCIDs
 * are below those that the CPU compares, so a process has one CR3 on all CPUs.
 */
#define AUXT_CR3_USER_TABLE	(1ull << 12)
#define AUXT_CR3_USER_PCID	(1ull << 11)

/**
 * auxt_filters_cr3() - CR3 of a process while it runs what a session traces
 * @table: physical address of the kernel's top-level page table for it
 * @lam: bits of CR3 by which it has turned linear-address masking (LAM) on
 * @flags: AUXTRACE_SETUP_*
 * @pti: the kernel isolates page tables
 * @pcid: it uses PCIDs
 *
 * The bits of LAM are 62:61. By the SDM the CPU compares bits 63:5 with IA32_RTIT_CR3_MATCH, which is older than
 * LAM, and the SDM says nothing of both. Whoever is wrong about it traces nothing, and does not notice.
 *
 * Return: the bits that the CPU compares; 0: it has no one value for all that is traced, or has LAM.
 */
static inline u64 auxt_filters_cr3(u64 table, u64 lam, u32 flags, bool pti, bool pcid)
{
	const u32 both = AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER;

	if (lam || (pti && (flags & both) == both))
		return 0;
	if (!pti || flags & AUXTRACE_SETUP_KERNEL)
		return table;
	return table | AUXT_CR3_USER_TABLE | (pcid ? AUXT_CR3_USER_PCID : 0);
}

#endif /* AUXT_CORE_FILTERS_H */
