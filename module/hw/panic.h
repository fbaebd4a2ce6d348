/* SPDX-License-Identifier: GPL-2.0-only */
/* Stops the hardware when the kernel panics. */
#ifndef AUXT_PANIC_H
#define AUXT_PANIC_H

#include <linux/types.h>

int auxt_panic_init(void);
void auxt_panic_exit(void);

/* Any context. */
bool auxt_panicking(void);
void auxt_panic_stop(void);

#endif /* AUXT_PANIC_H */
