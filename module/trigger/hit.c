// SPDX-License-Identifier: GPL-2.0
/*
 * A trigger hits.
 *
 * This runs in every context there is: task, interrupt, NMI, and probes within any
 * of them. It takes no lock, waits for nothing and allocates nothing. With interrupts
 * off, what nests in it is an NMI at most (or a probe in one), and that is
 * what channels and data rings are made for. Counts are changed by single
 * instructions on the CPU's own memory.
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
#include "trigger/delay.h"
#include "trigger/latency.h"
#include "core/request.h"
#include "trigger/hit.h"

/* What was not used. A REARM since has given all: no more than that. */
static void give_back(struct auxt_trigger *t)
{
	if (t->allowance)
		atomic64_add_unless(&t->left, 1, t->allowance);
}
NOKPROBE_SYMBOL(give_back);

/*
 * Those that count their hits, or have nothing to do: does this one act? If so, the hold-off
 * begins @at; before, it was from @since on.
 */
static bool may_act(struct auxt_trigger *t, u64 *since, u64 *at)
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
	/* An NMI since may have been faster: then this hit is the one to be held off. */
	if (!t->hold_off || this_cpu_cmpxchg(t->counts->acted_tsc, acted, now) == acted)
		return true;
	give_back(t);
	return false;
}
NOKPROBE_SYMBOL(may_act);

/* Is everything as the trigger wants it? Those that come often find it so as a rule. */
static __always_inline bool is_noop(const struct auxt_trigger *t, const struct auxt_channel *ch)
{
	return (atomic_read(&ch->inhibit) & t->noop_mask) == t->noop &&
	       (!(t->is & TRIGGER_IS_BROADCAST) || READ_ONCE(*ch->last_broadcast) == t->request.action);
}

/* As auxt_trigger_hit() does it, for triggers that are TRIGGER_IS_LONG, or idle. */
static noinline size_t work(struct auxt_trigger *t, struct auxt_channel *ch, u64 value)
{
	u64 since = 0, at = 0;

	if (t->is & TRIGGER_IS_CLOCK)
		auxt_latency_tick(t);
	if (!ch || ch->triggers != t->set)
		return offsetof(struct trigger_counts, idle);
	/* What does nothing uses nothing up. */
	if (t->request.action == AUXTRACE_ACTION_FREEZE && is_noop(t, ch))
		return t->noop_count;
	if (t->is & TRIGGER_IS_COUNTED && !may_act(t, &since, &at))
		return offsetof(struct trigger_counts, held);
	if (is_noop(t, ch))
		return t->noop_count;
	if (t->is & TRIGGER_IS_DELAYED ? auxt_delay_begin(t, ch, value) :
					 auxt_request_make(ch, &t->request, value))
		return offsetof(struct trigger_counts, acted);
	give_back(t);
	/* It has not acted: it holds nothing off. */
	if (t->hold_off)
		this_cpu_cmpxchg(t->counts->acted_tsc, at, since);
	return offsetof(struct trigger_counts, missed);
}
NOKPROBE_SYMBOL(work);

/**
 * auxt_trigger_hit() - a trigger's event happened on this CPU
 * @t: the trigger
 * @value: of the event, see struct auxtrace_record_trigger
 */
void auxt_trigger_hit(struct auxt_trigger *t, u64 value)
{
	struct auxt_channel *ch;
	unsigned long flags;
	size_t count;

	if (unlikely(t->pid) && task_tgid(current) != t->pid)
		return;
	raw_local_irq_save(flags);
	ch = auxt_channel_here(t->pmu);
	if (t->is & TRIGGER_IS_LONG || !ch || ch->triggers != t->set)
		count = work(t, ch, value);
	else if (is_noop(t, ch))
		count = t->noop_count;
	else if (likely(auxt_request_make(ch, &t->request, value)))
		count = offsetof(struct trigger_counts, acted);
	else
		count = offsetof(struct trigger_counts, missed);
	this_cpu_inc(*(u64 __percpu *)((char __percpu *)t->counts + count));
	raw_local_irq_restore(flags);
}
NOKPROBE_SYMBOL(auxt_trigger_hit);
