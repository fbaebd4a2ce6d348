// SPDX-License-Identifier: GPL-2.0-only
/*
 * Delivery of a trigger's request to the session's other CPUs.
 *
 * An event may happen in an NMI, where no IPI may be sent. So the CPU interrupts itself first
 * (irq_work) and calls the other CPUs from there (one asynchronous call each). Nothing waits.
 * Each channel has one word for PAUSE and RESUME and one for FREEZE. A request is carried out,
 * or replaced by a newer one of its kind: the last one wins. A CPU that is offline finds the
 * words when it comes back.
 *
 * DOC: order against requests from user space
 *
 * A CPU runs synchronous calls before older asynchronous calls of the same batch. So the ioctl of a
 * caller that was notified of a freeze could reach a CPU before the freeze does. Therefore
 * broadcast.c carries out the words of a channel before its own function, and poll(2) reports a
 * freeze only when the words of all channels hold it.
 *
 * DOC: the end of a session
 *
 * Only code with interrupts off on the channel's CPU writes or takes outgoing words. STOP clears
 * them there. So once STOP has run on all CPUs, no request is sent any more; calls that were sent
 * before may still be under way. Such a call finds its channel detached and leaves the word alone;
 * the next START clears it. Before channels are freed, auxt_remote_flush() waits for these calls.
 */

#include <linux/cpumask.h>
#include <linux/kprobes.h>
#include <linux/processor.h>
#include "core/state.h"
#include "compat/irq_work.h"
#include "core/remote.h"
#include "core/request.h"

/**
 * auxt_remote_run() - carry out the requests of other CPUs
 * @ch: the channel of this CPU
 */
void auxt_remote_run(struct auxt_channel *ch)
{
	/* PAUSE or RESUME first: neither ends a FREEZE. */
	u64 words[] = {
		atomic64_xchg(&ch->remote.in_toggle, 0),
		atomic64_xchg(&ch->remote.in_freeze, 0),
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		struct auxt_request request = {
			.action = AUXT_REMOTE_WORD_ACTION(words[i]),
			.trigger = AUXT_REMOTE_WORD_TRIGGER(words[i]),
		};

		if (words[i])
			auxt_request_make(ch, &request, 0);
	}
}
NOKPROBE_SYMBOL(auxt_remote_run);

static void remote_take(void *info)
{
	struct auxt_channel *ch = info;

	/* Before the words are read, so that a word written later sends a new call. */
	atomic64_xchg(&ch->remote.called, 0);
	/* Else the CPU is going offline: auxt_channel_come_back() takes the words. */
	if (auxt_channel_here(ch->pmu->number) == ch)
		auxt_remote_run(ch);
}
NOKPROBE_SYMBOL(remote_take);

/*
 * xchg for its full barrier: the word is written before remote_call() reads @called. Pairs with
 * the xchg of @called in remote_take().
 */
static void remote_post(atomic64_t *in, u64 word)
{
	if (word)
		atomic64_xchg(in, word);
}
NOKPROBE_SYMBOL(remote_post);

static void remote_call(struct auxt_channel *other, u64 toggle, u64 freeze)
{
	remote_post(&other->remote.in_toggle, toggle);
	remote_post(&other->remote.in_freeze, freeze);
	/*
	 * A call on its way will find the words; and the kernel allows only one sender of a
	 * csd at a time.
	 */
	if (atomic64_xchg(&other->remote.called, 1))
		return;
	/* The CPU is offline: see auxt_channel_come_back(). */
	if (smp_call_function_single_async(other->cpu, &other->remote.csd))
		atomic64_set(&other->remote.called, 0);
}
NOKPROBE_SYMBOL(remote_call);

static void remote_forward(struct irq_work *work)
{
	struct auxt_channel *ch = container_of(work, struct auxt_channel, remote.work);
	/* Before the words are read, as in remote_take(). */
	bool unreported = atomic64_xchg(&ch->remote.unreported, 0);
	u64 toggle = atomic64_xchg(&ch->remote.out_toggle, 0);
	u64 freeze = atomic64_read(&ch->remote.out_freeze);
	unsigned int cpu;

	if (toggle || freeze)
		for_each_cpu(cpu, ch->group->cpus)
			if (cpu != ch->cpu)
				remote_call(ch->group->channels[cpu], toggle, freeze);
	/* All channels have the FREEZE. A newer one, from an NMI, has queued this work again. */
	atomic64_cmpxchg(&ch->remote.out_freeze, freeze, 0);
	/* poll(2) has not reported the freeze so far: see auxt_remote_is_sending_freeze(). */
	if (unreported)
		irq_work_queue(&ch->wake);
}
NOKPROBE_SYMBOL(remote_forward);

/**
 * auxt_remote_init() - set up, with no request pending
 * @ch: a new channel
 */
void auxt_remote_init(struct auxt_channel *ch)
{
	auxt_irq_work_init_hard(&ch->remote.work, remote_forward);
	ch->remote.csd.func = remote_take;
	ch->remote.csd.info = ch;
}
NOKPROBE_SYMBOL(auxt_remote_init);

/**
 * auxt_remote_forget() - drop all requests, outgoing and incoming
 * @ch: a channel whose session stops or starts
 */
void auxt_remote_forget(struct auxt_channel *ch)
{
	atomic64_set(&ch->remote.out_toggle, 0);
	atomic64_set(&ch->remote.out_freeze, 0);
	atomic64_set(&ch->remote.in_toggle, 0);
	atomic64_set(&ch->remote.in_freeze, 0);
}
NOKPROBE_SYMBOL(auxt_remote_forget);

/**
 * auxt_remote_thaw() - complete or drop older FREEZEs, so that none takes effect after a RESUME
 * @ch: a channel that is about to be resumed
 *
 * A FREEZE that this channel has not sent is dropped. Requests of other CPUs are carried out
 * now, or, if this CPU is offline, their FREEZE is dropped.
 */
void auxt_remote_thaw(struct auxt_channel *ch)
{
	atomic64_set(&ch->remote.out_freeze, 0);
	if (ch->attached)
		auxt_remote_run(ch);
	else
		atomic64_set(&ch->remote.in_freeze, 0);
}
NOKPROBE_SYMBOL(auxt_remote_thaw);

static void remote_nop(void *unused)
{
}
NOKPROBE_SYMBOL(remote_nop);

/**
 * auxt_remote_flush() - wait for requests that are on their way
 * @group: the channels of a stopped session
 */
void auxt_remote_flush(const struct auxt_group *group)
{
	unsigned int cpu;

	for_each_cpu(cpu, group->cpus)
		irq_work_sync(&group->channels[cpu]->remote.work);
	for_each_cpu(cpu, group->cpus) {
		struct auxt_channel *ch = group->channels[cpu];

		/*
		 * An IPI is on its way, or the CPU goes offline and carries out its calls then. If
		 * this is that CPU, the call below runs at once and would not wait for the IPI.
		 */
		while (atomic64_read(&ch->remote.called))
			cpu_relax();
		/* remote_take() has begun, with interrupts off: it ends before this call runs. */
		smp_call_function_single(cpu, remote_nop, NULL, true);
	}
}
NOKPROBE_SYMBOL(auxt_remote_flush);
