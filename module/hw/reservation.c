// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reservations: one owner for each trace PMU of each CPU.
 *
 * Against perf: perf's trace PMUs are exclusive. While one event of such a PMU exists on a
 * CPU, perf_event_open() refuses another there with EBUSY. A reservation is a kernel
 * counter of that PMU that is never enabled. It keeps perf out of our session without perf
 * touching the hardware, and it cannot be made while perf uses the PMU. perf drops the
 * events of a CPU that goes offline, so hotplug.c releases the counter then and makes
 * another when the CPU is back.
 *
 * Against other sessions: each trace PMU of each CPU has one owner, a channel, from START
 * to STOP, also while the CPU is offline. Sessions start concurrently, so a channel becomes
 * the owner by cmpxchg. Two trace PMUs of one CPU may have different owners, unless perf
 * makes them exclude each other.
 *
 * A trace PMU that cannot be turned off is stuck: its channel's counter is kept when the channel ends,
 * so that perf keeps off and, for BTS, keeps the debug store. The next START tries again, and so does
 * a CPU that comes online for its owner. Until then the module cannot be unloaded.
 *
 * cpus_read_lock() excludes the hotplug callbacks; the session's state_lock excludes other
 * requests to its channels.
 *
 * DOC: perf and the hotplug lock
 *
 * Whoever holds cpus_read_lock() must not take it again: if a hotplug operation begins to wait
 * between the two, each waits for the other for ever. perf takes the lock itself in two cases:
 *  - it creates or releases a software event (perf_swevent_init() counts its users in a static
 *    key);
 *  - it creates the first event that acts at context switches (account_event() enables
 *    perf_sched_events). That is an event of a task or a cgroup, one with a branch stack, or one
 *    with large PEBS.
 * The reservations are neither: they are disabled counters of a CPU, of the PMUs intel_pt and
 * intel_bts, or the branch event that bts.c describes. So they may be created and released with
 * cpus_read_lock() held, and in a hotplug callback, which runs while another task holds the lock
 * for writing. perf's own callbacks take the locks of perf's contexts in the same order.
 *
 * The dummy event that auxt_reservation_init() needs is a software event. So perf's types are
 * looked up once, when the module is loaded. They do not change: perf numbers a PMU when its
 * driver registers it, and the drivers of intel_pt and intel_bts are part of the kernel's image.
 * They register before any module is loaded and never unregister.
 */

#include <linux/capability.h>
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/printk.h>
#include <linux/smp.h>
#include <linux/workqueue.h>
#include "compat/workqueue.h"
#include "core/channel.h"
#include "core/trace_pmu.h"
#include "hw/reservation.h"
#include "hw/trace_pmus.h"

static DEFINE_PER_CPU(struct auxt_channel *, reservation_owner[TRACE_PMUS]);

/* perf's type number of each PMU; -ENOENT: perf has no such PMU. */
static int reservation_type[TRACE_PMUS];

static void __init reservation_find_type(const struct device *dummy, const struct trace_pmu *pmu)
{
	struct device *dev = bus_find_device_by_name(dummy->bus, NULL, pmu->name);

	reservation_type[pmu->number] = -ENOENT;
	if (dev) {
		reservation_type[pmu->number] = ((struct pmu *)dev_get_drvdata(dev))->type;
		put_device(dev);
	}
}

/**
 * struct stuck_pmu - a trace PMU that could not be turned off
 * @is_stuck: it could not; implies a reference to the module
 * @counter: the reservation that is kept; NULL: perf has no such PMU
 *
 * The owner of the trace PMU changes it. NMIs read @is_stuck.
 */
struct stuck_pmu {
	bool is_stuck;
	struct perf_event *counter;
};

static DEFINE_PER_CPU(struct stuck_pmu, reservation_stuck[TRACE_PMUS]);

/**
 * auxt_reservation_init() - look up perf's PMUs
 *
 * The bus of perf's PMUs is not exported, but the device of any event's PMU leads to it.
 * Without cpus_read_lock(): see above.
 *
 * Return: 0, or the error of creating an event.
 */
int __init auxt_reservation_init(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
	};
	struct perf_event *dummy = ERR_PTR(-ENODEV);
	unsigned int cpu;

	/* A CPU may go offline meanwhile: -ENODEV. */
	for_each_online_cpu(cpu) {
		dummy = perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
		if (dummy != ERR_PTR(-ENODEV))
			break;
	}
	if (IS_ERR(dummy))
		return PTR_ERR(dummy);
	reservation_find_type(dummy->pmu->dev, &auxt_pt);
	reservation_find_type(dummy->pmu->dev, &auxt_bts);
	perf_event_release_kernel(dummy);
	return 0;
}

static struct perf_event *reservation_create(const struct trace_pmu *pmu, int cpu)
{
	int type = reservation_type[pmu->number];
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.disabled = 1,
	};

	if (type == -ENOENT && !pmu->reserve_instead)
		return NULL;
	if (type == -ENOENT)
		attr = *pmu->reserve_instead;
	return perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
}
NOKPROBE_SYMBOL(reservation_create);

struct reservation_order {
	struct work_struct work;
	const struct trace_pmu *pmu;
	int cpu;
	struct perf_event *event;
};

static void reservation_create_in_work(struct work_struct *work)
{
	struct reservation_order *order = container_of(work, struct reservation_order, work);

	order->event = reservation_create(order->pmu, order->cpu);
}
NOKPROBE_SYMBOL(reservation_create_in_work);

/*
 * Returns NULL if perf has neither that PMU nor a substitute: nothing needs a reservation. perf asks for
 * the rights of the task that creates a counter of a CPU, even a counter of the kernel's. START has
 * checked what it asks for; if the caller has no capability, a kernel thread creates the counter. The
 * caller may hold cpus_read_lock(), which that does not take.
 */
static struct perf_event *reservation_counter(const struct trace_pmu *pmu, int cpu)
{
	struct reservation_order order = { .pmu = pmu, .cpu = cpu };

	if (perfmon_capable())
		return reservation_create(pmu, cpu);
	INIT_WORK_ONSTACK(&order.work, reservation_create_in_work);
	auxt_queue_unbound_work(&order.work);
	flush_work(&order.work);
	destroy_work_on_stack(&order.work);
	return order.event;
}
NOKPROBE_SYMBOL(reservation_counter);

/**
 * auxt_reservation_probe() - is a CPU's trace PMU free?
 * @pmu: the trace PMU
 * @cpu: an online CPU
 *
 * Return: 0, -EBUSY if perf or a session has it, or another error of perf.
 */
int auxt_reservation_probe(const struct trace_pmu *pmu, int cpu)
{
	struct perf_event *event;

	if (auxt_reservation_owner(cpu, pmu->number))
		return -EBUSY;
	event = reservation_counter(pmu, cpu);
	if (IS_ERR(event))
		return PTR_ERR(event);
	if (event)
		perf_event_release_kernel(event);
	return 0;
}
NOKPROBE_SYMBOL(auxt_reservation_probe);

static struct auxt_channel **reservation_owner_of(const struct auxt_channel *ch)
{
	return &per_cpu(reservation_owner[ch->pmu->number], ch->cpu);
}
NOKPROBE_SYMBOL(reservation_owner_of);

static struct stuck_pmu *reservation_stuck_of(const struct auxt_channel *ch)
{
	return &per_cpu(reservation_stuck[ch->pmu->number], ch->cpu);
}
NOKPROBE_SYMBOL(reservation_stuck_of);

static void reservation_keep(struct auxt_channel *ch)
{
	struct stuck_pmu *stuck = reservation_stuck_of(ch);

	/* It is kept since the CPU went offline. The channel has got no other counter since. */
	if (stuck->is_stuck)
		return;
	stuck->counter = ch->reservation;
	/* The caller's session has a reference, too. */
	__module_get(THIS_MODULE);
	WRITE_ONCE(stuck->is_stuck, true);
	pr_err("auxtrace: CPU %d refuses to turn %s off; the pages of its trace stay allocated\n",
	       ch->cpu, ch->pmu->name);
}
NOKPROBE_SYMBOL(reservation_keep);

struct stuck_retry {
	const struct trace_pmu *pmu;
	int err;
};

static void reservation_retry_here(void *info)
{
	struct stuck_retry *retry = info;

	retry->err = retry->pmu->recover();
}
NOKPROBE_SYMBOL(reservation_retry_here);

/*
 * Turns a stuck trace PMU off if the CPU lets us by now, and restores its registers before perf can
 * have it. Returns 0, after which @ch is not stuck either, or -EIO.
 */
static int reservation_unstick(struct auxt_channel *ch)
{
	struct stuck_pmu *stuck = reservation_stuck_of(ch);
	struct stuck_retry retry = { .pmu = ch->pmu };

	if (!stuck->is_stuck) {
		ch->stuck = false;
		return 0;
	}
	if (smp_call_function_single(ch->cpu, reservation_retry_here, &retry, true) || retry.err)
		return -EIO;
	if (stuck->counter)
		perf_event_release_kernel(stuck->counter);
	stuck->counter = NULL;
	WRITE_ONCE(stuck->is_stuck, false);
	ch->stuck = false;
	module_put(THIS_MODULE);
	return 0;
}
NOKPROBE_SYMBOL(reservation_unstick);

/**
 * auxt_reservation_online() - keep perf off what is stuck on a CPU that comes online
 * @cpu: the CPU
 *
 * perf has dropped the counters that are kept there. In the hotplug callback, before channels call
 * auxt_reservation_renew().
 */
void auxt_reservation_online(int cpu)
{
	u32 pmu;

	for (pmu = 0; pmu < TRACE_PMUS; pmu++) {
		struct stuck_pmu *stuck = &per_cpu(reservation_stuck[pmu], cpu);
		struct perf_event *event;

		if (!stuck->is_stuck)
			continue;
		event = reservation_create(auxt_trace_pmus[pmu], cpu);
		/* An event of perf's may have been faster. The old counter still keeps the debug store. */
		if (IS_ERR(event))
			continue;
		if (stuck->counter)
			perf_event_release_kernel(stuck->counter);
		stuck->counter = event;
	}
}
NOKPROBE_SYMBOL(auxt_reservation_online);

/**
 * auxt_reservation_take() - become the owner of a CPU's trace PMU
 * @ch: a channel of an online CPU
 *
 * Return: 0; -EBUSY if perf or another session has it; -EIO if an earlier session could not turn it
 * off and this cannot either; or another error of perf.
 */
int auxt_reservation_take(struct auxt_channel *ch)
{
	int err;

	if (cmpxchg(reservation_owner_of(ch), NULL, ch))
		return -EBUSY;
	err = auxt_reservation_renew(ch);
	if (err)
		WRITE_ONCE(*reservation_owner_of(ch), NULL);
	return err;
}
NOKPROBE_SYMBOL(auxt_reservation_take);

/**
 * auxt_reservation_release() - end the ownership
 * @ch: the owner
 */
void auxt_reservation_release(struct auxt_channel *ch)
{
	auxt_reservation_drop(ch);
	WRITE_ONCE(*reservation_owner_of(ch), NULL);
}
NOKPROBE_SYMBOL(auxt_reservation_release);

/**
 * auxt_reservation_drop() - release perf's counter of a CPU that goes offline
 * @ch: the owner, detached; it remains the owner
 */
void auxt_reservation_drop(struct auxt_channel *ch)
{
	if (ch->stuck)
		reservation_keep(ch);
	else if (ch->reservation)
		perf_event_release_kernel(ch->reservation);
	ch->reservation = NULL;
	ch->pmu_reserved = false;
}
NOKPROBE_SYMBOL(auxt_reservation_drop);

/**
 * auxt_reservation_renew() - make perf's counter
 * @ch: the owner, of an online CPU; not attached
 *
 * Return: 0; -EBUSY if perf uses the PMU; -EIO if the PMU is stuck and cannot be turned off yet; or
 * another error of perf.
 */
int auxt_reservation_renew(struct auxt_channel *ch)
{
	struct perf_event *event;
	int err = reservation_unstick(ch);

	if (err)
		return err;
	event = reservation_counter(ch->pmu, ch->cpu);
	if (IS_ERR(event))
		return PTR_ERR(event);
	ch->reservation = event;
	ch->pmu_reserved = true;
	return 0;
}
NOKPROBE_SYMBOL(auxt_reservation_renew);

/**
 * auxt_reservation_owner() - the owner of a CPU's trace PMU
 * @cpu: the CPU
 * @pmu: AUXTRACE_PMU_*
 *
 * Return: a channel of a started session, or NULL.
 */
struct auxt_channel *auxt_reservation_owner(int cpu, u32 pmu)
{
	return READ_ONCE(per_cpu(reservation_owner[pmu], cpu));
}
NOKPROBE_SYMBOL(auxt_reservation_owner);

/**
 * auxt_reservation_is_stuck() - has a CPU refused to turn a trace PMU off?
 * @cpu: the CPU
 * @pmu: AUXTRACE_PMU_*
 *
 * Any context.
 *
 * Return: true if the last channel that had it could not, and none has succeeded since.
 */
bool auxt_reservation_is_stuck(int cpu, u32 pmu)
{
	return READ_ONCE(per_cpu(reservation_stuck[pmu], cpu).is_stuck);
}
NOKPROBE_SYMBOL(auxt_reservation_is_stuck);

/**
 * auxt_reservation_stop_stuck() - turn off what is stuck on this CPU, if it lets us by now
 *
 * For a machine that crashes or sleeps: the trace PMU stays stuck. Interrupts off or NMI.
 */
void auxt_reservation_stop_stuck(void)
{
	u32 pmu;

	for (pmu = 0; pmu < TRACE_PMUS; pmu++)
		if (auxt_reservation_is_stuck(raw_smp_processor_id(), pmu))
			auxt_trace_pmus[pmu]->emergency_stop();
}
NOKPROBE_SYMBOL(auxt_reservation_stop_stuck);
