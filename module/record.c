// SPDX-License-Identifier: GPL-2.0
/*
 * What the records of a channel say. They are filled in where they lie: the
 * members that each function sets are all that auxt_data_begin() leaves open.
 */

#include <linux/auxtrace.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include "data_ring.h"
#include "record.h"

/**
 * auxt_record_aux() - the AUX area has new data
 * @ring: where to
 * @offset: position of the first new byte
 * @length: new bytes
 * @flags: AUXTRACE_AUX_*
 * @tsc: time-stamp counter
 */
void auxt_record_aux(struct auxt_data_ring *ring, u64 offset, u64 length, u64 flags, u64 tsc)
{
	struct auxtrace_record_aux *record;

	record = auxt_data_begin(ring, AUXTRACE_RECORD_AUX, sizeof(*record), tsc, current->pid);
	if (!record)
		return;
	record->offset = offset;
	record->length = length;
	record->flags = flags;
	auxt_data_end(ring);
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
 * @ring: where to
 * @window: how it began
 * @end: AUX position after its last byte
 * @tsc: when it ended
 * @cause: AUXTRACE_CAUSE_* of its end
 */
void auxt_record_window(struct auxt_data_ring *ring, const struct auxt_window *window,
			u64 end, u64 tsc, u32 cause)
{
	struct auxtrace_record_window *record;

	record = auxt_data_begin(ring, AUXTRACE_RECORD_WINDOW, sizeof(*record), tsc,
				 current->pid);
	if (!record)
		return;
	record->window = window->number;
	record->begin = window->position;
	record->end_position = end;
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
	auxt_data_end(ring);
}
NOKPROBE_SYMBOL(auxt_record_window);
