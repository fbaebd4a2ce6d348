/* SPDX-License-Identifier: GPL-2.0-only */
/* Pages are the test's. */
#ifndef SHIM_LINUX_IO_H
#define SHIM_LINUX_IO_H

#include <linux/types.h>

struct page;

u64 page_to_phys(const struct page *page);

#endif /* SHIM_LINUX_IO_H */
