// SPDX-License-Identifier: GPL-2.0-only
/*
 * The triggers of a session.
 *
 * @lock serialises ADD, DEL, READ and renewals. It is taken before the session's other locks and
 * before cpus_read_lock(), which the kernel's interfaces for events take themselves. Hits take no
 * lock: a place in set->trigger[] changes only while no hit that reads it can run (latency.c).
 */

#include <linux/capability.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include "base/user_index.h"
#include "core/data_ring.h"
#include "core/known.h"
#include "core/record.h"
#include "trigger/delay.h"
#include "trigger/kinds.h"
#include "trigger/set.h"
#include "trigger/trigger.h"

/**
 * struct auxt_trigger_set - the triggers of a session
 * @lock: see above
 * @cpus: CPUs of the session
 * @setup: argument of the session's SETUP
 * @renewal: renews the events outside of a hotplug callback
 * @last_id: id of the newest trigger; 0: none yet
 * @trigger: by place; NULL: the place is free
 */
struct auxt_trigger_set {
	struct mutex lock;
	const struct cpumask *cpus;
	struct auxtrace_setup setup;
	struct work_struct renewal;
	u32 last_id;
	struct auxt_trigger *trigger[AUXTRACE_MAX_TRIGGERS];
};

static const struct trigger_kind *const set_kinds[] = {
#define KIND(constant, operations, members) \
	[AUXTRACE_TRIGGER_##constant] = &auxt_trigger_##operations,
	AUXT_TRIGGER_KINDS(KIND)
#undef KIND
};

/* ---- ADD ---------------------------------------------------------------- */

static int set_check_action(const struct auxt_trigger_set *set, struct auxtrace_trigger *arg)
{
	u64 area = set->setup.aux_size / max(set->setup.slots, 1U);
	/* An overwritable data ring is divided into slots, too: see setup.c. */
	u64 ring = set->setup.data_size / auxt_data_slots(&set->setup);
	u32 uses;

	if (!auxt_user_index(&arg->action, AUXT_NR_TRIGGER_ACTIONS))
		return -EINVAL;
	uses = auxt_trigger_actions[arg->action].uses;
	if (arg->flags & AUXTRACE_TRIGGER_ALL_CPUS && !(uses & USES_ALL_CPUS))
		return -EINVAL;
	if (!(uses & USES_DELAY) && (arg->delay_ns || arg->delay_bytes))
		return -EINVAL;
	/* The time or the position at which a delay ends must not overflow. */
	if ((arg->delay_ns && arg->delay_bytes) || arg->delay_ns > KTIME_MAX ||
	    arg->delay_bytes > S64_MAX)
		return -EINVAL;
	if (!(uses & USES_LIMITS) &&
	    (arg->after_hits || arg->count || arg->hold_off_ns || arg->flags))
		return -EINVAL;
	if (arg->delay_bytes && !(set->setup.flags & AUXTRACE_SETUP_OVERWRITE))
		return -EINVAL;
	if (!(uses & USES_SAMPLE))
		return arg->sample_size ? -EINVAL : 0;
	if (!arg->sample_size || arg->sample_size > area / 2 || !set->setup.data_size)
		return -EINVAL;
	/*
	 * The hit copies the sample, perhaps in an NMI. The kernel reports NMI handlers that take
	 * longer than 1 ms (nmi_longest_ns in arch/x86/kernel/nmi.c): a CPU that copies 2.1 GB/s
	 * stays below that. A hit with the largest sample takes 40,141 instructions, of which
	 * 512 are a REP MOVS of a page; one with 4 KiB takes 1,235 (bench/sample.c).
	 */
	if (arg->sample_size > AUXTRACE_MAX_SAMPLE)
		return -EINVAL;
	if (arg->sample_size > auxt_sample_space(ring) && set->setup.slots < 2)
		return -EINVAL;
	return 0;
}
NOKPROBE_SYMBOL(set_check_action);

static int set_check(const struct auxt_trigger_set *set, struct auxtrace_trigger *arg)
{
	if (arg->flags & ~AUXTRACE_TRIGGER_ALL || arg->reserved ||
	    !auxt_user_index(&arg->kind, ARRAY_SIZE(set_kinds)))
		return -EINVAL;
	if (arg->name_len >= PATH_MAX || auxt_trigger_unused(arg))
		return -EINVAL;
	if (arg->flags & AUXTRACE_TRIGGER_ONE_SHOT && arg->count)
		return -EINVAL;
	return set_check_action(set, arg);
}
NOKPROBE_SYMBOL(set_check);

static int set_free_place(const struct auxt_trigger_set *set)
{
	int i;

	for (i = 0; i < AUXTRACE_MAX_TRIGGERS; i++)
		if (!set->trigger[i])
			return i;
	return -ENOSPC;
}
NOKPROBE_SYMBOL(set_free_place);

/* With @lock. */
static int set_add(struct auxt_trigger_set *set, struct auxtrace_trigger *arg)
{
	struct auxt_trigger *t;
	int place, err;

	err = set_check(set, arg);
	if (err)
		return err;
	place = set_free_place(set);
	if (place < 0)
		return place;
	t = auxt_trigger_new(set_kinds[arg->kind], arg);
	if (IS_ERR(t))
		return PTR_ERR(t);
	t->set = set;
	t->pmu = set->setup.pmu;
	t->cpus = set->cpus;
	t->siblings = set->trigger;
	t->place = place;
	if (set->setup.flags & (AUXTRACE_SETUP_THREAD | AUXTRACE_SETUP_PROCESS))
		t->is |= TRIGGER_IS_OF_MEMBERS;
	/* An id is never used again, not even if attaching fails: the trigger may have hit. */
	t->request.trigger = ++set->last_id;
	err = auxt_delay_new(t);
	if (err)
		goto err_free;
	/* The trigger is complete now: its event may hit as soon as it is attached. */
	set->trigger[place] = t;
	err = t->kind->attach(t, arg);
	if (err)
		goto err_delay;
	arg->out_id = t->request.trigger;
	return 0;

err_delay:
	set->trigger[place] = NULL;
	auxt_delay_free(t);
err_free:
	auxt_trigger_free(t);
	return err;
}
NOKPROBE_SYMBOL(set_add);

/**
 * auxt_trigger_set_add() - AUXTRACE_IOC_TRIGGER_ADD
 * @set: the set of a session that was set up
 * @arg: the argument of the ioctl
 *
 * Return: 0; -EACCES no CAP_PERFMON; -EINTR a fatal signal; -EINVAL @arg is invalid; -ENOSPC the
 * set is full; -ESRCH, -ENOMEM, or an error of trigger_kind.attach. The ABI says what each means.
 */
int auxt_trigger_set_add(struct auxt_trigger_set *set, struct auxtrace_trigger *arg)
{
	int err;

	if (!perfmon_capable())
		return -EACCES;
	if (mutex_lock_killable(&set->lock))
		return -EINTR;
	err = set_add(set, arg);
	mutex_unlock(&set->lock);
	return err;
}
NOKPROBE_SYMBOL(auxt_trigger_set_add);

/* ---- DEL, READ ---------------------------------------------------------- */

static void set_remove(struct auxt_trigger_set *set, struct auxt_trigger *t)
{
	t->kind->detach(t);
	t->event = NULL;
	auxt_delay_free(t);
	set->trigger[t->place] = NULL;
}
NOKPROBE_SYMBOL(set_remove);

/**
 * auxt_trigger_set_del() - AUXTRACE_IOC_TRIGGER_DEL
 * @set: the set of a session that was set up
 * @arg: the argument of the ioctl
 *
 * Return: 0; -EINVAL unknown flag or non-zero reserved member; -EINTR a fatal signal; -ENOENT no
 * such trigger; -EBUSY a latency trigger refers to it.
 */
int auxt_trigger_set_del(struct auxt_trigger_set *set, struct auxtrace_trigger_state *arg)
{
	struct auxt_trigger *t;
	int err = 0;

	if (arg->flags || arg->reserved)
		return -EINVAL;
	if (mutex_lock_killable(&set->lock))
		return -EINTR;
	t = auxt_trigger_find(set->trigger, arg->id);
	if (!t) {
		err = -ENOENT;
	} else if (t->starts | t->stops) {
		err = -EBUSY;
	} else {
		set_remove(set, t);
		/* No more hits: these counts are final. */
		auxt_trigger_sum(t, arg);
		auxt_trigger_free(t);
	}
	mutex_unlock(&set->lock);
	return err;
}
NOKPROBE_SYMBOL(auxt_trigger_set_del);

/**
 * auxt_trigger_set_read() - AUXTRACE_IOC_TRIGGER_READ
 * @set: the set of a session that was set up
 * @arg: the argument of the ioctl
 *
 * Return: 0; -EINVAL unknown flag or non-zero reserved member; -EINTR a fatal signal; -ENOENT no
 * such trigger.
 */
int auxt_trigger_set_read(struct auxt_trigger_set *set, struct auxtrace_trigger_state *arg)
{
	struct auxt_trigger *t;
	int err = 0;

	if (arg->flags & ~AUXTRACE_TRIGGER_REARM || arg->reserved)
		return -EINVAL;
	if (mutex_lock_killable(&set->lock))
		return -EINTR;
	t = auxt_trigger_find(set->trigger, arg->id);
	if (!t) {
		err = -ENOENT;
	} else {
		auxt_trigger_sum(t, arg);
		if (arg->flags & AUXTRACE_TRIGGER_REARM) {
			atomic64_set(&t->seen, 0);
			atomic64_set(&t->left, t->allowance);
		}
	}
	mutex_unlock(&set->lock);
	return err;
}
NOKPROBE_SYMBOL(auxt_trigger_set_read);

/* ---- CPUs that are online again ----------------------------------------- */

/**
 * auxt_trigger_set_renew() - create again the events that CPUs lost when they went offline
 * @set: the set
 *
 * Task context, without cpus_read_lock().
 *
 * Return: 0, or -EINTR: a fatal signal.
 */
int auxt_trigger_set_renew(struct auxt_trigger_set *set)
{
	int i;

	if (mutex_lock_killable(&set->lock))
		return -EINTR;
	for (i = 0; i < AUXTRACE_MAX_TRIGGERS; i++)
		if (set->trigger[i] && set->trigger[i]->kind->renew)
			set->trigger[i]->kind->renew(set->trigger[i]);
	mutex_unlock(&set->lock);
	return 0;
}
NOKPROBE_SYMBOL(auxt_trigger_set_renew);

static void set_renew_work(struct work_struct *work)
{
	/* A kernel thread gets no signals. */
	auxt_trigger_set_renew(container_of(work, struct auxt_trigger_set, renewal));
}
NOKPROBE_SYMBOL(set_renew_work);

/**
 * auxt_trigger_set_renew_later() - queue auxt_trigger_set_renew(), for a hotplug callback
 * @set: the set
 *
 * A hotplug callback must not call that function: the caller of the callback holds the hotplug
 * lock, which the kernel's interfaces for events take.
 */
void auxt_trigger_set_renew_later(struct auxt_trigger_set *set)
{
	schedule_work(&set->renewal);
}
NOKPROBE_SYMBOL(auxt_trigger_set_renew_later);

/* ---- life --------------------------------------------------------------- */

/**
 * auxt_trigger_set_new() - create an empty set
 * @cpus: CPUs of the session; must outlive the set
 * @setup: argument of the session's SETUP
 *
 * Return: the set, or NULL if out of memory.
 */
struct auxt_trigger_set *auxt_trigger_set_new(const struct cpumask *cpus,
					      const struct auxtrace_setup *setup)
{
	struct auxt_trigger_set *set = kzalloc(sizeof(*set), GFP_KERNEL_ACCOUNT);

	if (!set)
		return NULL;
	mutex_init(&set->lock);
	INIT_WORK(&set->renewal, set_renew_work);
	set->cpus = cpus;
	set->setup = *setup;
	return set;
}
NOKPROBE_SYMBOL(auxt_trigger_set_new);

/**
 * auxt_trigger_set_free() - remove all triggers and free the set
 * @set: the set of a stopped session that no other code uses; may be NULL
 */
void auxt_trigger_set_free(struct auxt_trigger_set *set)
{
	struct auxt_trigger *t;

	if (!set)
		return;
	cancel_work_sync(&set->renewal);
	/* Newest first: a latency trigger is newer than those it refers to. */
	while (set->last_id) {
		t = auxt_trigger_find(set->trigger, set->last_id--);
		if (!t)
			continue;
		set_remove(set, t);
		auxt_trigger_free(t);
	}
	kfree(set);
}
NOKPROBE_SYMBOL(auxt_trigger_set_free);
