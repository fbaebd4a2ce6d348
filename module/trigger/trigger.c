// SPDX-License-Identifier: GPL-2.0-only
/* One trigger: its life and its counts. */

#include <linux/err.h>
#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/percpu.h>
#include <linux/pid.h>
#include <linux/slab.h>
#include <linux/stddef.h>
#include <linux/string.h>
#include "base/clock.h"
#include "trigger/trigger.h"

/**
 * auxt_trigger_free() - undo auxt_trigger_new()
 * @t: a trigger that is not attached and in no set
 */
void auxt_trigger_free(struct auxt_trigger *t)
{
	put_pid(t->pid);
	free_percpu(t->counts);
	kfree(t);
}
NOKPROBE_SYMBOL(auxt_trigger_free);

/* Sets the state of a channel in which a hit has nothing to do: see hit_is_noop(). */
static void trigger_init_noop(struct auxt_trigger *t, const struct auxtrace_trigger *arg)
{
	/* With a mask of 0 the comparison with 1 never holds. */
	t->noop = 1;
	t->noop_count = offsetof(struct trigger_counts, acted);
	/* A delay begins whatever the state of the channel, except that of a FREEZE if frozen. */
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
NOKPROBE_SYMBOL(trigger_init_noop);

/**
 * auxt_trigger_new() - create the trigger that TRIGGER_ADD describes
 * @kind: source of its events
 * @arg: the argument of TRIGGER_ADD, checked
 *
 * Return: a trigger that is not attached and in no set yet; or ERR_PTR(-ENOMEM); or ERR_PTR(-ESRCH)
 * if there is no such process.
 */
struct auxt_trigger *auxt_trigger_new(const struct trigger_kind *kind,
				      const struct auxtrace_trigger *arg)
{
	struct auxt_trigger *t = kzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);

	if (!t)
		return ERR_PTR(-ENOMEM);
	t->kind = kind;
	t->request.action = arg->action;
	t->number = arg->number;
	t->after_hits = arg->after_hits;
	/* @left is signed. No trigger lives to act 2^63 times, so the limit changes nothing. */
	t->allowance = arg->flags & AUXTRACE_TRIGGER_ONE_SHOT ? 1 : min_t(u64, arg->count, S64_MAX);
	atomic64_set(&t->left, t->allowance);
	if (t->after_hits || t->allowance || arg->hold_off_ns || !t->request.action)
		t->is |= TRIGGER_IS_COUNTED;
	if (arg->flags & AUXTRACE_TRIGGER_ALL_CPUS)
		t->is |= TRIGGER_IS_BROADCAST;
	if (arg->delay_ns)
		t->is |= TRIGGER_IS_DELAYED;
	t->request.all_cpus = t->is & TRIGGER_IS_BROADCAST || arg->action == AUXTRACE_ACTION_FREEZE;
	trigger_init_noop(t, arg);
	t->hold_off = auxt_ns_to_tsc(arg->hold_off_ns);
	t->delay_ns = arg->delay_ns;
	t->request.delay = arg->delay_bytes;
	t->request.size = arg->sample_size;
	t->counts = alloc_percpu_gfp(struct trigger_counts, GFP_KERNEL_ACCOUNT);
	if (!t->counts) {
		auxt_trigger_free(t);
		return ERR_PTR(-ENOMEM);
	}
	if (arg->pid) {
		t->pid = find_get_pid(arg->pid);
		if (!t->pid || !pid_has_task(t->pid, PIDTYPE_TGID)) {
			auxt_trigger_free(t);
			return ERR_PTR(-ESRCH);
		}
		t->is |= TRIGGER_IS_OF_PROCESS;
	}
	return t;
}
NOKPROBE_SYMBOL(auxt_trigger_new);

/**
 * auxt_trigger_sum() - add up the counts of all CPUs
 * @t: the trigger
 * @to: gets the counts in its out_* members
 */
void auxt_trigger_sum(const struct auxt_trigger *t, struct auxtrace_trigger_state *to)
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
NOKPROBE_SYMBOL(auxt_trigger_sum);

/**
 * auxt_trigger_find() - find a trigger by its id
 * @siblings: the places of a set
 * @id: the id; 0 is no trigger's
 *
 * Return: the trigger or NULL.
 */
struct auxt_trigger *auxt_trigger_find(struct auxt_trigger *const *siblings, u32 id)
{
	int i;

	for (i = 0; i < AUXTRACE_MAX_TRIGGERS; i++)
		if (id && siblings[i] && siblings[i]->request.trigger == id)
			return siblings[i];
	return NULL;
}
NOKPROBE_SYMBOL(auxt_trigger_find);

/**
 * auxt_trigger_name() - copy the name of TRIGGER_ADD from user space
 * @arg: the argument of TRIGGER_ADD, with a name
 *
 * Return: the name, to be freed by kfree(); or ERR_PTR(-EFAULT), ERR_PTR(-ENOMEM), or
 * ERR_PTR(-EINVAL) if it contains a NUL.
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
NOKPROBE_SYMBOL(auxt_trigger_name);
