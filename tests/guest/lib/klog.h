/* SPDX-License-Identifier: GPL-2.0 */
/* The kernel's log. */
#ifndef VM_KLOG_H
#define VM_KLOG_H

/* How often @text stands in the log. Fails the running test if the log cannot be read. */
unsigned int klog_count(const char *text);

/* What the kernel says of an NMI that no handler claims. */
#define KLOG_UNKNOWN_NMI	"NMI received for unknown reason"

#endif
