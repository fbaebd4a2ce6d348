// SPDX-License-Identifier: GPL-2.0
/*
 * Triggers that act some time after their hit: a timer on each CPU. A timer cannot
 * be started in an NMI, so the CPU interrupts itself for that. While one runs,
 * further hits on its CPU do not act: they would come to the same end. (Those that
 * act some bytes after their hit: see request.c.)
 */

#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include "core/channel.h"
#include "compat/irq_work.h"
#include "compat/timer.h"
#include "trigger/delay.h"
#include "trigger/hit.h"

/**
 * struct auxt_delay - of one trigger on one CPU
 * @t: the trigger
 * @start: starts @timer
 * @timer: acts
 * @cpu: the CPU
 * @armed: what @pending was when @timer was started
 * @value: of the hit
 * @pending: the channel's @run at the hit, until it acted; 0: nothing to be done. An
 *	earlier run's ended with that
 */
struct auxt_delay {
	struct auxt_trigger *t;
	struct irq_work start;
	struct hrtimer timer;
	int cpu;
	u32 armed;
	u64 value;
	u32 pending;
};

static void start(struct irq_work *work)
{
	struct auxt_delay *delay = container_of(work, struct auxt_delay, start);

	delay->armed = READ_ONCE(delay->pending);
	hrtimer_start(&delay->timer, ns_to_ktime(delay->t->delay_ns),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

static enum hrtimer_restart on_time(struct hrtimer *timer)
{
	struct auxt_delay *delay = container_of(timer, struct auxt_delay, timer);
	struct auxt_trigger *t = delay->t;
	struct auxt_channel *ch = auxt_channel_here(t->pmu);
	u32 run = delay->armed;

	/*
	 * On another CPU: its own went offline meanwhile, and stopped by that. Started
	 * anew, or back, meanwhile: that forgets what was before.
	 */
	if (delay->cpu == smp_processor_id() && ch && ch->triggers == t->set &&
	    ch->run == run)
		auxt_request_make(ch, &t->request, delay->value);
	/* Unless it is a later run's by now, whose own start is on its way. */
	cmpxchg(&delay->pending, run, 0);
	return HRTIMER_NORESTART;
}

/**
 * auxt_delay_begin() - act later
 * @t: a trigger with a delay
 * @ch: the channel attached to this CPU
 * @value: for the record
 *
 * Return: false if an earlier hit's delay has not ended.
 */
bool auxt_delay_begin(struct auxt_trigger *t, struct auxt_channel *ch, u64 value)
{
	struct auxt_delay *delay = this_cpu_ptr(t->delay);
	u32 pending = READ_ONCE(delay->pending);

	if (pending == ch->run || cmpxchg_local(&delay->pending, pending, ch->run) != pending)
		return false;
	delay->value = value;
	irq_work_queue(&delay->start);
	return true;
}
NOKPROBE_SYMBOL(auxt_delay_begin);

/**
 * auxt_delay_new() - what a trigger with a delay needs
 * @t: the trigger
 *
 * Return: 0 or -ENOMEM.
 */
int auxt_delay_new(struct auxt_trigger *t)
{
	unsigned int cpu;

	if (!t->delay_ns)
		return 0;
	t->delay = alloc_percpu(struct auxt_delay);
	if (!t->delay)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct auxt_delay *delay = per_cpu_ptr(t->delay, cpu);

		delay->t = t;
		delay->cpu = cpu;
		auxt_irq_work_init_hard(&delay->start, start);
		auxt_hrtimer_setup(&delay->timer, on_time, CLOCK_MONOTONIC,
				   HRTIMER_MODE_REL_PINNED_HARD);
	}
	return 0;
}

/* On the CPU, interrupts off. A channel that was detached has forgotten all. */
static void forget_here(void *info)
{
	struct auxt_trigger *t = info;
	struct auxt_channel *ch = auxt_channel_here(t->pmu);

	if (ch && ch->triggers == t->set)
		auxt_request_forget(ch, t->request.trigger);
}

/**
 * auxt_delay_free() - undo the above, and forget what is still to be done
 * @t: a trigger that hits no more
 */
void auxt_delay_free(struct auxt_trigger *t)
{
	unsigned int cpu;

	if (t->request.delay)
		on_each_cpu_mask(auxt_trigger_cpus(t), forget_here, t, true);
	if (!t->delay)
		return;
	for_each_possible_cpu(cpu) {
		struct auxt_delay *delay = per_cpu_ptr(t->delay, cpu);

		irq_work_sync(&delay->start);
		hrtimer_cancel(&delay->timer);
	}
	free_percpu(t->delay);
	t->delay = NULL;
}
