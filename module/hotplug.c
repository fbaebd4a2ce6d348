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
#include "core/settle.h"
#include "hotplug.h"
#include "core/trace_pmu.h"
#include "trigger/set.h"

/*
 * The machine suspends or reboots. Set before the CPUs are told by IPI and looked
 * at with interrupts off on the CPU itself: an attach sees it, or comes before
 * the IPI and is undone by it.
 */
static bool asleep;
static enum cpuhp_state hotplug_state;

/**
 * auxt_stop_attach() - attach a channel, unless the machine goes down
 * @ch: an inhibited channel
 *
 * Return: as auxt_channel_attach(); 0 also if attaching must wait (reason OFFLINE).
 */
int auxt_stop_attach(struct auxt_channel *ch)
{
	if (!READ_ONCE(asleep))
		return auxt_channel_attach(ch);
	auxt_channel_inhibit(ch, AUXTRACE_INHIBIT_OFFLINE);
	return 0;
}

/* On the CPU, interrupts off. */
static void leave(struct auxt_channel *ch)
{
	auxt_channel_inhibit(ch, AUXTRACE_INHIBIT_OFFLINE);
	auxt_channel_detach(ch);
}

/* As above. If somebody else traces there now, the CPU is left alone. */
static void come_back(struct auxt_channel *ch)
{
	if (ch->attached || auxt_channel_attach(ch)) {
		auxt_channel_inhibit(ch, AUXTRACE_INHIBIT_OFFLINE);
		return;
	}
	/* What was asked meanwhile, before anything runs. */
	auxt_remote_run(ch);
	auxt_channel_allow(ch, AUXTRACE_INHIBIT_OFFLINE);
}

/**
 * auxt_stop_begin() - the session starts: no more reason SETUP
 * @ch: a channel that auxt_stop_attach() was called for
 */
void auxt_stop_begin(struct auxt_channel *ch)
{
	/* A data ring that was frozen goes on before the window's records find it so. */
	auxt_settle(ch, AUXT_TODO_APPLY);
	/* The machine may have woken since then. */
	if (!ch->attached && !READ_ONCE(asleep))
		come_back(ch);
	/* What CPUs that were attached before this one have asked. */
	else if (ch->attached)
		auxt_remote_run(ch);
	auxt_channel_allow(ch, AUXTRACE_INHIBIT_SETUP);
}

/* ---- hotplug: these run on the CPU, in its hotplug thread --------------- */

static void channel_goes(struct auxt_channel *ch)
{
	unsigned long flags;

	local_irq_save(flags);
	leave(ch);
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
	bool reserved;

	reserved = !auxt_reservation_renew(ch);
	local_irq_save(flags);
	if (!reserved)
		auxt_channel_inhibit(ch, AUXTRACE_INHIBIT_OFFLINE);
	else if (!READ_ONCE(asleep))
		come_back(ch);
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
			leave(auxt_channel_here(pmu));
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
		if (ch && !ch->attached && ch->reserved &&
		    !(auxt_channel_inhibited(ch) & AUXTRACE_INHIBIT_SETUP))
			come_back(ch);
	}
}

static void sleep_all(void)
{
	cpus_read_lock();
	WRITE_ONCE(asleep, true);
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
		WRITE_ONCE(asleep, false);
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
