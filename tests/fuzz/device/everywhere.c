// SPDX-License-Identifier: GPL-2.0-only
/*
 * For a copy of the module that notes where its code was in every context: run --everywhere
 * builds this into it. KCOV notes tasks only, not interrupts and NMIs. The compiler calls this
 * function at each basic block. A module that has the function itself does not call the
 * kernel's. fuzz_device reads the counters through /proc/kcore.
 */
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/types.h>

void __sanitizer_cov_trace_pc(void);

/* By the distance from this function, which is linked last, in units of 4 bytes. */
u8 auxt_places[1 << 16];

/* Counts are for comparison only: those that two contexts make at once may be one. */
void notrace __sanitizer_cov_trace_pc(void)
{
	unsigned long place = (unsigned long)__sanitizer_cov_trace_pc / 4 - _RET_IP_ / 4;

	/* The last block of a function may jump here, and we return to its caller in the kernel. */
	if (place < ARRAY_SIZE(auxt_places))
		auxt_places[place]++;
}
NOKPROBE_SYMBOL(__sanitizer_cov_trace_pc);
