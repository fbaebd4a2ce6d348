/* SPDX-License-Identifier: GPL-2.0 */
/* What the records of a channel say. */
#ifndef AUXT_RECORD_H
#define AUXT_RECORD_H

#include <linux/types.h>

struct auxt_data_ring;

/**
 * struct auxt_window - a window from its begin on
 * @number: its sequence number
 * @position: AUX position where it began
 * @tsc: when
 * @cause: AUXTRACE_CAUSE_*
 * @pid: process that the CPU ran then
 * @tid: thread
 * @slot: slot that it lies in
 */
struct auxt_window {
	u64 number;
	u64 position;
	u64 tsc;
	u32 cause;
	u32 pid;
	u32 tid;
	u32 slot;
};

/* On the channel's CPU with interrupts off, also in NMIs. */
void auxt_record_aux(struct auxt_data_ring *ring, u64 offset, u64 length, u64 flags, u64 tsc);
void auxt_record_itrace_start(struct auxt_data_ring *ring, u64 tsc);
void auxt_record_window(struct auxt_data_ring *ring, const struct auxt_window *window,
			u64 end, u64 tsc, u32 cause);

#endif /* AUXT_RECORD_H */
