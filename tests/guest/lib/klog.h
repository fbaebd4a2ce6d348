/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's log. */
#ifndef VM_KLOG_H
#define VM_KLOG_H

#include <stdint.h>

/* How often @text stands in the log. Fails the running test if the log cannot be read. */
unsigned int klog_count(const char *text);

/* What the kernel says of an NMI that no handler claims. */
#define KLOG_UNKNOWN_NMI	"NMI received for unknown reason"

/*
 * The kernel reports the NMI of an interrupt that was handled already if it comes so much later, in
 * TSC: the module's PMI_LATE_MS.
 */
#define NMI_LATE_MS	10
uint64_t nmi_late_bound(void);

#endif
