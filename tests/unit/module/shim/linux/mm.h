/* SPDX-License-Identifier: GPL-2.0-only */
/* Pages are the test's. */
#ifndef SHIM_LINUX_MM_H
#define SHIM_LINUX_MM_H

struct cpumask;
struct page;
struct vm_area_struct;

#define PAGE_SHIFT	12
#define PAGE_SIZE	4096ull
#define PAGE_MASK	(~(PAGE_SIZE - 1))

void *page_address(const struct page *page);

#endif /* SHIM_LINUX_MM_H */
