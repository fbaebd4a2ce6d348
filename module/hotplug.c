// SPDX-License-Identifier: GPL-2.0
/*
 * What stops tracing from outside: CPU hotplug, suspend, reboot.
 *
 * A CPU that goes away keeps its channel's owner and what was asked of it; the
 * hardware is given back and the reason OFFLINE set. Suspend and reboot do the
 * same to CPUs that stay online: memory survives a suspend, registers need not.
 */

#include <linux/cpu.h>
#include <linux/cpuhotplug.h>
#include <linux/notifier.h>
#include <linux/reboot.h>
#include <linux/smp.h>
#include <linux/suspend.h>
#include "core/channel.h"
#include "hw/reservation.h"
#include "hotplug.h"
#include "core/trace_pmu.h"
#include "trigger/set.h"

static enum cpuhp_state hotplug_state;

/* ---- hotplug: these run on the CPU, in its hotplug thread --------------- */

static void channel_goes(struct auxt_channel *ch)
{
	unsigned long flags;

	local_irq_save(flags);
	auxt_channel_leave(ch);
	local_irq_restore(flags);
	auxt_reservation_drop(ch);
}

static int cpu_goes(unsigned int cpu)
{
	u32 pmu;

	for (pmu = 0; pmu < TRACE_PMUS; pmu++)
		if (auxt_reservation_owner(cpu, pmu))
			channel_goes(auxt_reservation_owner(cpu, pmu));
	return 0;
}

static void channel_comes(struct auxt_channel *ch)
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

static int cpu_comes(unsigned int cpu)
{
	u32 pmu;

	for (pmu = 0; pmu < TRACE_PMUS; pmu++)
		if (auxt_reservation_owner(cpu, pmu))
			channel_comes(auxt_reservation_owner(cpu, pmu));
	return 0;
}

/* ---- suspend and reboot ------------------------------------------------- */

static void sleep_here(void *unused)
{
	u32 pmu;

	for (pmu = 0; pmu < TRACE_PMUS; pmu++)
		if (auxt_channel_here(pmu))
			auxt_channel_leave(auxt_channel_here(pmu));
}

static void wake_here(void *unused)
{
	u32 pmu;

	for (pmu = 0; pmu < TRACE_PMUS; pmu++) {
		struct auxt_channel *ch = auxt_reservation_owner(smp_processor_id(), pmu);

		/*
		 * One that is about to start or has been stopped is START's or STOP's, and one
		 * without a guard may be perf's.
		 */
		if (ch && !ch->attached && ch->pmu_reserved &&
		    !(auxt_channel_inhibited(ch) & AUXTRACE_INHIBIT_SETUP))
			auxt_channel_come_back(ch);
	}
}

static void sleep_all(void)
{
	cpus_read_lock();
	auxt_channel_set_asleep(true);
	on_each_cpu(sleep_here, NULL, 1);
	cpus_read_unlock();
}

static int on_pm(struct notifier_block *nb, unsigned long action, void *data)
{
	switch (action) {
	case PM_HIBERNATION_PREPARE:
	case PM_SUSPEND_PREPARE:
		sleep_all();
		break;
	case PM_POST_HIBERNATION:
	case PM_POST_SUSPEND:
		cpus_read_lock();
		auxt_channel_set_asleep(false);
		on_each_cpu(wake_here, NULL, 1);
		cpus_read_unlock();
		break;
	}
	return NOTIFY_DONE;
}

static int on_reboot(struct notifier_block *nb, unsigned long action, void *data)
{
	sleep_all();
	return NOTIFY_DONE;
}

static struct notifier_block pm_block = { .notifier_call = on_pm };
static struct notifier_block reboot_block = { .notifier_call = on_reboot };

/**
 * auxt_hotplug_init() - be told
 *
 * Return: 0 or an errno.
 */
int auxt_hotplug_init(void)
{
	int err;

	err = cpuhp_setup_state(CPUHP_AP_ONLINE_DYN, "auxtrace:online", cpu_comes, cpu_goes);
	if (err < 0)
		return err;
	hotplug_state = err;
	err = register_pm_notifier(&pm_block);
	if (err)
		goto err_hotplug;
	err = register_reboot_notifier(&reboot_block);
	if (err)
		goto err_pm;
	return 0;

err_pm:
	unregister_pm_notifier(&pm_block);
err_hotplug:
	cpuhp_remove_state(hotplug_state);
	return err;
}

/** auxt_hotplug_exit() - no session is left */
void auxt_hotplug_exit(void)
{
	unregister_reboot_notifier(&reboot_block);
	unregister_pm_notifier(&pm_block);
	cpuhp_remove_state(hotplug_state);
}
