/* SPDX-License-Identifier: GPL-2.0 */
/* A channel: a session on one CPU. */
#ifndef AUXT_CHANNEL_H
#define AUXT_CHANNEL_H

#include <linux/atomic.h>
#include <linux/auxtrace.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/wait.h>
#include "data_ring.h"
#include "position.h"
#include "record.h"

struct auxt_rings;
struct perf_event;
struct trace_pmu;

/**
 * struct auxt_channel - a session on one CPU
 * @pmu: what produces the trace
 * @hw: @pmu's own
 * @rings: the pages, held by the session
 * @waiters: of the session: readers in poll(2)
 * @wake: wakes them, not in NMIs and not with locks held, and begins the @lookout
 * @cpu: the CPU
 * @index: of this channel in its session, in CPU order
 * @guard: keeps perf off; NULL if perf has no such PMU. See guard.c
 * @guard_type: perf's type of the PMU that @guard holds
 *
 * @flags: AUXTRACE_SETUP_*
 * @wanted: AUXTRACE_WANT_*: records to be written; 0: there is no data ring
 *
 * The rest belongs to the CPU: see channel.c.
 *
 * @inhibit: AUXTRACE_INHIBIT_*: why the hardware must be off
 * @settling: the settle loop runs
 * @unsettled: something changed since the settle loop last looked
 * @attend: the hardware wants to be looked at, or a caller wants its position
 * @attached: @pmu has been started on the CPU
 * @resuming: a RESUME is being carried out
 * @starved: for want of room only the hardware is off; counted as a gap
 * @told: readers were told that there is something to read
 * @told_position: up to where
 * @lookout: looks for the reader's tail. See lookout.c
 * @looking: it does, or will soon
 * @fresh: no window has begun since START
 * @cause: AUXTRACE_CAUSE_*: why the hardware is off, or was before the open window
 * @window: the newest window, for its record
 * @next_slot: slot to go on in
 * @aside: what the newest slot put aside holds
 * @aux_told: position up to which AUX records have told of the AUX area
 * @aux_flags: AUXTRACE_AUX_*, for the next of them
 * @ring: positions
 * @data: the data ring
 * @now: what the status page shall say; the counters live here
 * @status: the page that users map
 * @user: the page that users write
 */
struct auxt_channel {
	const struct trace_pmu *pmu;
	void *hw;
	struct auxt_rings *rings;
	wait_queue_head_t *waiters;
	struct irq_work wake;
	int cpu;
	unsigned int index;
	struct perf_event *guard;
	int guard_type;
	u32 flags;
	u32 wanted;

	atomic_t inhibit;
	bool settling;
	bool unsettled;
	bool attend;
	bool attached;
	bool resuming;
	bool starved;
	bool told;
	u64 told_position;
	struct hrtimer lookout;
	bool looking;
	bool fresh;
	u32 cause;
	struct auxt_window window;
	u32 next_slot;
	struct auxtrace_cut aside;
	u64 aux_told;
	u32 aux_flags;
	struct auxt_ring ring;
	struct auxt_data_ring data;
	struct auxtrace_status_page now;
	struct auxtrace_status_page *status;
	const struct auxtrace_user_page *user;
};

/* Task context. */
struct auxt_channel *auxt_channel_new(const struct trace_pmu *pmu, struct auxt_rings *rings,
				      wait_queue_head_t *waiters, int cpu, unsigned int index,
				      const struct auxtrace_setup *setup);
void auxt_channel_free(struct auxt_channel *ch);

/* From any CPU: may be out of date at once. */
bool auxt_channel_has_new_tail(const struct auxt_channel *ch);
bool auxt_channel_is_readable(const struct auxt_channel *ch, bool stopped);

/* On the channel's CPU with interrupts off; or anywhere while that CPU is offline
 * or the session not started, with the session's idle_lock held.
 */
int auxt_channel_attach(struct auxt_channel *ch);
void auxt_channel_detach(struct auxt_channel *ch);
void auxt_channel_reset(struct auxt_channel *ch, u32 inhibit);
void auxt_channel_inhibit(struct auxt_channel *ch, u32 reason);
void auxt_channel_allow(struct auxt_channel *ch, u32 reason);
void auxt_channel_pause(struct auxt_channel *ch, struct auxtrace_effect *effect);
void auxt_channel_resume(struct auxt_channel *ch, struct auxtrace_effect *effect);
void auxt_channel_attend(struct auxt_channel *ch);
void auxt_channel_snapshot(struct auxt_channel *ch, u32 flags, u32 slot,
			   struct auxtrace_cut *to);
void auxt_channel_take_tails(struct auxt_channel *ch);
void auxt_channel_pause_output(struct auxt_channel *ch, bool pause);

/* NMI on the channel's CPU. */
bool auxt_channel_interrupt(struct auxt_channel *ch, bool asserted);

/* The channel attached to this CPU, or NULL. Interrupts off or NMI. */
struct auxt_channel *auxt_channel_here(void);

#endif /* AUXT_CHANNEL_H */
