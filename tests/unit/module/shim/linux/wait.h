/* SPDX-License-Identifier: GPL-2.0 */
/* A wait queue that counts how often it was woken. */
#ifndef SHIM_LINUX_WAIT_H
#define SHIM_LINUX_WAIT_H

typedef struct {
	unsigned int woken;
} wait_queue_head_t;

#define init_waitqueue_head(queue)	((void)((queue)->woken = 0))
#define wake_up_interruptible_poll(queue, events) \
	((void)(events), (void)(queue)->woken++)

#endif /* SHIM_LINUX_WAIT_H */
