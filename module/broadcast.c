// SPDX-License-Identifier: GPL-2.0
/* Doing something on the CPUs of a session. */

#include <linux/cpu.h>
#include <linux/smp.h>
#include "core/channel.h"
#include "core/remote.h"
#include "session_private.h"

/*
 * What triggers on other CPUs have asked for comes first, though the call that brings it
 * may come later: who was told of a freeze finds it wherever he asks next.
 */
static void call_here(void *info)
{
	struct auxt_broadcast *call = info;
	struct auxt_channel *ch = call->session->channel[smp_processor_id()];

	if (unlikely(auxt_remote_is_pending(&ch->remote)) && ch->attached)
		auxt_remote_run(ch);
	call->fn(ch, call);
}

/**
 * auxt_broadcast() - one thing on several CPUs
 * @call: what
 * @cpus: of the session
 * @started: the session is
 *
 * One broadcast for the CPUs where something may run; the others' channels are
 * ours. Under cpus_read_lock() and state_lock.
 */
void auxt_broadcast(struct auxt_broadcast *call, const struct cpumask *cpus, bool started)
{
	struct auxt_session *session = call->session;
	unsigned int cpu;

	if (started)
		on_each_cpu_mask(cpus, call_here, call, true);
	if (started && cpumask_subset(cpus, cpu_online_mask))
		return;
	mutex_lock(&session->idle_lock);
	for_each_cpu(cpu, cpus)
		if (!started || !cpu_online(cpu))
			call->fn(session->channel[cpu], call);
	mutex_unlock(&session->idle_lock);
}

/**
 * auxt_session_lock() - hold on to the state
 * @session: the session
 *
 * Return: 0 or -EINTR.
 */
int auxt_session_lock(struct auxt_session *session)
{
	cpus_read_lock();
	if (!down_read_killable(&session->state_lock))
		return 0;
	cpus_read_unlock();
	return -EINTR;
}

/**
 * auxt_session_unlock() - and let it go
 * @session: the session
 */
void auxt_session_unlock(struct auxt_session *session)
{
	up_read(&session->state_lock);
	cpus_read_unlock();
}
