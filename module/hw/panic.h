/* SPDX-License-Identifier: GPL-2.0-only */
/* Stops the hardware when the kernel panics. */
#ifndef AUXT_PANIC_H
#define AUXT_PANIC_H

#include <linux/atomic.h>
#include <linux/types.h>

int auxt_panic_init(void);
void auxt_panic_exit(void);

/* Set from the first kprobe or the notifier on. Only panic.c writes it. */
extern atomic_t auxt_panic_seen;

/* Has the kernel begun to panic? Any context; inline, because each NMI asks. */
static __always_inline bool auxt_panicking(void)
{
	return atomic_read(&auxt_panic_seen);
}

/* Any context. */
void auxt_panic_stop(void);

#endif /* AUXT_PANIC_H */
