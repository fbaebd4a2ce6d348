/* SPDX-License-Identifier: GPL-2.0-only */
/* Pages that user space maps. */
#ifndef AUXT_PAGE_H
#define AUXT_PAGE_H

#include <linux/compiler.h>
#include <linux/mm.h>

/**
 * auxt_page_address() - kernel address of a page that user space may have mapped
 * @page: the page; a 64-bit kernel has an address for each
 *
 * Without CONFIG_SPARSEMEM_VMEMMAP, page_address() reads the page's flags. It uses only bits that
 * never change, while the memory management sets and clears others at any time: no race that KCSAN
 * need report.
 *
 * Return: the address.
 */
static __always_inline void *auxt_page_address(const struct page *page)
{
	return data_race(page_address(page));
}

#endif /* AUXT_PAGE_H */
