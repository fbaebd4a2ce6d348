// SPDX-License-Identifier: GPL-2.0-only
/*
 * Task scope: follows the threads to which a session is limited, by probes of these tracepoints.
 *
 *	sched_switch		the CPU is about to run another thread, with interrupts off and the
 *				lock of its run queue held: the channel gets or loses the reason TASK
 *	task_newtask		the current thread has created another one, which has not run yet
 *	sched_process_free	a thread does not run any more, and the kernel frees its task_struct
 *				after this. That is the end of an RCU grace period which began
 *				when the thread was no longer in any list
 *	sched_process_exec	the current thread is about to run another program, whose rights it has
 *				already. Only if the session has an owner, who may lack these rights:
 *				then the thread is no member any more
 */

#include <linux/auxtrace.h>
#include <linux/binfmts.h>
#include <linux/errno.h>
#include <linux/kprobes.h>
#include <linux/pid.h>
#include <linux/rcupdate.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/smp.h>
#include <linux/tracepoint.h>
#include <trace/events/sched.h>
#include <trace/events/task.h>
#include "base/access.h"
#include "compat/probe.h"
#include "compat/sched_switch.h"
#include "core/channel.h"
#include "core/members.h"
#include "trigger/task_scope.h"
#include "trigger/tracepoint.h"

/* A function of its own, as the next one: so the probe itself saves no registers. */
static noinline void task_scope_switch(struct auxt_channel *ch, struct auxt_members *m,
				       const struct task_struct *next)
{
	if (ch->attached)
		auxt_channel_switch_task(ch, next, auxt_members_have(m, next));
}
NOKPROBE_SYMBOL(task_scope_switch);

/*
 * In a session with an owner, who may know the members, and when they run. So its SWITCH records are of switches from a
 * member and to one, and name nobody else. While a channel is attached, the reason TASK says whether the current
 * thread is one.
 */
static noinline void task_scope_switch_told(struct auxt_channel *ch, struct auxt_members *m,
					    const struct task_struct *prev,
					    const struct task_struct *next)
{
	bool was_member = !(auxt_channel_inhibited(ch) & AUXTRACE_INHIBIT_TASK);
	bool member;

	if (!ch->attached)
		return;
	member = auxt_members_have(m, next);
	auxt_channel_switch_task(ch, next, member);
	if (ch->wanted & AUXTRACE_WANT_SWITCH && (was_member || member))
		auxt_channel_context_switch(ch, was_member ? prev : NULL, member ? next : NULL,
					    was_member && auxt_is_runnable(prev));
}
NOKPROBE_SYMBOL(task_scope_switch_told);

static void task_scope_on_switch(AUXT_SCHED_SWITCH_ARGS)
{
	const struct auxt_group *group = data;
	struct auxt_channel *ch = group->channels[smp_processor_id()];

	if (!ch)
		return;
	/*
	 * Most switches are from one thread that is no member to another. What a channel says that is not attached
	 * makes no difference.
	 */
	if (likely(auxt_channel_inhibited(ch) & AUXTRACE_INHIBIT_TASK) &&
	    likely(auxt_members_lack(group->members, next)))
		return;
	if (group->owner)
		task_scope_switch_told(ch, group->members, prev, next);
	else
		task_scope_switch(ch, group->members, next);
}
NOKPROBE_SYMBOL(task_scope_on_switch);

static void task_scope_on_new(AUXT_NEWTASK_ARGS)
{
	const struct auxt_group *group = data;
	struct auxt_members *m = group->members;

	if (!auxt_members_have(m, current))
		return;
	if (!(m->follow & AUXTRACE_SETUP_DESCENDANTS) &&
	    !(m->follow & AUXTRACE_SETUP_PROCESS && same_thread_group(task, current)))
		return;
	if (auxt_members_add(m, task) < 0)
		atomic64_inc(&m->lost);
}
NOKPROBE_SYMBOL(task_scope_on_new);

static void task_scope_on_free(void *data, struct task_struct *task)
{
	const struct auxt_group *group = data;

	auxt_members_remove(group->members, task);
}
NOKPROBE_SYMBOL(task_scope_on_free);

/*
 * perf ends its events at the same point of execve(2). No instruction of the program has run yet, and the
 * process has no other thread. A SETUP on another CPU that is about to add the thread either has done so
 * already, or sees the new credentials: see task_scope_may_have().
 */
static void task_scope_on_exec(void *data, struct task_struct *task, pid_t old_pid,
			       struct linux_binprm *bprm)
{
	const struct auxt_group *group = data;
	struct auxt_channel *ch;
	unsigned long flags;

	/* The credentials are written before the table is read. Pairs with task_scope_may_have(). */
	smp_mb();
	if (auxt_members_lack(group->members, task) || auxt_access_allowed(group->owner, task))
		return;
	local_irq_save(flags);
	auxt_members_remove(group->members, task);
	ch = group->channels[smp_processor_id()];
	if (ch && ch->attached)
		auxt_channel_switch_task(ch, task, false);
	local_irq_restore(flags);
}
NOKPROBE_SYMBOL(task_scope_on_exec);

/* In the order in which they are registered. The last one only if the session has an owner. */
static const struct task_scope_probe {
	const char *tracepoint;
	void *probe;
} task_scope_probes[] = {
	{ "sched_process_free", task_scope_on_free },
	{ "task_newtask", task_scope_on_new },
	{ "sched_switch", task_scope_on_switch },
	{ "sched_process_exec", task_scope_on_exec },
};

static unsigned int task_scope_nr_probes(const struct auxt_group *group)
{
	return ARRAY_SIZE(task_scope_probes) - !group->owner;
}
NOKPROBE_SYMBOL(task_scope_nr_probes);

static void task_scope_unregister(struct auxt_group *group, unsigned int count)
{
	while (count--)
		tracepoint_probe_unregister(auxt_tracepoint_find(task_scope_probes[count].tracepoint),
					    task_scope_probes[count].probe, group);
	tracepoint_synchronize_unregister();
}
NOKPROBE_SYMBOL(task_scope_unregister);

static int task_scope_register(struct auxt_group *group)
{
	unsigned int i;

	/* tracepoint_probe_register() accepts a probe with any parameters. */
	check_trace_callback_type_sched_process_free(task_scope_on_free);
	check_trace_callback_type_task_newtask(task_scope_on_new);
	check_trace_callback_type_sched_switch(task_scope_on_switch);
	check_trace_callback_type_sched_process_exec(task_scope_on_exec);
	for (i = 0; i < task_scope_nr_probes(group); i++) {
		struct tracepoint *tp = auxt_tracepoint_find(task_scope_probes[i].tracepoint);
		int err = tp ? tracepoint_probe_register(tp, task_scope_probes[i].probe, group) : -ENOENT;

		if (err) {
			task_scope_unregister(group, i);
			return err;
		}
	}
	return 0;
}
NOKPROBE_SYMBOL(task_scope_register);

/* The thread that @setup names, or NULL. With rcu_read_lock(). */
static struct task_struct *task_scope_find(const struct auxtrace_setup *setup)
{
	return setup->tid ? pid_task(find_vpid(setup->tid), PIDTYPE_PID) : current;
}
NOKPROBE_SYMBOL(task_scope_find);

/* The number of threads of its process. */
static int task_scope_count(const struct auxtrace_setup *setup)
{
	struct task_struct *task;
	int count;

	rcu_read_lock();
	task = task_scope_find(setup);
	count = task ? get_nr_threads(task) : 0;
	rcu_read_unlock();
	return count;
}
NOKPROBE_SYMBOL(task_scope_count);

/*
 * May a thread that has just become a member be one? The caller's own process may, whatever its rights:
 * ptrace_may_access() says so, too. One that exits runs no user code any more.
 */
static bool task_scope_may_have(const struct auxt_group *group, struct task_struct *task)
{
	if (!group->owner || same_thread_group(task, current))
		return true;
	/* The table was written before the credentials are read. Pairs with task_scope_on_exec(). */
	smp_mb();
	return auxt_access_allowed(group->owner, task) || task->flags & PF_EXITING;
}
NOKPROBE_SYMBOL(task_scope_may_have);

/*
 * Adds those threads of @setup's that are none yet. A thread that is in the kernel's lists when
 * the walk begins is freed after the walk, and removed then: both is so because of RCU.
 *
 * Returns how many were added; -ENOMEM if the places did not suffice; or an errno of SETUP.
 */
static int task_scope_add_present(const struct auxt_group *group, const struct auxtrace_setup *setup)
{
	struct auxt_members *m = group->members;
	struct task_struct *task, *t;
	int alive = 0, added = 0, ret = 0;

	rcu_read_lock();
	task = task_scope_find(setup);
	if (!task) {
		rcu_read_unlock();
		return -ESRCH;
	}
	for_each_thread(task, t) {
		if (t->exit_state || (setup->flags & AUXTRACE_SETUP_THREAD && t != task))
			continue;
		alive++;
		ret = auxt_members_add(m, t);
		if (ret < 0)
			break;
		added += ret;
		if (!task_scope_may_have(group, t)) {
			ret = -EACCES;
			break;
		}
	}
	if (!alive)
		ret = -ESRCH;
	else if (task->flags & PF_KTHREAD && !(setup->flags & AUXTRACE_SETUP_KERNEL))
		ret = -ENXIO;
	else if (ret == 0)
		ret = added;
	rcu_read_unlock();
	return ret;
}
NOKPROBE_SYMBOL(task_scope_add_present);

/*
 * Adds all threads of @setup's. While a walk adds threads one after the other, one that is not a
 * member yet may create another: the probe of task_newtask does not add that, and it is
 * behind the walk. So the walk is repeated until it finds no new thread. Before each repetition, the
 * probes that have begun end: those that run later see as members all that the walk has added.
 */
static int task_scope_add_all(const struct auxt_group *group, const struct auxtrace_setup *setup)
{
	struct auxt_members *m = group->members;
	int ret;

	do {
		ret = auxt_members_reserve(m, task_scope_count(setup));
		if (ret)
			return ret;
		ret = task_scope_add_present(group, setup);
		tracepoint_synchronize_unregister();
	} while (ret > 0 || ret == -ENOMEM);
	return ret;
}
NOKPROBE_SYMBOL(task_scope_add_all);

/**
 * auxt_task_scope_begin() - limit the channels of a session to some threads
 * @group: the channels, none of which is attached
 * @setup: argument of SETUP, checked, with THREAD or PROCESS
 *
 * The caller holds no lock under which the kernel takes cpus_read_lock(): the first probe of a
 * tracepoint patches code.
 *
 * Return: 0; -ENOMEM; -ESRCH no such thread, or it has exited; -ENXIO a kernel thread in a session
 * for user code; -EACCES a thread to which the session's owner has no access; -ENOENT this kernel lacks a
 * tracepoint; or an errno of tracepoint_probe_register().
 */
int auxt_task_scope_begin(struct auxt_group *group, const struct auxtrace_setup *setup)
{
	int err = -ENOMEM;

	group->members = auxt_members_new(setup->flags);
	if (!group->members)
		return err;
	err = task_scope_register(group);
	if (err)
		goto err_members;
	err = task_scope_add_all(group, setup);
	if (!err)
		return 0;
	task_scope_unregister(group, task_scope_nr_probes(group));
err_members:
	auxt_members_free(group->members);
	group->members = NULL;
	return err;
}
NOKPROBE_SYMBOL(auxt_task_scope_begin);

/**
 * auxt_task_scope_end() - undo auxt_task_scope_begin()
 * @group: the channels, none of which is attached
 *
 * After it has returned, no probe uses the channels. Locks as for auxt_task_scope_begin(). Does
 * nothing unless that has succeeded.
 */
void auxt_task_scope_end(struct auxt_group *group)
{
	if (!group->members)
		return;
	task_scope_unregister(group, task_scope_nr_probes(group));
	auxt_members_free(group->members);
	group->members = NULL;
}
NOKPROBE_SYMBOL(auxt_task_scope_end);
