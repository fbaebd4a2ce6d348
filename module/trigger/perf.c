// SPDX-License-Identifier: GPL-2.0
/*
 * Triggers that are perf events: a counter on each CPU of the session, whose
 * overflow is the hit. Hardware breakpoints are perf events to the kernel, too.
 *
 * perf forgets counters that are bound to a CPU when it goes offline; renew()
 * makes them anew. What of an attr points to user memory (the name for perf's
 * kprobe and uprobe PMUs) may be anything by then: such a counter stays away there.
 *
 * perf checks the attr that a program gives in its system call, before the counter
 * is made, which we do directly. So only what says what is counted, and when it
 * overflows, is taken over; the rest is about samples, which nobody gets.
 */

#include <linux/err.h>
#include <linux/hw_breakpoint.h>
#include <linux/kprobes.h>
#include <linux/perf_event.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include "trigger/hit.h"

/**
 * struct counters - the counters of one trigger
 * @attr: what they count
 * @by_name: it points to user memory
 * @event: by CPU; NULL where there is none
 */
struct counters {
	struct perf_event_attr attr;
	bool by_name;
	struct perf_event *event[];
};

static void on_overflow(struct perf_event *event, struct perf_sample_data *data,
			struct pt_regs *regs)
{
	auxt_trigger_hit(event->overflow_handler_context, 0);
}
NOKPROBE_SYMBOL(on_overflow);

static void release(struct counters *c, int cpu)
{
	if (c->event[cpu])
		perf_event_release_kernel(c->event[cpu]);
	c->event[cpu] = NULL;
}

static int create(struct auxt_trigger *t, struct counters *c, int cpu)
{
	struct perf_event *event;

	event = perf_event_create_kernel_counter(&c->attr, cpu, NULL, on_overflow, t);
	if (IS_ERR(event))
		return PTR_ERR(event);
	/* Pinned, it counts at once, or the hardware had no room for it. */
	if (READ_ONCE(event->state) < PERF_EVENT_STATE_INACTIVE) {
		perf_event_release_kernel(event);
		return -EBUSY;
	}
	c->event[cpu] = event;
	return 0;
}

static void detach(struct auxt_trigger *t)
{
	struct counters *c = t->event;
	unsigned int cpu;

	for_each_cpu(cpu, auxt_trigger_cpus(t))
		release(c, cpu);
	/* A handler may have been interrupted by the release of its counter. */
	synchronize_rcu();
	kvfree(c);
}

static bool is_by_name(const struct perf_event *event)
{
	const char *pmu = event->pmu->name;

	return event->attr.config1 && pmu && (!strcmp(pmu, "kprobe") || !strcmp(pmu, "uprobe"));
}

static int attach(struct auxt_trigger *t, const struct perf_event_attr *attr)
{
	struct counters *c = kvzalloc(struct_size(c, event, nr_cpu_ids), GFP_KERNEL);
	unsigned int cpu;
	int err;

	if (!c)
		return -ENOMEM;
	c->attr = *attr;
	/* Always counting, or not at all: a trigger must not be rotated off. */
	c->attr.pinned = 1;
	t->event = c;
	for_each_cpu(cpu, auxt_trigger_cpus(t)) {
		err = create(t, c, cpu);
		/* Offline: it is made when the CPU comes back. */
		if (err && err != -ENODEV) {
			detach(t);
			/* It wants more for the kernel's own memory than for the rest. */
			return err == -EPERM ? -EACCES : err;
		}
		if (c->event[cpu])
			c->by_name = is_by_name(c->event[cpu]);
	}
	return 0;
}

static void renew(struct auxt_trigger *t)
{
	struct counters *c = t->event;
	unsigned int cpu;

	for_each_cpu(cpu, auxt_trigger_cpus(t)) {
		struct perf_event *event = c->event[cpu];

		if (event && !(event->attach_state & PERF_ATTACH_CONTEXT))
			release(c, cpu);
		if (!c->event[cpu] && !c->by_name)
			create(t, c, cpu);
	}
}

static int perf_attach(struct auxt_trigger *t, const struct auxtrace_trigger *arg)
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
	/* Without a period it would never overflow, and perf's is a signed one. */
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
	return attach(t, &attr);
}

const struct trigger_kind auxt_trigger_perf = {
	.uses = USES_ATTR,
	.attach = perf_attach,
	.detach = detach,
	.renew = renew,
};

static int breakpoint_attach(struct auxt_trigger *t, const struct auxtrace_trigger *arg)
{
	struct perf_event_attr attr;

	if (arg->number < 0)
		return -EINVAL;
	hw_breakpoint_init(&attr);
	attr.disabled = 0;
	attr.bp_type = arg->number & 0xff;
	attr.bp_len = arg->number >> 8;
	attr.bp_addr = arg->address;
	return attach(t, &attr);
}

const struct trigger_kind auxt_trigger_breakpoint = {
	.uses = USES_NUMBER | USES_ADDRESS,
	.attach = breakpoint_attach,
	.detach = detach,
	.renew = renew,
};
