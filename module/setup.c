// SPDX-License-Identifier: GPL-2.0-only
/* SETUP: checks its argument and creates the channels of a session. The last close(2) undoes it. */

#include <linux/cpu.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include "base/aux_buffer.h"
#include "base/user_index.h"
#include "core/channel.h"
#include "core/known.h"
#include "cpuset.h"
#include "filters.h"
#include "hw/trace_pmus.h"
#include "rights.h"
#include "session.h"
#include "trigger/context_switch.h"
#include "trigger/set.h"
#include "trigger/task_scope.h"
#include "verbs.h"

static bool setup_is_power_of_two_from(u64 size, u64 min)
{
	return size >= min && !(size & (size - 1));
}

static bool setup_is_data_ring_valid(const struct auxtrace_setup *arg)
{
	if (!arg->data_size)
		return !(arg->flags & (AUXTRACE_SETUP_DATA_BACKWARD |
				       AUXTRACE_SETUP_DATA_OVERWRITE)) &&
		       !arg->data_watermark && !arg->records;
	return setup_is_power_of_two_from(arg->data_size, PAGE_SIZE) &&
	       arg->data_watermark < arg->data_size &&
	       !(arg->data_watermark && arg->flags & AUXTRACE_SETUP_DATA_OVERWRITE) &&
	       !(arg->records & ~AUXTRACE_WANT_ALL);
}

static bool setup_are_slots_valid(const struct auxtrace_setup *arg)
{
	if (arg->slots <= 1)
		return true;
	return arg->flags & AUXTRACE_SETUP_OVERWRITE &&
	       setup_is_power_of_two_from(arg->slots, 2) && arg->slots <= AUXTRACE_MAX_SLOTS &&
	       arg->aux_size / arg->slots >= 2 * PAGE_SIZE &&
	       (!(arg->flags & AUXTRACE_SETUP_DATA_OVERWRITE) ||
		arg->data_size / arg->slots >= PAGE_SIZE);
}

static bool setup_is_scope_valid(const struct auxtrace_setup *arg)
{
	u32 scope = arg->flags & (AUXTRACE_SETUP_THREAD | AUXTRACE_SETUP_PROCESS |
				  AUXTRACE_SETUP_ADDRESS_SPACE);

	if (arg->flags & AUXTRACE_SETUP_DESCENDANTS &&
	    (!scope || scope & AUXTRACE_SETUP_ADDRESS_SPACE))
		return false;
	return scope ? !(scope & (scope - 1)) : !arg->tid;
}

static int setup_check(const struct auxtrace_setup *arg)
{
	u32 full = arg->flags & (AUXTRACE_SETUP_FULL_AUTO | AUXTRACE_SETUP_FULL_STOP);

	if (arg->flags & ~AUXTRACE_SETUP_ALL ||
	    !(arg->flags & (AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER)))
		return -EINVAL;
	if (full && (full & (full - 1) || arg->flags & AUXTRACE_SETUP_OVERWRITE))
		return -EINVAL;
	if (!setup_is_power_of_two_from(arg->aux_size, 2 * PAGE_SIZE))
		return -EINVAL;
	if (arg->aux_watermark & ~PAGE_MASK || arg->aux_watermark >= arg->aux_size ||
	    (arg->aux_watermark && arg->flags & AUXTRACE_SETUP_OVERWRITE))
		return -EINVAL;
	if (!setup_is_data_ring_valid(arg) || !setup_are_slots_valid(arg) ||
	    !setup_is_scope_valid(arg) || arg->reserved)
		return -EINVAL;
	return 0;
}

static bool setup_all_online(const struct cpumask *cpus)
{
	bool yes;

	cpus_read_lock();
	yes = cpumask_subset(cpus, cpu_online_mask);
	cpus_read_unlock();
	return yes;
}

static void setup_free_channels(struct auxt_session *session)
{
	unsigned int cpu;

	for_each_cpu(cpu, session->group.cpus)
		auxt_channel_free(session->group.channels[cpu]);
	kvfree(session->group.channels);
	session->group.channels = NULL;
}

static int setup_make_channels(struct auxt_session *session, const struct auxtrace_setup *arg)
{
	struct auxt_group *group = &session->group;
	unsigned int cpu, index = 0;

	group->channels = auxt_session_calloc(nr_cpu_ids, sizeof(*group->channels));
	if (!group->channels)
		return -ENOMEM;
	for_each_cpu(cpu, group->cpus) {
		struct auxt_channel *ch = auxt_channel_new(session->pmu, session->buffer, group,
							   cpu, index++, arg);

		if (IS_ERR(ch)) {
			setup_free_channels(session);
			return PTR_ERR(ch);
		}
		ch->triggers = session->triggers;
		group->channels[cpu] = ch;
	}
	session->nr_channels = index;
	return 0;
}

/* With setup_lock held. If it succeeds, the session keeps the reference to @owner. */
static int setup_make(struct auxt_session *session, const struct auxtrace_setup *arg,
		      const struct cpumask *cpus, const struct cred *owner)
{
	u32 pmu = arg->pmu;
	int err;

	if (auxt_session_state(session) != AUXTRACE_STATE_NEW)
		return -EEXIST;
	if (!zalloc_cpumask_var(&session->group.cpus, GFP_KERNEL))
		return -ENOMEM;
	cpumask_copy(session->group.cpus, cpus);
	session->group.owner = owner;
	err = -ENODEV;
	if (!auxt_user_index(&pmu, ARRAY_SIZE(auxt_trace_pmus)))
		goto err_owner;
	session->pmu = auxt_trace_pmus[pmu];
	if (session->pmu->missing() || !setup_all_online(session->group.cpus))
		goto err_owner;
	err = auxt_filters_get(&session->group.filters, arg);
	if (err)
		goto err_owner;
	err = session->pmu->check(arg, &session->group.filters, session->group.cpus);
	if (err)
		goto err_filters;

	session->buffer = auxt_aux_buffer_new(session->group.cpus, arg,
					      session->pmu->table_pages(arg), auxt_data_slots(arg));
	if (IS_ERR(session->buffer)) {
		err = PTR_ERR(session->buffer);
		goto err_filters;
	}
	err = -ENOMEM;
	session->triggers = auxt_trigger_set_new(session->group.cpus, arg);
	if (!session->triggers)
		goto err_buffer;
	err = setup_make_channels(session, arg);
	if (err)
		goto err_triggers;
	if (arg->flags & (AUXTRACE_SETUP_THREAD | AUXTRACE_SETUP_PROCESS)) {
		err = auxt_task_scope_begin(&session->group, arg);
		if (err)
			goto err_channels;
	}
	if (arg->records & AUXTRACE_WANT_SWITCH && !owner) {
		err = auxt_context_switch_watch(&session->group);
		if (err)
			goto err_scope;
	}
	session->flags = arg->flags;
	session->has_data = arg->data_size;
	session->nr_slots = max(arg->slots, 1U);
	/* Publishes all of the above. Pairs with auxt_session_state(). */
	smp_store_release(&session->state, AUXTRACE_STATE_STOPPED);
	return 0;

err_scope:
	auxt_task_scope_end(&session->group);
err_channels:
	setup_free_channels(session);
err_triggers:
	auxt_trigger_set_free(session->triggers);
err_buffer:
	auxt_aux_buffer_put(session->buffer);
err_filters:
	auxt_filters_put(&session->group.filters);
err_owner:
	session->group.owner = NULL;
	free_cpumask_var(session->group.cpus);
	return err;
}

/* The caller may have to wait, which it must not do with setup_lock held: auxt_pace_wait(). */
static int setup_with_rights(struct auxt_session *session, const struct auxtrace_setup *arg,
			     const struct cpumask *cpus)
{
	const struct cred *owner;
	int err;

	err = auxt_rights_enter(arg, &owner);
	if (err)
		return err;
	if (mutex_lock_killable(&session->setup_lock)) {
		err = -EINTR;
	} else {
		err = setup_make(session, arg, cpus, owner);
		mutex_unlock(&session->setup_lock);
	}
	if (err)
		auxt_rights_leave(owner);
	return err;
}

/**
 * auxt_setup() - AUXTRACE_IOC_SETUP
 * @session: the session
 * @data: struct auxtrace_setup
 *
 * Return: 0, or an errno, after which the session is as it was: -EEXIST not the first SETUP;
 * -EINVAL @data or its config is invalid; -EFAULT a bad pointer to the CPU set; -EACCES no
 * CAP_PERFMON, and not allowed without; -EUSERS too many sessions without it; -ENODEV no such
 * trace PMU here, or a CPU is offline; -EOPNOTSUPP the trace PMU of a CPU cannot do what config or
 * a filter says; -E2BIG a filter has what this version does not know; -ESRCH no such thread;
 * -ENXIO it is a kernel thread, and only user code is to be traced; -ENOENT this kernel lacks a
 * tracepoint; -ENOMEM out of memory, or beyond RLIMIT_MEMLOCK; -EINTR a fatal signal.
 */
int auxt_setup(struct auxt_session *session, void *data)
{
	const struct auxtrace_setup *arg = data;
	cpumask_var_t cpus;
	int err;

	/* Another SETUP may come first yet: setup_make() asks again. */
	if (auxt_session_state(session) != AUXTRACE_STATE_NEW)
		return -EEXIST;
	err = setup_check(arg);
	if (err)
		return err;
	if (!zalloc_cpumask_var(&cpus, GFP_KERNEL))
		return -ENOMEM;
	err = auxt_cpuset_get(cpus, arg->cpus, arg->cpus_len);
	if (!err)
		err = setup_with_rights(session, arg, cpus);
	free_cpumask_var(cpus);
	return err;
}

/**
 * auxt_undo_setup() - free what SETUP made
 * @session: a stopped session that no other code uses
 *
 * Does nothing before SETUP.
 */
void auxt_undo_setup(struct auxt_session *session)
{
	if (session->state == AUXTRACE_STATE_NEW)
		return;
	/* First, because a trigger that hits and a context switch use the channels. */
	auxt_trigger_set_free(session->triggers);
	auxt_context_switch_unwatch(&session->group);
	auxt_task_scope_end(&session->group);
	auxt_channel_flush(&session->group);
	setup_free_channels(session);
	auxt_aux_buffer_put(session->buffer);
	auxt_filters_put(&session->group.filters);
	auxt_rights_leave(session->group.owner);
	free_cpumask_var(session->group.cpus);
}
