// SPDX-License-Identifier: GPL-2.0-only
/*
 * A channel: a session on one CPU.
 *
 * DOC: which code may change a channel
 *
 * Everything in struct auxt_channel from @inhibit on belongs to the channel's CPU: only code that
 * runs there with interrupts off (IPI, hotplug callback, context switch, a request of the CPU's own)
 * or in an NMI changes it. Other CPUs send an IPI. While the CPU is offline or the session is not
 * started, the channel is not attached, and no such code uses it there; then a task that holds the
 * session's idle_lock acts in place of the CPU. So at most one NMI nests in at most one other context,
 * both on one CPU. No lock is needed, and the barriers in this folder that order the two are compiler
 * barriers.
 */

#include <linux/err.h>
#include <linux/kcsan-checks.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/topology.h>
#include <asm/msr.h>
#include <asm/tsc.h>
#include "core/channel.h"
#include "core/members.h"
#include "core/record.h"
#include "core/remote.h"
#include "core/request.h"
#include "core/tail_poll.h"
#include "base/aux_buffer.h"
#include "compat/irq_work.h"
#include "core/settle.h"
#include "core/trace_pmu.h"

DEFINE_PER_CPU(struct auxt_channel *, auxt_attached[TRACE_PMUS]);

/*
 * The machine is suspending or rebooting. hotplug.c sets this before it sends the IPI in which
 * channels leave; attach reads it on the channel's CPU with interrupts off. So an attach either
 * sees it, or precedes the IPI and is undone by it.
 */
static bool channel_asleep;

/**
 * auxt_channel_set_asleep() - forbid or allow channels to attach
 * @asleep: true: forbid it, because the machine is suspending or rebooting
 */
void auxt_channel_set_asleep(bool asleep)
{
	WRITE_ONCE(channel_asleep, asleep);
}
NOKPROBE_SYMBOL(auxt_channel_set_asleep);

/* ---- requests --------------------------------------------------------- */

/**
 * auxt_channel_reset() - replace the inhibit mask before a START
 * @ch: a channel that is not attached
 * @inhibit: the new mask
 *
 * The status page shows it after the next auxt_settle(), when the START can no longer fail.
 */
void auxt_channel_reset(struct auxt_channel *ch, u32 inhibit)
{
	ch->inhibited_before = auxt_channel_inhibited(ch);
	if (ch->inhibited_before & AUXTRACE_INHIBIT_FROZEN)
		auxt_set_bits(&ch->is, AUXT_IS_THAWED);
	atomic_set(&ch->inhibit, inhibit);
	auxt_set_bits(&ch->is, AUXT_IS_FRESH);
	WRITE_ONCE(ch->group->last_broadcast, 0);
}
NOKPROBE_SYMBOL(auxt_channel_reset);

/**
 * auxt_channel_undo_reset() - restore the inhibit mask after a START that failed
 * @ch: a channel that is not attached
 */
void auxt_channel_undo_reset(struct auxt_channel *ch)
{
	atomic_set(&ch->inhibit, ch->inhibited_before);
	auxt_clear_bits(&ch->is, AUXT_IS_THAWED);
	auxt_settle(ch, AUXT_TODO_APPLY);
}
NOKPROBE_SYMBOL(auxt_channel_undo_reset);

/* If the session has an owner: records name this thread from now on; NULL: none. */
static __always_inline void channel_name(struct auxt_channel *ch, const struct task_struct *task)
{
	if (unlikely(ch->group->owner))
		WRITE_ONCE(ch->member, task);
}

/*
 * Task scope: sets or clears the reason TASK. @member: the CPU runs @task, a member, or is about to.
 * Records of a window that ends still name the member before: the caller forgets it afterwards.
 */
static __always_inline void channel_set_task(struct auxt_channel *ch,
					     const struct task_struct *task, bool member)
{
	if (member)
		channel_name(ch, task);
	if (member)
		atomic_andnot(AUXTRACE_INHIBIT_TASK, &ch->inhibit);
	else
		atomic_or(AUXTRACE_INHIBIT_TASK, &ch->inhibit);
}

/* Claims the trace PMU of this CPU. Returns as auxt_channel_attach(). */
static int channel_claim(struct auxt_channel *ch)
{
	int err = ch->pmu->claim(ch);

	if (err)
		return err;
	if (ch->group->members)
		channel_set_task(ch, current, auxt_members_have(ch->group->members, current));
	ch->stuck = false;
	ch->attached = true;
	ch->run++;
	/* The NMI handlers see the channel only after all of it is in place. */
	barrier();
	this_cpu_write(auxt_attached[ch->pmu->number], ch);
	return 0;
}
NOKPROBE_SYMBOL(channel_claim);

/**
 * auxt_channel_attach() - claim the trace PMU of this CPU
 * @ch: a channel that is inhibited
 *
 * While the machine is suspending or rebooting, the channel is marked OFFLINE instead.
 *
 * Return: 0, also if marked OFFLINE; -EBUSY if other code traces with the trace PMU; -EIO if its
 * registers cannot be written; -EOPNOTSUPP if it cannot do what the session asks.
 */
int auxt_channel_attach(struct auxt_channel *ch)
{
	if (!READ_ONCE(channel_asleep))
		return channel_claim(ch);
	auxt_channel_inhibit(ch, AUXTRACE_INHIBIT_OFFLINE);
	return 0;
}
NOKPROBE_SYMBOL(auxt_channel_attach);

/**
 * auxt_channel_detach() - release the trace PMU of this CPU
 * @ch: a channel that is inhibited, so that its hardware is off
 */
void auxt_channel_detach(struct auxt_channel *ch)
{
	if (!ch->attached)
		return;
	this_cpu_write(auxt_attached[ch->pmu->number], NULL);
	/* The NMI handlers do not see the channel any more when the rest is undone. */
	barrier();
	ch->attached = false;
	/* It may end before the channel attaches again. */
	channel_name(ch, NULL);
	auxt_request_forget(ch, 0);
	auxt_tail_poll_end(ch);
	ch->pmu->release(ch);
}
NOKPROBE_SYMBOL(auxt_channel_detach);

/**
 * auxt_channel_inhibit() - set a reason to be off
 * @ch: the channel
 * @reason: AUXTRACE_INHIBIT_*; OFFLINE is a gap if it ends a window
 */
void auxt_channel_inhibit(struct auxt_channel *ch, u32 reason)
{
	atomic_or(reason, &ch->inhibit);
	auxt_settle(ch, AUXT_TODO_APPLY);
}
NOKPROBE_SYMBOL(auxt_channel_inhibit);

/**
 * auxt_channel_allow() - clear a reason to be off
 * @ch: the channel
 * @reason: AUXTRACE_INHIBIT_*
 */
void auxt_channel_allow(struct auxt_channel *ch, u32 reason)
{
	atomic_andnot(reason, &ch->inhibit);
	auxt_settle(ch, AUXT_TODO_APPLY);
}
NOKPROBE_SYMBOL(auxt_channel_allow);

/**
 * auxt_channel_leave() - detach because the CPU goes offline or the machine goes down
 * @ch: the channel
 */
void auxt_channel_leave(struct auxt_channel *ch)
{
	auxt_channel_inhibit(ch, AUXTRACE_INHIBIT_OFFLINE);
	auxt_channel_detach(ch);
}
NOKPROBE_SYMBOL(auxt_channel_leave);

/**
 * auxt_channel_come_back() - attach again after auxt_channel_leave()
 * @ch: the channel
 *
 * The channel stays OFFLINE while the machine is suspending or rebooting, or if other code uses the
 * trace PMU by now.
 */
void auxt_channel_come_back(struct auxt_channel *ch)
{
	if (READ_ONCE(channel_asleep))
		return;
	if (ch->attached || channel_claim(ch)) {
		auxt_channel_inhibit(ch, AUXTRACE_INHIBIT_OFFLINE);
		return;
	}
	/* Before the hardware is on: requests that arrived while the channel was detached. */
	auxt_remote_run(ch);
	auxt_channel_allow(ch, AUXTRACE_INHIBIT_OFFLINE);
}
NOKPROBE_SYMBOL(auxt_channel_come_back);

/**
 * auxt_channel_begin() - second step of START: clear the reason SETUP
 * @ch: a channel for which auxt_channel_attach() has returned 0
 */
void auxt_channel_begin(struct auxt_channel *ch)
{
	/* Unfreezes the data ring before the first window writes records. */
	auxt_settle(ch, AUXT_TODO_APPLY);
	/* Requests from CPUs that attached before this one. */
	if (ch->attached)
		auxt_remote_run(ch);
	/* The machine may have woken up since auxt_channel_attach(). */
	else
		auxt_channel_come_back(ch);
	auxt_channel_allow(ch, AUXTRACE_INHIBIT_SETUP);
}
NOKPROBE_SYMBOL(auxt_channel_begin);

/*
 * What an ioctl reports of a channel is of one moment: an NMI between the two calls may have run
 * the settle loop, which changes @now.seq; then the caller reads it all again. KCSAN need not
 * report such reads.
 */
static u32 channel_read_begin(const struct auxt_channel *ch)
{
	u32 seq = READ_ONCE(ch->now.seq);

	kcsan_nestable_atomic_begin();
	barrier();
	return seq;
}
NOKPROBE_SYMBOL(channel_read_begin);

static bool channel_read_retry(const struct auxt_channel *ch, u32 seq)
{
	barrier();
	kcsan_nestable_atomic_end();
	return READ_ONCE(ch->now.seq) != seq;
}
NOKPROBE_SYMBOL(channel_read_retry);

/**
 * auxt_channel_snapshot() - carry out a SNAPSHOT ioctl
 * @ch: the channel
 * @flags: AUXTRACE_SNAPSHOT_*
 * @slot: with SLOT: the claimed slot to continue in
 * @to: receives what the snapshot found
 */
void auxt_channel_snapshot(struct auxt_channel *ch, u32 flags, u32 slot,
			   struct auxtrace_cut *to)
{
	u32 seq;

	if (flags & AUXTRACE_SNAPSHOT_SLOT) {
		WRITE_ONCE(ch->next_slot, slot);
		auxt_settle(ch, AUXT_TODO_SWITCH);
		*to = ch->retained;
	} else {
		if (flags & AUXTRACE_SNAPSHOT_PAUSE)
			auxt_channel_pause(ch, NULL);
		else
			auxt_settle_sync(ch);
		if (flags & AUXTRACE_SNAPSHOT_PAUSE && ch->wanted)
			auxt_channel_pause_output(ch, true);
		do {
			seq = channel_read_begin(ch);
			auxt_settle_cut(ch, to);
		} while (channel_read_retry(ch, seq));
	}
	to->inhibit = auxt_channel_inhibited(ch);
}
NOKPROBE_SYMBOL(auxt_channel_snapshot);

/**
 * auxt_channel_pause_output() - carry out a PAUSE_OUTPUT ioctl
 * @ch: a channel with a data ring
 * @pause: drop and count its records from now on; else write them again
 */
void auxt_channel_pause_output(struct auxt_channel *ch, bool pause)
{
	auxt_data_pause(&ch->data, AUXTRACE_DATA_PAUSED, pause);
	if (pause)
		return;
	auxt_data_report_lost(&ch->data, rdtsc(), auxt_channel_tid(ch));
	auxt_settle(ch, AUXT_TODO_APPLY);
}
NOKPROBE_SYMBOL(auxt_channel_pause_output);

/**
 * auxt_channel_pause() - carry out a PAUSE ioctl
 * @ch: the channel
 * @effect: receives the effect; may be NULL
 */
void auxt_channel_pause(struct auxt_channel *ch, struct auxtrace_effect *effect)
{
	u64 done = ch->now.pauses_done;

	ch->now.pauses_asked++;
	auxt_channel_count_changed(ch);
	atomic_or(AUXTRACE_INHIBIT_USER, &ch->inhibit);
	auxt_settle(ch, AUXT_TODO_APPLY);
	if (!effect)
		return;
	/* While USER is set, no NMI begins a window, so these do not change. */
	*effect = (struct auxtrace_effect) {
		.cpu = ch->cpu,
		.flags = ch->now.pauses_done != done ? AUXTRACE_EFFECT_CHANGED : 0,
		.inhibit = auxt_channel_inhibited(ch),
		.position = ch->now.window_end,
		.window = ch->now.windows,
		.time = ch->now.window_end_time,
	};
}
NOKPROBE_SYMBOL(auxt_channel_pause);

/**
 * auxt_channel_resume() - carry out a RESUME ioctl
 * @ch: the channel
 * @effect: receives the effect; may be NULL
 */
void auxt_channel_resume(struct auxt_channel *ch, struct auxtrace_effect *effect)
{
	const u32 clears = AUXTRACE_INHIBIT_USER | AUXTRACE_INHIBIT_FROZEN;
	u64 done = ch->now.resumes_done;
	u32 seq;
	int was;

	ch->now.resumes_asked++;
	auxt_channel_count_changed(ch);
	/* A FREEZE on its way is older than this RESUME, even if its IPI arrives later. */
	if (unlikely(auxt_remote_has_freeze(&ch->remote)))
		auxt_remote_thaw(ch);
	/*
	 * A window that begins while AUXT_IS_RESUMING is set counts as this RESUME's. If the mask has
	 * none of these reasons, it is an NMI that begins one, by a trigger's RESUME. If it has
	 * one of them, no window begins before the cmpxchg: an NMI clears neither USER nor
	 * FROZEN, and FULL in place of this RESUME only, whose tail it takes.
	 */
	was = atomic_read(&ch->inhibit);
	do {
		/*
		 * An NMI's FREEZE of all CPUs that has come since, or while thaw ran, is dropped
		 * with its reason. While FROZEN is set, no NMI sends another one; an NMI that
		 * sets FROZEN makes the cmpxchg fail.
		 */
		if (unlikely(was & AUXTRACE_INHIBIT_FROZEN))
			atomic64_set(&ch->remote.out_freeze, 0);
		if (was & (clears | AUXTRACE_INHIBIT_FULL))
			auxt_set_bits(&ch->is, AUXT_IS_RESUMING);
		else
			auxt_clear_bits(&ch->is, AUXT_IS_RESUMING);
	} while (!atomic_try_cmpxchg(&ch->inhibit, &was, was & ~clears));
	/* The settle loop unfreezes the data ring, even if an NMI sets FROZEN again before. */
	if (unlikely(was & AUXTRACE_INHIBIT_FROZEN))
		auxt_set_bits(&ch->is, AUXT_IS_THAWED);
	/* A running channel need not read the tail: that would cost two WRMSRs. */
	auxt_settle(ch, READ_ONCE(ch->now.running) ? AUXT_TODO_APPLY : AUXT_TODO_SYNC);
	auxt_clear_bits(&ch->is, AUXT_IS_RESUMING);
	if (!effect)
		return;
	do {
		seq = channel_read_begin(ch);
		*effect = (struct auxtrace_effect) {
			.cpu = ch->cpu,
			.flags = ch->now.resumes_done != done ? AUXTRACE_EFFECT_CHANGED : 0,
			.inhibit = auxt_channel_inhibited(ch),
			.position = ch->now.window_begin,
			.window = ch->now.windows,
			.time = ch->now.window_begin_time,
		};
	} while (channel_read_retry(ch, seq));
}
NOKPROBE_SYMBOL(auxt_channel_resume);

/**
 * auxt_channel_context_switch() - the CPU leaves the current thread for another one
 * @ch: a channel that writes SWITCH records
 * @prev: the current thread; NULL: the session may not know it
 * @next: the thread that the CPU runs next; NULL likewise
 * @preempted: @prev could run on
 */
void auxt_channel_context_switch(struct auxt_channel *ch, const struct task_struct *prev,
				 const struct task_struct *next, bool preempted)
{
	/* A frozen ring would count the record as lost. */
	if (!ch->attached ||
	    auxt_channel_inhibited(ch) & (AUXTRACE_INHIBIT_SETUP | AUXTRACE_INHIBIT_FROZEN))
		return;
	auxt_record_switch(&ch->data, prev, next, preempted);
	auxt_settle_notify(ch);
}
NOKPROBE_SYMBOL(auxt_channel_context_switch);

/**
 * auxt_channel_switch_task() - task scope: the CPU leaves the current thread for another one
 * @ch: an attached channel
 * @next: the thread that the CPU runs next
 * @member: it is a member of the session
 */
void auxt_channel_switch_task(struct auxt_channel *ch, const struct task_struct *next, bool member)
{
	u32 todo = AUXT_TODO_APPLY;

	if (likely(member == !(auxt_channel_inhibited(ch) & AUXTRACE_INHIBIT_TASK))) {
		channel_name(ch, member ? next : NULL);
		return;
	}
	/* A START is at work, which may fail yet: the channel settles when it succeeds. */
	if (auxt_channel_inhibited(ch) & AUXTRACE_INHIBIT_SETUP) {
		channel_set_task(ch, next, member);
		if (!member)
			channel_name(ch, NULL);
		return;
	}
	/* If a window begins, also in an NMI that lands here, it is this thread's. */
	WRITE_ONCE(ch->next, member ? next : NULL);
	barrier();
	channel_set_task(ch, next, member);
	/* The tail poll runs only while lack of space is the only reason: members may run too briefly. */
	if (ch->flags & AUXTRACE_SETUP_FULL_AUTO &&
	    auxt_channel_inhibited(ch) == AUXTRACE_INHIBIT_FULL && auxt_settle_has_new_tail(ch))
		todo = AUXT_TODO_SYNC;
	auxt_settle(ch, todo);
	WRITE_ONCE(ch->next, NULL);
	/* The records of the window that has ended are written. */
	if (!member)
		channel_name(ch, NULL);
}
NOKPROBE_SYMBOL(auxt_channel_switch_task);

/**
 * auxt_channel_interrupt() - handle an NMI on the channel's CPU
 * @ch: the channel
 * @asserted: the trace PMU's bit in the interrupt status was set
 *
 * Return: true if the NMI was the trace PMU's.
 */
bool auxt_channel_interrupt(struct auxt_channel *ch, bool asserted)
{
	/*
	 * perf may have cleared the status bit and dropped the interrupt, so ask the trace PMU
	 * itself, unless a sync is due anyway. If this NMI has interrupted the settle loop, the
	 * positions may be half updated and the answer wrong. Either error is harmless: one
	 * sync too many, or no second request for the sync that the loop is about to do.
	 */
	if (!asserted && (READ_ONCE(ch->todo) & AUXT_TODO_SYNC ||
			  !(READ_ONCE(ch->todo) || ch->now.running) ||
			  !ch->pmu->interrupt(ch)))
		return false;
	ch->now.pmis++;
	auxt_channel_count_changed(ch);
	auxt_settle(ch, AUXT_TODO_SYNC);
	return true;
}
NOKPROBE_SYMBOL(auxt_channel_interrupt);

/**
 * auxt_channel_crash() - turn the hardware off because the kernel crashes
 * @ch: the channel
 *
 * The status page then tells where the trace ends, for a reader of the memory image. Nobody is
 * woken: that would take an interrupt.
 */
void auxt_channel_crash(struct auxt_channel *ch)
{
	atomic_or(AUXTRACE_INHIBIT_OFFLINE, &ch->inhibit);
	auxt_settle_run(ch, AUXT_TODO_APPLY);
	/* If the crash has interrupted the settle loop, the loop may never go on. */
	ch->pmu->emergency_stop();
}
NOKPROBE_SYMBOL(auxt_channel_crash);

/* ---- life ------------------------------------------------------------- */

/**
 * auxt_channel_new() - allocate a channel, inhibited by SETUP
 * @pmu: the trace PMU
 * @buffer: pages, which must outlive the channel
 * @group: the channels of the session, which must outlive it, too
 * @cpu: the CPU
 * @index: index of the channel in its session
 * @setup: setup of the session, checked
 *
 * Return: the channel, ERR_PTR(-ENOMEM), or an error of trace_pmu.setup.
 */
struct auxt_channel *auxt_channel_new(const struct trace_pmu *pmu, struct auxt_aux_buffer *buffer,
				      struct auxt_group *group, int cpu, unsigned int index,
				      const struct auxtrace_setup *setup)
{
	struct auxt_channel *ch = kzalloc_node(sizeof(*ch), AUXT_SESSION_GFP, cpu_to_node(cpu));
	bool overwrite = setup->flags & AUXTRACE_SETUP_OVERWRITE;
	u64 slot_size, watermark = 0;
	int err;

	if (!ch)
		return ERR_PTR(-ENOMEM);
	if (!overwrite)
		watermark = setup->aux_watermark ?: setup->aux_size / 2;
	ch->pmu = pmu;
	ch->buffer = buffer;
	ch->group = group;
	auxt_remote_init(ch);
	ch->cpu = cpu;
	ch->index = index;
	atomic_set(&ch->inhibit, AUXTRACE_INHIBIT_SETUP);
	ch->flags = setup->flags;
	auxt_tail_poll_init(ch);
	ch->status = auxt_aux_buffer_status(buffer, cpu);
	ch->user = auxt_aux_buffer_user(buffer, cpu);
	ch->now.aux_size = setup->aux_size;
	ch->now.slots = max(setup->slots, 1U);
	auxt_slots_init(&ch->slots, ch->now.slots);
	slot_size = setup->aux_size / ch->now.slots;
	auxt_position_init(&ch->aux, slot_size, slot_size, watermark, overwrite);
	if (setup->data_size) {
		ch->wanted = setup->records ?: AUXTRACE_WANT_DEFAULT;
		ch->now.data_size = setup->data_size;
		auxt_data_init(&ch->data, setup, auxt_aux_buffer_data(buffer, cpu), ch->status,
			       ch->user);
	}
	ch->drained = (overwrite ? 0 : AUXT_DRAINS_AUX) |
		      (ch->wanted && !ch->data.overwrite ? AUXT_DRAINS_DATA : 0);
	err = pmu->setup(ch, setup->flags, setup->config);
	if (err) {
		kfree(ch);
		return ERR_PTR(err);
	}
	auxt_settle_init(ch);
	return ch;
}
NOKPROBE_SYMBOL(auxt_channel_new);

/**
 * auxt_channel_flush() - wait for all that may still use the channels of a session
 * @group: the channels of a stopped session; then they can be freed
 */
void auxt_channel_flush(struct auxt_group *group)
{
	unsigned int cpu;

	/* Requests of other CPUs may wake readers. */
	auxt_remote_flush(group);
	for_each_cpu(cpu, group->cpus)
		irq_work_sync(&group->channels[cpu]->wake);
	auxt_irq_work_drain();
	if (IS_ENABLED(CONFIG_PREEMPT_RT))
		cancel_work_sync(&group->wakeup);
}
NOKPROBE_SYMBOL(auxt_channel_flush);

/**
 * auxt_channel_free() - free a channel
 * @ch: a channel that was never attached, or has been flushed; or NULL
 *
 * If the channel is stuck, the pages that its hardware writes or reads stay allocated.
 */
void auxt_channel_free(struct auxt_channel *ch)
{
	if (!ch)
		return;
	if (ch->stuck)
		auxt_aux_buffer_keep(ch->buffer, ch->cpu);
	ch->pmu->cleanup(ch);
	kfree(ch);
}
NOKPROBE_SYMBOL(auxt_channel_free);
