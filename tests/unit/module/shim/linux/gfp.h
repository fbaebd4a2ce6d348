/* SPDX-License-Identifier: GPL-2.0-only */
/* Pages are the test's. */
#ifndef SHIM_LINUX_GFP_H
#define SHIM_LINUX_GFP_H

#include <linux/slab.h>

#define __GFP_ZERO	0

struct page;

struct page *alloc_pages_node(int node, unsigned int gfp, unsigned int order);
void free_page(unsigned long address);

#endif /* SHIM_LINUX_GFP_H */
