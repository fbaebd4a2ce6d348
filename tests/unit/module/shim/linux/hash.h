/* SPDX-License-Identifier: GPL-2.0-only */
/* Of addresses of pages: 10 bits above these 12 are the upper bits, and 6 above them the lower ones. */
#ifndef SHIM_LINUX_HASH_H
#define SHIM_LINUX_HASH_H

#include <stdint.h>

static inline unsigned int hash_ptr(const void *p, unsigned int bits)
{
	const uintptr_t page = (uintptr_t)p >> 12;

	return ((page & 1023) << 6 | (page >> 10 & 63)) >> (16 - bits);
}

#endif /* SHIM_LINUX_HASH_H */
