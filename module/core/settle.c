// SPDX-License-Identifier: GPL-2.0-only
/*
 * The settle loop: it brings hardware, accounting and status page in line with the inhibit mask.
 *
 * channel.c says which contexts may run it and what nests in it.
 *
 * DOC: the inhibit mask and the settle loop
 *
 * The hardware must be on exactly when @inhibit is zero. Code that changes the mask or a counter,
 * or needs the hardware's position, calls auxt_settle() afterwards. Nothing else turns the
 * hardware on or off, moves its marks, accounts windows or writes the status page:
 *
 *	if (@todo):
 *		add the work to @todo
 *		return
 *	@todo = RUNNING
 *	do:
 *		bring hardware, accounting and status page in line with the mask
 *		if (@todo is RUNNING):
 *			@todo = 0
 *		take the work out of @todo
 *	while (there was work)
 *
 * An NMI that lands outside of the loop runs the loop itself, to the end; the interrupted code
 * sees the outcome. So @todo is 0 again when an NMI returns that has landed before @todo was set. An
 * NMI that lands inside the loop finds RUNNING. It changes the mask, sets a bit in @todo and
 * returns; the interrupted loop does the work. The loop cannot miss it: it takes the work before it
 * reads the mask, and one instruction both tests @todo and ends the loop. Therefore the last request
 * always wins, whatever nests.
 *
 * The nested NMI does not turn the hardware on or off itself, because it might land between the
 * two writes of a resume, or between a pause and the reading of the position. Then two owners
 * would have to agree on one window. This way each real transition is made and accounted once, by
 * one owner: one WRMSR for a pause, two for a resume, none for a request that changes nothing.
 *
 * Fields that are changed only in the loop need nothing further. The others:
 *
 * - @now.pmis is changed only in NMIs, @now.*_asked only outside of NMIs.
 * - @todo is changed by single instructions. Only the loop clears bits of it.
 * - @notified and @notified_crossings are set after the loop, by each context that has run the loop,
 *   left its work to it, or written a SWITCH record. The loop clears bits of @notified, by single
 *   instructions. If a nested context overwrites what another has set, the only consequence is one
 *   notification more. @notify_ended is how a context notices that another has nested.
 *
 * DOC: readers that sleep
 *
 * auxt_settle_notify() wakes those that sleep when the channel becomes readable, not for all that is
 * added then: a reader that has not read yet finds that, too. It wakes them again
 *
 * - at each further watermark. An edge-triggered reader (epoll with EPOLLET) loads the position, reads
 *   up to there, stores its tail and waits, without poll(2) in between. Before a watermark more is
 *   there for it, a position passes a multiple of the watermark;
 * - if the channel has taken a tail since: it may have ceased to be readable and be so again;
 * - if nobody slept before. If this is an NMI nested in the settle loop, what it has found may not be
 *   published yet, so that a reader which polls now still goes to sleep.
 *
 * What is queued there runs after the interrupted settle loop and its own call of the function,
 * because interrupts are off there. So the readers see what that loop publishes.
 *
 * An NMI that nests there may notify, too, and what the interrupted call has found before is then
 * old: say, an AUX tail was not taken, but the NMI has taken it, and there is nothing to read any
 * more. If only the old result stood in @notified, what can be read next would pass for reported. So
 * if an NMI has notified, readers are woken for it, and again for whatever comes next.
 *
 * DOC: status page
 *
 * Each round of the loop writes the cache line of the status page that begins with @seq; each of
 * the next groups of members only if one of them has changed. @seq is odd meanwhile. The write
 * barriers around it pair with the read barriers of readers on other CPUs.
 */

#include <linux/compiler.h>
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <linux/wait.h>
#include <asm/msr.h>
#include <asm/tsc.h>
#include "core/inhibit.h"
#include "core/record.h"
#include "core/settle.h"
#include "core/state.h"
#include "core/trace_pmu.h"

/* Readers are notified of @what again. */
static __always_inline void settle_forget_notified(struct auxt_channel *ch, u32 what)
{
	auxt_clear_bits(&ch->notified, what);
}

static void settle_count_gap(struct auxt_channel *ch, __u64 *cause)
{
	(*cause)++;
	ch->now.gaps++;
	auxt_set_bits(&ch->is, AUXT_IS_CHANGED);
}
NOKPROBE_SYMBOL(settle_count_gap);

static void settle_count_full(struct auxt_channel *ch)
{
	settle_count_gap(ch, &ch->now.gaps_full);
	ch->aux_flags |= AUXTRACE_AUX_TRUNCATED;
}
NOKPROBE_SYMBOL(settle_count_full);

static void settle_fail(struct auxt_channel *ch)
{
	atomic_or(AUXTRACE_INHIBIT_HWERROR, &ch->inhibit);
	settle_count_gap(ch, &ch->now.gaps_error);
	ch->aux_flags |= AUXTRACE_AUX_PARTIAL;
}
NOKPROBE_SYMBOL(settle_fail);

/*
 * Accounts what trace_pmu.stop found: a full area, an error, or hardware that others stopped, or that
 * stopped before its interrupt came. The last is the same loss as that of a full area, but the area may
 * have space: whether the channel goes on is for settle_check_space() to say.
 */
static noinline void settle_account_trouble(struct auxt_channel *ch, u32 found)
{
	if (found & TRACE_ERROR)
		settle_fail(ch);
	if (found & (TRACE_STOPPED | TRACE_LATE)) {
		settle_count_full(ch);
		auxt_set_bits(&ch->is, AUXT_IS_STARVED);
		if (found & TRACE_STOPPED && ch->flags & AUXTRACE_SETUP_FULL_STOP)
			atomic_or(AUXTRACE_INHIBIT_FULL, &ch->inhibit);
	}
	if (found & TRACE_FOREIGN) {
		settle_count_gap(ch, &ch->now.gaps_error);
		ch->aux_flags |= AUXTRACE_AUX_PARTIAL;
	}
}
NOKPROBE_SYMBOL(settle_account_trouble);

static __always_inline void settle_set_consumed(struct auxt_channel *ch)
{
	ch->now.consumed = ch->aux.consumed;
	auxt_channel_count_changed(ch);
}

static __always_inline void settle_take_tail(struct auxt_channel *ch)
{
	if (!ch->aux.overwrite) {
		/*
		 * The reader has finished reading up to its tail before the hardware writes
		 * there: pairs with the release store that the ABI asks of readers.
		 */
		u64 tail = smp_load_acquire(&ch->user->aux_tail);

		if (auxt_position_take_tail(&ch->aux, tail))
			settle_set_consumed(ch);
		if (unlikely(ch->now.bad_tails != ch->aux.bad_tails)) {
			ch->now.bad_tails = ch->aux.bad_tails;
			auxt_set_bits(&ch->is, AUXT_IS_CHANGED);
		}
	}
}

/* With the hardware off: places the deadline of a deferred request that has none yet. */
static __always_inline void settle_set_deadline(struct auxt_channel *ch, u32 todo)
{
	if (todo & AUXT_TODO_SYNC && auxt_request_is_pending(&ch->deferred) && !ch->aux.deadline)
		ch->aux.deadline = ch->aux.produced + ch->deferred.request.delay;
}

/* With the hardware off: places the next marks, and sets or clears the reason FULL. */
static __always_inline void settle_check_space(struct auxt_channel *ch, u32 todo)
{
	settle_set_deadline(ch, todo);
	auxt_position_plan(&ch->aux);
	if (auxt_position_full(&ch->aux))
		atomic_or(AUXTRACE_INHIBIT_FULL, &ch->inhibit);
	else if (auxt_channel_inhibited(ch) & AUXTRACE_INHIBIT_FULL &&
		 (ch->is & AUXT_IS_RESUMING || !(ch->flags & AUXTRACE_SETUP_FULL_STOP))) {
		atomic_andnot(AUXTRACE_INHIBIT_FULL, &ch->inhibit);
		/* Below the watermark the channel is not readable any more. */
		settle_forget_notified(ch, AUXT_READY_READABLE | AUXTRACE_INHIBIT_FULL);
	}
}

/*
 * If lack of space is all that keeps the hardware off, trace is being lost. Counts one gap when
 * that begins, however often the loop runs until it ends. That threads which are not members run
 * meanwhile does not end it.
 */
static noinline void settle_count_starvation(struct auxt_channel *ch)
{
	u32 inhibit = auxt_channel_inhibited(ch);

	if (inhibit == (AUXTRACE_INHIBIT_FULL | AUXTRACE_INHIBIT_TASK) && ch->attached)
		return;
	if (inhibit != AUXTRACE_INHIBIT_FULL || !ch->attached) {
		auxt_clear_bits(&ch->is, AUXT_IS_STARVED);
		return;
	}
	if (!(ch->is & AUXT_IS_STARVED))
		settle_count_full(ch);
	auxt_set_bits(&ch->is, AUXT_IS_STARVED);
}
NOKPROBE_SYMBOL(settle_count_starvation);

/*
 * AUXTRACE_CAUSE_*: why the hardware is off. If several reasons are set, the first in this order
 * counts. @found: TRACE_* of its stop.
 */
static u32 settle_cause(u32 inhibit, u32 found)
{
	if (inhibit & AUXTRACE_INHIBIT_HWERROR)
		return AUXTRACE_CAUSE_ERROR;
	if (found & TRACE_FOREIGN)
		return AUXTRACE_CAUSE_FOREIGN;
	if (inhibit & AUXTRACE_INHIBIT_USER)
		return AUXTRACE_CAUSE_USER;
	if (inhibit & AUXTRACE_INHIBIT_SETUP)
		return AUXTRACE_CAUSE_SESSION;
	if (inhibit & AUXTRACE_INHIBIT_OFFLINE)
		return AUXTRACE_CAUSE_CPU;
	if (inhibit & AUXTRACE_INHIBIT_FULL || found & (TRACE_STOPPED | TRACE_LATE))
		return AUXTRACE_CAUSE_FULL;
	if (inhibit & (AUXTRACE_INHIBIT_TRIGGER | AUXTRACE_INHIBIT_FROZEN))
		return AUXTRACE_CAUSE_TRIGGER;
	if (inhibit & AUXTRACE_INHIBIT_TASK)
		return AUXTRACE_CAUSE_TASK;
	/* No reason is set: a SNAPSHOT changes the slot. */
	return AUXTRACE_CAUSE_SNAPSHOT;
}
NOKPROBE_SYMBOL(settle_cause);

/* Id of the trigger that keeps the hardware off. */
static __always_inline u32 settle_stopped_by(const struct auxt_channel *ch)
{
	if (auxt_channel_inhibited(ch) & AUXTRACE_INHIBIT_FROZEN)
		return ch->frozen_by.request.trigger;
	return ch->paused_by;
}

/* Counts the end of a window, if its cause is one that is counted. */
static __always_inline void settle_count_end(struct auxt_channel *ch, u32 cause)
{
	if (cause == AUXTRACE_CAUSE_TRIGGER || cause == AUXTRACE_CAUSE_TASK)
		return;
	if (auxt_channel_inhibited(ch) & AUXTRACE_INHIBIT_USER) {
		ch->now.pauses_done++;
		auxt_channel_count_changed(ch);
	}
	/* Count it here: the reader may free space before settle_count_starvation(). */
	if (cause == AUXTRACE_CAUSE_FULL && !(ch->is & AUXT_IS_STARVED)) {
		settle_count_full(ch);
		auxt_set_bits(&ch->is, AUXT_IS_STARVED);
	}
	if (cause == AUXTRACE_CAUSE_CPU)
		settle_count_gap(ch, &ch->now.gaps_offline);
}

static __always_inline void settle_end_window(struct auxt_channel *ch, u64 tsc, u32 cause)
{
	ch->now.running = 0;
	ch->now.window_end = ch->aux.produced;
	ch->now.window_end_time = tsc;
	ch->cause = cause;
	settle_count_end(ch, cause);
	if (ch->wanted & AUXTRACE_WANT_WINDOW)
		auxt_record_window(ch, tsc, cause,
				   cause == AUXTRACE_CAUSE_TRIGGER ? settle_stopped_by(ch) : 0);
}

static noinline void settle_end_window_for_any(struct auxt_channel *ch, u32 inhibit, u32 found)
{
	settle_end_window(ch, ch->off_tsc, settle_cause(inhibit, found));
}
NOKPROBE_SYMBOL(settle_end_window_for_any);

/* Ends the window for which the hardware was just turned off. @inhibit: why, at least one reason. */
static __always_inline void settle_end_window_for(struct auxt_channel *ch, u32 inhibit)
{
	/* The most frequent cases. */
	if (inhibit == AUXTRACE_INHIBIT_TRIGGER)
		settle_end_window(ch, ch->off_tsc, AUXTRACE_CAUSE_TRIGGER);
	else if (inhibit == AUXTRACE_INHIBIT_TASK)
		settle_end_window(ch, ch->off_tsc, AUXTRACE_CAUSE_TASK);
	else
		settle_end_window_for_any(ch, inhibit, 0);
}

static __always_inline int settle_continue_window(struct auxt_channel *ch)
{
	int err = ch->pmu->start(ch, false);

	if (err)
		settle_fail(ch);
	return err;
}

/* Accounts a window for which the hardware was just turned on. */
static __always_inline void settle_open_window(struct auxt_channel *ch, u64 tsc)
{
	/* The CPU may be on its way from another thread, which an owner must not know. */
	const struct task_struct *task = READ_ONCE(ch->next) ?: READ_ONCE(ch->member) ?: current;
	u32 is = READ_ONCE(ch->is);
	u32 cause = is & AUXT_IS_RESUMING ? AUXTRACE_CAUSE_USER : ch->cause;

	ch->now.window_begin_time = tsc;
	ch->now.window_begin = ch->aux.produced;
	ch->now.windows++;
	ch->now.running = 1;
	if (ch->wanted & AUXTRACE_WANT_WINDOW) {
		ch->window.number = ch->now.windows;
		ch->window.position = ch->aux.produced;
		ch->window.tsc = tsc;
		ch->window.cause = cause;
		ch->window.trigger = cause == AUXTRACE_CAUSE_TRIGGER ? ch->resumed_by : 0;
		ch->window.pid = task->tgid;
		ch->window.tid = task->pid;
		ch->window.slot = ch->now.slot;
	}
	if (likely(!(is & (AUXT_IS_FRESH | AUXT_IS_RESUMING))))
		return;
	if (is & AUXT_IS_FRESH && ch->wanted & AUXTRACE_WANT_ITRACE_START)
		auxt_record_itrace_start(ch, task, tsc);
	/* Count one start for the RESUME, even if an NMI ends this window and begins another. */
	if (is & AUXT_IS_RESUMING) {
		ch->now.resumes_done++;
		auxt_channel_count_changed(ch);
	}
	auxt_clear_bits(&ch->is, AUXT_IS_FRESH | AUXT_IS_RESUMING);
}

static __always_inline void settle_begin_window(struct auxt_channel *ch)
{
	if (ch->pmu->start(ch, true))
		settle_fail(ch);
	else
		settle_open_window(ch, rdtsc());
}

/**
 * auxt_settle_cut() - describe what the AUX area and the data ring hold now
 * @ch: the channel
 * @to: receives the description
 */
void auxt_settle_cut(const struct auxt_channel *ch, struct auxtrace_cut *to)
{
	*to = (struct auxtrace_cut) {
		.cpu = ch->cpu,
		.slot = ch->now.slot,
		.aux_begin = auxt_position_oldest(&ch->aux),
		.aux_end = ch->aux.produced,
		.window = ch->now.windows,
		.time = rdtsc(),
	};
	if (ch->wanted)
		auxt_data_oldest(&ch->data, &to->data_begin, &to->data_end);
}
NOKPROBE_SYMBOL(auxt_settle_cut);

/* With the hardware off: the next start writes to @next_slot. */
static void settle_change_slot(struct auxt_channel *ch)
{
	ch->now.slot = ch->next_slot;
	ch->pmu->relocate(ch);
}
NOKPROBE_SYMBOL(settle_change_slot);

/*
 * Retains @slot, in which tracing ended at @tsc, for the reader. The records of all its contents
 * are written; later records belong to the next slot.
 */
static void settle_retain_slot(struct auxt_channel *ch, u32 slot, u64 tsc)
{
	auxt_settle_cut(ch, &ch->retained);
	ch->retained.slot = slot;
	ch->retained.time = tsc;
	if (ch->data.overwrite)
		auxt_data_switch(&ch->data, ch->next_slot, &ch->retained.data_begin,
				 &ch->retained.data_end);
	auxt_position_retain(&ch->aux);
	settle_set_consumed(ch);
	ch->now.slot_begin = ch->aux.begin;
	ch->now.snapshots++;
	auxt_set_bits(&ch->is, AUXT_IS_CHANGED);
}
NOKPROBE_SYMBOL(settle_retain_slot);

/*
 * Ends the open window and begins a new one in the next slot. The hardware is turned on again
 * before the records and the accounting, so that the trace of that time is not lost. Both use the
 * positions in @aux, which do not change meanwhile.
 */
static noinline void settle_change_window(struct auxt_channel *ch, u64 tsc)
{
	u32 slot = ch->now.slot;
	u64 begin_tsc;
	int err;

	settle_change_slot(ch);
	auxt_position_plan(&ch->aux);
	err = ch->pmu->start(ch, true);
	begin_tsc = rdtsc();
	settle_end_window(ch, tsc, settle_cause(0, 0));
	settle_retain_slot(ch, slot, tsc);
	if (err)
		settle_fail(ch);
	else
		settle_open_window(ch, begin_tsc);
}
NOKPROBE_SYMBOL(settle_change_window);

/*
 * What ends windows all the time does not look whether other code has turned the hardware off, because an
 * MSR access is a good part of its cost. In full trace it does: there the reader counts on a record of each loss.
 */
static __always_inline bool settle_is_alone(const struct auxt_channel *ch, u32 todo)
{
	return todo == AUXT_TODO_APPLY && ch->aux.overwrite &&
	       !(auxt_channel_inhibited(ch) & ~(AUXTRACE_INHIBIT_TRIGGER | AUXTRACE_INHIBIT_TASK));
}

/* A round of the loop while a window is open. False: settle_while_closed() must follow. */
static __always_inline bool settle_while_open(struct auxt_channel *ch, u32 todo)
{
	u32 found, inhibit;

	if (!(todo & (AUXT_TODO_SYNC | AUXT_TODO_SWITCH)) && !auxt_channel_inhibited(ch))
		return true;
	/* Before the hardware is turned off, to keep that time short. */
	settle_take_tail(ch);
	found = ch->pmu->stop(ch, settle_is_alone(ch, todo));
	if (unlikely(ch->aux.deadline && ch->aux.produced >= ch->aux.deadline))
		auxt_inhibit_at_deadline(ch);
	if (unlikely(found)) {
		settle_account_trouble(ch, found);
		settle_end_window_for_any(ch, auxt_channel_inhibited(ch), found);
		return false;
	}
	/* The reasons seen here end the window, even if an NMI clears them at once. */
	inhibit = auxt_channel_inhibited(ch);
	if (!inhibit) {
		if (todo & AUXT_TODO_SWITCH) {
			settle_set_deadline(ch, todo);
			settle_change_window(ch, ch->off_tsc);
			return true;
		}
		settle_check_space(ch, todo);
		inhibit = auxt_channel_inhibited(ch);
		/* No reason after all: the window goes on. */
		if (!inhibit) {
			if (!settle_continue_window(ch))
				return true;
			inhibit = auxt_channel_inhibited(ch);
		}
	}
	settle_end_window_for(ch, inhibit);
	return todo == AUXT_TODO_APPLY;
}

/* A round of the loop, or the rest of one, while no window is open. */
static __always_inline void settle_while_closed(struct auxt_channel *ch, u32 todo)
{
	bool sync;
	u32 inhibit;

	if (unlikely(todo & AUXT_TODO_SWITCH)) {
		u32 slot = ch->now.slot;

		settle_change_slot(ch);
		settle_retain_slot(ch, slot, rdtsc());
	}
	/*
	 * The reader may have freed space, and a window needs some. If an NMI clears the mask
	 * after this test, the next round of the loop takes the tail.
	 */
	sync = todo & AUXT_TODO_SYNC || !auxt_channel_inhibited(ch);
	if (sync) {
		settle_take_tail(ch);
		settle_check_space(ch, todo);
	}
	inhibit = auxt_channel_inhibited(ch);
	if (inhibit)
		ch->cause = settle_cause(inhibit, 0);
	else if (ch->attached && sync)
		settle_begin_window(ch);
}

/* Writes an AUX record if there is anything to report. */
static __always_inline void settle_report_aux(struct auxt_channel *ch)
{
	if (ch->wanted & AUXTRACE_WANT_AUX && auxt_channel_has_unreported(ch))
		auxt_record_aux(ch, rdtsc());
}

/* Completes a pending SAMPLE with the newest data. */
static void settle_take_sample(struct auxt_channel *ch)
{
	u64 wanted, length;

	/* If SYNC is set again, the request is newer than the position: the next round does it. */
	if (!auxt_request_is_pending(&ch->sample) || READ_ONCE(ch->todo) & AUXT_TODO_SYNC)
		return;
	wanted = ch->sample.request.size - ch->sample.request.size % ch->pmu->granule;
	length = min(wanted, ch->aux.produced - auxt_position_oldest_in_memory(&ch->aux));
	length = auxt_record_sample(ch, &ch->sample.request, ch->aux.produced, length);
	ch->now.samples++;
	ch->now.samples_cut += length < wanted;
	auxt_set_bits(&ch->is, AUXT_IS_CHANGED);
	auxt_request_complete(&ch->sample);
}
NOKPROBE_SYMBOL(settle_take_sample);

/*
 * Freezes or unfreezes the data ring as the reason FROZEN says. This comes after the records of
 * everything before the freeze, so that the TRIGGER record of the FREEZE is the last in the ring.
 * If both a RESUME and another FREEZE have come since the last round, it does both.
 */
static noinline void settle_follow_freeze(struct auxt_channel *ch)
{
	/*
	 * If an NMI has set FROZEN while the window is open, the next round ends the window and
	 * records that first.
	 */
	bool frozen = auxt_channel_inhibited(ch) & AUXTRACE_INHIBIT_FROZEN && !ch->now.running;

	if (frozen == !!(ch->is & AUXT_IS_FROZEN) && !(ch->is & AUXT_IS_THAWED))
		return;
	if (ch->is & AUXT_IS_FROZEN && ch->wanted) {
		auxt_data_pause(&ch->data, AUXTRACE_DATA_FROZEN, false);
		auxt_data_report_lost(&ch->data, rdtsc(), auxt_channel_tid(ch));
	}
	auxt_clear_bits(&ch->is, AUXT_IS_FROZEN | AUXT_IS_THAWED);
	/* Readers are notified of each freeze. */
	settle_forget_notified(ch, AUXTRACE_INHIBIT_FROZEN);
	if (!frozen)
		return;
	auxt_set_bits(&ch->is, AUXT_IS_FROZEN | AUXT_IS_CHANGED);
	ch->now.frozen_by = ch->frozen_by.request.trigger;
	ch->now.frozen_time = rdtsc();
	if (ch->wanted & AUXTRACE_WANT_TRIGGER)
		auxt_record_trigger(&ch->data, &ch->frozen_by.request, ch->frozen_by.value,
				    ch->aux.produced);
	if (ch->wanted)
		auxt_data_pause(&ch->data, AUXTRACE_DATA_FROZEN, true);
}
NOKPROBE_SYMBOL(settle_follow_freeze);

/* Copies whole words: [@from, @end) are offsets in the status page, multiples of 8. */
static __always_inline void settle_copy(struct auxtrace_status_page *to,
					const struct auxtrace_status_page *now, size_t from,
					size_t end)
{
	memcpy(__builtin_assume_aligned((char *)to + from, sizeof(u64)),
	       __builtin_assume_aligned((const char *)now + from, sizeof(u64)), end - from);
}

/* The cache line of @consumed. An NMI changes @pmis at any time, and sets AUXT_IS_COUNTED then. */
static __always_inline void settle_publish_counts(struct auxt_channel *ch)
{
	auxt_clear_bits(&ch->is, AUXT_IS_COUNTED);
	ch->now.overwritten = auxt_position_overwritten(&ch->aux);
	settle_copy(ch->status, &ch->now, offsetof(struct auxtrace_status_page, consumed),
		    offsetof(struct auxtrace_status_page, reserved_often));
}

/* The one count that changes with @produced. Its cache line is written only if it has changed. */
static __always_inline void settle_publish_overwritten(struct auxt_channel *ch)
{
	u64 overwritten = auxt_position_overwritten(&ch->aux);

	if (overwritten == ch->now.overwritten)
		return;
	ch->now.overwritten = overwritten;
	ch->status->overwritten = overwritten;
}

static noinline void settle_publish_seldom(struct auxt_channel *ch, u64 sampled)
{
	auxt_clear_bits(&ch->is, AUXT_IS_CHANGED);
	ch->now.sample_slots = sampled;
	settle_copy(ch->status, &ch->now, offsetof(struct auxtrace_status_page, gaps),
		    offsetof(struct auxtrace_status_page, reserved_seldom));
}
NOKPROBE_SYMBOL(settle_publish_seldom);

static __always_inline void settle_publish(struct auxt_channel *ch)
{
	struct auxtrace_status_page *to = ch->status;
	struct auxtrace_status_page *now = &ch->now;
	u64 sampled = atomic64_read(&ch->slots.sampled);
	u32 inhibit = auxt_channel_inhibited(ch);
	u32 is = READ_ONCE(ch->is);
	u32 seq = now->seq;

	now->inhibit = inhibit;
	now->produced = ch->aux.produced;

	WRITE_ONCE(to->seq, seq + 1);
	smp_wmb();	/* pairs with the reader's barrier after its first read of seq */
	to->inhibit = inhibit;
	settle_copy(to, now, offsetof(struct auxtrace_status_page, running),
		    offsetof(struct auxtrace_status_page, consumed));
	if (is & AUXT_IS_COUNTED)
		settle_publish_counts(ch);
	else if (auxt_position_has_wrapped(&ch->aux))
		settle_publish_overwritten(ch);
	if (unlikely(is & AUXT_IS_CHANGED || now->sample_slots != sampled))
		settle_publish_seldom(ch, sampled);
	smp_wmb();	/* pairs with the reader's barrier before its second read of seq */
	WRITE_ONCE(to->seq, seq + 2);
	WRITE_ONCE(now->seq, seq + 2);
}

/* Must a round look at lack of space, or at a freeze? Not if neither is, nor was so before. */
static __always_inline bool settle_is_hindered(const struct auxt_channel *ch)
{
	return auxt_channel_inhibited(ch) & (AUXTRACE_INHIBIT_FULL | AUXTRACE_INHIBIT_FROZEN) ||
	       READ_ONCE(ch->is) & (AUXT_IS_STARVED | AUXT_IS_FROZEN | AUXT_IS_THAWED);
}

static __always_inline void settle_once(struct auxt_channel *ch, u32 todo)
{
	bool hindered;

	if (!ch->now.running || !settle_while_open(ch, todo))
		settle_while_closed(ch, todo);
	/* What an NMI changes from here on is the next round's. */
	hindered = settle_is_hindered(ch);
	if (unlikely(hindered))
		settle_count_starvation(ch);
	settle_report_aux(ch);
	if (todo & AUXT_TODO_SYNC)
		settle_take_sample(ch);
	if (unlikely(hindered))
		settle_follow_freeze(ch);
	settle_publish(ch);
}

/* Takes the work out of @todo. 0: there was none, and the loop has ended. */
static __always_inline u32 settle_take_todo(struct auxt_channel *ch)
{
	u32 found = cmpxchg_local(&ch->todo, AUXT_TODO_RUNNING, 0);

	if (likely(found == AUXT_TODO_RUNNING))
		return 0;
	found &= ~AUXT_TODO_RUNNING;
	auxt_clear_bits(&ch->todo, found);
	return found;
}

/* Begins the loop, or leaves the work to the interrupted one and returns false. */
static __always_inline bool settle_begin(struct auxt_channel *ch, u32 todo)
{
	if (unlikely(READ_ONCE(ch->todo))) {
		auxt_set_bits(&ch->todo, todo);
		return false;
	}
	WRITE_ONCE(ch->todo, AUXT_TODO_RUNNING);
	barrier();
	return true;
}

static noinline void settle_loop(struct auxt_channel *ch, u32 todo)
{
	do {
		settle_once(ch, todo);
		todo = settle_take_todo(ch);
	} while (todo);
}
NOKPROBE_SYMBOL(settle_loop);

/**
 * auxt_settle_run() - run the settle loop, or leave the work to the interrupted one
 * @ch: the channel
 * @todo: AUXT_TODO_*
 *
 * The caller then writes further records, if any, and calls auxt_settle_notify().
 */
void auxt_settle_run(struct auxt_channel *ch, u32 todo)
{
	if (settle_begin(ch, todo))
		settle_loop(ch, todo);
}
NOKPROBE_SYMBOL(auxt_settle_run);

/**
 * auxt_settle_apply() - the same for AUXT_TODO_APPLY
 * @ch: the channel
 *
 * For most of its callers: the compiler leaves out of the first round what only other work needs.
 */
void auxt_settle_apply(struct auxt_channel *ch)
{
	u32 todo;

	if (!settle_begin(ch, AUXT_TODO_APPLY))
		return;
	settle_once(ch, AUXT_TODO_APPLY);
	todo = settle_take_todo(ch);
	if (unlikely(todo))
		settle_loop(ch, todo);
}
NOKPROBE_SYMBOL(auxt_settle_apply);

/*
 * Returns true if readers sleep, and wakes them. wq_has_sleeper() has a full barrier between what
 * was published and its look at the queue. It pairs with the one in auxt_poll(): either the reader
 * sees what was published, or this function sees the reader.
 */
static __always_inline bool settle_wake(struct auxt_channel *ch)
{
	if (!wq_has_sleeper(&ch->group->waiters))
		return false;
	irq_work_queue(&ch->wake);
	return true;
}

/* Changes whenever another watermark is reached, and when the channel takes a tail. */
static u64 settle_crossings(const struct auxt_channel *ch)
{
	u64 crossings = 0;

	if (!ch->aux.overwrite)
		crossings = READ_ONCE(ch->status->produced) / ch->aux.watermark +
			    READ_ONCE(ch->status->consumed);
	if (ch->wanted && !ch->data.overwrite)
		crossings += READ_ONCE(ch->status->data_head) / ch->data.watermark +
			     READ_ONCE(ch->status->data_consumed);
	return crossings;
}
NOKPROBE_SYMBOL(settle_crossings);

/**
 * auxt_settle_wake() - the rest of auxt_settle_notify()
 * @ch: the channel
 * @ready: what readers find
 */
void auxt_settle_wake(struct auxt_channel *ch, u32 ready)
{
	u64 crossings = settle_crossings(ch);
	u32 notified = ready;

	if (ready && (ready & ~READ_ONCE(ch->notified) ||
		      READ_ONCE(ch->notified_crossings) != crossings) &&
	    !settle_wake(ch))
		notified = 0;
	if (READ_ONCE(ch->is) & AUXT_IS_STARVED && auxt_tail_poll_is_due(ch))
		irq_work_queue(&ch->wake);
	WRITE_ONCE(ch->notified, notified);
	WRITE_ONCE(ch->notified_crossings, crossings);
	if (unlikely(READ_ONCE(ch->notify_ended) && ready)) {
		WRITE_ONCE(ch->notified, 0);
		settle_wake(ch);
	}
	WRITE_ONCE(ch->notify_ended, true);
}
NOKPROBE_SYMBOL(auxt_settle_wake);

/**
 * auxt_settle() - run the settle loop, and wake readers if there is something new for them
 * @ch: the channel
 * @todo: AUXT_TODO_*
 */
void auxt_settle(struct auxt_channel *ch, u32 todo)
{
	if (todo == AUXT_TODO_APPLY)
		auxt_settle_apply(ch);
	else
		auxt_settle_run(ch, todo);
	auxt_settle_notify(ch);
}
NOKPROBE_SYMBOL(auxt_settle);

static bool settle_has_new_aux_tail(const struct auxt_channel *ch)
{
	return !ch->aux.overwrite &&
	       auxt_position_is_new_tail(&ch->aux, READ_ONCE(ch->user->aux_tail));
}
NOKPROBE_SYMBOL(settle_has_new_aux_tail);

/**
 * auxt_settle_has_new_tail() - has the reader changed a tail?
 * @ch: the channel
 *
 * Return: true if a tail in the user page has been neither taken nor found bad.
 */
bool auxt_settle_has_new_tail(const struct auxt_channel *ch)
{
	return settle_has_new_aux_tail(ch) || (ch->wanted && auxt_data_has_new_tail(&ch->data));
}
NOKPROBE_SYMBOL(auxt_settle_has_new_tail);

static void settle_sync(struct auxt_channel *ch, u32 todo)
{
	if (ch->wanted)
		auxt_data_report_lost(&ch->data, rdtsc(), auxt_channel_tid(ch));
	auxt_settle(ch, todo);
}
NOKPROBE_SYMBOL(settle_sync);

/**
 * auxt_settle_sync_tails() - take the reader's tails
 * @ch: the channel
 *
 * The hardware is left alone unless the AUX tail has changed.
 */
void auxt_settle_sync_tails(struct auxt_channel *ch)
{
	/* AUXT_TODO_SYNC costs a running channel two WRMSRs. */
	settle_sync(ch, settle_has_new_aux_tail(ch) ? AUXT_TODO_SYNC : AUXT_TODO_APPLY);
}
NOKPROBE_SYMBOL(auxt_settle_sync_tails);

/**
 * auxt_settle_sync() - read the hardware's position and the reader's tails
 * @ch: the channel
 */
void auxt_settle_sync(struct auxt_channel *ch)
{
	settle_sync(ch, AUXT_TODO_SYNC);
}
NOKPROBE_SYMBOL(auxt_settle_sync);

/**
 * auxt_settle_init() - write the first contents of the status page
 * @ch: a new channel
 */
void auxt_settle_init(struct auxt_channel *ch)
{
	ch->now.size = sizeof(ch->now);
	ch->now.abi_version = AUXTRACE_ABI_VERSION;
	ch->now.cpu = ch->cpu;
	ch->now.pmu = ch->pmu->number;
	ch->now.clock = AUXTRACE_CLOCK_TSC;
	/* The part that does not change; the writers of the data ring maintain its part. */
	settle_copy(ch->status, &ch->now, 0, offsetof(struct auxtrace_status_page, seq));
	auxt_set_bits(&ch->is, AUXT_IS_CHANGED);
	auxt_channel_count_changed(ch);
	settle_publish(ch);
}
NOKPROBE_SYMBOL(auxt_settle_init);
