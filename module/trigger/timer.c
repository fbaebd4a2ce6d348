// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timer triggers: an hrtimer on each CPU of the session, which expires in hard interrupt
 * context on every flavour of the kernel (also PREEMPT_RT).
 *
 * When a CPU goes offline, the kernel migrates its timers to another CPU. A timer that expires
 * on a CPU other than its own does not hit and does not restart; timer_trigger_renew() starts
 * it again once its CPU is back.
 */

#include <linux/cpumask.h>
#include <linux/hrtimer.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include "compat/hrtimer.h"
#include "trigger/hit.h"
#include "trigger/trigger.h"

/* With a shorter period a CPU would do nothing but take timer interrupts. */
#define TIMER_MIN_PERIOD_NS	10000

/**
 * struct timer_trigger - the timer of one trigger on one CPU
 * @t: the trigger
 * @timer: the kernel's timer
 * @cpu: the CPU that it belongs to
 */
struct timer_trigger {
	struct auxt_trigger *t;
	struct hrtimer timer;
	int cpu;
};

static enum hrtimer_restart timer_trigger_expired(struct hrtimer *timer)
{
	struct timer_trigger *own = container_of(timer, struct timer_trigger, timer);

	if (own->cpu != smp_processor_id())
		return HRTIMER_NORESTART;
	auxt_trigger_hit(own->t, 0);
	hrtimer_forward_now(timer, ns_to_ktime(own->t->bound));
	return HRTIMER_RESTART;
}
NOKPROBE_SYMBOL(timer_trigger_expired);

/* On the CPU, interrupts off. */
static void timer_trigger_start_here(void *info)
{
	struct timer_trigger *timers = info;
	struct timer_trigger *own = &timers[smp_processor_id()];

	/* Keep an earlier expiry time: frequent renewals must not postpone the hit. */
	if (hrtimer_get_expires(&own->timer))
		hrtimer_start(&own->timer, hrtimer_get_expires(&own->timer),
			      HRTIMER_MODE_ABS_PINNED_HARD);
	else
		hrtimer_start(&own->timer, ns_to_ktime(own->t->bound),
			      HRTIMER_MODE_REL_PINNED_HARD);
}
NOKPROBE_SYMBOL(timer_trigger_start_here);

/*
 * Cancels pending timers, too: the timer of a CPU that was offline may be queued on another CPU,
 * where it would expire and not restart.
 */
static void timer_trigger_renew(struct auxt_trigger *t)
{
	struct timer_trigger *timers = t->event;
	unsigned int cpu;

	for_each_cpu(cpu, t->cpus)
		hrtimer_cancel(&timers[cpu].timer);
	on_each_cpu_mask(t->cpus, timer_trigger_start_here, t->event, true);
}
NOKPROBE_SYMBOL(timer_trigger_renew);

static int timer_trigger_attach(struct auxt_trigger *t, const struct auxtrace_trigger *arg)
{
	struct timer_trigger *timers;
	unsigned int cpu;

	if (arg->bound_ns < TIMER_MIN_PERIOD_NS || arg->bound_ns > KTIME_MAX)
		return -EINVAL;
	timers = kvcalloc(nr_cpu_ids, sizeof(*timers), GFP_KERNEL_ACCOUNT);
	if (!timers)
		return -ENOMEM;
	for_each_cpu(cpu, t->cpus) {
		timers[cpu].t = t;
		timers[cpu].cpu = cpu;
		auxt_hrtimer_setup(&timers[cpu].timer, timer_trigger_expired, CLOCK_MONOTONIC,
				   HRTIMER_MODE_REL_PINNED_HARD);
	}
	t->bound = arg->bound_ns;
	t->event = timers;
	timer_trigger_renew(t);
	return 0;
}
NOKPROBE_SYMBOL(timer_trigger_attach);

static void timer_trigger_detach(struct auxt_trigger *t)
{
	struct timer_trigger *timers = t->event;
	unsigned int cpu;

	for_each_cpu(cpu, t->cpus)
		hrtimer_cancel(&timers[cpu].timer);
	kvfree(timers);
}
NOKPROBE_SYMBOL(timer_trigger_detach);

const struct trigger_kind auxt_trigger_timer = {
	.attach = timer_trigger_attach,
	.detach = timer_trigger_detach,
	.renew = timer_trigger_renew,
};
