// SPDX-License-Identifier: GPL-2.0-only
/*
 * Triggers that are perf events: a counter on each CPU of the session, whose overflow is the
 * hit. Hardware breakpoints are perf events, too.
 *
 * perf drops a counter that is bound to a CPU when that CPU goes offline; perf_trigger_renew()
 * creates it again. An attr of perf's kprobe and uprobe PMUs may point to a name in user memory,
 * which may have changed by then: such a counter is not created again.
 *
 * perf_event_open(2) checks the attr before it creates the counter; we create the counter
 * directly, so those checks do not run. Hence we copy only the members that say what is counted
 * and when the counter overflows. The others concern samples, which a trigger does not use.
 */

#include <linux/compiler.h>
#include <linux/err.h>
#include <linux/hw_breakpoint.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "trigger/hit.h"
#include "trigger/trigger.h"

/*
 * perf_event.hw.interrupts of an event that perf throttles: MAX_INTERRUPTS in kernel/events/core.c.
 * perf sets it before it calls the handler for the last time, and clears it at a timer tick.
 */
#define PERF_TRIGGER_THROTTLED	(~0ULL)

/**
 * struct perf_trigger - the counters of one trigger
 * @attr: what they count
 * @by_name: @attr points to a name in user memory
 * @event: by CPU; NULL: that CPU has no counter
 */
struct perf_trigger {
	struct perf_event_attr attr;
	bool by_name;
	struct perf_event *event[];
};

static void perf_trigger_overflow(struct perf_event *event, struct perf_sample_data *data,
				  struct pt_regs *regs)
{
	struct auxt_trigger *t = event->overflow_handler_context;

	auxt_trigger_hit(t, 0);
	if (unlikely(event->hw.interrupts == PERF_TRIGGER_THROTTLED))
		this_cpu_inc(t->counts->missed);
}
NOKPROBE_SYMBOL(perf_trigger_overflow);

static void perf_trigger_release(struct perf_trigger *c, int cpu)
{
	if (c->event[cpu])
		perf_event_release_kernel(c->event[cpu]);
	c->event[cpu] = NULL;
}
NOKPROBE_SYMBOL(perf_trigger_release);

static int perf_trigger_create(struct auxt_trigger *t, struct perf_trigger *c, int cpu)
{
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&c->attr, cpu, NULL, perf_trigger_overflow, t);
	if (IS_ERR(event))
		return PTR_ERR(event);
	/* A pinned counter is active at once, or in error: no hardware counter was free. */
	if (READ_ONCE(event->state) < PERF_EVENT_STATE_INACTIVE) {
		perf_event_release_kernel(event);
		return -EBUSY;
	}
	c->event[cpu] = event;
	return 0;
}
NOKPROBE_SYMBOL(perf_trigger_create);

static void perf_trigger_detach(struct auxt_trigger *t)
{
	struct perf_trigger *c = t->event;
	unsigned int cpu;

	for_each_cpu(cpu, t->cpus)
		perf_trigger_release(c, cpu);
	/* An overflow handler that the release has interrupted may still run: wait for its end. */
	synchronize_rcu();
	kvfree(c);
}
NOKPROBE_SYMBOL(perf_trigger_detach);

static bool perf_trigger_is_by_name(const struct perf_event *event)
{
	const char *pmu = event->pmu->name;

	return event->attr.config1 && pmu && (!strcmp(pmu, "kprobe") || !strcmp(pmu, "uprobe"));
}
NOKPROBE_SYMBOL(perf_trigger_is_by_name);

static int perf_trigger_attach(struct auxt_trigger *t, const struct perf_event_attr *attr)
{
	struct perf_trigger *c = kvzalloc(struct_size(c, event, nr_cpu_ids), GFP_KERNEL_ACCOUNT);
	bool created = false, absent = false;
	unsigned int cpu;
	int err;

	if (!c)
		return -ENOMEM;
	c->attr = *attr;
	/* Pinned: perf does not rotate the counter with others, so it counts always, or fails. */
	c->attr.pinned = 1;
	/*
	 * An event with precise_ip that asks for a wakeup at each sample interrupts at each sample.
	 * Otherwise PEBS interrupts when its buffer is nearly full, and only the last of its samples
	 * reaches the handler: intel_pmu_hw_config() in arch/x86/events/intel/core.c.
	 */
	c->attr.wakeup_events = 1;
	t->event = c;
	for_each_cpu(cpu, t->cpus) {
		err = perf_trigger_create(t, c, cpu);
		/* ENOENT: of the PMUs of a hybrid machine, that of this CPU lacks the event. */
		absent |= err == -ENOENT;
		/* ENODEV: the CPU is offline. perf_trigger_renew() creates the counter later. */
		if (err && err != -ENODEV && err != -ENOENT)
			goto err_detach;
		if (!c->event[cpu])
			continue;
		created = true;
		c->by_name = perf_trigger_is_by_name(c->event[cpu]);
	}
	if (created || !absent)
		return 0;
	err = -ENOENT;

err_detach:
	perf_trigger_detach(t);
	/*
	 * perf: EPERM for a breakpoint in the kernel, without CAP_SYS_ADMIN. That of perf's kprobe
	 * PMU is for a locked-down kernel, as the ABI's.
	 */
	return err == -EPERM && attr->type == PERF_TYPE_BREAKPOINT ? -EACCES : err;
}
NOKPROBE_SYMBOL(perf_trigger_attach);

static void perf_trigger_renew(struct auxt_trigger *t)
{
	struct perf_trigger *c = t->event;
	unsigned int cpu;

	for_each_cpu(cpu, t->cpus) {
		struct perf_event *event = c->event[cpu];

		if (event && !(event->attach_state & PERF_ATTACH_CONTEXT))
			perf_trigger_release(c, cpu);
		if (!c->event[cpu] && !c->by_name)
			perf_trigger_create(t, c, cpu);
	}
}
NOKPROBE_SYMBOL(perf_trigger_renew);

static int perf_trigger_attach_event(struct auxt_trigger *t, const struct auxtrace_trigger *arg)
{
	struct perf_event_attr attr, from;
	int err;

	if (arg->attr_len < PERF_ATTR_SIZE_VER0)
		return -EINVAL;
	if (arg->attr_len > PAGE_SIZE)
		return -E2BIG;
	err = copy_struct_from_user(&from, sizeof(from), u64_to_user_ptr(arg->attr),
				    arg->attr_len);
	if (err)
		return err;
	/* Without a period the counter never overflows. perf's period is signed. */
	if (!from.sample_period || (s64)from.sample_period < 0 || from.disabled || from.inherit)
		return -EINVAL;
	attr = (struct perf_event_attr) {
		.type = from.type,
		.size = sizeof(attr),
		.config = from.config,
		.config1 = from.config1,
		.config2 = from.config2,
#ifdef AUXT_HAVE_PERF_CONFIG3
		.config3 = from.config3,
#endif
#ifdef AUXT_HAVE_PERF_CONFIG4
		.config4 = from.config4,
#endif
		.bp_type = from.bp_type,
		.sample_period = from.sample_period,
		.freq = from.freq,
		.precise_ip = from.precise_ip,
		.exclude_user = from.exclude_user,
		.exclude_kernel = from.exclude_kernel,
		.exclude_hv = from.exclude_hv,
		.exclude_idle = from.exclude_idle,
		.exclude_host = from.exclude_host,
		.exclude_guest = from.exclude_guest,
	};
	return perf_trigger_attach(t, &attr);
}
NOKPROBE_SYMBOL(perf_trigger_attach_event);

const struct trigger_kind auxt_trigger_perf = {
	.attach = perf_trigger_attach_event,
	.detach = perf_trigger_detach,
	.renew = perf_trigger_renew,
};

static int perf_trigger_attach_breakpoint(struct auxt_trigger *t,
					  const struct auxtrace_trigger *arg)
{
	struct perf_event_attr attr;

	if (arg->number < 0)
		return -EINVAL;
	hw_breakpoint_init(&attr);
	attr.disabled = 0;
	attr.bp_type = arg->number & 0xff;
	attr.bp_len = arg->number >> 8;
	attr.bp_addr = arg->address;
	return perf_trigger_attach(t, &attr);
}
NOKPROBE_SYMBOL(perf_trigger_attach_breakpoint);

const struct trigger_kind auxt_trigger_breakpoint = {
	.attach = perf_trigger_attach_breakpoint,
	.detach = perf_trigger_detach,
	.renew = perf_trigger_renew,
};
