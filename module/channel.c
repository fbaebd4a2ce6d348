// SPDX-License-Identifier: GPL-2.0
/*
 * A channel: a session on one CPU.
 *
 * DOC: who may touch a channel
 *
 * Everything in struct auxt_channel from @inhibit on belongs to the channel's
 * CPU: only code running there with interrupts off (IPI, hotplug callback) or in
 * an NMI changes it. Other CPUs ask by IPI. While the CPU is offline, or the
 * session not started, nothing runs there; then a task that holds the session's
 * idle_lock may act in its place. So at most one NMI nests in at most one other
 * context, both on one CPU: no lock is needed, and the barriers in this file that
 * order the two are compiler barriers.
 *
 * DOC: the inhibit mask and the settle loop
 *
 * The hardware must be on exactly when @inhibit is zero. Whoever changes the
 * mask, sets @attend or moves a counter calls settle() afterwards. settle() is
 * the only place that turns the hardware on and off, moves its marks, does the
 * window accounting and writes the status page:
 *
 *	unsettled = true
 *	while (unsettled and not settling):
 *		settling = true
 *		while (unsettled):
 *			unsettled = false
 *			make hardware, accounting and status page agree with the mask
 *		settling = false
 *
 * An NMI that lands outside of the loop runs it to the end itself; the
 * interrupted code sees the outcome. An NMI that lands inside finds @settling
 * set: it leaves its change, with @unsettled set, to the interrupted loop. That
 * loop cannot miss it: @unsettled is cleared before the mask is looked at, tested
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
 * Fields changed in settle() only need no more than that. Of the others,
 * @now.pmis is changed in NMIs only and @now.*_asked outside of them only.
 *
 * DOC: status page
 *
 * settle() writes it whenever something changed. @seq is odd meanwhile; its
 * write barriers pair with the read barriers of readers on other CPUs.
 */

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/poll.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <asm/msr.h>
#include <asm/tsc.h>
#include "channel.h"
#include "lookout.h"
#include "rings.h"
#include "trace_pmu.h"

DEFINE_PER_CPU(struct auxt_channel *, auxt_attached[TRACE_PMUS]);

static u32 inhibited(const struct auxt_channel *ch)
{
	return atomic_read(&ch->inhibit);
}
NOKPROBE_SYMBOL(inhibited);

/* ---- the settle loop -------------------------------------------------- */

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
}
NOKPROBE_SYMBOL(fail);

/* Returns false if the channel is as the trigger wants it. */
static bool carry_out(struct auxt_channel *ch, const struct auxt_request *request)
{
	bool freeze = request->action == AUXTRACE_ACTION_FREEZE;
	u32 reason = freeze ? AUXTRACE_INHIBIT_FROZEN : AUXTRACE_INHIBIT_TRIGGER;
	bool is_set = inhibited(ch) & reason;
	bool changes = is_set == (request->action == AUXTRACE_ACTION_RESUME);

	if (changes && freeze)
		ch->frozen_by = *request;
	else if (changes)
		*(is_set ? &ch->resumed_by : &ch->paused_by) = request->trigger;
	/* Who finds the reason changed finds who it was. */
	barrier();
	if (changes && is_set)
		atomic_andnot(reason, &ch->inhibit);
	else if (changes)
		atomic_or(reason, &ch->inhibit);
	/*
	 * A FREEZE is relayed by the first that is hit. A PAUSE that changes nothing here
	 * may do so elsewhere. Set before the others are asked, so that one that is
	 * changed back after that finds it.
	 */
	if (request->relayed && (changes || !freeze)) {
		if (!freeze)
			WRITE_ONCE(*ch->together, request->action);
		auxt_relay_send(ch, request);
	} else if (!freeze && changes && READ_ONCE(*ch->together) != request->action) {
		WRITE_ONCE(*ch->together, 0);
	}
	return changes;
}
NOKPROBE_SYMBOL(carry_out);

/* Of a freeze settle() writes the record. */
static void tell_of_trigger(struct auxt_channel *ch, const struct auxt_request *request)
{
	if (ch->wanted & AUXTRACE_WANT_TRIGGER && request->action != AUXTRACE_ACTION_FREEZE)
		auxt_record_trigger(&ch->data, request, READ_ONCE(ch->ring.produced));
}
NOKPROBE_SYMBOL(tell_of_trigger);

/*
 * Wishes: what a trigger cannot have at once. @action is what the contexts that
 * nest agree by: COMING while one of them fills the wish in or takes it back, then
 * the action, until the settle loop has granted it.
 */
#define COMING	(~0u)

static bool take_up(struct auxt_request *wish, const struct auxt_request *request)
{
	struct auxt_request coming = *request;

	coming.action = COMING;
	if (READ_ONCE(wish->action) ||
	    cmpxchg_local(&wish->action, AUXTRACE_ACTION_NONE, COMING) != AUXTRACE_ACTION_NONE)
		return false;
	*wish = coming;
	barrier();
	WRITE_ONCE(wish->action, request->action);
	return true;
}
NOKPROBE_SYMBOL(take_up);

static bool is_wished(const struct auxt_request *wish)
{
	u32 action = READ_ONCE(wish->action);

	barrier();
	return action != AUXTRACE_ACTION_NONE && action != COMING;
}
NOKPROBE_SYMBOL(is_wished);

static void grant(struct auxt_request *wish)
{
	/* The next one may come from here on. */
	barrier();
	WRITE_ONCE(wish->action, AUXTRACE_ACTION_NONE);
}
NOKPROBE_SYMBOL(grant);

static void act_at_deadline(struct auxt_channel *ch)
{
	const struct auxt_request request = ch->later;

	if (!is_wished(&ch->later))
		return;
	ch->ring.deadline = 0;
	grant(&ch->later);
	if (carry_out(ch, &request))
		tell_of_trigger(ch, &request);
}
NOKPROBE_SYMBOL(act_at_deadline);

/*
 * The hardware has just been turned off: how far did it come? Not zero if the open
 * window cannot go on: the hardware had stopped by itself.
 */
static __always_inline u32 account(struct auxt_channel *ch)
{
	u32 found = ch->pmu->position(ch, &ch->ring.produced);

	if (ch->ring.deadline && ch->ring.produced >= ch->ring.deadline)
		act_at_deadline(ch);
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
	return found;
}

static void take_tail(struct auxt_channel *ch)
{
	if (!ch->ring.overwrite) {
		/* What the reader has read it has read before the hardware writes there:
		 * pairs with the release store that the ABI asks of readers.
		 */
		u64 tail = smp_load_acquire(&ch->user->aux_tail);

		auxt_ring_take_tail(&ch->ring, tail);
	}
}
NOKPROBE_SYMBOL(take_tail);

/* The hardware is off: decide whether there is room, and where a deadline is. */
static __always_inline void look_for_room(struct auxt_channel *ch)
{
	if (is_wished(&ch->later) && !ch->ring.deadline)
		ch->ring.deadline = ch->ring.produced + ch->later.delay;
	auxt_ring_plan(&ch->ring);
	if (auxt_ring_full(&ch->ring))
		atomic_or(AUXTRACE_INHIBIT_FULL, &ch->inhibit);
	else if (inhibited(ch) & AUXTRACE_INHIBIT_FULL &&
		 (ch->resuming || !(ch->flags & AUXTRACE_SETUP_FULL_STOP)))
		atomic_andnot(AUXTRACE_INHIBIT_FULL, &ch->inhibit);
}

/*
 * Trace is being lost for want of room if nothing else keeps the hardware off.
 * Each such time is one gap, however often it is looked at.
 */
static __always_inline void watch_starvation(struct auxt_channel *ch)
{
	bool starved = ch->attached && inhibited(ch) == AUXTRACE_INHIBIT_FULL;

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
static u32 stopped_by(const struct auxt_channel *ch)
{
	return inhibited(ch) & AUXTRACE_INHIBIT_FROZEN ? ch->frozen_by.trigger : ch->paused_by;
}
NOKPROBE_SYMBOL(stopped_by);

static void end_window(struct auxt_channel *ch, u64 tsc, u32 cause)
{
	ch->now.running = 0;
	ch->now.window_end = ch->ring.produced;
	ch->now.window_end_tsc = tsc;
	ch->cause = cause;
	if (inhibited(ch) & AUXTRACE_INHIBIT_USER)
		ch->now.pauses_done++;
	/* Here, as the reader may make room before watch_starvation(). */
	if (cause == AUXTRACE_CAUSE_FULL && !ch->starved) {
		count_full(ch);
		ch->starved = true;
	}
	if (cause == AUXTRACE_CAUSE_CPU)
		count_gap(ch, &ch->now.gaps_offline);
	auxt_record_window(ch, tsc, cause, cause == AUXTRACE_CAUSE_TRIGGER ? stopped_by(ch) : 0);
}
NOKPROBE_SYMBOL(end_window);

static __always_inline int go_on(struct auxt_channel *ch)
{
	int err = ch->pmu->resume(ch, false);

	if (err)
		fail(ch);
	return err;
}

/* The hardware has been turned on for it. */
static void open_window(struct auxt_channel *ch, u64 tsc)
{
	u32 cause = ch->resuming ? AUXTRACE_CAUSE_USER : ch->cause;

	ch->now.window_begin_tsc = tsc;
	ch->now.window_begin = ch->ring.produced;
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
NOKPROBE_SYMBOL(open_window);

static __always_inline void begin_window(struct auxt_channel *ch)
{
	if (ch->pmu->resume(ch, true))
		fail(ch);
	else
		open_window(ch, rdtsc());
}

/* What the area and the ring hold, as it is now. */
static void cut(const struct auxt_channel *ch, struct auxtrace_cut *to)
{
	*to = (struct auxtrace_cut) {
		.cpu = ch->cpu,
		.slot = ch->now.slot,
		.aux_begin = auxt_ring_oldest(&ch->ring),
		.aux_end = ch->ring.produced,
		.window = ch->now.windows,
		.tsc = rdtsc(),
	};
	if (ch->wanted)
		auxt_data_oldest(&ch->data, &to->data_begin, &to->data_end);
}
NOKPROBE_SYMBOL(cut);

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
	cut(ch, &ch->aside);
	ch->aside.slot = slot;
	ch->aside.tsc = tsc;
	if (ch->data.overwrite)
		auxt_data_switch(&ch->data, ch->next_slot, &ch->aside.data_begin,
				 &ch->aside.data_end);
	auxt_ring_put_aside(&ch->ring);
	ch->now.slot_begin = ch->ring.begin;
	ch->now.snapshots++;
}
NOKPROBE_SYMBOL(put_aside);

/*
 * From an open window in one slot to a new one in the next. The hardware first, lest
 * what is told of the one be missing in the other; that goes by @ring, which stays as
 * it is meanwhile.
 */
static void change_window(struct auxt_channel *ch, u64 tsc)
{
	u32 slot = ch->now.slot;
	u64 begin_tsc;
	int err;

	change_slot(ch);
	auxt_ring_plan(&ch->ring);
	err = ch->pmu->resume(ch, true);
	begin_tsc = rdtsc();
	end_window(ch, tsc, cause_of(0, 0));
	put_aside(ch, slot, tsc);
	if (err)
		fail(ch);
	else
		open_window(ch, begin_tsc);
}
NOKPROBE_SYMBOL(change_window);

/* Makes the hardware agree with the mask, as the mask is now. */
static __always_inline void agree(struct auxt_channel *ch)
{
	bool attend = READ_ONCE(ch->attend);
	bool leave = ch->next_slot != ch->now.slot;
	bool look;
	u32 inhibit;

	/*
	 * Cleared before the look, so that what an NMI sets from here on is a new
	 * wish; and only if seen set, so that one set in between is not cleared
	 * without a look.
	 */
	if (attend)
		WRITE_ONCE(ch->attend, false);
	barrier();

	if (ch->now.running && (attend || leave || inhibited(ch))) {
		u32 found;
		u64 tsc;

		/* Before the pause, to keep it short. */
		take_tail(ch);
		ch->pmu->pause(ch);
		tsc = rdtsc();
		found = account(ch);
		if (!found && !inhibited(ch)) {
			if (leave) {
				change_window(ch, tsc);
				return;
			}
			look_for_room(ch);
			/* Only upkeep? Then the window goes on. */
			if (!inhibited(ch) && !go_on(ch))
				return;
		}
		end_window(ch, tsc, cause_of(inhibited(ch), found));
	}
	if (ch->now.running)
		return;
	if (leave) {
		u32 slot = ch->now.slot;

		change_slot(ch);
		put_aside(ch, slot, rdtsc());
	}
	/*
	 * Off: the reader may have made room, and a window needs some. If an NMI clears
	 * the mask too late for that look, the next round has it.
	 */
	look = attend || !inhibited(ch);
	if (look) {
		take_tail(ch);
		look_for_room(ch);
	}
	inhibit = inhibited(ch);
	if (inhibit)
		ch->cause = cause_of(inhibit, 0);
	else if (ch->attached && look)
		begin_window(ch);
}

static char *byte_at(const struct auxt_channel *ch, u32 slot, u64 position)
{
	u64 offset = slot * ch->ring.size + position % ch->ring.size;
	struct page *page = auxt_rings_aux_page(ch->rings, ch->cpu, offset >> PAGE_SHIFT);

	return (char *)page_address(page) + (offset & ~PAGE_MASK);
}
NOKPROBE_SYMBOL(byte_at);

static u64 left_in_page(u64 position)
{
	return PAGE_SIZE - (position & ~PAGE_MASK);
}
NOKPROBE_SYMBOL(left_in_page);

/**
 * auxt_channel_copy() - copy AUX data
 * @ch: the channel
 * @to: where to
 * @begin: position of the first byte, in the present slot
 * @length: bytes
 */
void auxt_channel_copy(const struct auxt_channel *ch, void *to, u64 begin, u64 length)
{
	while (length) {
		u64 n = min(length, left_in_page(begin));

		memcpy(to, byte_at(ch, ch->now.slot, begin), n);
		to += n;
		begin += n;
		length -= n;
	}
}
NOKPROBE_SYMBOL(auxt_channel_copy);

/**
 * auxt_channel_save() - copy AUX data to another slot, at the same positions
 * @ch: the channel
 * @slot: the other, which has been claimed
 * @begin: position of the first byte, in the present slot
 * @length: bytes
 */
void auxt_channel_save(const struct auxt_channel *ch, u32 slot, u64 begin, u64 length)
{
	while (length) {
		u64 n = min(length, left_in_page(begin));

		memcpy(byte_at(ch, slot, begin), byte_at(ch, ch->now.slot, begin), n);
		begin += n;
		length -= n;
	}
}
NOKPROBE_SYMBOL(auxt_channel_save);

/* The newest data, for whom an event has asked. */
static __always_inline void take_sample(struct auxt_channel *ch)
{
	u64 wanted, length;

	/* One wished for since agree() asks for a new look at the position as well. */
	if (!is_wished(&ch->sample) || READ_ONCE(ch->attend))
		return;
	wanted = ch->sample.size - ch->sample.size % ch->pmu->unit;
	length = min(wanted, ch->ring.produced - auxt_ring_oldest_in_memory(&ch->ring));
	length = auxt_record_sample(ch, &ch->sample, ch->ring.produced, length);
	ch->now.samples++;
	ch->now.samples_cut += length < wanted;
	grant(&ch->sample);
}

/*
 * After the records of what was before it: the data ring freezes with the hardware,
 * and the record that says why is its last.
 */
static __always_inline void follow_freeze(struct auxt_channel *ch)
{
	bool frozen = inhibited(ch) & AUXTRACE_INHIBIT_FROZEN;

	if (frozen == ch->frozen)
		return;
	ch->frozen = frozen;
	/* That is news of its own. */
	ch->told = false;
	if (frozen) {
		ch->now.frozen_by = ch->frozen_by.trigger;
		ch->now.frozen_tsc = rdtsc();
		if (ch->wanted & AUXTRACE_WANT_TRIGGER)
			auxt_record_trigger(&ch->data, &ch->frozen_by, ch->ring.produced);
	}
	if (!ch->wanted)
		return;
	auxt_data_pause(&ch->data, AUXTRACE_DATA_FROZEN, frozen);
	if (!frozen)
		auxt_data_tell_lost(&ch->data, rdtsc(), current->pid);
}

static void publish(struct auxt_channel *ch)
{
	struct auxtrace_status_page *to = ch->status;
	struct auxtrace_status_page *now = &ch->now;

	now->inhibit = inhibited(ch);
	now->produced = ch->ring.produced;
	now->consumed = ch->ring.consumed;
	now->overwritten = auxt_ring_overwritten(&ch->ring);
	now->bad_tails = ch->ring.bad_tails;
	now->sample_slots = atomic64_read(&ch->slots.sampled);

	WRITE_ONCE(to->seq, ++now->seq);
	smp_wmb();	/* pairs with the reader's barrier after its first look at seq */
	/* The data ring's part is kept by its writers. */
	memcpy((char *)to + sizeof(to->seq), (char *)now + sizeof(now->seq),
	       offsetof(struct auxtrace_status_page, data_reserved) - sizeof(now->seq));
	smp_wmb();	/* pairs with the reader's barrier before its second look at seq */
	WRITE_ONCE(to->seq, ++now->seq);
}
NOKPROBE_SYMBOL(publish);

/* Once for each piece of news, not for each request. */
static __always_inline void tell_readers(struct auxt_channel *ch)
{
	bool news = inhibited(ch) & (AUXTRACE_INHIBIT_HWERROR | AUXTRACE_INHIBIT_FROZEN) ||
		    (ch->drained && auxt_channel_is_readable(ch, false));
	/* Both only grow, so that something new is a greater sum. */
	u64 position = ch->ring.produced + READ_ONCE(ch->status->data_head);

	if ((news && (!ch->told || ch->told_position != position)) ||
	    (ch->drained && auxt_lookout_is_due(ch)))
		irq_work_queue(&ch->wake);
	ch->told = news;
	ch->told_position = position;
}

/* See the head of this file. */
static void settle(struct auxt_channel *ch)
{
	WRITE_ONCE(ch->unsettled, true);
	while (READ_ONCE(ch->unsettled) && !READ_ONCE(ch->settling)) {
		WRITE_ONCE(ch->settling, true);
		barrier();
		while (READ_ONCE(ch->unsettled)) {
			WRITE_ONCE(ch->unsettled, false);
			barrier();
			agree(ch);
			/* agree() itself may have found a reason to stop. */
			if (ch->now.running != (ch->attached && !inhibited(ch)))
				WRITE_ONCE(ch->unsettled, true);
			watch_starvation(ch);
			if (auxt_channel_has_news(ch))
				auxt_record_aux(ch, rdtsc());
			take_sample(ch);
			follow_freeze(ch);
			publish(ch);
			tell_readers(ch);
			barrier();
		}
		WRITE_ONCE(ch->settling, false);
		barrier();
	}
}
NOKPROBE_SYMBOL(settle);

/* ---- requests --------------------------------------------------------- */

/**
 * auxt_channel_reset() - before a START: forget what inhibited the hardware
 * @ch: a channel that is not attached
 * @inhibit: what inhibits it from now on
 */
void auxt_channel_reset(struct auxt_channel *ch, u32 inhibit)
{
	atomic_set(&ch->inhibit, inhibit);
	ch->fresh = true;
	ch->run++;
	WRITE_ONCE(*ch->together, 0);
	auxt_relay_forget(ch);
	settle(ch);
}

/**
 * auxt_channel_attach() - take the trace unit of this CPU
 * @ch: a channel that is inhibited
 *
 * Return: 0, -EBUSY if it traces for somebody else, -EIO if it will not be written.
 */
int auxt_channel_attach(struct auxt_channel *ch)
{
	int err = ch->pmu->start(ch);

	if (err)
		return err;
	ch->attached = true;
	/* The NMI handlers see it only now that all is in place. */
	barrier();
	this_cpu_write(auxt_attached[ch->pmu->number], ch);
	return 0;
}

/**
 * auxt_channel_detach() - give it back
 * @ch: a channel that is inhibited, so that its hardware is off
 */
void auxt_channel_detach(struct auxt_channel *ch)
{
	if (!ch->attached)
		return;
	this_cpu_write(auxt_attached[ch->pmu->number], NULL);
	/* The NMI handlers have lost sight of it before the rest goes. */
	barrier();
	ch->attached = false;
	auxt_channel_forget(ch, 0);
	auxt_lookout_end(ch);
	ch->pmu->stop(ch);
}

/**
 * auxt_channel_inhibit() - a reason to be off
 * @ch: the channel
 * @reason: AUXTRACE_INHIBIT_*; OFFLINE is a gap if it ends a window
 */
void auxt_channel_inhibit(struct auxt_channel *ch, u32 reason)
{
	atomic_or(reason, &ch->inhibit);
	settle(ch);
}

/**
 * auxt_channel_allow() - a reason less
 * @ch: the channel
 * @reason: AUXTRACE_INHIBIT_*
 */
void auxt_channel_allow(struct auxt_channel *ch, u32 reason)
{
	atomic_andnot(reason, &ch->inhibit);
	settle(ch);
}

static bool has_new_aux_tail(const struct auxt_channel *ch)
{
	return !ch->ring.overwrite &&
	       auxt_ring_is_news(&ch->ring, READ_ONCE(ch->user->aux_tail));
}

/**
 * auxt_channel_take_tails() - look where the reader is, with no more ado than that takes
 * @ch: the channel
 */
void auxt_channel_take_tails(struct auxt_channel *ch)
{
	if (ch->wanted)
		auxt_data_tell_lost(&ch->data, rdtsc(), current->pid);
	/* A look at the hardware costs two WRMSRs. */
	if (has_new_aux_tail(ch))
		WRITE_ONCE(ch->attend, true);
	settle(ch);
}

/**
 * auxt_channel_attend() - look where the hardware and the reader are
 * @ch: the channel
 */
void auxt_channel_attend(struct auxt_channel *ch)
{
	WRITE_ONCE(ch->attend, true);
	auxt_channel_take_tails(ch);
}

/**
 * auxt_channel_snapshot() - a SNAPSHOT request
 * @ch: the channel
 * @flags: AUXTRACE_SNAPSHOT_*
 * @slot: with SLOT: the free slot to go on in
 * @to: what it found
 */
void auxt_channel_snapshot(struct auxt_channel *ch, u32 flags, u32 slot,
			   struct auxtrace_cut *to)
{
	u32 seq;

	if (flags & AUXTRACE_SNAPSHOT_SLOT) {
		WRITE_ONCE(ch->next_slot, slot);
		settle(ch);
		*to = ch->aside;
	} else {
		if (flags & AUXTRACE_SNAPSHOT_PAUSE)
			auxt_channel_pause(ch, NULL);
		else
			auxt_channel_attend(ch);
		if (flags & AUXTRACE_SNAPSHOT_PAUSE && ch->wanted)
			auxt_channel_pause_output(ch, true);
		/* Of one moment, though an NMI may settle meanwhile. */
		do {
			seq = READ_ONCE(ch->now.seq);
			barrier();
			cut(ch, to);
			barrier();
		} while (seq != READ_ONCE(ch->now.seq));
	}
	to->inhibit = inhibited(ch);
}

/**
 * auxt_channel_pause_output() - a PAUSE_OUTPUT request
 * @ch: a channel with a data ring
 * @pause: drop and count its records, or no more
 */
void auxt_channel_pause_output(struct auxt_channel *ch, bool pause)
{
	auxt_data_pause(&ch->data, AUXTRACE_DATA_PAUSED, pause);
	if (pause)
		return;
	auxt_data_tell_lost(&ch->data, rdtsc(), current->pid);
	settle(ch);
}

/**
 * auxt_channel_pause() - a PAUSE request
 * @ch: the channel
 * @effect: what came of it; may be NULL
 */
void auxt_channel_pause(struct auxt_channel *ch, struct auxtrace_effect *effect)
{
	u64 done = ch->now.pauses_done;

	ch->now.pauses_asked++;
	atomic_or(AUXTRACE_INHIBIT_USER, &ch->inhibit);
	settle(ch);
	if (!effect)
		return;
	*effect = (struct auxtrace_effect) {
		.cpu = ch->cpu,
		.flags = ch->now.pauses_done != done ? AUXTRACE_EFFECT_CHANGED : 0,
		.inhibit = inhibited(ch),
		.position = ch->now.window_end,
		.window = ch->now.windows,
		.tsc = ch->now.window_end_tsc,
	};
}

/**
 * auxt_channel_resume() - a RESUME request
 * @ch: the channel
 * @effect: what came of it; may be NULL
 */
void auxt_channel_resume(struct auxt_channel *ch, struct auxtrace_effect *effect)
{
	u64 done = ch->now.resumes_done;

	ch->now.resumes_asked++;
	/* For a channel that runs the tail can wait: a look would cost two WRMSRs. */
	if (!ch->now.running)
		WRITE_ONCE(ch->attend, true);
	ch->resuming = true;
	barrier();
	atomic_andnot(AUXTRACE_INHIBIT_USER | AUXTRACE_INHIBIT_FROZEN, &ch->inhibit);
	settle(ch);
	ch->resuming = false;
	if (!effect)
		return;
	*effect = (struct auxtrace_effect) {
		.cpu = ch->cpu,
		.flags = ch->now.resumes_done != done ? AUXTRACE_EFFECT_CHANGED : 0,
		.inhibit = inhibited(ch),
		.position = ch->now.window_begin,
		.window = ch->now.windows,
		.tsc = ch->now.window_begin_tsc,
	};
}

/**
 * auxt_channel_forget() - what is to be done at the deadline is not to be done
 * @ch: the channel
 * @trigger: id of who asked for it; 0: whoever it was
 */
void auxt_channel_forget(struct auxt_channel *ch, u32 trigger)
{
	u32 action = READ_ONCE(ch->later.action);

	/* Not in an NMI, so no other context is under way with it. */
	if (!action || cmpxchg_local(&ch->later.action, action, COMING) != action)
		return;
	if (trigger && ch->later.trigger != trigger) {
		WRITE_ONCE(ch->later.action, action);
		/* The deadline may have passed meanwhile. */
		auxt_channel_attend(ch);
		return;
	}
	ch->ring.deadline = 0;
	grant(&ch->later);
}

/**
 * auxt_channel_request() - a trigger asks for its action
 * @ch: the channel
 * @request: what is asked
 *
 * Return: false if it could not be taken up: an earlier SAMPLE, or one with a delay in
 * bytes, is not done.
 */
bool auxt_channel_request(struct auxt_channel *ch, const struct auxt_request *request)
{
	bool sample = request->action == AUXTRACE_ACTION_SAMPLE;

	if (sample || request->delay) {
		if (!take_up(sample ? &ch->sample : &ch->later, request))
			return false;
		WRITE_ONCE(ch->attend, true);
		settle(ch);
	} else if (carry_out(ch, request)) {
		settle(ch);
		tell_of_trigger(ch, request);
	}
	return true;
}
NOKPROBE_SYMBOL(auxt_channel_request);

/**
 * auxt_channel_interrupt() - an NMI came on the channel's CPU
 * @ch: the channel
 * @asserted: the trace unit's status bit was set
 *
 * Return: true if there was something to do for the trace unit.
 */
bool auxt_channel_interrupt(struct auxt_channel *ch, bool asserted)
{
	/*
	 * perf may have acknowledged the bit and dropped it, so the unit itself is
	 * asked, unless a look is due anyway. If the settle loop was interrupted,
	 * what the answer is made of may be half changed: then it may be wrong, but
	 * only in asking for a look, or in not asking for the one under way.
	 */
	if (!asserted && (READ_ONCE(ch->attend) ||
			  !(READ_ONCE(ch->settling) || ch->now.running) ||
			  !ch->pmu->interrupt(ch)))
		return false;
	ch->now.pmis++;
	WRITE_ONCE(ch->attend, true);
	settle(ch);
	return true;
}
NOKPROBE_SYMBOL(auxt_channel_interrupt);

/* ---- readers ---------------------------------------------------------- */

/**
 * auxt_channel_has_new_tail() - did the reader move on?
 * @ch: the channel
 *
 * Return: true if the user page holds a tail that has not been looked at.
 */
bool auxt_channel_has_new_tail(const struct auxt_channel *ch)
{
	return has_new_aux_tail(ch) || (ch->wanted && auxt_data_has_new_tail(&ch->data));
}

/**
 * auxt_channel_is_readable() - would poll(2) say POLLIN?
 * @ch: the channel
 * @stopped: the session is stopped
 *
 * Return: as the ABI says at poll.
 */
bool auxt_channel_is_readable(const struct auxt_channel *ch, bool stopped)
{
	u64 available;

	if (ch->wanted && auxt_data_is_readable(&ch->data, stopped))
		return true;
	if (ch->ring.overwrite)
		return false;
	/* As published: who is told to look must find it there. */
	available = READ_ONCE(ch->status->produced) - READ_ONCE(ch->status->consumed);
	return available >= ch->ring.watermark ||
	       (available && (stopped || READ_ONCE(ch->status->inhibit) & AUXTRACE_INHIBIT_FULL));
}
NOKPROBE_SYMBOL(auxt_channel_is_readable);

static void wake(struct irq_work *work)
{
	struct auxt_channel *ch = container_of(work, struct auxt_channel, wake);

	auxt_lookout_begin(ch);
	wake_up_interruptible_poll(ch->waiters, EPOLLIN | EPOLLRDNORM | EPOLLPRI | EPOLLERR);
}

/* ---- life ------------------------------------------------------------- */

/**
 * auxt_channel_new() - a channel, inhibited by SETUP
 * @pmu: what produces the trace
 * @rings: pages, which must outlive the channel
 * @waiters: readers, likewise
 * @cpu: the CPU
 * @index: number of the channel in its session
 * @setup: checked
 *
 * Return: the channel or an errno.
 */
struct auxt_channel *auxt_channel_new(const struct trace_pmu *pmu, struct auxt_rings *rings,
				      wait_queue_head_t *waiters, int cpu, unsigned int index,
				      const struct auxtrace_setup *setup)
{
	struct auxt_channel *ch = kzalloc_node(sizeof(*ch), GFP_KERNEL, cpu_to_node(cpu));
	bool overwrite = setup->flags & AUXTRACE_SETUP_OVERWRITE;
	u64 slot_size, watermark = 0;
	int err;

	if (!ch)
		return ERR_PTR(-ENOMEM);
	if (!overwrite)
		watermark = setup->aux_watermark ?: setup->aux_size / 2;
	ch->pmu = pmu;
	ch->rings = rings;
	ch->waiters = waiters;
	init_irq_work(&ch->wake, wake);
	auxt_relay_init(ch);
	ch->cpu = cpu;
	ch->index = index;
	atomic_set(&ch->inhibit, AUXTRACE_INHIBIT_SETUP);
	ch->flags = setup->flags;
	auxt_lookout_init(ch);
	ch->status = auxt_rings_status(rings, cpu);
	ch->user = auxt_rings_user(rings, cpu);
	ch->now.cpu = cpu;
	ch->now.aux_size = setup->aux_size;
	ch->now.slots = max(setup->slots, 1U);
	auxt_slots_init(&ch->slots, ch->now.slots);
	slot_size = setup->aux_size / ch->now.slots;
	auxt_ring_init(&ch->ring, slot_size, slot_size, watermark, overwrite);
	if (setup->data_size) {
		ch->wanted = setup->records ?: AUXTRACE_WANT_ALL;
		ch->now.data_size = setup->data_size;
		auxt_data_init(&ch->data, setup, auxt_rings_data(rings, cpu), ch->status,
			       ch->user);
	}
	ch->drained = !overwrite || (ch->wanted && !ch->data.overwrite);
	err = pmu->setup(ch, setup->flags, setup->config);
	if (err) {
		kfree(ch);
		return ERR_PTR(err);
	}
	publish(ch);
	return ch;
}

/**
 * auxt_channel_free() - end of a channel
 * @ch: detached; NULL is fine
 */
void auxt_channel_free(struct auxt_channel *ch)
{
	if (!ch)
		return;
	irq_work_sync(&ch->wake);
	ch->pmu->cleanup(ch);
	kfree(ch);
}
