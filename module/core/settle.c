// SPDX-License-Identifier: GPL-2.0
/*
 * The settle loop: hardware, accounting and status page agree with what is asked.
 *
 * Who may run it, and what nests in it: see channel.c.
 *
 * DOC: the inhibit mask and the settle loop
 *
 * The hardware must be on exactly when @inhibit is zero. Whoever changes the
 * mask or moves a counter, or wants the hardware looked at, says so by a call of
 * auxt_settle(). That is the only place that turns the hardware on and off, moves
 * its marks, does the window accounting and writes the status page:
 *
 *	add what is to be done to @todo
 *	while (@todo and not settling):
 *		settling = true
 *		while (@todo):
 *			take what stands in it, and
 *			make hardware, accounting and status page agree with the mask
 *		settling = false
 *
 * An NMI that lands outside of the loop runs it to the end itself; the
 * interrupted code sees the outcome. An NMI that lands inside finds @settling
 * set: it leaves its change, with a bit of @todo, to the interrupted loop. That
 * loop cannot miss it: @todo is taken before the mask is looked at, tested
 * after, and tested once more after @settling is cleared, for the NMI that lands
 * between the last test and that. The last request therefore always wins,
 * whatever nests.
 *
 * Why does the nested NMI not turn the hardware itself? It might land between
 * the two writes of a resume, or between a pause and the reading of the position;
 * then two owners would have to agree on one window. This way each real
 * transition is made and accounted once, by one owner: one WRMSR for a pause, two
 * for a resume, none for a request that finds the hardware as it wants it.
 *
 * Fields changed in the loop only need no more than that. Of the others,
 * @now.pmis is changed in NMIs only and @now.*_asked outside of them only; @todo by
 * single instructions. @notified and @notified_position are set behind the loop, by each that
 * has been there or left its change to it, and @notified cleared in it, when there is news
 * that moves no position: what a nested one undoes of that is told again.
 *
 * DOC: status page
 *
 * The loop writes it whenever something changed. @seq is odd meanwhile; its
 * write barriers pair with the read barriers of readers on other CPUs.
 */

#include <linux/compiler.h>
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include <linux/string.h>
#include <asm/msr.h>
#include <asm/tsc.h>
#include "core/channel.h"
#include "core/tail_poll.h"
#include "core/record.h"
#include "core/request.h"
#include "core/settle.h"
#include "core/trace_pmu.h"

static void count_gap(struct auxt_channel *ch, __u64 *cause)
{
	(*cause)++;
	ch->now.gaps++;
}
NOKPROBE_SYMBOL(count_gap);

static void count_full(struct auxt_channel *ch)
{
	count_gap(ch, &ch->now.gaps_full);
	ch->aux_flags |= AUXTRACE_AUX_TRUNCATED;
}
NOKPROBE_SYMBOL(count_full);

static void fail(struct auxt_channel *ch)
{
	atomic_or(AUXTRACE_INHIBIT_HWERROR, &ch->inhibit);
	count_gap(ch, &ch->now.gaps_error);
	ch->aux_flags |= AUXTRACE_AUX_PARTIAL;
	/* Who waits for this alone was not told by what there is to read. */
	ch->notified = false;
}
NOKPROBE_SYMBOL(fail);

/* The hardware has just been turned off, and found stopped, failed or turned off before. */
static noinline void account_trouble(struct auxt_channel *ch, u32 found)
{
	if (found & TRACE_ERROR)
		fail(ch);
	if (found & TRACE_STOPPED) {
		count_full(ch);
		ch->starved = true;
		if (ch->flags & AUXTRACE_SETUP_FULL_STOP)
			atomic_or(AUXTRACE_INHIBIT_FULL, &ch->inhibit);
	}
	if (found & TRACE_FOREIGN) {
		count_gap(ch, &ch->now.gaps_error);
		ch->aux_flags |= AUXTRACE_AUX_PARTIAL;
	}
}
NOKPROBE_SYMBOL(account_trouble);

static __always_inline void take_tail(struct auxt_channel *ch)
{
	if (!ch->aux.overwrite) {
		/* What the reader has read it has read before the hardware writes there:
		 * pairs with the release store that the ABI asks of readers.
		 */
		u64 tail = smp_load_acquire(&ch->user->aux_tail);

		auxt_position_take_tail(&ch->aux, tail);
		ch->now.consumed = ch->aux.consumed;
		ch->now.bad_tails = ch->aux.bad_tails;
	}
}

/* The hardware is off: decide where a deadline is. */
static __always_inline void set_deadline(struct auxt_channel *ch, u32 todo)
{
	if (todo & AUXT_TODO_SYNC && auxt_is_pending(&ch->later) && !ch->aux.deadline)
		ch->aux.deadline = ch->aux.produced + ch->later.request.delay;
}

/* As above, and whether there is room. */
static __always_inline void check_space(struct auxt_channel *ch, u32 todo)
{
	set_deadline(ch, todo);
	auxt_position_plan(&ch->aux);
	if (auxt_position_full(&ch->aux))
		atomic_or(AUXTRACE_INHIBIT_FULL, &ch->inhibit);
	else if (auxt_channel_inhibited(ch) & AUXTRACE_INHIBIT_FULL &&
		 (ch->resuming || !(ch->flags & AUXTRACE_SETUP_FULL_STOP)))
		atomic_andnot(AUXTRACE_INHIBIT_FULL, &ch->inhibit);
}

/*
 * Trace is being lost for want of room if nothing else keeps the hardware off.
 * Each such time is one gap, however often it is looked at.
 */
static __always_inline void watch_starvation(struct auxt_channel *ch)
{
	bool starved = auxt_channel_inhibited(ch) == AUXTRACE_INHIBIT_FULL && ch->attached;

	if (starved && !ch->starved)
		count_full(ch);
	ch->starved = starved;
}

static u32 cause_in_order(u32 inhibit, u32 found)
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
	if (inhibit & AUXTRACE_INHIBIT_FULL || found & TRACE_STOPPED)
		return AUXTRACE_CAUSE_FULL;
	if (inhibit & (AUXTRACE_INHIBIT_TRIGGER | AUXTRACE_INHIBIT_FROZEN))
		return AUXTRACE_CAUSE_TRIGGER;
	/* Nothing: the slot changes. */
	return AUXTRACE_CAUSE_SNAPSHOT;
}
NOKPROBE_SYMBOL(cause_in_order);

/* What keeps the hardware off, or has stopped it: TRACE_*. */
static __always_inline u32 cause_of(u32 inhibit, u32 found)
{
	/* What comes most often. */
	if (inhibit == AUXTRACE_INHIBIT_TRIGGER && !found)
		return AUXTRACE_CAUSE_TRIGGER;
	return cause_in_order(inhibit, found);
}

/* The trigger that keeps the hardware off. */
static __always_inline u32 stopped_by(const struct auxt_channel *ch)
{
	if (auxt_channel_inhibited(ch) & AUXTRACE_INHIBIT_FROZEN)
		return ch->frozen_by.request.trigger;
	return ch->paused_by;
}

static __always_inline void end_window(struct auxt_channel *ch, u64 tsc, u32 cause)
{
	ch->now.running = 0;
	ch->now.window_end = ch->aux.produced;
	ch->now.window_end_tsc = tsc;
	ch->cause = cause;
	if (auxt_channel_inhibited(ch) & AUXTRACE_INHIBIT_USER)
		ch->now.pauses_done++;
	/* Here, as the reader may make room before watch_starvation(). */
	if (cause == AUXTRACE_CAUSE_FULL && !ch->starved) {
		count_full(ch);
		ch->starved = true;
	}
	if (cause == AUXTRACE_CAUSE_CPU)
		count_gap(ch, &ch->now.gaps_offline);
	if (ch->wanted & AUXTRACE_WANT_WINDOW)
		auxt_record_window(ch, tsc, cause,
				   cause == AUXTRACE_CAUSE_TRIGGER ? stopped_by(ch) : 0);
}

static __always_inline int go_on(struct auxt_channel *ch)
{
	int err = ch->pmu->start(ch, false);

	if (err)
		fail(ch);
	return err;
}

/* The hardware has been turned on for it. */
static __always_inline void open_window(struct auxt_channel *ch, u64 tsc)
{
	u32 cause = ch->resuming ? AUXTRACE_CAUSE_USER : ch->cause;

	ch->now.window_begin_tsc = tsc;
	ch->now.window_begin = ch->aux.produced;
	ch->now.windows++;
	ch->now.running = 1;
	if (ch->wanted & AUXTRACE_WANT_WINDOW)
		ch->window = (struct auxt_window) {
			.number = ch->now.windows,
			.position = ch->now.window_begin,
			.tsc = tsc,
			.cause = cause,
			.trigger = cause == AUXTRACE_CAUSE_TRIGGER ? ch->resumed_by : 0,
			.pid = current->tgid,
			.tid = current->pid,
			.slot = ch->now.slot,
		};
	if (ch->fresh && ch->wanted & AUXTRACE_WANT_ITRACE_START)
		auxt_record_itrace_start(&ch->data, tsc);
	ch->fresh = false;
	/* One request, one start: an NMI may end this window and begin another. */
	if (ch->resuming)
		ch->now.resumes_done++;
	ch->resuming = false;
}

static __always_inline void begin_window(struct auxt_channel *ch)
{
	if (ch->pmu->start(ch, true))
		fail(ch);
	else
		open_window(ch, rdtsc());
}

/**
 * auxt_settle_cut() - what the area and the ring hold, as it is now
 * @ch: the channel
 * @to: where to
 */
void auxt_settle_cut(const struct auxt_channel *ch, struct auxtrace_cut *to)
{
	*to = (struct auxtrace_cut) {
		.cpu = ch->cpu,
		.slot = ch->now.slot,
		.aux_begin = auxt_position_oldest(&ch->aux),
		.aux_end = ch->aux.produced,
		.window = ch->now.windows,
		.tsc = rdtsc(),
	};
	if (ch->wanted)
		auxt_data_oldest(&ch->data, &to->data_begin, &to->data_end);
}
NOKPROBE_SYMBOL(auxt_settle_cut);

/* The hardware is off: its next start is in the next slot. */
static void change_slot(struct auxt_channel *ch)
{
	ch->now.slot = ch->next_slot;
	ch->pmu->relocate(ch);
}
NOKPROBE_SYMBOL(change_slot);

/* @slot was left at @tsc. What is in it, which has been told of, is cut off from what follows. */
static void put_aside(struct auxt_channel *ch, u32 slot, u64 tsc)
{
	auxt_settle_cut(ch, &ch->retained);
	ch->retained.slot = slot;
	ch->retained.tsc = tsc;
	if (ch->data.overwrite)
		auxt_data_switch(&ch->data, ch->next_slot, &ch->retained.data_begin,
				 &ch->retained.data_end);
	auxt_position_retain(&ch->aux);
	ch->now.consumed = ch->aux.consumed;
	ch->now.slot_begin = ch->aux.begin;
	ch->now.snapshots++;
}
NOKPROBE_SYMBOL(put_aside);

/*
 * From an open window in one slot to a new one in the next. The hardware first, lest
 * what is told of the one be missing in the other; that goes by @ring, which stays as
 * it is meanwhile.
 */
static noinline void change_window(struct auxt_channel *ch, u64 tsc)
{
	u32 slot = ch->now.slot;
	u64 begin_tsc;
	int err;

	change_slot(ch);
	auxt_position_plan(&ch->aux);
	err = ch->pmu->start(ch, true);
	begin_tsc = rdtsc();
	end_window(ch, tsc, cause_of(0, 0));
	put_aside(ch, slot, tsc);
	if (err)
		fail(ch);
	else
		open_window(ch, begin_tsc);
}
NOKPROBE_SYMBOL(change_window);

/* The window is open. Returns true if there is no more to be done. */
static __always_inline bool agree_open(struct auxt_channel *ch, u32 todo)
{
	u32 found, inhibit;

	if (!(todo & (AUXT_TODO_SYNC | AUXT_TODO_SWITCH)) && !auxt_channel_inhibited(ch))
		return true;
	/* Before the pause, to keep it short. */
	take_tail(ch);
	found = ch->pmu->stop(ch);
	if (unlikely(ch->aux.deadline && ch->aux.produced >= ch->aux.deadline))
		auxt_request_at_deadline(ch);
	if (unlikely(found))
		account_trouble(ch, found);
	/* What ends the window is what is seen here, though an NMI may undo it at once. */
	inhibit = auxt_channel_inhibited(ch);
	if (!inhibit && !found) {
		if (todo & AUXT_TODO_SWITCH) {
			set_deadline(ch, todo);
			change_window(ch, ch->off_tsc);
			return true;
		}
		check_space(ch, todo);
		inhibit = auxt_channel_inhibited(ch);
		/* Only upkeep? Then the window goes on. */
		if (!inhibit) {
			if (!go_on(ch))
				return true;
			inhibit = auxt_channel_inhibited(ch);
		}
	}
	end_window(ch, ch->off_tsc, cause_of(inhibit, found));
	return todo == AUXT_TODO_APPLY && !found;
}

/* No window is open. */
static __always_inline void agree_closed(struct auxt_channel *ch, u32 todo)
{
	bool look;
	u32 inhibit;

	if (unlikely(todo & AUXT_TODO_SWITCH)) {
		u32 slot = ch->now.slot;

		change_slot(ch);
		put_aside(ch, slot, rdtsc());
	}
	/*
	 * Off: the reader may have made room, and a window needs some. If an NMI clears
	 * the mask too late for that look, the next round has it.
	 */
	look = todo & AUXT_TODO_SYNC || !auxt_channel_inhibited(ch);
	if (look) {
		take_tail(ch);
		check_space(ch, todo);
	}
	inhibit = auxt_channel_inhibited(ch);
	if (inhibit)
		ch->cause = cause_of(inhibit, 0);
	else if (ch->attached && look)
		begin_window(ch);
}

static __always_inline void tell_of_area(struct auxt_channel *ch)
{
	if (!auxt_channel_has_unreported(ch))
		return;
	if (ch->wanted & AUXTRACE_WANT_AUX) {
		auxt_record_aux(ch, rdtsc());
		return;
	}
	ch->aux_reported = ch->aux.produced;
	ch->aux_flags = 0;
}

/* The newest data, for whom an event has asked. */
static void take_sample(struct auxt_channel *ch)
{
	u64 wanted, length;

	/* One wished for since the hardware was off asks for a new look as well. */
	if (!auxt_is_pending(&ch->sample) || READ_ONCE(ch->todo) & AUXT_TODO_SYNC)
		return;
	wanted = ch->sample.request.size - ch->sample.request.size % ch->pmu->granule;
	length = min(wanted, ch->aux.produced - auxt_position_oldest_in_memory(&ch->aux));
	length = auxt_record_sample(ch, &ch->sample.request, ch->aux.produced, length);
	ch->now.samples++;
	ch->now.samples_cut += length < wanted;
	auxt_complete(&ch->sample);
}
NOKPROBE_SYMBOL(take_sample);

/*
 * After the records of what was before it: the data ring freezes with the hardware,
 * and the record that says why is its last. A RESUME and another FREEZE may have come
 * since the last look: both are followed.
 */
static __always_inline void follow_freeze(struct auxt_channel *ch)
{
	/* By an NMI since the window was looked at: its end comes next, and is told first. */
	bool frozen = auxt_channel_inhibited(ch) & AUXTRACE_INHIBIT_FROZEN && !ch->now.running;

	if (likely(frozen == ch->frozen && !ch->thawed))
		return;
	if (ch->frozen) {
		ch->frozen = false;
		if (ch->wanted) {
			auxt_data_pause(&ch->data, AUXTRACE_DATA_FROZEN, false);
			auxt_data_report_lost(&ch->data, rdtsc(), current->pid);
		}
	}
	ch->thawed = false;
	/* That is news of its own. */
	ch->notified = false;
	if (!frozen)
		return;
	ch->frozen = true;
	ch->now.frozen_by = ch->frozen_by.request.trigger;
	ch->now.frozen_tsc = rdtsc();
	if (ch->wanted & AUXTRACE_WANT_TRIGGER)
		auxt_record_trigger(&ch->data, &ch->frozen_by.request, ch->frozen_by.value,
				    ch->aux.produced);
	if (ch->wanted)
		auxt_data_pause(&ch->data, AUXTRACE_DATA_FROZEN, true);
}

static __always_inline void publish(struct auxt_channel *ch)
{
	struct auxtrace_status_page *to = ch->status;
	struct auxtrace_status_page *now = &ch->now;
	const size_t from = offsetof(struct auxtrace_status_page, inhibit);
	const size_t end = offsetof(struct auxtrace_status_page, data_reserved);
	u32 seq = now->seq;

	now->inhibit = auxt_channel_inhibited(ch);
	now->produced = ch->aux.produced;
	now->overwritten = auxt_position_overwritten(&ch->aux);
	now->sample_slots = atomic64_read(&ch->slots.sampled);

	WRITE_ONCE(to->seq, seq + 1);
	smp_wmb();	/* pairs with the reader's barrier after its first look at seq */
	/* The data ring's part is kept by its writers. */
	memcpy(__builtin_assume_aligned((char *)to + from, sizeof(u64)),
	       __builtin_assume_aligned((char *)now + from, sizeof(u64)), end - from);
	smp_wmb();	/* pairs with the reader's barrier before its second look at seq */
	WRITE_ONCE(to->seq, seq + 2);
	WRITE_ONCE(now->seq, seq + 2);
}

static __always_inline void settle_once(struct auxt_channel *ch, u32 todo)
{
	if (!ch->now.running || !agree_open(ch, todo))
		agree_closed(ch, todo);
	watch_starvation(ch);
	tell_of_area(ch);
	if (todo & AUXT_TODO_SYNC)
		take_sample(ch);
	follow_freeze(ch);
	publish(ch);
}

/* In one instruction each: an NMI comes before or after it. */
static __always_inline void add_todo(struct auxt_channel *ch, u32 todo)
{
	asm volatile("orl %1, %0" : "+m" (ch->todo) : "er" (todo) : "memory");
}

static __always_inline u32 take_todo(struct auxt_channel *ch)
{
	u32 todo = READ_ONCE(ch->todo);

	asm volatile("andl %1, %0" : "+m" (ch->todo) : "er" (~todo) : "memory");
	return todo;
}

/**
 * auxt_settle_only() - make everything agree with what is asked: the settle loop
 * @ch: the channel
 * @todo: AUXT_TODO_*: why
 *
 * Followed by auxt_settle_notify(), behind what else there is for readers.
 */
void auxt_settle_only(struct auxt_channel *ch, u32 todo)
{
	add_todo(ch, todo);
	do {
		if (READ_ONCE(ch->settling))
			return;
		WRITE_ONCE(ch->settling, true);
		barrier();
		do {
			settle_once(ch, take_todo(ch));
		} while (READ_ONCE(ch->todo));
		WRITE_ONCE(ch->settling, false);
		barrier();
	} while (READ_ONCE(ch->todo));
}
NOKPROBE_SYMBOL(auxt_settle_only);

/**
 * auxt_settle_notify() - wake readers if there is news for them
 * @ch: the channel
 *
 * Once for each piece of news, not for each request. An NMI inside that tells them
 * itself may have them told twice.
 */
void auxt_settle_notify(struct auxt_channel *ch)
{
	u32 inhibit = auxt_channel_inhibited(ch);
	bool news = inhibit & (AUXTRACE_INHIBIT_HWERROR | AUXTRACE_INHIBIT_FROZEN) ||
		    (ch->drained &&
		     auxt_channel_is_readable(ch, inhibit & AUXTRACE_INHIBIT_SETUP));
	/*
	 * All only grow, so that something new is a greater sum. A writer that has taken the
	 * reader's tail and still finds no room is news: he may have looked between the two.
	 */
	u64 position = news ? ch->aux.produced + READ_ONCE(ch->status->data_head) +
			      READ_ONCE(ch->status->data_consumed) : 0;

	if (unlikely(news && (!READ_ONCE(ch->notified) || ch->notified_position != position)))
		irq_work_queue(&ch->wake);
	else if (unlikely(READ_ONCE(ch->starved) && auxt_tail_poll_is_due(ch)))
		irq_work_queue(&ch->wake);
	WRITE_ONCE(ch->notified, news);
	ch->notified_position = position;
}
NOKPROBE_SYMBOL(auxt_settle_notify);

/**
 * auxt_settle_init() - the first state of a new channel, for readers
 * @ch: the channel
 */
void auxt_settle_init(struct auxt_channel *ch)
{
	ch->status->cpu = ch->cpu;
	publish(ch);
}
