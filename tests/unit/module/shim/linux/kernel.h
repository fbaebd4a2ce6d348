/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a channel needs of the kernel, for one CPU played in user space. Each
 * access that the code under test marks as shared with NMIs is a point where an
 * NMI may land: shim_point() is the test's.
 */
#ifndef SHIM_LINUX_KERNEL_H
#define SHIM_LINUX_KERNEL_H

#include <linux/types.h>

void shim_point(void);

#define barrier() \
	do { shim_point(); __asm__ __volatile__("" ::: "memory"); } while (0)
#define smp_wmb()	barrier()
/* An NMI may land before the load, and between the load and what the value is used for. */
#define SHIM_READ(x, value) ({						\
	shim_point();							\
	__typeof__(x) value = *(const volatile __typeof__(x) *)&(x);	\
	shim_point();							\
	value; })
#define SHIM_READ_AS(x, n)	SHIM_READ(x, shim_value_##n)
#define SHIM_READ_NAMED(x, n)	SHIM_READ_AS(x, n)
#define READ_ONCE(x)	SHIM_READ_NAMED(x, __COUNTER__)
#define WRITE_ONCE(x, value) \
	do { shim_point(); *(volatile __typeof__(x) *)&(x) = (value); shim_point(); } while (0)
#define smp_load_acquire(p)	READ_ONCE(*(p))
#define smp_store_release(p, value) \
	do { barrier(); WRITE_ONCE(*(p), value); } while (0)

#define min(a, b) \
	({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a < _b ? _a : _b; })
#define max(a, b) \
	({ __typeof__(a) _a = (a); __typeof__(b) _b = (b); _a > _b ? _a : _b; })

#define clamp(n, lo, hi) \
	({ __typeof__(n) _n = (n); _n < (lo) ? (lo) : _n > (hi) ? (hi) : _n; })
#define roundup(n, to)	(((n) + (to) - 1) / (to) * (to))

#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))

#define ALIGN(n, to)	(((n) + (to) - 1) & ~((__typeof__(n))(to) - 1))

#define ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

#define container_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

#endif /* SHIM_LINUX_KERNEL_H */
