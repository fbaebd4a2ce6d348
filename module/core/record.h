/* SPDX-License-Identifier: GPL-2.0 */
/* The records that a channel writes to its data ring. */
#ifndef AUXT_RECORD_H
#define AUXT_RECORD_H

#include "core/state.h"

struct task_struct;

/* On the channel's CPU with interrupts off, also in NMIs. */
void auxt_record_aux(struct auxt_channel *ch, u64 tsc);
void auxt_record_itrace_start(struct auxt_data_ring *ring, const struct task_struct *task,
			      u64 tsc);
void auxt_record_window(struct auxt_channel *ch, u64 tsc, u32 cause, u32 trigger);
void auxt_record_switch(struct auxt_data_ring *ring, const struct task_struct *next,
			bool preempted);
void auxt_record_trigger(struct auxt_data_ring *ring, const struct auxt_request *request,
			 u64 value, u64 position);
u64 auxt_record_sample(struct auxt_channel *ch, const struct auxt_request *request,
		       u64 end, u64 length);

/* Bytes of a SAMPLE record besides its data. */
#define AUXT_SAMPLE_FRAME	((u32)(sizeof(struct auxtrace_record_sample) + \
				       sizeof(struct auxtrace_record_end)))

/*
 * Bytes of data that a SAMPLE record can carry in a data ring slot of @slot_size bytes. A LOST
 * record must fit before it: otherwise no SAMPLE of this size could follow one that was dropped.
 */
static inline u64 auxt_sample_space(u64 slot_size)
{
	u64 space = slot_size - AUXT_SAMPLE_FRAME - sizeof(struct auxtrace_record_lost);

	return space < AUXTRACE_SAMPLE_IN_RECORD ? space : AUXTRACE_SAMPLE_IN_RECORD;
}

#endif /* AUXT_RECORD_H */
