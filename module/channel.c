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
#include <linux/slab.h>
#include <linux/topology.h>
#include <asm/msr.h>
#include <asm/tsc.h>
#include "channel.h"
#include "rings.h"
#include "trace_pmu.h"

/*
 * The channel whose trace unit is attached to this CPU. Changed by code on that
 * CPU only, so that its NMI handlers need no more than a look at it; an
 * unattached channel is never seen by them.
 */
static DEFINE_PER_CPU(struct auxt_channel *, attached_channel);

struct auxt_channel *auxt_channel_here(void)
{
	return this_cpu_read(attached_channel);
}
NOKPROBE_SYMBOL(auxt_channel_here);

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

static void fail(struct auxt_channel *ch)
{
	atomic_or(AUXTRACE_INHIBIT_HWERROR, &ch->inhibit);
	count_gap(ch, &ch->now.gaps_error);
}
NOKPROBE_SYMBOL(fail);

/*
 * The hardware has just been turned off: how far did it come? False if the open
 * window cannot go on: the hardware had stopped by itself.
 */
static bool account(struct auxt_channel *ch)
{
	u64 offset = ch->ring.produced % ch->ring.cycle;
	u32 found = ch->pmu->position(ch, &offset);

	/*
	 * Stopped at the mark it is at the limit, by definition. This tells a
	 * full area from one in which nothing happened.
	 */
	ch->ring.produced = found & TRACE_STOPPED ? ch->ring.limit :
			    auxt_ring_position(&ch->ring, offset);
	if (found & TRACE_ERROR)
		fail(ch);
	if (found & TRACE_STOPPED) {
		count_gap(ch, &ch->now.gaps_full);
		ch->starved = true;
	}
	if (found & TRACE_FOREIGN)
		count_gap(ch, &ch->now.gaps_error);
	return !found;
}
NOKPROBE_SYMBOL(account);

/* The hardware is off: take the reader's tail and decide whether there is room. */
static void look_at_reader(struct auxt_channel *ch)
{
	if (!ch->ring.overwrite) {
		/* What the reader has read it has read before the hardware writes there:
		 * pairs with the release store that the ABI asks of readers.
		 */
		u64 tail = smp_load_acquire(&ch->user->aux_tail);

		auxt_ring_take_tail(&ch->ring, tail);
	}
	auxt_ring_plan(&ch->ring);
	if (auxt_ring_full(&ch->ring))
		atomic_or(AUXTRACE_INHIBIT_FULL, &ch->inhibit);
	else
		atomic_andnot(AUXTRACE_INHIBIT_FULL, &ch->inhibit);
}
NOKPROBE_SYMBOL(look_at_reader);

/*
 * Trace is being lost for want of room if nothing else keeps the hardware off.
 * Each such time is one gap, however often it is looked at.
 */
static void watch_starvation(struct auxt_channel *ch)
{
	bool starved = ch->attached && inhibited(ch) == AUXTRACE_INHIBIT_FULL;

	if (starved && !ch->starved)
		count_gap(ch, &ch->now.gaps_full);
	ch->starved = starved;
}
NOKPROBE_SYMBOL(watch_starvation);

static void end_window(struct auxt_channel *ch, u64 tsc)
{
	ch->now.running = 0;
	ch->now.window_end = ch->ring.produced;
	ch->now.window_end_tsc = tsc;
	if (inhibited(ch) & AUXTRACE_INHIBIT_USER)
		ch->now.pauses_done++;
}
NOKPROBE_SYMBOL(end_window);

static int go_on(struct auxt_channel *ch)
{
	int err;

	ch->pmu->arm(ch);
	err = ch->pmu->resume(ch, false);
	if (err)
		fail(ch);
	return err;
}
NOKPROBE_SYMBOL(go_on);

static void begin_window(struct auxt_channel *ch)
{
	ch->pmu->arm(ch);
	if (ch->pmu->resume(ch, true)) {
		fail(ch);
		return;
	}
	ch->now.window_begin_tsc = rdtsc();
	ch->now.window_begin = ch->ring.produced;
	ch->now.windows++;
	ch->now.running = 1;
	/* One request, one start: an NMI may end this window and begin another. */
	if (ch->resuming)
		ch->now.resumes_done++;
	ch->resuming = false;
}
NOKPROBE_SYMBOL(begin_window);

/* Makes the hardware agree with the mask, as the mask is now. */
static void agree(struct auxt_channel *ch)
{
	bool attend = READ_ONCE(ch->attend);

	/*
	 * Cleared before the look, so that what an NMI sets from here on is a new
	 * wish; and only if seen set, so that one set in between is not cleared
	 * without a look.
	 */
	if (attend)
		WRITE_ONCE(ch->attend, false);
	barrier();

	if (ch->now.running && (attend || inhibited(ch))) {
		u64 tsc;

		ch->pmu->pause(ch);
		tsc = rdtsc();
		if (account(ch) && !inhibited(ch)) {
			look_at_reader(ch);
			/* Only upkeep? Then the window goes on. */
			if (!inhibited(ch) && !go_on(ch))
				return;
		}
		end_window(ch, tsc);
	}
	if (ch->now.running)
		return;
	/* Off: the reader may have made room, and a window needs some. */
	if (attend || !inhibited(ch))
		look_at_reader(ch);
	if (ch->attached && !inhibited(ch))
		begin_window(ch);
}
NOKPROBE_SYMBOL(agree);

static void publish(struct auxt_channel *ch)
{
	struct auxtrace_status_page *to = ch->status;
	struct auxtrace_status_page *now = &ch->now;

	now->inhibit = inhibited(ch);
	now->produced = ch->ring.produced;
	now->consumed = ch->ring.consumed;
	now->overwritten = auxt_ring_overwritten(&ch->ring);
	now->bad_tails = ch->ring.bad_tails;

	WRITE_ONCE(to->seq, ++now->seq);
	smp_wmb();	/* pairs with the reader's barrier after its first look at seq */
	memcpy((char *)to + sizeof(to->seq), (char *)now + sizeof(now->seq),
	       sizeof(*now) - sizeof(now->seq));
	smp_wmb();	/* pairs with the reader's barrier before its second look at seq */
	WRITE_ONCE(to->seq, ++now->seq);
}
NOKPROBE_SYMBOL(publish);

/* Once for each piece of news, not for each request. */
static void tell_readers(struct auxt_channel *ch)
{
	bool news = auxt_channel_is_readable(ch, false) ||
		    inhibited(ch) & AUXTRACE_INHIBIT_HWERROR;

	if (news && (!ch->told || ch->told_position != ch->ring.produced))
		irq_work_queue(&ch->wake);
	ch->told = news;
	ch->told_position = ch->ring.produced;
}
NOKPROBE_SYMBOL(tell_readers);

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
 * auxt_channel_reset() - forget what inhibited the hardware
 * @ch: a channel that is not attached
 * @inhibit: what inhibits it from now on
 */
void auxt_channel_reset(struct auxt_channel *ch, u32 inhibit)
{
	atomic_set(&ch->inhibit, inhibit);
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
	this_cpu_write(attached_channel, ch);
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
	this_cpu_write(attached_channel, NULL);
	/* The NMI handlers have lost sight of it before the rest goes. */
	barrier();
	ch->attached = false;
	ch->pmu->stop(ch);
}

/**
 * auxt_channel_inhibit() - a reason to be off
 * @ch: the channel
 * @reason: AUXTRACE_INHIBIT_*; OFFLINE is a gap if nothing kept it off till now
 */
void auxt_channel_inhibit(struct auxt_channel *ch, u32 reason)
{
	if (reason & AUXTRACE_INHIBIT_OFFLINE && !inhibited(ch))
		count_gap(ch, &ch->now.gaps_offline);
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

/**
 * auxt_channel_attend() - look where the hardware and the reader are
 * @ch: the channel
 */
void auxt_channel_attend(struct auxt_channel *ch)
{
	WRITE_ONCE(ch->attend, true);
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
	atomic_andnot(AUXTRACE_INHIBIT_USER, &ch->inhibit);
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
	 * only in asking for a look.
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
	return !ch->ring.overwrite &&
	       auxt_ring_is_news(&ch->ring, READ_ONCE(ch->user->aux_tail));
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

	if (ch->ring.overwrite)
		return false;
	available = READ_ONCE(ch->ring.produced) - READ_ONCE(ch->ring.consumed);
	return available >= ch->ring.watermark || inhibited(ch) & AUXTRACE_INHIBIT_FULL ||
	       (stopped && available);
}
NOKPROBE_SYMBOL(auxt_channel_is_readable);

static void wake(struct irq_work *work)
{
	struct auxt_channel *ch = container_of(work, struct auxt_channel, wake);

	wake_up_interruptible_poll(ch->waiters, EPOLLIN | EPOLLRDNORM | EPOLLERR);
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
	u64 watermark = 0;
	int err;

	if (!ch)
		return ERR_PTR(-ENOMEM);
	if (!overwrite)
		watermark = setup->aux_watermark ?: setup->aux_size / 2;
	ch->pmu = pmu;
	ch->rings = rings;
	ch->waiters = waiters;
	init_irq_work(&ch->wake, wake);
	ch->cpu = cpu;
	ch->index = index;
	atomic_set(&ch->inhibit, AUXTRACE_INHIBIT_SETUP);
	ch->status = auxt_rings_status(rings, cpu);
	ch->user = auxt_rings_user(rings, cpu);
	ch->now.cpu = cpu;
	ch->now.aux_size = setup->aux_size;
	auxt_ring_init(&ch->ring, setup->aux_size, setup->aux_size, watermark, overwrite);
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
