/* SPDX-License-Identifier: GPL-2.0-only */
/* See compat.h. */
#ifndef AUXT_COMPAT_IRQ_WORK_H
#define AUXT_COMPAT_IRQ_WORK_H

#include <linux/irq_work.h>
#include <linux/kconfig.h>
#include <linux/rcupdate.h>

/* An irq_work that runs in hard interrupt context on PREEMPT_RT, too, not in a thread. */
static inline void auxt_irq_work_init_hard(struct irq_work *work,
					   void (*func)(struct irq_work *))
{
#ifdef AUXT_HAVE_IRQ_WORK_INIT_HARD
	*work = IRQ_WORK_INIT_HARD(func);
#else
	*work = (struct irq_work) { .flags = ATOMIC_INIT(IRQ_WORK_HARD_IRQ), .func = func };
#endif
}

/*
 * Call this between irq_work_sync() of works of the above kind and the end of their memory. On
 * PREEMPT_RT, irq_work_single() reads the flags of a work once more after it has let go of it. It
 * runs with interrupts off, so it has ended after a grace period.
 */
static inline void auxt_irq_work_drain(void)
{
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		synchronize_rcu();
}

#endif /* AUXT_COMPAT_IRQ_WORK_H */
