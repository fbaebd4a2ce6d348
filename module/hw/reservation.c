// SPDX-License-Identifier: GPL-2.0
/*
 * Guards: one owner for the trace unit of each CPU.
 *
 * Against perf: its trace PMUs are exclusive, that is while one event of a PMU
 * exists on a CPU, perf_event_open() refuses another there with EBUSY. A kernel
 * counter that is never enabled holds the PMU without perf ever touching the
 * hardware, and cannot be had while perf uses it: it keeps perf out of our
 * session and us out of perf's. perf forgets events bound to a CPU that goes
 * offline, so hotplug.c drops the counter then and renews it when the CPU is back.
 *
 * Against other sessions: the owner of each trace unit of each CPU, a channel from
 * START to STOP, also while the CPU is offline. (Two trace units of a CPU may have one each,
 * unless perf says that they exclude each other: then the guards do.) Taken by cmpxchg, as sessions start concurrently.
 *
 * cpus_read_lock() keeps hotplug callbacks out of all this; the session's lock
 * keeps other callers away from its channels.
 */

#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/err.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include "core/channel.h"
#include "hw/reservation.h"
#include "core/trace_pmu.h"

static DEFINE_PER_CPU(struct auxt_channel *, owner[TRACE_PMUS]);

/**
 * auxt_reservation_type() - perf's number for a PMU
 * @pmu: its name
 *
 * The bus on which perf's PMUs sit is not exported; the device of any event's
 * PMU leads there.
 *
 * Return: the type; -ENOENT if perf has no such PMU; or why perf could not be asked.
 */
int auxt_reservation_type(const char *pmu)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_SW_DUMMY,
		.disabled = 1,
	};
	struct perf_event *dummy;
	struct device *dev;
	int type = -ENOENT;

	dummy = perf_event_create_kernel_counter(&attr, cpumask_first(cpu_online_mask),
						 NULL, NULL, NULL);
	if (IS_ERR(dummy))
		return PTR_ERR(dummy);
	dev = bus_find_device_by_name(dummy->pmu->dev->bus, NULL, pmu);
	if (dev) {
		type = ((struct pmu *)dev_get_drvdata(dev))->type;
		put_device(dev);
	}
	perf_event_release_kernel(dummy);
	return type;
}

/* NULL: perf has no such PMU and nothing instead, so there is nothing to hold. */
static struct perf_event *counter(const struct trace_pmu *pmu, int type, int cpu)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.disabled = 1,
	};

	if (type == -ENOENT && !pmu->reserve_instead)
		return NULL;
	if (type == -ENOENT)
		attr = *pmu->reserve_instead;
	else if (type < 0)
		return ERR_PTR(type);
	return perf_event_create_kernel_counter(&attr, cpu, NULL, NULL, NULL);
}

/**
 * auxt_reservation_probe() - could the trace unit of a CPU be had now?
 * @pmu: the trace unit
 * @type: auxt_reservation_type() of it
 * @cpu: an online CPU
 *
 * Return: 0, -EBUSY, or perf's error.
 */
int auxt_reservation_probe(const struct trace_pmu *pmu, int type, int cpu)
{
	struct perf_event *event;

	if (auxt_reservation_owner(cpu, pmu->number))
		return -EBUSY;
	event = counter(pmu, type, cpu);
	if (IS_ERR(event))
		return PTR_ERR(event);
	if (event)
		perf_event_release_kernel(event);
	return 0;
}

static struct auxt_channel **owner_of(const struct auxt_channel *ch)
{
	return &per_cpu(owner[ch->pmu->number], ch->cpu);
}

/**
 * auxt_reservation_take() - become the owner of a CPU's trace unit
 * @ch: a channel of an online CPU
 * @type: auxt_reservation_type()
 *
 * Return: 0, -EBUSY if perf or another session has it, or perf's error.
 */
int auxt_reservation_take(struct auxt_channel *ch, int type)
{
	int err;

	if (cmpxchg(owner_of(ch), NULL, ch))
		return -EBUSY;
	ch->reservation_type = type;
	err = auxt_reservation_renew(ch);
	if (err)
		WRITE_ONCE(*owner_of(ch), NULL);
	return err;
}

/**
 * auxt_reservation_release() - let others have it
 * @ch: the owner
 */
void auxt_reservation_release(struct auxt_channel *ch)
{
	auxt_reservation_drop(ch);
	WRITE_ONCE(*owner_of(ch), NULL);
}

/**
 * auxt_reservation_drop() - the CPU goes offline: perf's counter is no use any more
 * @ch: the owner, which it remains
 */
void auxt_reservation_drop(struct auxt_channel *ch)
{
	if (ch->reservation)
		perf_event_release_kernel(ch->reservation);
	ch->reservation = NULL;
	ch->reserved_pmu = false;
}

/**
 * auxt_reservation_renew() - the CPU is back
 * @ch: the owner
 *
 * Return: 0; -EBUSY if perf was faster; or perf's error.
 */
int auxt_reservation_renew(struct auxt_channel *ch)
{
	struct perf_event *event = counter(ch->pmu, ch->reservation_type, ch->cpu);

	if (IS_ERR(event))
		return PTR_ERR(event);
	ch->reservation = event;
	ch->reserved_pmu = true;
	return 0;
}

/**
 * auxt_reservation_owner() - whose is a trace unit of a CPU?
 * @cpu: the CPU
 * @pmu: its number
 *
 * Return: the channel of a started session, or NULL.
 */
struct auxt_channel *auxt_reservation_owner(int cpu, u32 pmu)
{
	return READ_ONCE(per_cpu(owner[pmu], cpu));
}
