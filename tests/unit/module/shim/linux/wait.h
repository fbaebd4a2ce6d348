/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A wait queue in which somebody waits, unless a test says otherwise. It counts how often it was
 * woken.
 */
#ifndef SHIM_LINUX_WAIT_H
#define SHIM_LINUX_WAIT_H

#include <stdbool.h>

typedef struct {
	unsigned int woken;
	bool empty;
} wait_queue_head_t;

#define init_waitqueue_head(queue)	((void)(*(queue) = (wait_queue_head_t) { .woken = 0 }))

static inline bool wq_has_sleeper(const wait_queue_head_t *queue)
{
	return !queue->empty;
}

#define wake_up_interruptible_poll(queue, events) \
	((void)(events), (void)(queue)->woken++)

#endif /* SHIM_LINUX_WAIT_H */
