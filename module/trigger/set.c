// SPDX-License-Identifier: GPL-2.0
/*
 * The triggers of a session.
 *
 * @lock serialises ADD, DEL, READ and renewals. It comes before the session's
 * other locks and before cpus_read_lock(), which the kernel's interfaces for events
 * take for themselves. What a hit needs, it reads without a lock: a place in
 * set->trigger[] changes only while no hit that looks at it can run (latency.c).
 */

#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/mutex.h>
#include <linux/pid.h>
#include <linux/slab.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <linux/workqueue.h>
#include <asm/tsc.h>
#include "base/clock.h"
#include "core/data_ring.h"
#include "trigger/delay.h"
#include "core/record.h"
#include "trigger/hit.h"
#include "trigger/set.h"

/**
 * struct auxt_trigger_set - the triggers of a session
 * @lock: see above
 * @cpus: the session's
 * @setup: as the session was set up
 * @renewal: renews outside of a hotplug callback
 * @last_id: the newest trigger's
 * @trigger: NULL: a free place
 */
struct auxt_trigger_set {
	struct mutex lock;
	const struct cpumask *cpus;
	struct auxtrace_setup setup;
	struct work_struct renewal;
	u32 last_id;
	struct auxt_trigger *trigger[AUXTRACE_MAX_TRIGGERS];
};

static const struct trigger_kind *const kinds[] = {
	[AUXTRACE_TRIGGER_PERF] = &auxt_trigger_perf,
	[AUXTRACE_TRIGGER_SYSCALL_ENTER] = &auxt_trigger_syscall_enter,
	[AUXTRACE_TRIGGER_SYSCALL_EXIT] = &auxt_trigger_syscall_exit,
	[AUXTRACE_TRIGGER_KPROBE] = &auxt_trigger_kprobe,
	[AUXTRACE_TRIGGER_KRETPROBE] = &auxt_trigger_kretprobe,
	[AUXTRACE_TRIGGER_UPROBE] = &auxt_trigger_uprobe,
	[AUXTRACE_TRIGGER_URETPROBE] = &auxt_trigger_uretprobe,
	[AUXTRACE_TRIGGER_BREAKPOINT] = &auxt_trigger_breakpoint,
	[AUXTRACE_TRIGGER_LATENCY] = &auxt_trigger_latency,
	[AUXTRACE_TRIGGER_TIMER] = &auxt_trigger_timer,
};

/* ---- what kinds ask ----------------------------------------------------- */

/**
 * auxt_trigger_cpus() - where a trigger's events matter
 * @t: the trigger
 *
 * Return: the CPUs of its session.
 */
const struct cpumask *auxt_trigger_cpus(const struct auxt_trigger *t)
{
	return t->set->cpus;
}

/**
 * auxt_trigger_name() - the name that a caller gives
 * @arg: of TRIGGER_ADD, with a name
 *
 * Return: the name, to be freed by kfree(), or an errno.
 */
char *auxt_trigger_name(const struct auxtrace_trigger *arg)
{
	char *name = memdup_user_nul(u64_to_user_ptr(arg->name), arg->name_len);

	if (!IS_ERR(name) && strlen(name) != arg->name_len) {
		kfree(name);
		return ERR_PTR(-EINVAL);
	}
	return name;
}

/* ---- ADD ---------------------------------------------------------------- */

static bool unused_is_zero(const struct auxtrace_trigger *arg, u32 uses)
{
	return (uses & USES_ATTR || (!arg->attr && !arg->attr_len)) &&
	       (uses & USES_NUMBER || !arg->number) &&
	       (uses & USES_ADDRESS || !arg->address) &&
	       (uses & USES_NAME || (!arg->name && !arg->name_len)) &&
	       (uses & USES_BOUND || !arg->bound_ns) &&
	       (uses & USES_OTHERS || (!arg->a && !arg->b));
}

static int check_action(const struct auxt_trigger_set *set, const struct auxtrace_trigger *arg)
{
	u64 area = set->setup.aux_size / max(set->setup.slots, 1U);
	/* As check_setup() has it: an overwritable ring may be divided. */
	u64 ring = set->setup.data_size / auxt_data_slots(&set->setup);
	bool stops = arg->action == AUXTRACE_ACTION_PAUSE || arg->action == AUXTRACE_ACTION_FREEZE;
	bool moves = arg->action == AUXTRACE_ACTION_PAUSE || arg->action == AUXTRACE_ACTION_RESUME;

	if (arg->action > AUXTRACE_ACTION_FREEZE)
		return -EINVAL;
	if (arg->flags & AUXTRACE_TRIGGER_ALL_CPUS && !moves)
		return -EINVAL;
	if (!stops && (arg->delay_ns || arg->delay_bytes))
		return -EINVAL;
	/* The time, or the position, at which it ends must be one. */
	if ((arg->delay_ns && arg->delay_bytes) || arg->delay_ns > KTIME_MAX ||
	    arg->delay_bytes > S64_MAX)
		return -EINVAL;
	if (arg->action == AUXTRACE_ACTION_NONE &&
	    (arg->after_hits || arg->count || arg->hold_off_ns || arg->flags))
		return -EINVAL;
	if (arg->delay_bytes && !(set->setup.flags & AUXTRACE_SETUP_OVERWRITE))
		return -EINVAL;
	if (arg->action != AUXTRACE_ACTION_SAMPLE)
		return arg->sample_size ? -EINVAL : 0;
	if (!arg->sample_size || arg->sample_size > area / 2 || !set->setup.data_size)
		return -EINVAL;
	if (arg->sample_size > auxt_sample_space(ring) && set->setup.slots < 2)
		return -EINVAL;
	return 0;
}

static int check(const struct auxt_trigger_set *set, const struct auxtrace_trigger *arg)
{
	if (arg->flags & ~AUXTRACE_TRIGGER_ALL || arg->reserved || arg->kind >= ARRAY_SIZE(kinds))
		return -EINVAL;
	if (arg->name_len >= PATH_MAX || !unused_is_zero(arg, kinds[arg->kind]->uses))
		return -EINVAL;
	if (arg->flags & AUXTRACE_TRIGGER_ONE_SHOT && arg->count)
		return -EINVAL;
	return check_action(set, arg);
}

static void trigger_free(struct auxt_trigger *t)
{
	put_pid(t->pid);
	free_percpu(t->counts);
	kfree(t);
}

static void set_done(struct auxt_trigger *t, const struct auxtrace_trigger *arg)
{
	/* Of no reasons, this never holds. */
	t->noop = 1;
	t->noop_count = offsetof(struct trigger_counts, acted);
	/* A delay begins whatever state the channel is in, but not where it is frozen. */
	if ((arg->delay_ns || arg->delay_bytes) && arg->action != AUXTRACE_ACTION_FREEZE)
		return;
	switch (arg->action) {
	case AUXTRACE_ACTION_PAUSE:
		t->noop_mask = t->noop = AUXTRACE_INHIBIT_TRIGGER;
		break;
	case AUXTRACE_ACTION_RESUME:
		t->noop_mask = AUXTRACE_INHIBIT_TRIGGER;
		t->noop = 0;
		break;
	case AUXTRACE_ACTION_FREEZE:
		t->noop_mask = t->noop = AUXTRACE_INHIBIT_FROZEN;
		t->noop_count = offsetof(struct trigger_counts, held);
		break;
	}
}

static struct auxt_trigger *trigger_new(struct auxt_trigger_set *set,
					const struct auxtrace_trigger *arg)
{
	struct auxt_trigger *t = kzalloc(sizeof(*t), GFP_KERNEL);

	if (!t)
		return ERR_PTR(-ENOMEM);
	t->set = set;
	t->pmu = set->setup.pmu;
	t->kind = kinds[arg->kind];
	t->request.action = arg->action;
	t->flags = arg->flags;
	t->number = arg->number;
	t->after_hits = arg->after_hits;
	/* @left is signed; nothing happens more often than that. */
	t->allowance = arg->flags & AUXTRACE_TRIGGER_ONE_SHOT ? 1 : min_t(u64, arg->count, S64_MAX);
	atomic64_set(&t->left, t->allowance);
	if (t->after_hits || t->allowance || arg->hold_off_ns || !t->request.action)
		t->is |= TRIGGER_IS_COUNTED;
	if (t->flags & AUXTRACE_TRIGGER_ALL_CPUS)
		t->is |= TRIGGER_IS_BROADCAST;
	if (arg->delay_ns)
		t->is |= TRIGGER_IS_DELAYED;
	t->request.all_cpus = t->is & TRIGGER_IS_BROADCAST || arg->action == AUXTRACE_ACTION_FREEZE;
	set_done(t, arg);
	t->hold_off = auxt_ns_to_tsc(arg->hold_off_ns);
	t->delay_ns = arg->delay_ns;
	t->request.delay = arg->delay_bytes;
	t->request.size = arg->sample_size;
	t->counts = alloc_percpu(struct trigger_counts);
	if (!t->counts) {
		trigger_free(t);
		return ERR_PTR(-ENOMEM);
	}
	if (arg->pid) {
		t->pid = find_get_pid(arg->pid);
		if (!t->pid || !pid_has_task(t->pid, PIDTYPE_TGID)) {
			trigger_free(t);
			return ERR_PTR(-ESRCH);
		}
	}
	return t;
}

static int free_place(const struct auxt_trigger_set *set)
{
	int i;

	for (i = 0; i < AUXTRACE_MAX_TRIGGERS; i++)
		if (!set->trigger[i])
			return i;
	return -ENOSPC;
}

/* With @lock. */
static int add(struct auxt_trigger_set *set, struct auxtrace_trigger *arg)
{
	struct auxt_trigger *t;
	int place, err;

	err = check(set, arg);
	if (err)
		return err;
	place = free_place(set);
	if (place < 0)
		return place;
	t = trigger_new(set, arg);
	if (IS_ERR(t))
		return PTR_ERR(t);
	/* Never used again, also if it comes to nothing: it may have hit. */
	t->request.trigger = ++set->last_id;
	err = auxt_delay_new(t);
	if (err)
		goto err_free;
	/* Its events may hit from the attach on: all else is in place. */
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
	trigger_free(t);
	return err;
}

/**
 * auxt_trigger_set_add() - AUXTRACE_IOC_TRIGGER_ADD
 * @set: of a session that was set up
 * @arg: see the ABI
 *
 * Return: 0 or as the ABI says.
 */
int auxt_trigger_set_add(struct auxt_trigger_set *set, struct auxtrace_trigger *arg)
{
	int err;

	if (!perfmon_capable())
		return -EACCES;
	if (mutex_lock_killable(&set->lock))
		return -EINTR;
	err = add(set, arg);
	mutex_unlock(&set->lock);
	return err;
}

/* ---- DEL, READ ---------------------------------------------------------- */

static int place_of(const struct auxt_trigger_set *set, u32 id)
{
	int i;

	for (i = 0; i < AUXTRACE_MAX_TRIGGERS; i++)
		if (id && set->trigger[i] && set->trigger[i]->request.trigger == id)
			return i;
	return -ENOENT;
}

/**
 * auxt_trigger_set_find() - a trigger by its id
 * @set: the set, locked
 * @id: the id
 * @place: where to put its place in the set
 *
 * Return: the trigger or NULL.
 */
struct auxt_trigger *auxt_trigger_set_find(struct auxt_trigger_set *set, u32 id, int *place)
{
	*place = place_of(set, id);
	return *place < 0 ? NULL : set->trigger[*place];
}

/**
 * auxt_trigger_set_at() - a trigger by its place
 * @set: the set
 * @place: less than AUXTRACE_MAX_TRIGGERS
 *
 * Return: the trigger or NULL; stays as long as interrupts are off.
 */
notrace struct auxt_trigger *auxt_trigger_set_at(struct auxt_trigger_set *set, unsigned int place)
{
	return READ_ONCE(set->trigger[place]);
}
NOKPROBE_SYMBOL(auxt_trigger_set_at);

static void detach(struct auxt_trigger_set *set, int place)
{
	struct auxt_trigger *t = set->trigger[place];

	t->kind->detach(t);
	t->event = NULL;
	auxt_delay_free(t);
	set->trigger[place] = NULL;
}

static void sum(const struct auxt_trigger *t, struct auxtrace_trigger_state *to)
{
	unsigned int cpu;

	to->out_acted = to->out_held = to->out_idle = 0;
	to->out_missed = t->event && t->kind->missed ? t->kind->missed(t) : t->dropped;
	for_each_possible_cpu(cpu) {
		const struct trigger_counts *counts = per_cpu_ptr(t->counts, cpu);

		to->out_acted += READ_ONCE(counts->acted);
		to->out_held += READ_ONCE(counts->held);
		to->out_idle += READ_ONCE(counts->idle);
		to->out_missed += READ_ONCE(counts->missed);
	}
	to->out_hits = to->out_acted + to->out_held + to->out_idle + to->out_missed;
}

/**
 * auxt_trigger_set_del() - AUXTRACE_IOC_TRIGGER_DEL
 * @set: of a session that was set up
 * @arg: see the ABI
 *
 * Return: 0 or as the ABI says.
 */
int auxt_trigger_set_del(struct auxt_trigger_set *set, struct auxtrace_trigger_state *arg)
{
	struct auxt_trigger *t;
	int place, err = 0;

	if (arg->flags || arg->reserved)
		return -EINVAL;
	if (mutex_lock_killable(&set->lock))
		return -EINTR;
	t = auxt_trigger_set_find(set, arg->id, &place);
	if (!t) {
		err = -ENOENT;
	} else if (t->starts | t->stops) {
		err = -EBUSY;
	} else {
		detach(set, place);
		/* No hit comes any more: the sum is the last word. */
		sum(t, arg);
		trigger_free(t);
	}
	mutex_unlock(&set->lock);
	return err;
}

/**
 * auxt_trigger_set_read() - AUXTRACE_IOC_TRIGGER_READ
 * @set: of a session that was set up
 * @arg: see the ABI
 *
 * Return: 0 or as the ABI says.
 */
int auxt_trigger_set_read(struct auxt_trigger_set *set, struct auxtrace_trigger_state *arg)
{
	struct auxt_trigger *t;
	int place, err = 0;

	if (arg->flags & ~AUXTRACE_TRIGGER_REARM || arg->reserved)
		return -EINVAL;
	if (mutex_lock_killable(&set->lock))
		return -EINTR;
	t = auxt_trigger_set_find(set, arg->id, &place);
	if (!t) {
		err = -ENOENT;
	} else {
		sum(t, arg);
		if (arg->flags & AUXTRACE_TRIGGER_REARM) {
			atomic64_set(&t->seen, 0);
			atomic64_set(&t->left, t->allowance);
		}
	}
	mutex_unlock(&set->lock);
	return err;
}

/* ---- CPUs that come back ------------------------------------------------ */

/**
 * auxt_trigger_set_renew() - make events anew that CPUs lost as they went offline
 * @set: the set
 *
 * Task context, without cpus_read_lock().
 */
void auxt_trigger_set_renew(struct auxt_trigger_set *set)
{
	int i;

	mutex_lock(&set->lock);
	for (i = 0; i < AUXTRACE_MAX_TRIGGERS; i++)
		if (set->trigger[i] && set->trigger[i]->kind->renew)
			set->trigger[i]->kind->renew(set->trigger[i]);
	mutex_unlock(&set->lock);
}

static void renewal(struct work_struct *work)
{
	auxt_trigger_set_renew(container_of(work, struct auxt_trigger_set, renewal));
}

/**
 * auxt_trigger_set_renew_later() - as above, out of a hotplug callback
 * @set: the set
 *
 * The callback holds what the kernel's interfaces for events take.
 */
void auxt_trigger_set_renew_later(struct auxt_trigger_set *set)
{
	schedule_work(&set->renewal);
}

/* ---- life --------------------------------------------------------------- */

/**
 * auxt_trigger_set_new() - none yet
 * @cpus: of the session; outlive the set
 * @setup: as the session was set up
 *
 * Return: the set or NULL.
 */
struct auxt_trigger_set *auxt_trigger_set_new(const struct cpumask *cpus,
					const struct auxtrace_setup *setup)
{
	struct auxt_trigger_set *set = kzalloc(sizeof(*set), GFP_KERNEL);

	if (!set)
		return NULL;
	mutex_init(&set->lock);
	INIT_WORK(&set->renewal, renewal);
	set->cpus = cpus;
	set->setup = *setup;
	return set;
}

/**
 * auxt_trigger_set_free() - the session ends
 * @set: of a stopped session, which nobody else uses; NULL is fine
 */
void auxt_trigger_set_free(struct auxt_trigger_set *set)
{
	int place;

	if (!set)
		return;
	cancel_work_sync(&set->renewal);
	/* Those that refer to others come before these: newest first. */
	while (set->last_id) {
		struct auxt_trigger *t;

		place = place_of(set, set->last_id--);
		if (place < 0)
			continue;
		t = set->trigger[place];
		detach(set, place);
		trigger_free(t);
	}
	kfree(set);
}
