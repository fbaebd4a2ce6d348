/* SPDX-License-Identifier: GPL-2.0 */
/* perf's debug store, in the words that are BTS's, read by a probe of the kernel's own. */
#ifndef VM_DS_H
#define VM_DS_H

#include <stdbool.h>
#include <stdint.h>

struct ds {
	uint64_t base, index, maximum, threshold;
};

/*
 * Of @cpu, as of now. Skips the running test where the kernel has no probes with tracefs
 * or perf uses no debug store there.
 */
struct ds ds_read(int cpu);

#endif
