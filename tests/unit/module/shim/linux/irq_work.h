/* SPDX-License-Identifier: GPL-2.0-only */
/* Work that runs when the test lets it. */
#ifndef SHIM_LINUX_IRQ_WORK_H
#define SHIM_LINUX_IRQ_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <linux/kconfig.h>
#include <linux/rcupdate.h>

struct irq_work {
	void (*func)(struct irq_work *work);
	bool queued;
	bool hard;
};

static inline void init_irq_work(struct irq_work *work, void (*func)(struct irq_work *))
{
	work->func = func;
	work->queued = false;
	work->hard = false;
}

#define IRQ_WORK_INIT_HARD(_func)	((struct irq_work) { .func = (_func), .hard = true })

static inline bool irq_work_queue(struct irq_work *work)
{
	bool news = !work->queued;

	work->queued = true;
	return news;
}

/*
 * On PREEMPT_RT the kernel reads the work once more, at any time until a grace period has passed. If
 * the work is not a hard one, a thread runs it there, and the kernel waits for that grace period here.
 */
static inline void irq_work_sync(struct irq_work *work)
{
	if (work->queued)
		work->func(work);
	work->queued = false;
	for (int i = 0; shim_preempt_rt && i < 8; i++)
		if (!shim_reads_later[i]) {
			shim_reads_later[i] = &work->queued;
			break;
		}
	if (shim_preempt_rt && !work->hard)
		synchronize_rcu();
}

#endif /* SHIM_LINUX_IRQ_WORK_H */
