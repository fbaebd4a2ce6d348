// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triggers that act some time after their hit, with an hrtimer for each CPU. An NMI cannot start
 * an hrtimer, so the hit queues an irq_work that starts it. While a delay runs on a CPU, further
 * hits of the trigger there do not begin another one: both would end in the same state.
 *
 * Triggers that act some bytes after their hit need no timer: see core/request.c.
 */

#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/smp.h>
#include "compat/hrtimer.h"
#include "compat/irq_work.h"
#include "core/channel.h"
#include "trigger/delay.h"
#include "trigger/trigger.h"

/**
 * struct auxt_delay - the delay of one trigger on one CPU
 * @t: the trigger
 * @start: starts @timer
 * @timer: acts when it expires
 * @cpu: the CPU
 * @armed: value of @pending when @timer was started
 * @value: of the hit, for the record
 * @pending: the channel's @run at the hit, until the trigger has acted; 0: no delay runs. A
 *	value other than the present @run belongs to an earlier run and no longer counts
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

static void delay_start(struct irq_work *work)
{
	struct auxt_delay *delay = container_of(work, struct auxt_delay, start);

	delay->armed = READ_ONCE(delay->pending);
	hrtimer_start(&delay->timer, ns_to_ktime(delay->t->delay_ns),
		      HRTIMER_MODE_REL_PINNED_HARD);
}
NOKPROBE_SYMBOL(delay_start);

static enum hrtimer_restart delay_expired(struct hrtimer *timer)
{
	struct auxt_delay *delay = container_of(timer, struct auxt_delay, timer);
	struct auxt_trigger *t = delay->t;
	struct auxt_channel *ch = auxt_channel_here(t->pmu);
	u32 run = delay->armed;

	/*
	 * The timer expires on another CPU if its own went offline, which ended the delay. A
	 * different @run means that the session was started again, or the CPU was offline,
	 * since the hit: that ended the delay, too.
	 */
	if (delay->cpu == smp_processor_id() && ch && ch->triggers == t->set &&
	    ch->run == run)
		auxt_request_make(ch, &t->request, delay->value);
	/* Leave a newer run's delay pending: its own delay_start() is still to come. */
	cmpxchg(&delay->pending, run, 0);
	return HRTIMER_NORESTART;
}
NOKPROBE_SYMBOL(delay_expired);

/**
 * auxt_delay_begin() - make a trigger act after its delay
 * @t: a trigger with a delay
 * @ch: the channel attached to this CPU
 * @value: of the event, for the record
 *
 * Return: false if the delay of an earlier hit has not ended.
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
 * auxt_delay_new() - allocate what a trigger with a delay in time needs
 * @t: the trigger
 *
 * Return: 0, also if @t has no such delay, or -ENOMEM.
 */
int auxt_delay_new(struct auxt_trigger *t)
{
	unsigned int cpu;

	if (!t->delay_ns)
		return 0;
	t->delay = alloc_percpu_gfp(struct auxt_delay, GFP_KERNEL_ACCOUNT);
	if (!t->delay)
		return -ENOMEM;
	for_each_possible_cpu(cpu) {
		struct auxt_delay *delay = per_cpu_ptr(t->delay, cpu);

		delay->t = t;
		delay->cpu = cpu;
		auxt_irq_work_init_hard(&delay->start, delay_start);
		auxt_hrtimer_setup(&delay->timer, delay_expired, CLOCK_MONOTONIC,
				   HRTIMER_MODE_REL_PINNED_HARD);
	}
	return 0;
}
NOKPROBE_SYMBOL(auxt_delay_new);

/* On the CPU, interrupts off. A channel that was detached has no pending request. */
static void delay_forget_here(void *info)
{
	struct auxt_trigger *t = info;
	struct auxt_channel *ch = auxt_channel_here(t->pmu);

	if (ch && ch->triggers == t->set)
		auxt_request_forget(ch, t->request.trigger);
}
NOKPROBE_SYMBOL(delay_forget_here);

/**
 * auxt_delay_free() - cancel a trigger's delays, in time and in bytes
 * @t: a trigger whose event no longer hits
 *
 * Undoes auxt_delay_new().
 */
void auxt_delay_free(struct auxt_trigger *t)
{
	unsigned int cpu;

	if (t->request.delay)
		on_each_cpu_mask(t->cpus, delay_forget_here, t, true);
	if (!t->delay)
		return;
	for_each_possible_cpu(cpu) {
		struct auxt_delay *delay = per_cpu_ptr(t->delay, cpu);

		irq_work_sync(&delay->start);
		hrtimer_cancel(&delay->timer);
	}
	auxt_irq_work_drain();
	free_percpu(t->delay);
	t->delay = NULL;
}
NOKPROBE_SYMBOL(auxt_delay_free);
