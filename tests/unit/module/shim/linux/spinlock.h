/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Raw spinlocks of one CPU. Code that takes a lock which it holds, or gives back one which it does
 * not hold, ends the test. Interrupts take these locks, too, so each is held with interrupts off.
 */
#ifndef SHIM_LINUX_SPINLOCK_H
#define SHIM_LINUX_SPINLOCK_H

#include <assert.h>
#include <stdbool.h>
#include <linux/kernel.h>

typedef struct {
	bool held;
	bool ready;		/* raw_spin_lock_init() has been called */
} raw_spinlock_t;

/* Of the code under test: how many locks it holds, and has taken; whether interrupts are off. */
__attribute__((weak)) unsigned int shim_locks_held, shim_locks_taken;
__attribute__((weak)) bool shim_irqs_off;

static inline void raw_spin_lock_init(raw_spinlock_t *lock)
{
	lock->held = false;
	lock->ready = true;
}

static inline void raw_spin_lock(raw_spinlock_t *lock)
{
	assert(shim_irqs_off);
	assert(lock->ready);
	shim_point();
	assert(!lock->held);
	lock->held = true;
	shim_locks_held++;
	shim_locks_taken++;
	shim_point();
}

static inline void raw_spin_unlock(raw_spinlock_t *lock)
{
	shim_point();
	assert(lock->held);
	lock->held = false;
	shim_locks_held--;
	shim_point();
}

#define raw_spin_lock_irqsave(lock, flags) \
	do { (flags) = shim_irqs_off; shim_irqs_off = true; raw_spin_lock(lock); } while (0)
#define raw_spin_unlock_irqrestore(lock, flags) \
	do { raw_spin_unlock(lock); shim_irqs_off = (flags); } while (0)

#endif /* SHIM_LINUX_SPINLOCK_H */
