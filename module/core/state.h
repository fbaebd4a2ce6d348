/* SPDX-License-Identifier: GPL-2.0 */
/* The state of a channel, a session on one CPU, which the files of this folder share. */
#ifndef AUXT_STATE_H
#define AUXT_STATE_H

#include <linux/atomic.h>
#include <linux/auxtrace.h>
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <asm/barrier.h>
#include "core/data_ring.h"
#include "core/position.h"
#include "core/slots.h"
#include "core/trace_pmu.h"

struct auxt_aux_buffer;
struct auxt_channel;
struct auxt_trigger_set;
struct perf_event;

/**
 * struct auxt_request - an action, as a trigger asks for it at each hit
 * @action: AUXTRACE_ACTION_*
 * @trigger: its id
 * @size: SAMPLE: bytes wanted
 * @delay: bytes to be produced before it is done
 * @all_cpus: the session's other CPUs are to do the same
 */
struct auxt_request {
	u32 action;
	u32 trigger;
	u64 size;
	u64 delay;
	bool all_cpus;
};

/**
 * struct auxt_pending_request - a request that cannot be had at once
 * @request: its action is what the contexts that nest agree by: AUXT_PENDING_BUSY while
 *	one of them fills the pending in or takes it back, then the action, until the
 *	settle loop has granted it
 * @value: of the event
 */
struct auxt_pending_request {
	struct auxt_request request;
	u64 value;
};

#define AUXT_PENDING_BUSY	(~0u)

static __always_inline bool auxt_request_is_pending(const struct auxt_pending_request *pending)
{
	u32 action = READ_ONCE(pending->request.action);

	barrier();
	return action != AUXTRACE_ACTION_NONE && action != AUXT_PENDING_BUSY;
}

static __always_inline void auxt_request_complete(struct auxt_pending_request *pending)
{
	/* The next one may come from here on. */
	barrier();
	WRITE_ONCE(pending->request.action, AUXTRACE_ACTION_NONE);
}

/**
 * struct auxt_remote - the relay of one channel
 * @work: asks the others; queued on the channel's CPU
 * @csd: carries out on the channel's CPU what others asked
 * @called: @csd is on its way: who sets this sends it, alone
 * @out_toggle: for @work: the newest PAUSE or RESUME; 0: none
 * @out_freeze: for @work: a FREEZE, until all have been asked
 * @unreported: there was one since @work ran last, of which poll(2) has not told
 * @in_toggle: for @csd, likewise
 * @in_freeze: for @csd, likewise
 */
struct auxt_remote {
	struct irq_work work;
	call_single_data_t csd;
	atomic64_t called;
	atomic64_t out_toggle;
	atomic64_t out_freeze;
	atomic64_t unreported;
	atomic64_t in_toggle;
	atomic64_t in_freeze;
};

/* A request as a word: what is not in it, the other CPUs do not need. */
#define AUXT_REMOTE_WORD(action, trigger)	((u64)(trigger) << 8 | (action))
#define AUXT_REMOTE_WORD_ACTION(word)	((u32)((word) & 0xff))
#define AUXT_REMOTE_WORD_TRIGGER(word)	((u32)((word) >> 8))

/* What others asked of the channel's CPU has not been carried out. Anywhere. */
static inline bool auxt_remote_is_pending(const struct auxt_remote *remote)
{
	return atomic64_read(&remote->in_toggle) | atomic64_read(&remote->in_freeze);
}

/*
 * Not all others have been asked for a FREEZE of the channel's CPU. Anywhere, after a look at
 * the reasons: it stands here before FROZEN does, and readers are woken when it has left.
 */
static inline bool auxt_remote_is_sending_freeze(const struct auxt_remote *remote)
{
	return atomic64_read(&remote->out_freeze);
}

/* A FREEZE is on its way, from the channel's CPU or to it. */
static inline bool auxt_remote_has_freeze(const struct auxt_remote *remote)
{
	return atomic64_read(&remote->in_freeze) | atomic64_read(&remote->out_freeze);
}

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

/**
 * struct auxt_group - the channels of one session
 * @cpus: the CPUs they are on
 * @channels: by CPU number; NULL for a CPU that is not in @cpus
 * @last_broadcast: AUXTRACE_ACTION_PAUSE or _RESUME if a trigger has asked all channels for
 *	it, and since then no request of another kind has changed one of them; else 0
 * @waiters: readers that wait in poll(2)
 */
struct auxt_group {
	cpumask_var_t cpus;
	struct auxt_channel **channels;
	u32 last_broadcast;
	wait_queue_head_t waiters;
};

/**
 * struct auxt_channel - a session on one CPU
 * @pmu: what produces the trace
 * @hw: @pmu's own
 * @buffer: the pages, held by the session
 * @group: the channels of the session
 * @wake: wakes them, not in NMIs and not with locks held, and begins the @tail_poll
 * @cpu: the CPU
 * @index: of this channel in its session, in CPU order
 * @reservation: keeps perf off; NULL if perf has no such PMU. See reservation.c
 * @pmu_reserved: perf is kept off, or there is no perf to be
 * @reservation_type: perf's type of the PMU that @reservation holds
 *
 * @flags: AUXTRACE_SETUP_*
 * @wanted: AUXTRACE_WANT_*: records to be written; 0: there is no data ring
 * @drained: not all of it is overwritable: there is something for readers to wait for
 *
 * The rest belongs to the CPU: see channel.c.
 *
 * @inhibit: AUXTRACE_INHIBIT_*: why the hardware must be off
 * @inhibited_before: @inhibit before the newest START, which may yet fail
 * @settling: the settle loop runs
 * @todo: AUXT_TODO_*: what the settle loop has not looked at yet
 * @attached: @pmu has been started on the CPU
 * @resuming: a RESUME is being carried out
 * @starved: for want of room only the hardware is off; counted as a gap
 * @triggers: of the session
 * @remote: what its triggers ask of other CPUs
 * @run: how often it was attached
 * @slots: of the AUX area
 * @paused_by: trigger that set the reason TRIGGER last
 * @resumed_by: trigger that cleared it last
 * @frozen_by: FREEZE that set the reason FROZEN; no action: none
 * @sample: SAMPLE to be taken; no action: none
 * @deferred: what is to be done at the ring's deadline; no action: nothing
 * @frozen: the data ring is frozen
 * @thawed: a RESUME or START has cleared FROZEN, which may be set again, since the ring
 *	followed
 * @notified: readers were told that there is something to read
 * @notified_position: up to where
 * @tail_poll: looks for the reader's tail. See tail_poll.c
 * @tail_polling: it does, or will soon
 * @fresh: no window has begun since START
 * @off_tsc: when the hardware was turned off last
 * @cause: AUXTRACE_CAUSE_*: why the hardware is off, or was before the open window
 * @window: the newest window, for its record
 * @next_slot: slot to go on in
 * @retained: what the newest slot put aside holds
 * @aux_reported: position up to which AUX records have told of the AUX area
 * @aux_flags: AUXTRACE_AUX_*, for the next of them
 * @aux: positions in the AUX area
 * @data: the data ring
 * @now: what the status page shall say; the counters live here
 * @status: the page that users map
 * @user: the page that users write
 */
struct auxt_channel {
	const struct trace_pmu *pmu;
	void *hw;
	struct auxt_aux_buffer *buffer;
	struct auxt_group *group;
	struct irq_work wake;
	int cpu;
	unsigned int index;
	struct perf_event *reservation;
	bool pmu_reserved;
	int reservation_type;
	u32 flags;
	u32 wanted;
	bool drained;

	struct auxt_trigger_set *triggers;
	struct auxt_remote remote;
	u32 run;
	struct auxt_slots slots;

	atomic_t inhibit;
	u32 inhibited_before;
	u32 todo;
	bool settling;
	bool attached;
	bool resuming;
	bool starved;
	bool notified;
	u64 notified_position;
	struct hrtimer tail_poll;
	bool tail_polling;
	bool fresh;
	u64 off_tsc;
	u32 cause;
	struct auxt_window window;
	u32 next_slot;
	struct auxtrace_cut retained;
	u64 aux_reported;
	u32 paused_by;
	u32 resumed_by;
	struct auxt_pending_request frozen_by;
	struct auxt_pending_request sample;
	struct auxt_pending_request deferred;
	bool frozen;
	bool thawed;
	u32 aux_flags;
	struct auxt_position aux;
	struct auxt_data_ring data;
	struct auxtrace_status_page now;
	struct auxtrace_status_page *status;
	const struct auxtrace_user_page *user;
};

/*
 * The channels that have this CPU's trace units, by their numbers. Changed by code on that
 * CPU only, so that its NMI handlers need no more than a look at it; an
 * unattached channel is never seen by them.
 */
DECLARE_PER_CPU(struct auxt_channel *, auxt_attached[TRACE_PMUS]);

/* The channel that has trace unit @pmu of this CPU, or NULL. Interrupts off or NMI. */
static __always_inline struct auxt_channel *auxt_channel_here(u32 pmu)
{
	return this_cpu_read(auxt_attached[pmu]);
}

static __always_inline u32 auxt_channel_inhibited(const struct auxt_channel *ch)
{
	return atomic_read(&ch->inhibit);
}

/**
 * auxt_channel_is_readable() - would poll(2) say POLLIN?
 * @ch: the channel
 * @stopped: the session is stopped
 *
 * From any CPU: may be out of date at once.
 *
 * Return: as the ABI says at poll.
 */
static __always_inline bool auxt_channel_is_readable(const struct auxt_channel *ch, bool stopped)
{
	u64 available;

	if (ch->wanted && auxt_data_is_readable(&ch->data, stopped))
		return true;
	if (ch->aux.overwrite)
		return false;
	/* As published: who is told to look must find it there. */
	available = READ_ONCE(ch->status->produced) - READ_ONCE(ch->status->consumed);
	return available >= ch->aux.watermark ||
	       (available && (stopped || READ_ONCE(ch->status->inhibit) & AUXTRACE_INHIBIT_FULL));
}

/* Is there what no AUX record has told of? */
static __always_inline bool auxt_channel_has_unreported(const struct auxt_channel *ch)
{
	return ch->aux_reported != ch->aux.produced || ch->aux_flags;
}

static __always_inline bool auxt_tail_poll_waits(const struct auxt_channel *ch)
{
	return ch->attached && atomic_read(&ch->inhibit) == AUXTRACE_INHIBIT_FULL;
}

/**
 * auxt_tail_poll_is_due() - must somebody call auxt_tail_poll_begin()?
 * @ch: the channel
 *
 * Return: true if the channel is to be looked after and is not.
 */
static __always_inline bool auxt_tail_poll_is_due(const struct auxt_channel *ch)
{
	return ch->flags & AUXTRACE_SETUP_FULL_AUTO && auxt_tail_poll_waits(ch) &&
	       !READ_ONCE(ch->tail_polling);
}

#endif /* AUXT_STATE_H */
