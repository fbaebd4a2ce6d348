/* SPDX-License-Identifier: GPL-2.0 */
/* Work that runs when the test lets it. */
#ifndef SHIM_LINUX_IRQ_WORK_H
#define SHIM_LINUX_IRQ_WORK_H

#include <stdbool.h>

struct irq_work {
	void (*func)(struct irq_work *work);
	bool queued;
};

static inline void init_irq_work(struct irq_work *work, void (*func)(struct irq_work *))
{
	work->func = func;
	work->queued = false;
}

#define IRQ_WORK_INIT_HARD(_func)	((struct irq_work) { .func = (_func) })

static inline bool irq_work_queue(struct irq_work *work)
{
	bool news = !work->queued;

	work->queued = true;
	return news;
}

static inline void irq_work_sync(struct irq_work *work)
{
	if (work->queued)
		work->func(work);
	work->queued = false;
}

#endif /* SHIM_LINUX_IRQ_WORK_H */
