/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's fault injection (CONFIG_FAULT_INJECTION) for calls of the calling thread. */
#ifndef VM_FAIL_NTH_H
#define VM_FAIL_NTH_H

enum fault {
	FAULT_NONE,
	FAULT_MEMORY,	/* an allocation failed */
	FAULT_COPY,	/* a copy from or to user memory did */
};

/* Skips the running test, with a message, if this kernel cannot inject faults. */
void fault_required(void);
/* The @nth of the calling thread's allocations and copies from now on fails. */
void fault_next(unsigned int nth);
/* What has failed since? From here on nothing fails. */
enum fault fault_happened(void);

#endif
