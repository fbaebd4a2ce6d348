// SPDX-License-Identifier: GPL-2.0
/* STATUS and poll(2): what a session as a whole has to say. */

#include <linux/poll.h>
#include <linux/slab.h>
#include "core/channel.h"
#include "session_private.h"

static void sync(struct auxt_channel *ch, struct auxt_broadcast *call)
{
	auxt_channel_sync(ch);
}

static void take_tails_of(struct auxt_channel *ch, struct auxt_broadcast *call)
{
	auxt_channel_sync_tails(ch);
}

/*
 * The sums are of what the CPUs have published last, each value whole, not of
 * one moment on all CPUs.
 */
static void add(struct auxtrace_status *sum, const struct auxt_channel *ch)
{
	sum->out_nr_running += READ_ONCE(ch->now.running);
	sum->out_produced += READ_ONCE(ch->now.produced);
	sum->out_consumed += READ_ONCE(ch->now.consumed);
	sum->out_overwritten += READ_ONCE(ch->now.overwritten);
	sum->out_windows += READ_ONCE(ch->now.windows);
	sum->out_gaps += READ_ONCE(ch->now.gaps);
	sum->out_pmis += READ_ONCE(ch->now.pmis);
	sum->out_data_produced += READ_ONCE(ch->status->data_head);
	sum->out_data_consumed += READ_ONCE(ch->status->data_consumed);
	sum->out_data_overwritten += READ_ONCE(ch->status->data_overwritten);
	sum->out_data_lost += READ_ONCE(ch->status->data_lost);
}

/**
 * auxt_session_status() - AUXTRACE_IOC_STATUS
 * @session: the session
 * @arg: see the ABI
 *
 * Return: 0 or as the ABI says.
 */
int auxt_session_status(struct auxt_session *session, struct auxtrace_status *arg)
{
	struct auxt_broadcast call = { .session = session, .fn = sync };
	struct auxtrace_status sum = { .size = arg->size, .flags = arg->flags };
	unsigned int cpu;
	int err;

	if (arg->flags & ~AUXTRACE_STATUS_ALL || arg->reserved)
		return -EINVAL;
	if (auxt_session_state(session) != AUXTRACE_STATE_NEW) {
		err = auxt_session_lock(session);
		if (err)
			return err;
		if (arg->flags & AUXTRACE_STATUS_SYNC)
			auxt_broadcast(&call, session->cpus,
				      session->state == AUXTRACE_STATE_STARTED);
		sum.out_state = session->state;
		sum.out_nr_channels = session->nr_channels;
		for_each_cpu(cpu, session->cpus)
			add(&sum, session->channel[cpu]);
		auxt_session_unlock(session);
	}
	*arg = sum;
	return 0;
}

/* Takes the tails that have moved, and no others. */
static void take_tails(struct auxt_session *session)
{
	struct auxt_broadcast call = { .session = session, .fn = take_tails_of };
	cpumask_var_t moved;
	unsigned int cpu;

	/* Out of memory the next interrupt takes them. */
	if (!zalloc_cpumask_var(&moved, GFP_KERNEL))
		return;
	for_each_cpu(cpu, session->cpus)
		if (auxt_channel_has_new_tail(session->channel[cpu]))
			cpumask_set_cpu(cpu, moved);
	if (!cpumask_empty(moved) && !auxt_session_lock(session)) {
		auxt_broadcast(&call, moved, session->state == AUXTRACE_STATE_STARTED);
		auxt_session_unlock(session);
	}
	free_cpumask_var(moved);
}

/*
 * Is a freeze to be told? When all CPUs have been asked for it: so it comes before whatever
 * else they are asked by who was told.
 */
static bool is_frozen(const struct auxt_session *session)
{
	bool frozen = false;
	unsigned int cpu;

	for_each_cpu(cpu, session->cpus)
		frozen |= auxt_channel_inhibited(session->channel[cpu]) & AUXTRACE_INHIBIT_FROZEN;
	if (!frozen)
		return false;
	/* Pairs with the atomic operations by which freeze() and ask() leave word before it. */
	smp_rmb();
	for_each_cpu(cpu, session->cpus)
		if (auxt_remote_is_freezing_others(&session->channel[cpu]->remote))
			return false;
	return true;
}

/**
 * auxt_session_poll() - poll(2)
 * @session: the session
 * @file: its file
 * @wait: of the caller
 *
 * Return: as the ABI says.
 */
__poll_t auxt_session_poll(struct auxt_session *session, struct file *file,
			   struct poll_table_struct *wait)
{
	__poll_t events = 0;
	unsigned int cpu;
	bool stopped;

	poll_wait(file, &session->waiters, wait);
	if (auxt_session_state(session) == AUXTRACE_STATE_NEW)
		return EPOLLERR;
	take_tails(session);
	stopped = READ_ONCE(session->state) == AUXTRACE_STATE_STOPPED;
	for_each_cpu(cpu, session->cpus) {
		const struct auxt_channel *ch = session->channel[cpu];

		if (auxt_channel_is_readable(ch, stopped))
			events |= EPOLLIN | EPOLLRDNORM;
		if (auxt_channel_inhibited(ch) & AUXTRACE_INHIBIT_HWERROR)
			events |= EPOLLERR;
	}
	if (is_frozen(session))
		events |= EPOLLPRI;
	return events;
}
