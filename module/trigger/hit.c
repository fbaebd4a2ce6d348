// SPDX-License-Identifier: GPL-2.0-only
/*
 * The hit of a trigger.
 *
 * This runs in every context: task, interrupt, NMI, and probes within any of them. It takes no
 * lock, never waits and allocates nothing. Interrupts are off, so only an NMI (or a probe in one)
 * can nest in it; channels and data rings are made for that. Counts are in per-CPU memory and
 * change by single instructions.
 */

#include <linux/compiler.h>
#include <linux/irqflags.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/stddef.h>
#include <asm/msr.h>
#include <asm/tsc.h>
#include "core/channel.h"
#include "core/request.h"
#include "trigger/delay.h"
#include "trigger/hit.h"
#include "trigger/latency.h"
#include "trigger/trigger.h"

/* Undo the decrement of @left. A REARM since then has set @left to @allowance, the maximum. */
static void hit_refund(struct auxt_trigger *t)
{
	if (t->allowance)
		atomic64_add_unless(&t->left, 1, t->allowance);
}
NOKPROBE_SYMBOL(hit_refund);

/*
 * Does a hit of a trigger with TRIGGER_IS_COUNTED act? If so, sets @at to the time from which the
 * hold-off counts, and @since to the time from which the previous one counted.
 */
static bool hit_may_act(struct auxt_trigger *t, u64 *since, u64 *at)
{
	u64 acted = this_cpu_read(t->counts->acted_tsc);
	u64 now;

	if (t->request.action == AUXTRACE_ACTION_NONE)
		return false;
	if (t->after_hits && (u64)atomic64_inc_return(&t->seen) <= t->after_hits)
		return false;
	now = rdtsc();
	if (t->hold_off && acted && now - acted < t->hold_off)
		return false;
	if (t->allowance && atomic64_dec_if_positive(&t->left) < 0)
		return false;
	*since = acted;
	*at = now;
	/* If the cmpxchg fails, a hit in an NMI has acted since, and holds this one off. */
	if (!t->hold_off || this_cpu_cmpxchg(t->counts->acted_tsc, acted, now) == acted)
		return true;
	hit_refund(t);
	return false;
}
NOKPROBE_SYMBOL(hit_may_act);

/* Does the action change nothing on this CPU? That is the common case of frequent triggers. */
static __always_inline bool hit_is_noop_here(const struct auxt_trigger *t,
					     const struct auxt_channel *ch)
{
	return (atomic_read(&ch->inhibit) & t->noop_mask) == t->noop;
}

/* Does the action change nothing? */
static bool hit_is_noop(const struct auxt_trigger *t, const struct auxt_channel *ch)
{
	return hit_is_noop_here(t, ch) &&
	       (!(READ_ONCE(t->is) & TRIGGER_IS_BROADCAST) ||
		READ_ONCE(ch->group->last_broadcast) == t->request.action);
}
NOKPROBE_SYMBOL(hit_is_noop);

/* Returns the offset of the count that the hit belongs to. */
static size_t hit_carry_out(struct auxt_trigger *t, struct auxt_channel *ch, u64 value)
{
	/* Another CPU may add or remove CLOCK. */
	u32 is = READ_ONCE(t->is);
	u64 since = 0, at = 0;
	bool ours = ch && ch->triggers == t->set;
	bool outside = is & TRIGGER_IS_OF_MEMBERS && ours &&
		       auxt_channel_inhibited(ch) & AUXTRACE_INHIBIT_TASK;

	/* What is not a member may have a clock that began before START: it ends. */
	if (is & TRIGGER_IS_CLOCK)
		auxt_latency_tick(t, !outside);
	if (!ours)
		return offsetof(struct trigger_counts, idle);
	if (outside)
		return offsetof(struct trigger_counts, held);
	/* A FREEZE with nothing to do uses up neither after_hits nor count. */
	if (t->request.action == AUXTRACE_ACTION_FREEZE && hit_is_noop(t, ch))
		return t->noop_count;
	if (is & TRIGGER_IS_COUNTED && !hit_may_act(t, &since, &at))
		return offsetof(struct trigger_counts, held);
	if (hit_is_noop(t, ch))
		return t->noop_count;
	if (is & TRIGGER_IS_DELAYED ? auxt_delay_begin(t, ch, value) :
					 auxt_request_make(ch, &t->request, value))
		return offsetof(struct trigger_counts, acted);
	hit_refund(t);
	/* The trigger has not acted, so no hold-off begins. */
	if (t->hold_off)
		this_cpu_cmpxchg(t->counts->acted_tsc, at, since);
	return offsetof(struct trigger_counts, missed);
}
NOKPROBE_SYMBOL(hit_carry_out);

static __always_inline void hit_count(const struct auxt_trigger *t, size_t count)
{
	this_cpu_inc(*(u64 __percpu *)((char __percpu *)t->counts + count));
}

/*
 * The rest of auxt_trigger_hit(), in two functions of their own: so auxt_trigger_hit() itself saves
 * no registers. This one is for a trigger with any TRIGGER_IS_*.
 */
static noinline void hit_special(struct auxt_trigger *t, u64 value)
{
	unsigned long flags;

	if (t->pid && task_tgid(current) != t->pid)
		return;
	raw_local_irq_save(flags);
	hit_count(t, hit_carry_out(t, auxt_channel_here(t->pmu), value));
	raw_local_irq_restore(flags);
}
NOKPROBE_SYMBOL(hit_special);

/* This one makes the request of any other trigger. @flags: to restore at its end. */
static noinline void hit_request(struct auxt_trigger *t, struct auxt_channel *ch, u64 value,
				 unsigned long flags)
{
	if (likely(auxt_request_make(ch, &t->request, value)))
		hit_count(t, offsetof(struct trigger_counts, acted));
	else
		hit_count(t, offsetof(struct trigger_counts, missed));
	raw_local_irq_restore(flags);
}
NOKPROBE_SYMBOL(hit_request);

/**
 * auxt_trigger_hit() - a trigger's event happened on this CPU
 * @t: the trigger
 * @value: of the event, see struct auxtrace_record_trigger
 */
void auxt_trigger_hit(struct auxt_trigger *t, u64 value)
{
	struct auxt_channel *ch;
	unsigned long flags;

	if (unlikely(READ_ONCE(t->is))) {
		hit_special(t, value);
		return;
	}
	raw_local_irq_save(flags);
	ch = auxt_channel_here(t->pmu);
	if (unlikely(!ch || ch->triggers != t->set)) {
		hit_count(t, offsetof(struct trigger_counts, idle));
	} else if (hit_is_noop_here(t, ch)) {
		hit_count(t, t->noop_count);
	} else {
		hit_request(t, ch, value, flags);
		return;
	}
	raw_local_irq_restore(flags);
}
NOKPROBE_SYMBOL(auxt_trigger_hit);
