/* SPDX-License-Identifier: GPL-2.0-only */
/* Work that runs when the test says so: shim_run_work(). */
#ifndef SHIM_LINUX_WORKQUEUE_H
#define SHIM_LINUX_WORKQUEUE_H

#include <stdbool.h>
#include <stddef.h>

struct work_struct {
	void (*func)(struct work_struct *work);
	bool queued;
};

#define INIT_WORK(work, _func)	(*(work) = (struct work_struct) { .func = (_func) })

/* The one workqueue, and the work that was queued last and neither run nor cancelled since. */
#define system_unbound_wq	0
__attribute__((weak)) struct work_struct *shim_waiting_work;

static inline bool queue_work(int queue, struct work_struct *work)
{
	bool news = !work->queued;

	work->queued = true;
	shim_waiting_work = work;
	return news;
}

static inline bool cancel_work_sync(struct work_struct *work)
{
	bool was = work->queued;

	work->queued = false;
	if (shim_waiting_work == work)
		shim_waiting_work = NULL;
	return was;
}

static inline void shim_run_work(struct work_struct *work)
{
	if (cancel_work_sync(work))
		work->func(work);
}

#endif /* SHIM_LINUX_WORKQUEUE_H */
