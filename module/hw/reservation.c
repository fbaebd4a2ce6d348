// SPDX-License-Identifier: GPL-2.0
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

#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include "core/channel.h"
#include "core/trace_pmu.h"
#include "hw/bts.h"
#include "hw/pt.h"
#include "hw/reservation.h"

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

/* Returns NULL if perf has neither that PMU nor a substitute: nothing needs a reservation. */
static struct perf_event *reservation_counter(const struct trace_pmu *pmu, int cpu)
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

/**
 * auxt_reservation_take() - become the owner of a CPU's trace PMU
 * @ch: a channel of an online CPU
 *
 * Return: 0, -EBUSY if perf or another session has it, or another error of perf.
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
 * @ch: the owner; it remains the owner
 */
void auxt_reservation_drop(struct auxt_channel *ch)
{
	if (ch->reservation)
		perf_event_release_kernel(ch->reservation);
	ch->reservation = NULL;
	ch->pmu_reserved = false;
}
NOKPROBE_SYMBOL(auxt_reservation_drop);

/**
 * auxt_reservation_renew() - make perf's counter
 * @ch: the owner, of an online CPU
 *
 * Return: 0; -EBUSY if perf uses the PMU; or another error of perf.
 */
int auxt_reservation_renew(struct auxt_channel *ch)
{
	struct perf_event *event = reservation_counter(ch->pmu, ch->cpu);

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
