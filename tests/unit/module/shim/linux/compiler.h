/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_LINUX_COMPILER_H
#define SHIM_LINUX_COMPILER_H

#define __aligned(n)	__attribute__((aligned(n)))
#define likely(x)	__builtin_expect(!!(x), 1)
#define unlikely(x)	__builtin_expect(!!(x), 0)
#define notrace
#define noinline	__attribute__((noinline))
#define data_race(expr)	(expr)
#undef __always_inline
#define __always_inline	inline __attribute__((always_inline))

#endif /* SHIM_LINUX_COMPILER_H */
