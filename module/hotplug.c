// SPDX-License-Identifier: GPL-2.0-only
/*
 * CPU hotplug, suspend, hibernation and reboot, which stop tracing whatever the session requests.
 *
 * When a CPU goes offline, its channel sets the reason OFFLINE and releases the trace PMU. The
 * channel remains the owner of the PMU and keeps its other reasons, so it continues as requested
 * when the CPU is back. Suspend and reboot do the same on CPUs that stay online: memory survives a
 * suspend, registers may not. So does a kernel that is about to load the image of a hibernated one:
 * the hardware would go on writing to memory that then belongs to the other kernel.
 */

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/mutex.h>
#include <linux/notifier.h>
#include <linux/reboot.h>
#include <linux/smp.h>
#include <linux/suspend.h>
#include "core/channel.h"
#include "hw/pt.h"
#include "hw/reservation.h"
#include "hotplug.h"
#include "core/trace_pmu.h"
#include "trigger/set.h"

static enum cpuhp_state hotplug_state;

/* ---- hotplug: on the CPU, in its hotplug thread ------------------------- */

static void hotplug_channel_offline(struct auxt_channel *ch)
{
	unsigned long flags;

	local_irq_save(flags);
	auxt_channel_leave(ch);
	local_irq_restore(flags);
	auxt_reservation_drop(ch);
}

static int hotplug_cpu_offline(unsigned int cpu)
{
	u32 pmu;

	for (pmu = 0; pmu < TRACE_PMUS; pmu++)
		if (auxt_reservation_owner(cpu, pmu))
			hotplug_channel_offline(auxt_reservation_owner(cpu, pmu));
	return 0;
}

static void hotplug_channel_online(struct auxt_channel *ch)
{
	unsigned long flags;
	bool pmu_reserved;

	pmu_reserved = !auxt_reservation_renew(ch);
	local_irq_save(flags);
	if (!pmu_reserved)
		auxt_channel_inhibit(ch, AUXTRACE_INHIBIT_OFFLINE);
	else
		auxt_channel_come_back(ch);
	local_irq_restore(flags);
	auxt_trigger_set_renew_later(ch->triggers);
}

/* The kernel calls this for each CPU that is online at module load, too. */
static int hotplug_cpu_online(unsigned int cpu)
{
	u32 pmu;

	auxt_pt_detect();
	auxt_reservation_online(cpu);
	for (pmu = 0; pmu < TRACE_PMUS; pmu++)
		if (auxt_reservation_owner(cpu, pmu))
			hotplug_channel_online(auxt_reservation_owner(cpu, pmu));
	return 0;
}

/* ---- suspend and reboot ------------------------------------------------- */

static void hotplug_sleep_here(void *unused)
{
	u32 pmu;

	for (pmu = 0; pmu < TRACE_PMUS; pmu++)
		if (auxt_channel_here(pmu))
			auxt_channel_leave(auxt_channel_here(pmu));
	auxt_reservation_stop_stuck();
}

static void hotplug_wake_here(void *unused)
{
	u32 pmu;

	for (pmu = 0; pmu < TRACE_PMUS; pmu++) {
		struct auxt_channel *ch = auxt_reservation_owner(smp_processor_id(), pmu);

		/*
		 * Skip a channel with the reason SETUP: START or STOP is at work on it. Skip one
		 * without a reservation: perf may use the trace PMU.
		 */
		if (ch && !ch->attached && ch->pmu_reserved &&
		    !(auxt_channel_inhibited(ch) & AUXTRACE_INHIBIT_SETUP))
			auxt_channel_come_back(ch);
	}
}

/*
 * How many preparations for sleep, or for the end of this kernel, have not been undone. There may be
 * several: the machine can suspend while a program that is about to load the image of a hibernated kernel
 * has /dev/snapshot open.
 */
static unsigned int hotplug_preparations;
static DEFINE_MUTEX(hotplug_mutex);

static void hotplug_sleep(void)
{
	mutex_lock(&hotplug_mutex);
	hotplug_preparations++;
	cpus_read_lock();
	auxt_channel_set_asleep(true);
	on_each_cpu(hotplug_sleep_here, NULL, 1);
	cpus_read_unlock();
	mutex_unlock(&hotplug_mutex);
}

static void hotplug_wake(void)
{
	mutex_lock(&hotplug_mutex);
	/* The module may have been loaded after the preparation. */
	if (hotplug_preparations)
		hotplug_preparations--;
	if (!hotplug_preparations) {
		cpus_read_lock();
		auxt_channel_set_asleep(false);
		on_each_cpu(hotplug_wake_here, NULL, 1);
		cpus_read_unlock();
	}
	mutex_unlock(&hotplug_mutex);
}

static int hotplug_pm_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	switch (action) {
	case PM_HIBERNATION_PREPARE:
	case PM_SUSPEND_PREPARE:
	case PM_RESTORE_PREPARE:
		hotplug_sleep();
		break;
	case PM_POST_HIBERNATION:
	case PM_POST_SUSPEND:
	case PM_POST_RESTORE:	/* It failed, and this kernel goes on. */
		hotplug_wake();
		break;
	}
	return NOTIFY_DONE;
}

static int hotplug_reboot_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	hotplug_sleep();
	return NOTIFY_DONE;
}

static struct notifier_block hotplug_pm_block = { .notifier_call = hotplug_pm_notify };
static struct notifier_block hotplug_reboot_block = { .notifier_call = hotplug_reboot_notify };

/**
 * auxt_hotplug_init() - register the hotplug, suspend and reboot callbacks
 *
 * Return: 0 or an errno.
 */
int auxt_hotplug_init(void)
{
	int err;

	err = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "auxtrace:online", hotplug_cpu_online,
				hotplug_cpu_offline);
	if (err < 0)
		return err;
	hotplug_state = err;
	err = register_pm_notifier(&hotplug_pm_block);
	if (err)
		goto err_hotplug;
	err = register_reboot_notifier(&hotplug_reboot_block);
	if (err)
		goto err_pm;
	return 0;

err_pm:
	unregister_pm_notifier(&hotplug_pm_block);
err_hotplug:
	cpuhp_remove_state(hotplug_state);
	return err;
}

/** auxt_hotplug_exit() - unregister the callbacks; no session is left */
void auxt_hotplug_exit(void)
{
	unregister_reboot_notifier(&hotplug_reboot_block);
	unregister_pm_notifier(&hotplug_pm_block);
	cpuhp_remove_state(hotplug_state);
}
