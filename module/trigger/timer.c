// SPDX-License-Identifier: GPL-2.0
/*
 * Triggers by time: a timer on each CPU of the session. It runs in hard interrupt
 * context on every flavour of the kernel. One whose CPU went offline is moved to
 * another by the kernel, finds itself there and ends; renew() starts it anew.
 */

#include <linux/cpu.h>
#include <linux/hrtimer.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/smp.h>
#include "compat/timer.h"
#include "trigger/hit.h"

/* A CPU that does nothing else would trace nothing. */
#define MIN_PERIOD_NS	10000

/**
 * struct timer - of one CPU
 * @t: whose
 * @timer: the kernel's
 * @cpu: the CPU
 */
struct timer {
	struct auxt_trigger *t;
	struct hrtimer timer;
	int cpu;
};

static enum hrtimer_restart on_time(struct hrtimer *timer)
{
	struct timer *own = container_of(timer, struct timer, timer);

	if (own->cpu != smp_processor_id())
		return HRTIMER_NORESTART;
	auxt_trigger_hit(own->t, 0);
	hrtimer_forward_now(timer, ns_to_ktime(own->t->bound));
	return HRTIMER_RESTART;
}

/* On the CPU, interrupts off. */
static void start_here(void *info)
{
	struct timer *timers = info;
	struct timer *own = &timers[smp_processor_id()];

	/* When it would have run out, so that who renews often does not put it off. */
	if (hrtimer_get_expires(&own->timer))
		hrtimer_start(&own->timer, hrtimer_get_expires(&own->timer),
			      HRTIMER_MODE_ABS_PINNED_HARD);
	else
		hrtimer_start(&own->timer, ns_to_ktime(own->t->bound),
			      HRTIMER_MODE_REL_PINNED_HARD);
}

/* One that runs may be on another CPU, where it would end, since its own was offline. */
static void renew(struct auxt_trigger *t)
{
	struct timer *timers = t->event;
	unsigned int cpu;

	for_each_cpu(cpu, auxt_trigger_cpus(t))
		hrtimer_cancel(&timers[cpu].timer);
	on_each_cpu_mask(auxt_trigger_cpus(t), start_here, t->event, true);
}

static int attach(struct auxt_trigger *t, const struct auxtrace_trigger *arg)
{
	struct timer *timers;
	unsigned int cpu;

	if (arg->bound_ns < MIN_PERIOD_NS || arg->bound_ns > KTIME_MAX)
		return -EINVAL;
	timers = kvcalloc(nr_cpu_ids, sizeof(*timers), GFP_KERNEL);
	if (!timers)
		return -ENOMEM;
	for_each_cpu(cpu, auxt_trigger_cpus(t)) {
		timers[cpu].t = t;
		timers[cpu].cpu = cpu;
		auxt_hrtimer_setup(&timers[cpu].timer, on_time, CLOCK_MONOTONIC,
				   HRTIMER_MODE_REL_PINNED_HARD);
	}
	t->bound = arg->bound_ns;
	t->event = timers;
	renew(t);
	return 0;
}

static void detach(struct auxt_trigger *t)
{
	struct timer *timers = t->event;
	unsigned int cpu;

	for_each_cpu(cpu, auxt_trigger_cpus(t))
		hrtimer_cancel(&timers[cpu].timer);
	kvfree(timers);
}

const struct trigger_kind auxt_trigger_timer = {
	.uses = USES_BOUND,
	.attach = attach,
	.detach = detach,
	.renew = renew,
};
