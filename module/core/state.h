/* SPDX-License-Identifier: GPL-2.0-only */
/* The state of a channel, that is, of a session on one CPU. All files of core/ share it. */
#ifndef AUXT_STATE_H
#define AUXT_STATE_H

#include <linux/atomic.h>
#include <linux/auxtrace.h>
#include <linux/compiler.h>
#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <asm/barrier.h>
#include "core/data_ring.h"
#include "core/filters.h"
#include "core/position.h"
#include "core/slots.h"
#include "core/trace_pmu.h"

struct auxt_aux_buffer;
struct auxt_channel;
struct auxt_members;
struct auxt_trigger_set;
struct cred;
struct perf_event;
struct task_struct;
struct tracepoint;

/**
 * struct auxt_request - the action that a trigger asks for at each hit
 * @action: AUXTRACE_ACTION_*
 * @trigger: id of the trigger
 * @size: SAMPLE: bytes wanted
 * @delay: number of bytes that the channel produces before the action is carried out
 * @all_cpus: the session's other CPUs carry out the same action
 */
struct auxt_request {
	u32 action;
	u32 trigger;
	u64 size;
	u64 delay;
	bool all_cpus;
};

/**
 * struct auxt_pending_request - a request that the settle loop carries out later
 * @state: AUXT_PENDING_*, on which nested contexts synchronize. The others are written only by
 *	the context that has set it to BUSY, and read only by it or while the state is READY
 * @request: the request
 * @value: value of the event
 */
struct auxt_pending_request {
	u32 state;
	struct auxt_request request;
	u64 value;
};

#define AUXT_PENDING_NONE	0	/* nothing is pending */
#define AUXT_PENDING_BUSY	1	/* a context writes or withdraws the request */
#define AUXT_PENDING_READY	2	/* until the settle loop has completed the request */

static __always_inline bool auxt_request_is_pending(const struct auxt_pending_request *pending)
{
	bool ready = READ_ONCE(pending->state) == AUXT_PENDING_READY;

	/* Pairs with request_store()'s: what is READY has been written. */
	barrier();
	return ready;
}

static __always_inline void auxt_request_complete(struct auxt_pending_request *pending)
{
	/* From here on a nested context may store the next request. */
	barrier();
	WRITE_ONCE(pending->state, AUXT_PENDING_NONE);
}

/**
 * struct auxt_remote - requests between one channel and the session's other channels
 * @work: sends this channel's requests to the others; queued on the channel's CPU
 * @csd: runs on the channel's CPU and carries out the others' requests
 * @called: @csd has been sent and has not run yet. Only the CPU that sets it sends @csd
 * @out_toggle: for @work: the newest PAUSE or RESUME, as AUXT_REMOTE_WORD(); 0: none
 * @out_freeze: for @work: a FREEZE, likewise; stays until all other channels have it
 * @unreported: a FREEZE was put into @out_freeze since @work ran last, so readers must be
 *	woken once it has been sent
 * @in_toggle: for @csd: the newest PAUSE or RESUME that another CPU sent; 0: none
 * @in_freeze: for @csd: a FREEZE, likewise
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

/* A request as one word: all that the other CPUs need of it. */
#define AUXT_REMOTE_WORD(action, trigger)	((u64)(trigger) << 8 | (action))
#define AUXT_REMOTE_WORD_ACTION(word)	((u32)((word) & 0xff))
#define AUXT_REMOTE_WORD_TRIGGER(word)	((u32)((word) >> 8))

/* Are requests of other CPUs waiting for the channel? Any context, any CPU. */
static inline bool auxt_remote_is_pending(const struct auxt_remote *remote)
{
	return atomic64_read(&remote->in_toggle) | atomic64_read(&remote->in_freeze);
}

/*
 * Is a FREEZE of this channel still to be sent to another channel? Any context, any CPU. Read it
 * after the inhibit mask: @out_freeze is set before the reason FROZEN, and readers are woken after
 * it is cleared.
 */
static inline bool auxt_remote_is_sending_freeze(const struct auxt_remote *remote)
{
	return atomic64_read(&remote->out_freeze);
}

/* Is a FREEZE on its way, from the channel's CPU or to it? */
static inline bool auxt_remote_has_freeze(const struct auxt_remote *remote)
{
	return atomic64_read(&remote->in_freeze) | atomic64_read(&remote->out_freeze);
}

/**
 * struct auxt_window - how a window began, for the record at its end
 * @number: sequence number of the window
 * @position: AUX position of its first byte
 * @tsc: time-stamp counter at its begin
 * @cause: AUXTRACE_CAUSE_* of its begin
 * @pid: process that ran on the CPU at its begin
 * @tid: thread, likewise
 * @slot: slot that holds the window
 * @trigger: id of the trigger that began it, or 0
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
 * @last_broadcast: AUXTRACE_ACTION_PAUSE or _RESUME if a trigger has sent it to all channels
 *	and no other request has changed a channel since; else 0
 * @members: task scope: the threads that the session traces; NULL: all
 * @filters: the ranges of addresses that the session traces. They do not change after SETUP
 * @owner: the user who set the session up without a capability: it shows nothing of what others
 *	do. NULL: a user with a capability
 * @switch_tracepoint: the tracepoint sched_switch while a probe of it writes SWITCH records; else NULL
 * @waiters: readers that wait in poll(2)
 * @wakeup: PREEMPT_RT: wakes them
 */
struct auxt_group {
	cpumask_var_t cpus;
	struct auxt_channel **channels;
	u32 last_broadcast;
	struct auxt_members *members;
	struct auxt_filters filters;
	const struct cred *owner;
	struct tracepoint *switch_tracepoint;
	wait_queue_head_t waiters;
	struct work_struct wakeup;
};

/* auxt_channel.drained */
#define AUXT_DRAINS_AUX		(1u << 0)	/* the AUX area */
#define AUXT_DRAINS_DATA	(1u << 1)	/* the data ring */

/* What is unusual about a channel (auxt_channel.is). */

/*
 * Lack of space is all that keeps the hardware off, or would be if a member ran; this is counted as
 * a gap.
 */
#define AUXT_IS_STARVED		(1u << 0)
/* The data ring is frozen. */
#define AUXT_IS_FROZEN		(1u << 1)
/*
 * A RESUME or START has cleared FROZEN since the settle loop last updated AUXT_IS_FROZEN. (FROZEN
 * may be set again by now.)
 */
#define AUXT_IS_THAWED		(1u << 2)
/* A member of @now from @consumed to @resumes_done may have changed since it was published. */
#define AUXT_IS_COUNTED		(1u << 3)
/* Likewise, from @gaps to @frozen_by. */
#define AUXT_IS_CHANGED		(1u << 4)
/* A RESUME ioctl that clears a reason to be off is being carried out. */
#define AUXT_IS_RESUMING	(1u << 5)
/* No window has begun since START. */
#define AUXT_IS_FRESH		(1u << 6)

/**
 * struct auxt_channel - a session on one CPU
 * @pmu: the trace PMU
 * @hw: private data of @pmu
 * @buffer: the pages; the session holds the reference
 * @group: the channels of the session
 * @wake: wakes readers and begins the @tail_poll, outside of NMIs and without locks held
 * @cpu: the CPU
 * @index: index of this channel in its session, in CPU order
 * @reservation: perf event that keeps perf off the trace PMU; NULL if perf has no such PMU.
 *	See hw/reservation.c
 * @pmu_reserved: perf is kept off the trace PMU, or has none of that kind
 *
 * @flags: AUXTRACE_SETUP_*
 * @wanted: AUXTRACE_WANT_*: records to be written; 0: there is no data ring
 * @drained: AUXT_DRAINS_*: what is not overwritable, so that readers can wait for data
 *
 * @triggers: the triggers of the session
 * @remote: requests to and from the session's other channels
 * @run: how many times the channel has been attached
 * @slots: slots of the AUX area
 *
 * The rest belongs to the CPU: see channel.c.
 *
 * @inhibit: AUXTRACE_INHIBIT_*: reasons why the hardware must be off
 * @inhibited_before: @inhibit before the newest START, restored if that fails
 * @todo: AUXT_TODO_*: the settle loop is running, and the work that it has not taken yet
 * @attached: @pmu has been claimed on the CPU
 * @stuck: not @attached, and the hardware could not be turned off or its registers not be
 *	restored: it may write to the channel's pages at any time, so they are not freed
 *	while this is set
 * @is: AUXT_IS_*, changed by single instructions
 * @paused_by: id of the trigger that set the reason TRIGGER last
 * @resumed_by: id of the trigger that cleared it last
 * @freezing: @frozen_by is being written, and the reason FROZEN about to be set
 * @frozen_by: the FREEZE that set the reason FROZEN last; its state is not used
 * @sample: pending SAMPLE
 * @deferred: pending request to be carried out at @aux.deadline
 * @notify_ended: a call of auxt_settle_notify() has ended since the last one began
 * @notified: SETTLE_READABLE, AUXTRACE_INHIBIT_*: for what readers were woken last that is so still
 * @notified_crossings: settle_crossings() when @notified was set
 * @tail_poll: timer that polls the reader's tail. See tail_poll.c
 * @tail_polling: @tail_poll runs or is about to be started
 * @next: while a context switch clears the reason TASK: the thread that the CPU is about to run;
 *	else NULL
 * @member: if the session has an owner: the member that the CPU runs; NULL: none
 * @off_tsc: time-stamp counter when the hardware was last turned off
 * @cause: AUXTRACE_CAUSE_*: why the hardware is off, or was off before the open window
 * @window: begin of the newest window
 * @next_slot: slot that AUXT_TODO_SWITCH changes to
 * @retained: contents of the slot that was last retained by a SNAPSHOT
 * @aux_reported: AUX position up to which AUX records have reported
 * @aux_flags: AUXTRACE_AUX_* for the next AUX record
 * @aux: positions in the AUX area
 * @data: the data ring
 * @now: next contents of the status page; the counters live here
 * @status: the status page, which users map
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
	u32 flags;
	u32 wanted;
	u32 drained;

	struct auxt_trigger_set *triggers;
	struct auxt_remote remote;
	u32 run;
	struct auxt_slots slots;

	atomic_t inhibit;
	u32 inhibited_before;
	u32 todo;
	u32 is;
	bool attached;
	bool stuck;
	bool notify_ended;
	u32 notified;
	u64 notified_crossings;
	struct hrtimer tail_poll;
	bool tail_polling;
	const struct task_struct *next;
	const struct task_struct *member;
	u64 off_tsc;
	u32 cause;
	struct auxt_window window;
	u32 next_slot;
	struct auxtrace_cut retained;
	u64 aux_reported;
	u32 paused_by;
	u32 resumed_by;
	bool freezing;
	struct auxt_pending_request frozen_by;
	struct auxt_pending_request sample;
	struct auxt_pending_request deferred;
	u32 aux_flags;
	struct auxt_position aux;
	struct auxt_data_ring data;
	struct auxtrace_status_page now;
	struct auxtrace_status_page *status;
	const struct auxtrace_user_page *user;
};

/*
 * The channel that has claimed each trace PMU of this CPU, by trace_pmu.number. Only code on
 * that CPU changes it, so the CPU's NMI handlers read it without a lock. They never see a
 * channel that is not attached.
 */
DECLARE_PER_CPU(struct auxt_channel *, auxt_attached[TRACE_PMUS]);

/* The channel that has claimed trace PMU @pmu of this CPU, or NULL. Interrupts off or NMI. */
static __always_inline struct auxt_channel *auxt_channel_here(u32 pmu)
{
	return this_cpu_read(auxt_attached[pmu]);
}

/* One instruction each: an NMI comes before or after it. */
static __always_inline void auxt_set_bits(u32 *word, u32 bits)
{
	asm volatile("orl %1, %0" : "+m" (*word) : "er" (bits) : "memory");
}

static __always_inline void auxt_clear_bits(u32 *word, u32 bits)
{
	asm volatile("andl %1, %0" : "+m" (*word) : "er" (~bits) : "memory");
}

/*
 * The thread that the CPU runs, for records. If the session has an owner: NULL unless that is a member,
 * and the member from the moment on at which the CPU is about to run it.
 */
static __always_inline const struct task_struct *auxt_channel_task(const struct auxt_channel *ch)
{
	return unlikely(ch->group->owner) ? READ_ONCE(ch->member) : current;
}

/* The ID of a thread, and of its process; 0: NULL. */
static __always_inline u32 auxt_task_tid(const struct task_struct *task)
{
	return likely(task) ? task->pid : 0;
}

static __always_inline u32 auxt_task_pid(const struct task_struct *task)
{
	return likely(task) ? task->tgid : 0;
}

static __always_inline u32 auxt_channel_tid(const struct auxt_channel *ch)
{
	return auxt_task_tid(auxt_channel_task(ch));
}

static __always_inline u32 auxt_channel_inhibited(const struct auxt_channel *ch)
{
	return atomic_read(&ch->inhibit);
}

/*
 * Call this after a change of one of the counts that AUXT_IS_COUNTED covers, and before the settle
 * loop runs. Because the flag is set last, that run publishes the count, whatever an NMI has
 * published between the two.
 */
static __always_inline void auxt_channel_count_changed(struct auxt_channel *ch)
{
	barrier();
	auxt_set_bits(&ch->is, AUXT_IS_COUNTED);
}

/**
 * auxt_channel_is_readable() - would poll(2) say POLLIN?
 * @ch: the channel
 * @stopped: the session is stopped
 *
 * From any CPU: the answer may be out of date at once.
 *
 * Return: true under the conditions that the ABI gives for poll(2).
 */
static __always_inline bool auxt_channel_is_readable(const struct auxt_channel *ch, bool stopped)
{
	u64 available;

	if (ch->drained & AUXT_DRAINS_DATA && auxt_data_is_readable(&ch->data, stopped))
		return true;
	if (!(ch->drained & AUXT_DRAINS_AUX))
		return false;
	/* The published values: a reader that is woken must find the data there. */
	available = READ_ONCE(ch->status->produced) - READ_ONCE(ch->status->consumed);
	return available >= ch->aux.watermark ||
	       (available && (stopped || READ_ONCE(ch->status->inhibit) & AUXTRACE_INHIBIT_FULL));
}

/* Has the AUX area bytes or flags that no AUX record has reported? */
static __always_inline bool auxt_channel_has_unreported(const struct auxt_channel *ch)
{
	return ch->aux_reported != ch->aux.produced || ch->aux_flags;
}

/* Is lack of space all that keeps the hardware off? */
static __always_inline bool auxt_tail_poll_waits(const struct auxt_channel *ch)
{
	return ch->attached && atomic_read(&ch->inhibit) == AUXTRACE_INHIBIT_FULL;
}

/**
 * auxt_tail_poll_is_due() - must auxt_tail_poll_begin() be called?
 * @ch: the channel
 *
 * Any context on the channel's CPU.
 *
 * Return: true if the tail poll should run and does not.
 */
static __always_inline bool auxt_tail_poll_is_due(const struct auxt_channel *ch)
{
	return ch->flags & AUXTRACE_SETUP_FULL_AUTO && auxt_tail_poll_waits(ch) &&
	       !READ_ONCE(ch->tail_polling);
}

#endif /* AUXT_STATE_H */
