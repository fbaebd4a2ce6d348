/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's fault injection (CONFIG_FAULT_INJECTION) for calls of the calling thread. */
#ifndef VM_FAULT_H
#define VM_FAULT_H

#include <stdbool.h>

enum fault {
	FAULT_MEMORY,	/* an allocation */
	FAULT_COPY,	/* a copy from or to user memory */
};

/*
 * From now on fault_next() is about these. Skips the running test, with a message, if the
 * kernel cannot do that.
 */
void fault_select(enum fault kind);
/* The @nth of the calling thread's allocations, or copies, from now on fails. */
void fault_next(unsigned int nth);
/* Has it failed? If not, it will not. */
bool fault_happened(void);

#endif
