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
#include "core/channel.h"
#include "core/tail_poll.h"
#include "base/aux_buffer.h"
#include "core/settle.h"
#include "core/trace_pmu.h"

DEFINE_PER_CPU(struct auxt_channel *, auxt_attached[TRACE_PMUS]);

/* ---- what is in the area ------------------------------------------------ */

static char *byte_at(const struct auxt_channel *ch, u32 slot, u64 position)
{
	u64 offset = slot * ch->aux.size + position % ch->aux.size;
	struct page *page = auxt_aux_buffer_aux_page(ch->buffer, ch->cpu, offset >> PAGE_SHIFT);

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

/* ---- requests --------------------------------------------------------- */

/**
 * auxt_channel_reset() - before a START: forget what inhibited the hardware
 * @ch: a channel that is not attached
 * @inhibit: what inhibits it from now on
 *
 * Readers hear of it when the START is sure: by the next auxt_settle().
 */
void auxt_channel_reset(struct auxt_channel *ch, u32 inhibit)
{
	ch->inhibited_before = auxt_channel_inhibited(ch);
	ch->thawed = ch->inhibited_before & AUXTRACE_INHIBIT_FROZEN;
	atomic_set(&ch->inhibit, inhibit);
	ch->fresh = true;
	WRITE_ONCE(*ch->last_broadcast, 0);
}

/**
 * auxt_channel_undo_reset() - the START has failed
 * @ch: a channel that is not attached
 */
void auxt_channel_undo_reset(struct auxt_channel *ch)
{
	atomic_set(&ch->inhibit, ch->inhibited_before);
	ch->thawed = false;
	auxt_settle(ch, AUXT_TODO_APPLY);
}

/**
 * auxt_channel_attach() - take the trace unit of this CPU
 * @ch: a channel that is inhibited
 *
 * Return: 0, -EBUSY if it traces for somebody else, -EIO if it will not be written.
 */
int auxt_channel_attach(struct auxt_channel *ch)
{
	int err = ch->pmu->claim(ch);

	if (err)
		return err;
	ch->attached = true;
	ch->run++;
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
	auxt_request_forget(ch, 0);
	auxt_tail_poll_end(ch);
	ch->pmu->release(ch);
}

/**
 * auxt_channel_inhibit() - a reason to be off
 * @ch: the channel
 * @reason: AUXTRACE_INHIBIT_*; OFFLINE is a gap if it ends a window
 */
void auxt_channel_inhibit(struct auxt_channel *ch, u32 reason)
{
	atomic_or(reason, &ch->inhibit);
	auxt_settle(ch, AUXT_TODO_APPLY);
}

/**
 * auxt_channel_allow() - a reason less
 * @ch: the channel
 * @reason: AUXTRACE_INHIBIT_*
 */
void auxt_channel_allow(struct auxt_channel *ch, u32 reason)
{
	atomic_andnot(reason, &ch->inhibit);
	auxt_settle(ch, AUXT_TODO_APPLY);
}

static bool has_new_aux_tail(const struct auxt_channel *ch)
{
	return !ch->aux.overwrite &&
	       auxt_position_is_new_tail(&ch->aux, READ_ONCE(ch->user->aux_tail));
}

static void look(struct auxt_channel *ch, u32 todo)
{
	if (ch->wanted)
		auxt_data_report_lost(&ch->data, rdtsc(), current->pid);
	auxt_settle(ch, todo);
}

/**
 * auxt_channel_sync_tails() - look where the reader is, with no more ado than that takes
 * @ch: the channel
 */
void auxt_channel_sync_tails(struct auxt_channel *ch)
{
	/* A look at the hardware costs two WRMSRs. */
	look(ch, has_new_aux_tail(ch) ? AUXT_TODO_SYNC : AUXT_TODO_APPLY);
}

/**
 * auxt_channel_sync() - look where the hardware and the reader are
 * @ch: the channel
 */
void auxt_channel_sync(struct auxt_channel *ch)
{
	look(ch, AUXT_TODO_SYNC);
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
		auxt_settle(ch, AUXT_TODO_SWITCH);
		*to = ch->retained;
	} else {
		if (flags & AUXTRACE_SNAPSHOT_PAUSE)
			auxt_channel_pause(ch, NULL);
		else
			auxt_channel_sync(ch);
		if (flags & AUXTRACE_SNAPSHOT_PAUSE && ch->wanted)
			auxt_channel_pause_output(ch, true);
		/* Of one moment, though an NMI may settle meanwhile. */
		do {
			seq = READ_ONCE(ch->now.seq);
			barrier();
			auxt_settle_cut(ch, to);
			barrier();
		} while (seq != READ_ONCE(ch->now.seq));
	}
	to->inhibit = auxt_channel_inhibited(ch);
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
	auxt_data_report_lost(&ch->data, rdtsc(), current->pid);
	auxt_settle(ch, AUXT_TODO_APPLY);
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
	auxt_settle(ch, AUXT_TODO_APPLY);
	if (!effect)
		return;
	*effect = (struct auxtrace_effect) {
		.cpu = ch->cpu,
		.flags = ch->now.pauses_done != done ? AUXTRACE_EFFECT_CHANGED : 0,
		.inhibit = auxt_channel_inhibited(ch),
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
	/* A FREEZE on its way is older, though the call that brings it may come later. */
	if (unlikely(auxt_remote_has_freeze(&ch->remote)))
		auxt_remote_thaw(ch);
	ch->resuming = true;
	barrier();
	/* The loop below follows, though an NMI may freeze it again before that. */
	if (unlikely(atomic_fetch_andnot(AUXTRACE_INHIBIT_USER | AUXTRACE_INHIBIT_FROZEN,
					 &ch->inhibit) & AUXTRACE_INHIBIT_FROZEN))
		ch->thawed = true;
	/* For a channel that runs the tail can wait: a look would cost two WRMSRs. */
	auxt_settle(ch, ch->now.running ? AUXT_TODO_APPLY : AUXT_TODO_SYNC);
	ch->resuming = false;
	if (!effect)
		return;
	*effect = (struct auxtrace_effect) {
		.cpu = ch->cpu,
		.flags = ch->now.resumes_done != done ? AUXTRACE_EFFECT_CHANGED : 0,
		.inhibit = auxt_channel_inhibited(ch),
		.position = ch->now.window_begin,
		.window = ch->now.windows,
		.tsc = ch->now.window_begin_tsc,
	};
}

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
	if (!asserted && (READ_ONCE(ch->todo) & AUXT_TODO_SYNC ||
			  !(READ_ONCE(ch->settling) || ch->now.running) ||
			  !ch->pmu->interrupt(ch)))
		return false;
	ch->now.pmis++;
	auxt_settle(ch, AUXT_TODO_SYNC);
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

static void wake(struct irq_work *work)
{
	struct auxt_channel *ch = container_of(work, struct auxt_channel, wake);

	auxt_tail_poll_begin(ch);
	wake_up_interruptible_poll(ch->waiters, EPOLLIN | EPOLLRDNORM | EPOLLPRI | EPOLLERR);
}

/* ---- life ------------------------------------------------------------- */

/**
 * auxt_channel_new() - a channel, inhibited by SETUP
 * @pmu: what produces the trace
 * @buffer: pages, which must outlive the channel
 * @waiters: readers, likewise
 * @cpu: the CPU
 * @index: number of the channel in its session
 * @setup: checked
 *
 * Return: the channel or an errno.
 */
struct auxt_channel *auxt_channel_new(const struct trace_pmu *pmu, struct auxt_aux_buffer *buffer,
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
	ch->buffer = buffer;
	ch->waiters = waiters;
	init_irq_work(&ch->wake, wake);
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
		ch->wanted = setup->records ?: AUXTRACE_WANT_ALL;
		ch->now.data_size = setup->data_size;
		auxt_data_init(&ch->data, setup, auxt_aux_buffer_data(buffer, cpu), ch->status,
			       ch->user);
	}
	ch->drained = !overwrite || (ch->wanted && !ch->data.overwrite);
	err = pmu->setup(ch, setup->flags, setup->config);
	if (err) {
		kfree(ch);
		return ERR_PTR(err);
	}
	auxt_settle_init(ch);
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
