// SPDX-License-Identifier: GPL-2.0-only
/*
 * The records that a channel writes to its data ring. They are filled in in place: each function
 * sets all members that auxt_data_begin() has not set.
 */

#include <linux/auxtrace.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <asm/msr.h>
#include <asm/tsc.h>
#include "base/aux_buffer.h"
#include "base/page.h"
#include "core/data_ring.h"
#include "core/record.h"
#include "core/slots.h"
#include "core/state.h"
#include "core/trace_pmu.h"

#define AUX_SIZE	((u32)sizeof(struct auxtrace_record_aux))
#define WINDOW_SIZE	((u32)sizeof(struct auxtrace_record_window))

/* What an AUX record reports. It is reported once, whether the ring has space or not. */
struct record_aux {
	u64 from;
	u64 length;
	u64 flags;
};

static __always_inline struct record_aux record_take_aux(struct auxt_channel *ch)
{
	struct record_aux aux = {
		.from = ch->aux_reported,
		.length = ch->aux.produced - ch->aux_reported,
		.flags = ch->aux_flags | (ch->aux.overwrite ? AUXTRACE_AUX_OVERWRITE : 0),
	};

	ch->aux_reported = ch->aux.produced;
	ch->aux_flags = 0;
	return aux;
}

static __always_inline void record_fill_aux(struct auxtrace_record_aux *record,
					    const struct record_aux *aux)
{
	record->offset = aux->from;
	record->length = aux->length;
	record->flags = aux->flags;
}

/**
 * auxt_record_aux() - report what was produced since the last AUX record
 * @ch: a channel that writes AUX records
 * @tsc: time-stamp counter
 */
void auxt_record_aux(struct auxt_channel *ch, u64 tsc)
{
	const struct record_aux aux = record_take_aux(ch);
	struct auxtrace_record_aux *record;

	record = auxt_data_begin(&ch->data, AUXTRACE_RECORD_AUX, AUX_SIZE, tsc,
				 auxt_channel_tid(ch));
	if (!record)
		return;
	record_fill_aux(record, &aux);
	auxt_data_end(&ch->data);
}
NOKPROBE_SYMBOL(auxt_record_aux);

/**
 * auxt_record_itrace_start() - report the first window after a START
 * @ch: a channel that writes ITRACE_START records
 * @task: the thread that the CPU runs in it
 * @tsc: time-stamp counter at its begin
 */
void auxt_record_itrace_start(struct auxt_channel *ch, const struct task_struct *task, u64 tsc)
{
	struct auxtrace_record_itrace_start *record;

	record = auxt_data_begin(&ch->data, AUXTRACE_RECORD_ITRACE_START, sizeof(*record), tsc,
				 auxt_channel_tid(ch));
	if (!record)
		return;
	record->pid = task->tgid;
	record->tid = task->pid;
	auxt_data_end(&ch->data);
}
NOKPROBE_SYMBOL(auxt_record_itrace_start);

/* The WINDOW record that ends at @word. */
static __always_inline void record_window_at(struct auxt_channel *ch, u64 word,
					     const struct task_struct *task, u64 tsc, u32 cause,
					     u32 trigger)
{
	const struct auxt_window *window = &ch->window;
	struct auxtrace_record_window *record;

	record = auxt_data_new(&ch->data, word, AUXTRACE_RECORD_WINDOW, WINDOW_SIZE, tsc,
			       auxt_task_tid(task));
	record->window = window->number;
	record->begin = window->position;
	record->end_position = ch->aux.produced;
	record->begin_time = window->tsc;
	record->end_time = tsc;
	record->begin_cause = window->cause;
	record->end_cause = cause;
	record->begin_pid = window->pid;
	record->begin_tid = window->tid;
	record->pid = auxt_task_pid(task);
	record->tid = auxt_task_tid(task);
	record->slot = window->slot;
	record->reserved = 0;
	record->begin_trigger = window->trigger;
	record->end_trigger = trigger;
}

/* For lack of space for both, or after losses: each record for itself. */
static noinline void record_window_slow(struct auxt_channel *ch, u64 tsc, u32 cause, u32 trigger,
					bool aux)
{
	const struct task_struct *task = auxt_channel_task(ch);
	u64 word = auxt_data_reserve_slow(&ch->data, WINDOW_SIZE, tsc, auxt_task_tid(task));

	if (word)
		record_window_at(ch, word, task, tsc, cause, trigger);
	/* Nested, so that both are published at once. */
	if (aux)
		auxt_record_aux(ch, tsc);
	auxt_data_end(&ch->data);
}
NOKPROBE_SYMBOL(record_window_slow);

/**
 * auxt_record_window() - report the end of a window
 * @ch: a channel that writes WINDOW records
 * @tsc: time-stamp counter at its end
 * @cause: AUXTRACE_CAUSE_* of its end
 * @trigger: id of the trigger that ended it, or 0
 *
 * An AUX record that is due follows, and both are published at once.
 */
void auxt_record_window(struct auxt_channel *ch, u64 tsc, u32 cause, u32 trigger)
{
	bool aux = ch->wanted & AUXTRACE_WANT_AUX && auxt_channel_has_unreported(ch);
	const struct task_struct *task = auxt_channel_task(ch);
	struct record_aux what;
	u64 word;

	auxt_data_get(&ch->data);
	if (unlikely(!auxt_data_reserve_fast(&ch->data, WINDOW_SIZE + (aux ? AUX_SIZE : 0), &word))) {
		record_window_slow(ch, tsc, cause, trigger, aux);
		return;
	}
	if (aux) {
		what = record_take_aux(ch);
		record_fill_aux(auxt_data_new(&ch->data, word, AUXTRACE_RECORD_AUX, AUX_SIZE, tsc,
					      auxt_task_tid(task)), &what);
		word -= AUX_SIZE;
	}
	record_window_at(ch, word, task, tsc, cause, trigger);
	auxt_data_end(&ch->data);
}
NOKPROBE_SYMBOL(auxt_record_window);

/**
 * auxt_record_switch() - report that the CPU leaves the current thread for another one
 * @ring: the data ring
 * @prev: the current thread; NULL: the record must not name it
 * @next: the thread that the CPU runs next; NULL likewise
 * @preempted: @prev could run on
 */
void auxt_record_switch(struct auxt_data_ring *ring, const struct task_struct *prev,
			const struct task_struct *next, bool preempted)
{
	struct auxtrace_record_switch *record;

	record = auxt_data_begin(ring, AUXTRACE_RECORD_SWITCH, sizeof(*record), rdtsc(),
				 auxt_task_tid(prev));
	if (!record)
		return;
	record->header.misc = AUXTRACE_SWITCH_OUT | (preempted ? AUXTRACE_SWITCH_OUT_PREEMPT : 0);
	record->next_prev_pid = auxt_task_pid(next);
	record->next_prev_tid = auxt_task_tid(next);
	auxt_data_end(ring);
}
NOKPROBE_SYMBOL(auxt_record_switch);

/**
 * auxt_record_trigger_slow() - write a TRIGGER record after losses, or if the reader's tail is needed
 * @ring: the data ring, of which the caller is a writer
 * @request: see auxt_record_trigger()
 * @value: likewise
 * @position: likewise
 * @tsc: time-stamp counter
 */
void auxt_record_trigger_slow(struct auxt_data_ring *ring, const struct auxt_request *request,
			      u64 value, u64 position, u64 tsc)
{
	u64 word = auxt_data_reserve_slow(ring, sizeof(struct auxtrace_record_trigger), tsc,
					  current->pid);

	if (word)
		auxt_record_trigger_at(ring, word, request, value, position, tsc);
	auxt_data_end(ring);
}
NOKPROBE_SYMBOL(auxt_record_trigger_slow);

static char *record_byte_at(const struct auxt_channel *ch, u32 slot, u64 position)
{
	u64 offset = slot * ch->aux.size + position % ch->aux.size;
	struct page *page = auxt_aux_buffer_aux_page(ch->buffer, ch->cpu, offset >> PAGE_SHIFT);

	return (char *)auxt_page_address(page) + (offset & ~PAGE_MASK);
}
NOKPROBE_SYMBOL(record_byte_at);

static u64 record_left_in_page(u64 position)
{
	return PAGE_SIZE - (position & ~PAGE_MASK);
}
NOKPROBE_SYMBOL(record_left_in_page);

/* Copies @length bytes of the present slot, from position @begin on. */
static void record_copy(const struct auxt_channel *ch, void *to, u64 begin, u64 length)
{
	while (length) {
		u64 n = min(length, record_left_in_page(begin));

		memcpy(to, record_byte_at(ch, ch->now.slot, begin), n);
		to += n;
		begin += n;
		length -= n;
	}
}
NOKPROBE_SYMBOL(record_copy);

/* Likewise, to the same positions of another slot, which has been claimed. */
static void record_save(const struct auxt_channel *ch, u32 slot, u64 begin, u64 length)
{
	while (length) {
		u64 n = min(length, record_left_in_page(begin));

		memcpy(record_byte_at(ch, slot, begin), record_byte_at(ch, ch->now.slot, begin), n);
		begin += n;
		length -= n;
	}
}
NOKPROBE_SYMBOL(record_save);

/* Rounds @length down to a multiple of trace_pmu.granule. */
static u64 record_whole(const struct auxt_channel *ch, u64 length)
{
	return length - length % ch->pmu->granule;
}
NOKPROBE_SYMBOL(record_whole);

/**
 * auxt_record_sample() - record the newest AUX data at an event
 * @ch: the channel
 * @request: the trigger's request
 * @end: position after the last byte
 * @length: bytes available, at most the bytes wanted
 *
 * The data is a multiple of trace_pmu.granule. If it does not fit into a record it is copied to a
 * free slot; if no slot is free, the record carries the newest part that fits.
 *
 * Return: bytes that the record reports.
 */
u64 auxt_record_sample(struct auxt_channel *ch, const struct auxt_request *request,
		       u64 end, u64 length)
{
	u64 space = record_whole(ch, auxt_sample_space(ch->data.size));
	struct auxtrace_record_sample *record;
	int slot = -1;
	u32 padded;

	length = record_whole(ch, length);
	if (length > space) {
		slot = auxt_slots_claim_any(&ch->slots);
		if (slot < 0)
			length = space;
	}
	padded = slot < 0 ? ALIGN(length, 8) : 0;
	record = auxt_data_begin(&ch->data, AUXTRACE_RECORD_SAMPLE, AUXT_SAMPLE_FRAME + padded,
				 rdtsc(), current->pid);
	if (!record) {
		if (slot >= 0)
			auxt_slots_release(&ch->slots, slot);
		return length;
	}
	record->trigger = request->trigger;
	record->pid = current->tgid;
	record->tid = current->pid;
	record->sample_slot = slot < 0 ? 0 : slot;
	record->aux_end = end;
	record->wanted = request->size;
	record->length = length;
	record->data_offset = slot < 0 ? sizeof(*record) : 0;
	record->flags = (slot < 0 ? 0 : AUXTRACE_SAMPLE_IN_SLOT) |
			(length < record_whole(ch, request->size) ? AUXTRACE_SAMPLE_CUT : 0);
	if (slot < 0) {
		memset((char *)(record + 1) + length, 0, padded - length);
		record_copy(ch, record + 1, end - length, length);
	} else {
		record_save(ch, slot, end - length, length);
		auxt_slots_fill(&ch->slots, slot);
	}
	auxt_data_end(&ch->data);
	return length;
}
NOKPROBE_SYMBOL(auxt_record_sample);
