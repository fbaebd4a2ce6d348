// SPDX-License-Identifier: GPL-2.0
/* Calling a function for several channels of a session, each on its CPU. */

#include <linux/cpu.h>
#include <linux/smp.h>
#include "broadcast.h"
#include "core/remote.h"
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
