// SPDX-License-Identifier: GPL-2.0
/*
 * Latency triggers: a hit of trigger A starts the current task's clock, one of
 * trigger B stops it; more than the bound is a hit.
 *
 * DOC: the table
 *
 * Running clocks stand in a table hashed by task, a bucket of a few places each.
 * Only code that runs as a task takes, uses and leaves its place, so contexts that
 * nest on one CPU are the only ones that share one; a free place is taken from
 * other tasks by cmpxchg. Those that nest keep off each other by a flag of the CPU:
 * an NMI that lands within the few instructions that hold it is counted as missed.
 *
 * A task that exits leaves its place by way of the tracepoint sched_process_exit, and
 * takes none from PF_EXITING on, which it is before that: so no clock of a task
 * survives it, and a new task at the same address begins without one. Where a
 * bucket is full the clock does not start. Both are counted as missed.
 *
 * DOC: life
 *
 * A latency trigger stands as a bit in @starts of A and in @stops of B. They are
 * set when the trigger is complete, and cleared before a grace period at whose end
 * the table goes: whoever looks has interrupts off.
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
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <asm/tsc.h>
#include "compat/probe.h"
#include "base/clock.h"
#include "trigger/latency.h"
#include "trigger/hit.h"
#include "trigger/set.h"

#define BUCKET_BITS	10
#define PLACES		8

struct clock {
	struct task_struct *task;	/* NULL: free */
	u64 begun;
};

/**
 * struct latency - the clocks of one trigger
 * @a: starts them
 * @b: stops them
 * @place: of the trigger in its set
 * @exit: the tracepoint sched_process_exit
 * @clock: buckets
 */
struct latency {
	struct auxt_trigger *a;
	struct auxt_trigger *b;
	int place;
	struct tracepoint *exit;
	struct clock clock[1 << BUCKET_BITS][PLACES];
};

/* Interrupts off: a context of this CPU is at some table. */
static DEFINE_PER_CPU(u32, busy);

static bool come(void)
{
	return !this_cpu_cmpxchg(busy, 0, 1);
}
NOKPROBE_SYMBOL(come);

static void leave(void)
{
	barrier();
	this_cpu_write(busy, 0);
}
NOKPROBE_SYMBOL(leave);

static struct clock *bucket_of(struct latency *latency, const struct task_struct *task)
{
	return latency->clock[hash_ptr((void *)task, BUCKET_BITS)];
}
NOKPROBE_SYMBOL(bucket_of);

static struct clock *clock_of(struct latency *latency, const struct task_struct *task)
{
	struct clock *clock = bucket_of(latency, task);
	int i;

	for (i = 0; i < PLACES; i++)
		if (READ_ONCE(clock[i].task) == task)
			return &clock[i];
	return NULL;
}
NOKPROBE_SYMBOL(clock_of);

static bool begin(struct latency *latency)
{
	struct clock *clock = clock_of(latency, current);
	int i;

	if (!clock) {
		if (current->flags & PF_EXITING)
			return false;
		clock = bucket_of(latency, current);
		for (i = 0; cmpxchg(&clock->task, NULL, current); i++, clock++)
			if (i == PLACES - 1)
				return false;
	}
	clock->begun = rdtsc();
	return true;
}
NOKPROBE_SYMBOL(begin);

/* How long it ran, in ticks of the TSC; 0 if it did not. */
static u64 end(struct latency *latency)
{
	struct clock *clock = clock_of(latency, current);
	s64 ran;

	if (!clock)
		return 0;
	ran = rdtsc() - clock->begun;
	/* The last access before the place is another task's: pairs with its cmpxchg. */
	smp_store_release(&clock->task, NULL);
	/* The task's CPUs may not agree about the time to the tick. */
	return max_t(s64, ran, 0);
}
NOKPROBE_SYMBOL(end);

static void miss(struct auxt_trigger *t)
{
	this_cpu_inc(t->counts->missed);
}
NOKPROBE_SYMBOL(miss);

/**
 * auxt_latency_tick() - a trigger that clocks wait for has hit
 * @t: the trigger
 */
void auxt_latency_tick(struct auxt_trigger *t)
{
	u64 stops = READ_ONCE(t->stops), starts = READ_ONCE(t->starts);
	struct auxt_trigger *own;

	for (; stops; stops &= stops - 1) {
		u64 ran = 0;

		own = auxt_trigger_set_at(t->set, __ffs64(stops));
		if (come()) {
			ran = end(own->event);
			leave();
		} else {
			miss(own);
		}
		if (ran > own->bound)
			auxt_trigger_hit(own, auxt_tsc_to_ns(ran));
	}
	for (; starts; starts &= starts - 1) {
		bool begun = false;

		own = auxt_trigger_set_at(t->set, __ffs64(starts));
		if (come()) {
			begun = begin(own->event);
			leave();
		}
		if (!begun)
			miss(own);
	}
}
NOKPROBE_SYMBOL(auxt_latency_tick);

static void on_process_exit(AUXT_PROCESS_EXIT_ARGS)
{
	struct auxt_trigger *t = data;
	unsigned long flags;

	raw_local_irq_save(flags);
	/* Always: this is a task, in which nothing of ours nests but what has come and gone. */
	if (come()) {
		end(t->event);
		leave();
	}
	raw_local_irq_restore(flags);
}
NOKPROBE_SYMBOL(on_process_exit);

static void compare(struct tracepoint *tp, void *priv)
{
	struct latency *latency = priv;

	if (!strcmp(tp->name, "sched_process_exit"))
		latency->exit = tp;
}

/* With the set's lock, as all changes of @is. */
static void wait_for(struct auxt_trigger *t)
{
	u32 is = t->is & ~TRIGGER_IS_CLOCK;

	WRITE_ONCE(t->is, t->starts | t->stops ? is | TRIGGER_IS_CLOCK : is);
}

static int attach(struct auxt_trigger *t, const struct auxtrace_trigger *arg)
{
	struct latency *latency;
	int err, unused;

	if (!arg->bound_ns)
		return -EINVAL;
	latency = kvzalloc(sizeof(*latency), GFP_KERNEL);
	if (!latency)
		return -ENOMEM;
	err = -ENOENT;
	latency->a = auxt_trigger_set_find(t->set, arg->a, &unused);
	latency->b = auxt_trigger_set_find(t->set, arg->b, &unused);
	auxt_trigger_set_find(t->set, t->request.trigger, &latency->place);
	if (!latency->a || !latency->b || latency->a == t || latency->b == t)
		goto err_free;
	/* A clock in a hit of a clock's: how deep would that go? */
	err = -EINVAL;
	if (latency->a->kind == t->kind || latency->b->kind == t->kind)
		goto err_free;
	err = -ENOENT;
	for_each_kernel_tracepoint(compare, latency);
	if (!latency->exit)
		goto err_free;
	t->bound = auxt_ns_to_tsc(arg->bound_ns);
	t->event = latency;
	err = tracepoint_probe_register(latency->exit, on_process_exit, t);
	if (err)
		goto err_free;
	/* All of it is in place before a hit can see the bits. */
	smp_wmb();
	WRITE_ONCE(latency->a->starts, latency->a->starts | BIT_ULL(latency->place));
	WRITE_ONCE(latency->b->stops, latency->b->stops | BIT_ULL(latency->place));
	wait_for(latency->a);
	wait_for(latency->b);
	return 0;

err_free:
	kvfree(latency);
	return err;
}

static void detach(struct auxt_trigger *t)
{
	struct latency *latency = t->event;

	WRITE_ONCE(latency->a->starts, latency->a->starts & ~BIT_ULL(latency->place));
	WRITE_ONCE(latency->b->stops, latency->b->stops & ~BIT_ULL(latency->place));
	wait_for(latency->a);
	wait_for(latency->b);
	tracepoint_probe_unregister(latency->exit, on_process_exit, t);
	tracepoint_synchronize_unregister();
	/* All who may have seen the bits have interrupts off. */
	synchronize_rcu();
	kvfree(latency);
}

const struct trigger_kind auxt_trigger_latency = {
	.uses = USES_OTHERS | USES_BOUND,
	.attach = attach,
	.detach = detach,
};
