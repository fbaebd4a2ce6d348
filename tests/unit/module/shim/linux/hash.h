/* SPDX-License-Identifier: GPL-2.0-only */
/* All tasks of the tests fall into one bucket if they are so aligned. */
#ifndef SHIM_LINUX_HASH_H
#define SHIM_LINUX_HASH_H

#include <stdint.h>

#define hash_ptr(p, bits)	((unsigned int)((uintptr_t)(p) >> 12) & ((1u << (bits)) - 1))

#endif /* SHIM_LINUX_HASH_H */
