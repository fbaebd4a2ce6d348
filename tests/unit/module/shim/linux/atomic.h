/* SPDX-License-Identifier: GPL-2.0 */
/* Atomic against NMIs: one may land before and after, not within. */
#ifndef SHIM_LINUX_ATOMIC_H
#define SHIM_LINUX_ATOMIC_H

#include <linux/kernel.h>

typedef struct {
	int counter;
} atomic_t;

static inline int atomic_read(const atomic_t *v)
{
	return READ_ONCE(v->counter);
}

static inline void atomic_set(atomic_t *v, int value)
{
	WRITE_ONCE(v->counter, value);
}

static inline void atomic_or(int bits, atomic_t *v)
{
	shim_point();
	v->counter |= bits;
	shim_point();
}

static inline void atomic_andnot(int bits, atomic_t *v)
{
	shim_point();
	v->counter &= ~bits;
	shim_point();
}

/* Against what interrupts this thread, as the kernel's: no lock prefix. */
#define cmpxchg_local(p, old, new) ({					\
	__typeof__(*(p)) _found = (old);				\
									\
	shim_point();							\
	__asm__ __volatile__("cmpxchgq %2, %1"				\
			     : "+a" (_found), "+m" (*(p))		\
			     : "r" ((__typeof__(*(p)))(new)) : "memory", "cc"); \
	shim_point();							\
	_found; })

#define xchg(p, new) ({							\
	__typeof__(*(p)) _new = (new);					\
									\
	shim_point();							\
	__asm__ __volatile__("xchgq %0, %1"				\
			     : "+r" (_new), "+m" (*(p)) : : "memory");	\
	shim_point();							\
	_new; })

#endif /* SHIM_LINUX_ATOMIC_H */
