// SPDX-License-Identifier: GPL-2.0
/*
 * What the records of a channel say. They are filled in where they lie: the
 * members that each function sets are all that auxt_data_begin() leaves open.
 */

#include <linux/auxtrace.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <asm/msr.h>
#include <asm/tsc.h>
#include "core/channel.h"
#include "core/data_ring.h"
#include "core/record.h"
#include "core/trace_pmu.h"

static __always_inline void record_aux(struct auxt_channel *ch, u64 tsc)
{
	u32 flags = ch->aux_flags | (ch->aux.overwrite ? AUXTRACE_AUX_OVERWRITE : 0);
	struct auxtrace_record_aux *record;
	u64 from = ch->aux_reported;

	/* First: if the ring has no room, this is lost and counted, and no news any more. */
	ch->aux_reported = ch->aux.produced;
	ch->aux_flags = 0;
	record = auxt_data_begin(&ch->data, AUXTRACE_RECORD_AUX, sizeof(*record), tsc,
				 current->pid);
	if (!record)
		return;
	record->offset = from;
	record->length = ch->aux.produced - from;
	record->flags = flags;
	auxt_data_end(&ch->data);
}

/**
 * auxt_record_aux() - the AUX area has what no AUX record has told of
 * @ch: a channel that wants to be told of that
 * @tsc: time-stamp counter
 */
void auxt_record_aux(struct auxt_channel *ch, u64 tsc)
{
	record_aux(ch, tsc);
}
NOKPROBE_SYMBOL(auxt_record_aux);

/**
 * auxt_record_itrace_start() - the first window after a START began
 * @ring: where to
 * @tsc: when
 */
void auxt_record_itrace_start(struct auxt_data_ring *ring, u64 tsc)
{
	struct auxtrace_record_itrace_start *record;

	record = auxt_data_begin(ring, AUXTRACE_RECORD_ITRACE_START, sizeof(*record), tsc,
				 current->pid);
	if (!record)
		return;
	record->pid = current->tgid;
	record->tid = current->pid;
	auxt_data_end(ring);
}
NOKPROBE_SYMBOL(auxt_record_itrace_start);

/**
 * auxt_record_window() - a window ended
 * @ch: a channel that wants to be told of them
 * @tsc: when
 * @cause: AUXTRACE_CAUSE_* of its end
 * @trigger: that ended it, or 0
 *
 * With an AUX record, if there is news for one: written as if it had interrupted the
 * other, so that both are published at once.
 */
void auxt_record_window(struct auxt_channel *ch, u64 tsc, u32 cause, u32 trigger)
{
	const struct auxt_window *window = &ch->window;
	struct auxtrace_record_window *record;

	record = auxt_data_begin(&ch->data, AUXTRACE_RECORD_WINDOW, sizeof(*record), tsc,
				 current->pid);
	if (record) {
		record->window = window->number;
		record->begin = window->position;
		record->end_position = ch->aux.produced;
		record->begin_tsc = window->tsc;
		record->end_tsc = tsc;
		record->begin_cause = window->cause;
		record->end_cause = cause;
		record->begin_pid = window->pid;
		record->begin_tid = window->tid;
		record->pid = current->tgid;
		record->tid = current->pid;
		record->slot = window->slot;
		record->reserved = 0;
		record->begin_trigger = window->trigger;
		record->end_trigger = trigger;
	}
	if (ch->wanted & AUXTRACE_WANT_AUX && auxt_channel_has_unreported(ch))
		record_aux(ch, tsc);
	if (record)
		auxt_data_end(&ch->data);
}
NOKPROBE_SYMBOL(auxt_record_window);

/**
 * auxt_record_trigger() - a trigger changed the channel's state
 * @ring: where to
 * @request: what it asked
 * @value: of the event
 * @position: AUX position since
 */
void auxt_record_trigger(struct auxt_data_ring *ring, const struct auxt_request *request,
			 u64 value, u64 position)
{
	struct auxtrace_record_trigger *record;

	record = auxt_data_begin(ring, AUXTRACE_RECORD_TRIGGER, sizeof(*record), rdtsc(),
				 current->pid);
	if (!record)
		return;
	record->trigger = request->trigger;
	record->action = request->action;
	record->value = value;
	record->pid = current->tgid;
	record->tid = current->pid;
	record->position = position;
	auxt_data_end(ring);
}
NOKPROBE_SYMBOL(auxt_record_trigger);

static u64 whole(const struct auxt_channel *ch, u64 length)
{
	return length - length % ch->pmu->granule;
}
NOKPROBE_SYMBOL(whole);

/**
 * auxt_record_sample() - the newest AUX data at an event
 * @ch: the channel
 * @request: what was asked
 * @end: position after the last byte
 * @length: bytes that there are of those wanted
 *
 * Whole pieces of trace only. What a record cannot carry is copied to a slot that
 * nobody needs; if there is none, the record has the newest of it.
 *
 * Return: bytes that the record tells of.
 */
u64 auxt_record_sample(struct auxt_channel *ch, const struct auxt_request *request,
		       u64 end, u64 length)
{
	u64 room = whole(ch, auxt_sample_space(ch->data.size));
	struct auxtrace_record_sample *record;
	int slot = -1;
	u32 padded;

	length = whole(ch, length);
	if (length > room) {
		slot = auxt_slots_claim_any(&ch->slots);
		if (slot < 0)
			length = room;
	}
	padded = slot < 0 ? ALIGN(length, 8) : 0;
	record = auxt_data_begin(&ch->data, AUXTRACE_RECORD_SAMPLE, AUXT_SAMPLE_FRAME + padded,
				 rdtsc(), current->pid);
	if (!record) {
		if (slot >= 0)
			auxt_slots_give(&ch->slots, slot);
		return length;
	}
	record->trigger = request->trigger;
	record->pid = current->tgid;
	record->tid = current->pid;
	record->sample_slot = slot < 0 ? 0 : slot;
	record->aux_end = end;
	record->wanted = request->size;
	record->length = length;
	record->flags = (slot < 0 ? 0 : AUXTRACE_SAMPLE_IN_SLOT) |
			(length < whole(ch, request->size) ? AUXTRACE_SAMPLE_CUT : 0);
	if (slot < 0) {
		memset((char *)(record + 1) + length, 0, padded - length);
		auxt_channel_copy(ch, record + 1, end - length, length);
	} else {
		auxt_channel_save(ch, slot, end - length, length);
		auxt_slots_fill(&ch->slots, slot);
	}
	auxt_data_end(&ch->data);
	return length;
}
NOKPROBE_SYMBOL(auxt_record_sample);
