// SPDX-License-Identifier: GPL-2.0-only
/*
 * SWITCH records: a probe of the tracepoint sched_switch, one for each session that wants them. A session with an
 * owner needs none: it is told of switches from and to its members only, by task_scope.c.
 *
 * The probe runs on each CPU of the machine with interrupts off, before the switch; the CPU holds
 * the lock of its run queue. So it takes no lock and wakes nobody itself: the channel's irq_work
 * does that.
 */

#include <linux/errno.h>
#include <linux/kprobes.h>
#include <linux/smp.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>
#include "compat/sched_switch.h"
#include "core/channel.h"
#include "trigger/context_switch.h"
#include "trigger/tracepoint.h"

static void context_switch_on_switch(AUXT_SCHED_SWITCH_ARGS)
{
	const struct auxt_group *group = data;
	struct auxt_channel *ch = group->channels[smp_processor_id()];

	if (ch)
		auxt_channel_context_switch(ch, prev, next, auxt_is_runnable(prev));
}
NOKPROBE_SYMBOL(context_switch_on_switch);

/**
 * auxt_context_switch_watch() - write SWITCH records from now on
 * @group: the channels of a session without an owner, which have data rings
 *
 * The caller holds no lock under which the kernel takes cpus_read_lock(): the first probe of a
 * tracepoint patches code.
 *
 * Return: 0; -ENOENT this kernel has no tracepoint sched_switch; or an errno of
 * tracepoint_probe_register().
 */
int auxt_context_switch_watch(struct auxt_group *group)
{
	struct tracepoint *tp = auxt_tracepoint_find("sched_switch");
	int err;

	/* tracepoint_probe_register() accepts a probe with any parameters. */
	check_trace_callback_type_sched_switch(context_switch_on_switch);
	if (!tp)
		return -ENOENT;
	err = tracepoint_probe_register(tp, context_switch_on_switch, group);
	if (!err)
		group->switch_tracepoint = tp;
	return err;
}
NOKPROBE_SYMBOL(auxt_context_switch_watch);

/**
 * auxt_context_switch_unwatch() - write no more SWITCH records
 * @group: the channels of a session
 *
 * After it has returned, no probe uses the channels. Locks as for auxt_context_switch_watch(). Does
 * nothing unless that has succeeded.
 */
void auxt_context_switch_unwatch(struct auxt_group *group)
{
	if (!group->switch_tracepoint)
		return;
	tracepoint_probe_unregister(group->switch_tracepoint, context_switch_on_switch, group);
	tracepoint_synchronize_unregister();
	group->switch_tracepoint = NULL;
}
NOKPROBE_SYMBOL(auxt_context_switch_unwatch);
