/* SPDX-License-Identifier: GPL-2.0 */
/* A channel: a session on one CPU. */
#ifndef AUXT_CHANNEL_H
#define AUXT_CHANNEL_H

#include <linux/atomic.h>
#include <linux/auxtrace.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/wait.h>
#include "core/data_ring.h"
#include "core/position.h"
#include "core/record.h"
#include "core/remote.h"
#include "core/request.h"
#include "core/slots.h"
#include "core/trace_pmu.h"

struct auxt_aux_buffer;
struct auxt_session;
struct auxt_trigger_set;
struct perf_event;

/**
 * struct auxt_channel - a session on one CPU
 * @pmu: what produces the trace
 * @hw: @pmu's own
 * @buffer: the pages, held by the session
 * @waiters: of the session: readers in poll(2)
 * @wake: wakes them, not in NMIs and not with locks held, and begins the @tail_poll
 * @cpu: the CPU
 * @index: of this channel in its session, in CPU order
 * @reservation: keeps perf off; NULL if perf has no such PMU. See reservation.c
 * @reserved: perf is kept off, or there is no perf to be
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
 * @session: whose
 * @triggers: of the session
 * @remote: what its triggers ask of other CPUs
 * @last_broadcast: of the session: PAUSE or RESUME, if all channels were asked for it last
 *	and none has changed by another request since; else 0
 * @run: how often it was attached
 * @slots: of the AUX area
 * @paused_by: trigger that set the reason TRIGGER last
 * @resumed_by: trigger that cleared it last
 * @frozen_by: FREEZE that set the reason FROZEN; no action: none
 * @sample: SAMPLE to be taken; no action: none
 * @later: what is to be done at the ring's deadline; no action: nothing
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
	wait_queue_head_t *waiters;
	struct irq_work wake;
	int cpu;
	unsigned int index;
	struct perf_event *reservation;
	bool reserved;
	int reservation_type;
	u32 flags;
	u32 wanted;
	bool drained;

	struct auxt_session *session;
	struct auxt_trigger_set *triggers;
	struct auxt_remote remote;
	u32 *last_broadcast;
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
	struct auxt_pending frozen_by;
	struct auxt_pending sample;
	struct auxt_pending later;
	bool frozen;
	bool thawed;
	u32 aux_flags;
	struct auxt_position aux;
	struct auxt_data_ring data;
	struct auxtrace_status_page now;
	struct auxtrace_status_page *status;
	const struct auxtrace_user_page *user;
};

/* Task context. */
struct auxt_channel *auxt_channel_new(const struct trace_pmu *pmu, struct auxt_aux_buffer *buffer,
				      wait_queue_head_t *waiters, int cpu, unsigned int index,
				      const struct auxtrace_setup *setup);
void auxt_channel_free(struct auxt_channel *ch);

/* From any CPU: may be out of date at once. */
bool auxt_channel_has_new_tail(const struct auxt_channel *ch);

/* On the channel's CPU with interrupts off; or anywhere while that CPU is offline
 * or the session not started, with the session's idle_lock held.
 */
int auxt_channel_attach(struct auxt_channel *ch);
void auxt_channel_detach(struct auxt_channel *ch);
void auxt_channel_reset(struct auxt_channel *ch, u32 inhibit);
void auxt_channel_undo_reset(struct auxt_channel *ch);
void auxt_channel_inhibit(struct auxt_channel *ch, u32 reason);
void auxt_channel_allow(struct auxt_channel *ch, u32 reason);
void auxt_channel_pause(struct auxt_channel *ch, struct auxtrace_effect *effect);
void auxt_channel_resume(struct auxt_channel *ch, struct auxtrace_effect *effect);
void auxt_channel_sync(struct auxt_channel *ch);
void auxt_channel_snapshot(struct auxt_channel *ch, u32 flags, u32 slot,
			   struct auxtrace_cut *to);
void auxt_channel_sync_tails(struct auxt_channel *ch);
void auxt_channel_pause_output(struct auxt_channel *ch, bool pause);

/* As above, or in an NMI on the channel's CPU. */
void auxt_channel_copy(const struct auxt_channel *ch, void *to, u64 begin, u64 length);
void auxt_channel_save(const struct auxt_channel *ch, u32 slot, u64 begin, u64 length);

/* NMI on the channel's CPU. */
bool auxt_channel_interrupt(struct auxt_channel *ch, bool asserted);

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

#endif /* AUXT_CHANNEL_H */
