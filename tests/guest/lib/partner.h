/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Real-time threads on the first CPU that switch to each other in a known way, and the kernel's own
 * counts of their context switches.
 */
#ifndef VM_PARTNER_H
#define VM_PARTNER_H

#include <sys/types.h>

#define PARTNERS	2

/* cmocka setup and teardown of a group; setup does what at_group_setup() does, too. */
int partners_start(void **state);
int partners_end(void **state);

pid_t partner_tid(int i);

/*
 * In a round each partner waits for a byte, passes it on to the next one, and yields until all of them
 * have come so far: all but the last leave the CPU though they could run on. The caller is on the
 * partners' CPU and no real-time thread: it runs there only while all of them sleep. When this
 * returns, they have left the CPU and wait.
 */
void partners_round(void);

/* How often a thread has left its CPU: /proc/self/task/TID/status. */
struct switch_counts {
	unsigned long voluntary, involuntary;
};

struct switch_counts partner_counts(int i);

#endif
