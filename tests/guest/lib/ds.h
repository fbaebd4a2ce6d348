/* SPDX-License-Identifier: GPL-2.0-only */
/* The BTS fields of perf's debug store, read by a kprobe event of the kernel's tracefs. */
#ifndef VM_DS_H
#define VM_DS_H

#include <stdbool.h>
#include <stdint.h>

struct ds {
	uint64_t base, index, maximum, threshold;
};

/*
 * Those of @cpu. Skips the running test if the kernel has no kprobe events or perf uses no
 * debug store on that CPU.
 */
struct ds ds_read(int cpu);

#endif
