/* SPDX-License-Identifier: GPL-2.0-only */
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

static inline bool atomic_try_cmpxchg(atomic_t *v, int *old, int new)
{
	int was;

	shim_point();
	was = v->counter;
	if (was == *old)
		v->counter = new;
	shim_point();
	if (was == *old)
		return true;
	*old = was;
	return false;
}

/* Against what interrupts this thread, as the kernel's: no lock prefix. */
#define cmpxchg_local(p, old, new) ({					\
	__typeof__(*(p)) _found = (old);				\
									\
	shim_point();							\
	if (sizeof(*(p)) == 4)						\
		__asm__ __volatile__("cmpxchgl %k2, %1"			\
				     : "+a" (_found), "+m" (*(p))	\
				     : "r" ((__typeof__(*(p)))(new)) : "memory", "cc"); \
	else								\
		__asm__ __volatile__("cmpxchgq %q2, %1"			\
				     : "+a" (_found), "+m" (*(p))	\
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

#define cmpxchg(p, old, new) ({						\
	__typeof__(*(p)) _found = (old);				\
									\
	shim_point();							\
	__atomic_compare_exchange_n(p, &_found, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST); \
	shim_point();							\
	_found; })

typedef struct {
	s64 counter;
} atomic64_t;

static inline s64 atomic64_read(const atomic64_t *v)
{
	return READ_ONCE(v->counter);
}

static inline void atomic64_set(atomic64_t *v, s64 value)
{
	WRITE_ONCE(v->counter, value);
}

static inline s64 atomic64_xchg(atomic64_t *v, s64 value)
{
	return xchg(&v->counter, value);
}

static inline s64 atomic64_cmpxchg(atomic64_t *v, s64 old, s64 new)
{
	return cmpxchg(&v->counter, old, new);
}

/* With an NMI before and after. */
#define SHIM_ATOMIC64(name, op)						\
static inline s64 atomic64_##name(s64 n, atomic64_t *v)			\
{									\
	s64 was;							\
									\
	shim_point();							\
	was = __atomic_##op(&v->counter, n, __ATOMIC_SEQ_CST);		\
	shim_point();							\
	return was;							\
}
SHIM_ATOMIC64(fetch_or, fetch_or)
SHIM_ATOMIC64(fetch_and, fetch_and)
SHIM_ATOMIC64(fetch_add, fetch_add)

static inline s64 atomic64_fetch_andnot(s64 n, atomic64_t *v)
{
	return atomic64_fetch_and(~n, v);
}

static inline void atomic64_or(s64 n, atomic64_t *v)
{
	atomic64_fetch_or(n, v);
}

static inline void atomic64_andnot(s64 n, atomic64_t *v)
{
	atomic64_fetch_and(~n, v);
}

static inline void atomic64_inc(atomic64_t *v)
{
	atomic64_fetch_add(1, v);
}

static inline s64 atomic64_inc_return(atomic64_t *v)
{
	return atomic64_fetch_add(1, v) + 1;
}

static inline bool atomic64_add_unless(atomic64_t *v, s64 n, s64 unless)
{
	bool yes;

	shim_point();
	yes = v->counter != unless;
	v->counter += yes ? n : 0;
	shim_point();
	return yes;
}

/* Returns what would be left, which it is if that is not negative. */
static inline s64 atomic64_dec_if_positive(atomic64_t *v)
{
	s64 was, found = atomic64_read(v);

	do {
		was = found;
		if (was <= 0)
			return was - 1;
		found = atomic64_cmpxchg(v, was, was - 1);
	} while (found != was);
	return was - 1;
}

#endif /* SHIM_LINUX_ATOMIC_H */
