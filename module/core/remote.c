// SPDX-License-Identifier: GPL-2.0
/*
 * What a trigger on one CPU asks of the session's other CPUs.
 *
 * An event may come in an NMI, where no IPI may be sent: so the CPU interrupts
 * itself first (irq_work), and from there the others (an asynchronous call each).
 * Nothing waits, and what is asked stands in one word a kind, so a request is
 * carried out or replaced by a newer one of its kind: the last one wins. A CPU
 * that is offline finds the words when it comes back.
 *
 * DOC: what is asked next
 *
 * A CPU takes calls that somebody waits for before older asynchronous ones of the same
 * batch. Lest a request of a user that has been told of a freeze come before the freeze,
 * broadcast.c takes what stands in the words first, and poll(2) tells of it only when the words
 * stand on all CPUs.
 *
 * DOC: the end of a session
 *
 * Words that are to go out are put there and taken by code with interrupts off on the
 * channel's CPU. STOP forgets them there, so once it has been everywhere nobody
 * asks any more, and what was asked before is on its way in calls. One that comes
 * late finds the channel detached and leaves its word, which START forgets.
 */

#include <linux/cpumask.h>
#include <linux/kprobes.h>
#include "core/channel.h"
#include "compat/irq_work.h"
#include "core/remote.h"
#include "core/request.h"
#include "session.h"

/* A request as a word: what is not in it, the other CPUs do not need. */
#define WORD(action, trigger)	((u64)(trigger) << 8 | (action))
#define WORD_ACTION(word)	((u32)((word) & 0xff))
#define WORD_TRIGGER(word)	((u32)((word) >> 8))

/**
 * auxt_remote_send() - ask the other CPUs for the same
 * @ch: the channel of this CPU
 * @request: a PAUSE, RESUME or FREEZE
 */
void auxt_remote_send(struct auxt_channel *ch, const struct auxt_request *request)
{
	struct auxt_remote *remote = &ch->remote;
	atomic64_t *out = request->action == AUXTRACE_ACTION_FREEZE ?
			  &remote->out_freeze : &remote->out_toggle;

	atomic64_set(out, WORD(request->action, request->trigger));
	if (request->action == AUXTRACE_ACTION_FREEZE)
		atomic64_set(&remote->unreported, 1);
	irq_work_queue(&remote->work);
}
NOKPROBE_SYMBOL(auxt_remote_send);

/**
 * auxt_remote_run() - carry out what other CPUs asked
 * @ch: the channel of this CPU
 */
void auxt_remote_run(struct auxt_channel *ch)
{
	/* The toggle first: a freeze holds whatever it says. */
	u64 words[] = {
		atomic64_xchg(&ch->remote.in_toggle, 0),
		atomic64_xchg(&ch->remote.in_freeze, 0),
	};
	int i;

	for (i = 0; i < ARRAY_SIZE(words); i++) {
		struct auxt_request request = {
			.action = WORD_ACTION(words[i]),
			.trigger = WORD_TRIGGER(words[i]),
		};

		if (words[i])
			auxt_request_make(ch, &request, 0);
	}
}

static void take(void *info)
{
	struct auxt_channel *ch = info;

	/* Before the look at the words: what comes later is sent anew. */
	atomic64_xchg(&ch->remote.asked, 0);
	/* Else it is on its way offline: hotplug.c takes it when it comes back. */
	if (auxt_channel_here(ch->pmu->number) == ch)
		auxt_remote_run(ch);
}

/*
 * A full barrier: the word is there before a call is found to be on its way. Pairs
 * with the xchg in take().
 */
static void put(atomic64_t *in, u64 word)
{
	if (word)
		atomic64_xchg(in, word);
}

static void ask(struct auxt_channel *other, u64 toggle, u64 freeze)
{
	put(&other->remote.in_toggle, toggle);
	put(&other->remote.in_freeze, freeze);
	/* On its way: it will find the words. The kernel takes one sender at a time only. */
	if (atomic64_xchg(&other->remote.asked, 1))
		return;
	/* Offline: see come_back() in hotplug.c. */
	if (smp_call_function_single_async(other->cpu, &other->remote.csd))
		atomic64_set(&other->remote.asked, 0);
}

static void relay(struct irq_work *work)
{
	struct auxt_channel *ch = container_of(work, struct auxt_channel, remote.work);
	/* Before the look at the words, as in take(). */
	bool unreported = atomic64_xchg(&ch->remote.unreported, 0);
	u64 toggle = atomic64_xchg(&ch->remote.out_toggle, 0);
	u64 freeze = atomic64_read(&ch->remote.out_freeze);
	unsigned int cpu;

	if (toggle || freeze)
		for_each_cpu(cpu, auxt_session_cpus(ch->session))
			if (cpu != ch->cpu)
				ask(auxt_session_channel(ch->session, cpu), toggle, freeze);
	/* It has left when all are asked. A newer one, of an NMI, is sent by itself. */
	atomic64_cmpxchg(&ch->remote.out_freeze, freeze, 0);
	/* Whoever polled meanwhile was not told: see auxt_remote_is_freezing_others(). */
	if (unreported)
		irq_work_queue(&ch->wake);
}

/**
 * auxt_remote_init() - nothing is asked
 * @ch: a new channel
 */
void auxt_remote_init(struct auxt_channel *ch)
{
	auxt_irq_work_init_hard(&ch->remote.work, relay);
	ch->remote.csd.func = take;
	ch->remote.csd.info = ch;
}

/**
 * auxt_remote_forget() - nothing is asked any more
 * @ch: a channel whose session stops or starts
 */
void auxt_remote_forget(struct auxt_channel *ch)
{
	atomic64_set(&ch->remote.out_toggle, 0);
	atomic64_set(&ch->remote.out_freeze, 0);
	atomic64_set(&ch->remote.in_toggle, 0);
	atomic64_set(&ch->remote.in_freeze, 0);
}

/**
 * auxt_remote_thaw() - a RESUME comes: a FREEZE that is on its way is not to come after it
 * @ch: a channel that is to be resumed
 *
 * What other CPUs asked is carried out now; or not at all, if this one is offline. What
 * the others have not been asked they need not do.
 */
void auxt_remote_thaw(struct auxt_channel *ch)
{
	atomic64_set(&ch->remote.out_freeze, 0);
	if (ch->attached)
		auxt_remote_run(ch);
	else
		atomic64_set(&ch->remote.in_freeze, 0);
}

static void nothing(void *unused)
{
}

/**
 * auxt_remote_flush() - wait for what is on its way
 * @ch: a channel of a stopped session; all of a session's are to be flushed before one of
 *	them is freed
 */
void auxt_remote_flush(struct auxt_channel *ch)
{
	irq_work_sync(&ch->remote.work);
	/*
	 * A CPU takes calls in batches, and those that somebody waits for come first in
	 * each: so the first may come before an older one that nobody waits for, the
	 * second comes after it. Offline, there are none.
	 */
	smp_call_function_single(ch->cpu, nothing, NULL, true);
	smp_call_function_single(ch->cpu, nothing, NULL, true);
}
