// SPDX-License-Identifier: GPL-2.0-only
/* Calling a function for several channels of a session, each on its CPU. */

#include <linux/cpu.h>
#include <linux/irqflags.h>
#include <linux/smp.h>
#include "broadcast.h"
#include "core/remote.h"
#include "core/trace_pmu.h"
#include "session.h"

/**
 * struct broadcast_call - the function that each CPU calls
 * @session: the session
 * @fn: function
 * @data: its argument
 */
struct broadcast_call {
	struct auxt_session *session;
	auxt_broadcast_fn fn;
	void *data;
};

/*
 * Requests from triggers on other CPUs that are pending here run first, even if the IPI that
 * announces them arrives later. So a caller that was already notified of a freeze never sees a
 * CPU that is not frozen.
 */
static void broadcast_here(void *info)
{
	struct broadcast_call *call = info;
	struct auxt_channel *ch = call->session->group.channels[smp_processor_id()];

	if (unlikely(auxt_remote_is_pending(&ch->remote)) && ch->attached)
		auxt_remote_run(ch);
	call->fn(ch, call->data);
}

/**
 * auxt_broadcast_alone() - call a function for the channel of this CPU, without a lock
 * @session: the session, set up
 * @cpus: CPUs of the session
 * @fn: function
 * @data: its argument
 *
 * Only if the session is started, @cpus is the CPU on which the caller runs, and the channel is
 * attached there. The call is then what the CPU's IPI would do. With interrupts off, an attached
 * channel stays so: STOP, suspend and hotplug detach it in an IPI to this CPU or in a thread on it.
 * A session that is about to START has attached channels, too, but not yet the state STARTED. If it
 * was started before, the state STOPPED is older than the IPI in which the channel attached again.
 *
 * Return: true if @fn was called.
 */
bool auxt_broadcast_alone(struct auxt_session *session, const struct cpumask *cpus,
			  auxt_broadcast_fn fn, void *data)
{
	struct broadcast_call call = { .session = session, .fn = fn, .data = data };
	const struct auxt_channel *ch;
	unsigned long flags;
	bool alone;

	/* All CPUs of the session, and they are several: the commonest request. */
	if (cpus == session->group.cpus && session->nr_channels > 1)
		return false;
	local_irq_save(flags);
	ch = auxt_channel_here(session->pmu->number);
	alone = ch && ch->group == &session->group &&
		READ_ONCE(session->state) == AUXTRACE_STATE_STARTED &&
		cpumask_equal(cpus, cpumask_of(smp_processor_id()));
	if (alone)
		broadcast_here(&call);
	local_irq_restore(flags);
	return alone;
}

/**
 * auxt_broadcast() - call a function for several channels
 * @session: the session, set up
 * @cpus: CPUs of the session
 * @started: the session is started, or about to be
 * @fn: function
 * @data: its argument
 *
 * If the session is started, the online CPUs call @fn in an IPI, in parallel. For every other
 * channel this function calls @fn itself, with idle_lock held: no code on the channel's CPU uses
 * the channel. The caller holds cpus_read_lock() and state_lock.
 */
void auxt_broadcast(struct auxt_session *session, const struct cpumask *cpus, bool started,
		    auxt_broadcast_fn fn, void *data)
{
	struct broadcast_call call = { .session = session, .fn = fn, .data = data };
	unsigned int cpu;

	if (started)
		on_each_cpu_mask(cpus, broadcast_here, &call, true);
	if (started && cpumask_subset(cpus, cpu_online_mask))
		return;
	mutex_lock(&session->idle_lock);
	for_each_cpu(cpu, cpus)
		if (!started || !cpu_online(cpu))
			fn(session->group.channels[cpu], data);
	mutex_unlock(&session->idle_lock);
}
