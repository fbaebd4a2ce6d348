/* SPDX-License-Identifier: GPL-2.0 */
/* What the records of a channel say. */
#ifndef AUXT_RECORD_H
#define AUXT_RECORD_H

#include <linux/auxtrace.h>
#include <linux/types.h>

struct auxt_channel;
struct auxt_data_ring;
struct auxt_request;

/**
 * struct auxt_window - a window from its begin on
 * @number: its sequence number
 * @position: AUX position where it began
 * @tsc: when
 * @cause: AUXTRACE_CAUSE_*
 * @pid: process that the CPU ran then
 * @tid: thread
 * @slot: slot that it lies in
 * @trigger: that began it, or 0
 */
struct auxt_window {
	u64 number;
	u64 position;
	u64 tsc;
	u32 cause;
	u32 pid;
	u32 tid;
	u32 slot;
	u32 trigger;
};

/* On the channel's CPU with interrupts off, also in NMIs. */
void auxt_record_aux(struct auxt_channel *ch, u64 tsc);
void auxt_record_itrace_start(struct auxt_data_ring *ring, u64 tsc);
void auxt_record_window(struct auxt_channel *ch, u64 tsc, u32 cause, u32 trigger);
void auxt_record_trigger(struct auxt_data_ring *ring, const struct auxt_request *request,
			 u64 value, u64 position);
u64 auxt_record_sample(struct auxt_channel *ch, const struct auxt_request *request,
		       u64 end, u64 length);

/* What is around the bytes of a SAMPLE. */
#define AUXT_SAMPLE_FRAME	((u32)(sizeof(struct auxtrace_record_sample) + \
				       sizeof(struct auxtrace_record_end)))

/*
 * Bytes of a SAMPLE that its record can carry; of a slot of the data ring, its size. A
 * LOST record fits before it: else one that was lost would keep all that follow out.
 */
static inline u64 auxt_sample_space(u64 slot_size)
{
	u64 room = slot_size - AUXT_SAMPLE_FRAME - sizeof(struct auxtrace_record_lost);

	return room < AUXTRACE_SAMPLE_IN_RECORD ? room : AUXTRACE_SAMPLE_IN_RECORD;
}

#endif /* AUXT_RECORD_H */
