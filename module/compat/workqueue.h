/* SPDX-License-Identifier: GPL-2.0-only */
/* See compat.h. */
#ifndef AUXT_COMPAT_WORKQUEUE_H
#define AUXT_COMPAT_WORKQUEUE_H

#include <linux/workqueue.h>

/* system_dfl_wq replaced system_unbound_wq. */
static inline bool auxt_queue_unbound_work(struct work_struct *work)
{
#ifdef AUXT_HAVE_SYSTEM_DFL_WQ
	return queue_work(system_dfl_wq, work);
#else
	return queue_work(system_unbound_wq, work);
#endif
}

#endif /* AUXT_COMPAT_WORKQUEUE_H */
