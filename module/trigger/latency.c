// SPDX-License-Identifier: GPL-2.0-only
/*
 * Latency triggers: a hit of trigger A starts the current task's clock, a hit of trigger B stops
 * it. If the clock ran longer than the bound, the latency trigger hits.
 *
 * DOC: the table of clocks
 *
 * Running clocks are in a hash table by task, with a few places in each bucket. A free place is
 * taken by cmpxchg, since other tasks may want it. Once taken, only code that runs as the place's
 * task reads, writes and frees it, so only contexts nested on one CPU can race for it. A per-CPU
 * flag, latency_busy, is their trylock: an NMI that interrupts the few instructions under the flag
 * gives up, and its hit is counted as missed.
 *
 * No clock survives its task. The task frees its place at the tracepoint sched_process_exit,
 * and PF_EXITING, which is set before that, keeps it from taking another. So a new task whose
 * task_struct has the same address begins without a clock.
 *
 * If all places of a bucket are taken, the clock does not start; this, too, is counted as missed.
 *
 * DOC: life of a latency trigger
 *
 * The trigger's place in the set is a bit in @starts of A and in @stops of B. Both bits are set
 * once the trigger is complete. They are cleared before a grace period, at whose end the table is
 * freed: code that looks at the bits has interrupts off, and so delays the end of the period.
 */

#include <linux/bits.h>
#include <linux/err.h>
#include <linux/hash.h>
#include <linux/irqflags.h>
#include <linux/kprobes.h>
#include <linux/math64.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/tracepoint.h>
#include <asm/tsc.h>
#include "base/clock.h"
#include "compat/probe.h"
#include "trigger/hit.h"
#include "trigger/latency.h"
#include "trigger/tracepoint.h"
#include "trigger/trigger.h"

#define LATENCY_BUCKET_BITS	10
#define LATENCY_PLACES		8

struct latency_clock {
	struct task_struct *task;	/* NULL: the place is free */
	u64 begun;			/* TSC */
};

/**
 * struct latency - the clocks of one trigger
 * @a: trigger that starts them
 * @b: trigger that stops them
 * @exit: the tracepoint sched_process_exit
 * @clock: buckets
 */
struct latency {
	struct auxt_trigger *a;
	struct auxt_trigger *b;
	struct tracepoint *exit;
	struct latency_clock clock[1 << LATENCY_BUCKET_BITS][LATENCY_PLACES];
};

/* 1 while a context of this CPU, with interrupts off, uses a table of clocks. */
static DEFINE_PER_CPU(u32, latency_busy);

static bool latency_trylock(void)
{
	return !this_cpu_cmpxchg(latency_busy, 0, 1);
}
NOKPROBE_SYMBOL(latency_trylock);

static void latency_unlock(void)
{
	barrier();
	this_cpu_write(latency_busy, 0);
}
NOKPROBE_SYMBOL(latency_unlock);

static struct latency_clock *latency_bucket(struct latency *latency,
					    const struct task_struct *task)
{
	return latency->clock[hash_ptr((void *)task, LATENCY_BUCKET_BITS)];
}
NOKPROBE_SYMBOL(latency_bucket);

static struct latency_clock *latency_find(struct latency *latency, const struct task_struct *task)
{
	struct latency_clock *clock = latency_bucket(latency, task);
	int i;

	for (i = 0; i < LATENCY_PLACES; i++)
		if (READ_ONCE(clock[i].task) == task)
			return &clock[i];
	return NULL;
}
NOKPROBE_SYMBOL(latency_find);

/* Starts the clock, or starts it again. Returns false if it cannot start. */
static bool latency_begin(struct latency *latency)
{
	struct latency_clock *clock = latency_find(latency, current);
	int i;

	if (!clock) {
		if (current->flags & PF_EXITING)
			return false;
		clock = latency_bucket(latency, current);
		for (i = 0; cmpxchg(&clock->task, NULL, current); i++, clock++)
			if (i == LATENCY_PLACES - 1)
				return false;
	}
	clock->begun = rdtsc();
	return true;
}
NOKPROBE_SYMBOL(latency_begin);

/* Stops the clock. Returns how long it ran, in ticks of the TSC; 0 if it did not run. */
static u64 latency_end(struct latency *latency)
{
	struct latency_clock *clock = latency_find(latency, current);
	s64 ran;

	if (!clock)
		return 0;
	ran = rdtsc() - clock->begun;
	/* Pairs with the cmpxchg of the task that takes the place next. */
	smp_store_release(&clock->task, NULL);
	/* Negative if the task migrated to a CPU whose TSC is slightly behind. */
	return max_t(s64, ran, 0);
}
NOKPROBE_SYMBOL(latency_end);

static void latency_miss(struct auxt_trigger *t)
{
	this_cpu_inc(t->counts->missed);
}
NOKPROBE_SYMBOL(latency_miss);

static __always_inline void latency_stop(struct auxt_trigger *t)
{
	u64 ran = 0;

	if (latency_trylock()) {
		ran = latency_end(t->event);
		latency_unlock();
	} else {
		latency_miss(t);
	}
	if (ran > t->bound)
		auxt_trigger_hit(t, auxt_tsc_to_ns(ran));
}

static __always_inline void latency_start(struct auxt_trigger *t)
{
	bool begun = false;

	if (latency_trylock()) {
		begun = latency_begin(t->event);
		latency_unlock();
	}
	if (!begun)
		latency_miss(t);
}

/**
 * auxt_latency_tick() - stop and start the clocks that wait for a trigger's hit
 * @t: the trigger that has hit, which is A or B of latency triggers
 * @start: false: only stop them
 */
void auxt_latency_tick(struct auxt_trigger *t, bool start)
{
	u64 stops = READ_ONCE(t->stops), starts = start ? READ_ONCE(t->starts) : 0;

	for (; stops; stops &= stops - 1)
		latency_stop(READ_ONCE(t->siblings[__ffs64(stops)]));
	for (; starts; starts &= starts - 1)
		latency_start(READ_ONCE(t->siblings[__ffs64(starts)]));
}
NOKPROBE_SYMBOL(auxt_latency_tick);

static void latency_on_exit(AUXT_PROCESS_EXIT_ARGS)
{
	struct auxt_trigger *t = data;
	unsigned long flags;

	raw_local_irq_save(flags);
	/* Never fails: an NMI that interrupts this task has unlocked before it returns. */
	if (latency_trylock()) {
		latency_end(t->event);
		latency_unlock();
	}
	raw_local_irq_restore(flags);
}
NOKPROBE_SYMBOL(latency_on_exit);

/* With the set's lock held: it serialises all changes of @is. */
static void latency_update_flag(struct auxt_trigger *t)
{
	u32 is = t->is & ~TRIGGER_IS_CLOCK;

	WRITE_ONCE(t->is, t->starts | t->stops ? is | TRIGGER_IS_CLOCK : is);
}
NOKPROBE_SYMBOL(latency_update_flag);

static int latency_attach(struct auxt_trigger *t, const struct auxtrace_trigger *arg)
{
	struct latency *latency;
	int err;

	if (!arg->bound_ns)
		return -EINVAL;
	latency = kvzalloc(sizeof(*latency), GFP_KERNEL_ACCOUNT);
	if (!latency)
		return -ENOMEM;
	err = -ENOENT;
	latency->a = auxt_trigger_find(t->siblings, arg->a);
	latency->b = auxt_trigger_find(t->siblings, arg->b);
	if (!latency->a || !latency->b || latency->a == t || latency->b == t)
		goto err_free;
	/* A latency trigger as A or B would make auxt_latency_tick() recurse: refuse. */
	err = -EINVAL;
	if (latency->a->kind == t->kind || latency->b->kind == t->kind)
		goto err_free;
	err = -ENOENT;
	latency->exit = auxt_tracepoint_find("sched_process_exit");
	if (!latency->exit)
		goto err_free;
	t->bound = auxt_ns_to_tsc(arg->bound_ns);
	t->event = latency;
	err = tracepoint_probe_register(latency->exit, latency_on_exit, t);
	if (err)
		goto err_free;
	/* The trigger is complete before a hit can see the bits. */
	smp_wmb();
	WRITE_ONCE(latency->a->starts, latency->a->starts | BIT_ULL(t->place));
	WRITE_ONCE(latency->b->stops, latency->b->stops | BIT_ULL(t->place));
	latency_update_flag(latency->a);
	latency_update_flag(latency->b);
	return 0;

err_free:
	kvfree(latency);
	return err;
}
NOKPROBE_SYMBOL(latency_attach);

static void latency_detach(struct auxt_trigger *t)
{
	struct latency *latency = t->event;

	WRITE_ONCE(latency->a->starts, latency->a->starts & ~BIT_ULL(t->place));
	WRITE_ONCE(latency->b->stops, latency->b->stops & ~BIT_ULL(t->place));
	latency_update_flag(latency->a);
	latency_update_flag(latency->b);
	tracepoint_probe_unregister(latency->exit, latency_on_exit, t);
	tracepoint_synchronize_unregister();
	/* Hits that have seen the bits have interrupts off. */
	synchronize_rcu();
	kvfree(latency);
}
NOKPROBE_SYMBOL(latency_detach);

const struct trigger_kind auxt_trigger_latency = {
	.attach = latency_attach,
	.detach = latency_detach,
};
