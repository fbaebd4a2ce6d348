/* SPDX-License-Identifier: GPL-2.0-only */
/* The records that a channel writes to its data ring. */
#ifndef AUXT_RECORD_H
#define AUXT_RECORD_H

#include <linux/sched.h>
#include <asm/msr.h>
#include <asm/tsc.h>
#include "core/state.h"

/* On the channel's CPU with interrupts off, also in NMIs. */
void auxt_record_aux(struct auxt_channel *ch, u64 tsc);
void auxt_record_itrace_start(struct auxt_channel *ch, const struct task_struct *task, u64 tsc);
void auxt_record_window(struct auxt_channel *ch, u64 tsc, u32 cause, u32 trigger);
void auxt_record_switch(struct auxt_data_ring *ring, const struct task_struct *prev,
			const struct task_struct *next, bool preempted);
void auxt_record_trigger_slow(struct auxt_data_ring *ring, const struct auxt_request *request,
			      u64 value, u64 position, u64 tsc);
u64 auxt_record_sample(struct auxt_channel *ch, const struct auxt_request *request,
		       u64 end, u64 length);

/* The TRIGGER record that ends at @word. */
static __always_inline void auxt_record_trigger_at(struct auxt_data_ring *ring, u64 word,
						   const struct auxt_request *request, u64 value,
						   u64 position, u64 tsc)
{
	const struct task_struct *task = current;
	struct auxtrace_record_trigger *record;

	record = auxt_data_new(ring, word, AUXTRACE_RECORD_TRIGGER, sizeof(*record), tsc, task->pid);
	record->trigger = request->trigger;
	record->action = request->action;
	record->value = value;
	record->pid = task->tgid;
	record->tid = task->pid;
	record->position = position;
}

/**
 * auxt_record_trigger() - report that a trigger changed the channel's state
 * @ring: the data ring
 * @request: the trigger's request
 * @value: value of the event
 * @position: AUX position of the change
 */
static __always_inline void auxt_record_trigger(struct auxt_data_ring *ring,
						const struct auxt_request *request, u64 value,
						u64 position)
{
	u64 tsc = rdtsc();
	u64 word;

	auxt_data_get(ring);
	if (unlikely(!auxt_data_reserve_fast(ring, sizeof(struct auxtrace_record_trigger), &word))) {
		auxt_record_trigger_slow(ring, request, value, position, tsc);
		return;
	}
	auxt_record_trigger_at(ring, word, request, value, position, tsc);
	auxt_data_end(ring);
}

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
