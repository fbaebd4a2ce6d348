/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_BITS_H
#define SHIM_LINUX_BITS_H

#define BIT_ULL(n)	(1ull << (n))
#define __ffs64(n)	((unsigned int)__builtin_ctzll(n))

#endif /* SHIM_LINUX_BITS_H */
