// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stops the hardware on all CPUs when the kernel panics, before a crash kernel takes over.
 *
 * With a crash kernel loaded, panic() starts it before it calls any notifier, and an oops that
 * ends the machine starts it without calling panic(). What the kernel does on that way stops only
 * what perf traces. If our hardware stayed on, Intel PT would overwrite the history with the crash
 * kernel's boot, and BTS would write to an address that the crash kernel does not map. So there
 * are kprobes:
 *  - at panic(), before it prints anything. The CPU stops its hardware and has the others stop
 *    theirs by an NMI (pmi.c), so that on all of them the history ends here;
 *  - at native_machine_crash_shutdown(), likewise, for an oops;
 *  - at crash_save_cpu(), where every CPU comes before the crash kernel starts: the others in the
 *    kernel's own NMI, ahead of whose handler no other runs any more. It catches a CPU that the
 *    first NMI did not reach.
 *
 * A kprobe is passed over where the kernel crashes inside the handler of another one, and a kernel
 * may have none. Therefore there is a notifier, too. panic() calls it before the crash kernel if
 * the parameter crash_kexec_post_notifiers is set. Nothing here waits for another CPU.
 */

#include <linux/cpumask.h>
#include <linux/irqflags.h>
#include <linux/kprobes.h>
#include <linux/notifier.h>
#include <linux/printk.h>
#include <linux/smp.h>
#include "compat/compat.h"
#include "core/channel.h"
#include "core/trace_pmu.h"
#include "hw/panic.h"
#include "hw/reservation.h"

atomic_t auxt_panic_seen;

/** auxt_panic_stop() - stop the hardware of this CPU for good */
void auxt_panic_stop(void)
{
	unsigned long flags;
	u32 pmu;

	local_irq_save(flags);
	for (pmu = 0; pmu < TRACE_PMUS; pmu++)
		if (auxt_channel_here(pmu))
			auxt_channel_crash(auxt_channel_here(pmu));
	auxt_reservation_stop_stuck();
	local_irq_restore(flags);
}
NOKPROBE_SYMBOL(auxt_panic_stop);

/* May hardware of ours be on there? */
static bool panic_concerns(int cpu)
{
	u32 pmu;

	for (pmu = 0; pmu < TRACE_PMUS; pmu++)
		if (READ_ONCE(per_cpu(auxt_attached[pmu], cpu)) || auxt_reservation_is_stuck(cpu, pmu))
			return true;
	return false;
}
NOKPROBE_SYMBOL(panic_concerns);

static void panic_stop_all(void)
{
	int cpu, here = raw_smp_processor_id();
	bool is_first = !atomic_xchg(&auxt_panic_seen, 1);

	auxt_panic_stop();
	if (!is_first)
		return;
	for_each_online_cpu(cpu)
		if (cpu != here && panic_concerns(cpu))
			auxt_apic_send_nmi(cpu);
}
NOKPROBE_SYMBOL(panic_stop_all);

static int panic_probe_all(struct kprobe *kp, struct pt_regs *regs)
{
	panic_stop_all();
	return 0;
}
NOKPROBE_SYMBOL(panic_probe_all);

static int panic_probe_here(struct kprobe *kp, struct pt_regs *regs)
{
	atomic_set(&auxt_panic_seen, 1);
	auxt_panic_stop();
	return 0;
}
NOKPROBE_SYMBOL(panic_probe_here);

static struct kprobe panic_probes[] = {
	{ .symbol_name = "panic", .pre_handler = panic_probe_all },
	{ .symbol_name = "native_machine_crash_shutdown", .pre_handler = panic_probe_all },
	{ .symbol_name = "crash_save_cpu", .pre_handler = panic_probe_here },
};

static bool panic_probed[ARRAY_SIZE(panic_probes)];

static int panic_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	panic_stop_all();
	return NOTIFY_DONE;
}
NOKPROBE_SYMBOL(panic_notify);

static struct notifier_block panic_block = { .notifier_call = panic_notify };

/**
 * auxt_panic_init() - register the kprobes and the notifier
 *
 * A kernel without kprobes, or without crash kernels, is no error.
 *
 * Return: 0 or an errno.
 */
int __init auxt_panic_init(void)
{
	size_t i;
	int err;

	err = atomic_notifier_chain_register(&panic_notifier_list, &panic_block);
	if (err)
		return err;
	for (i = 0; i < ARRAY_SIZE(panic_probes); i++) {
		err = register_kprobe(&panic_probes[i]);
		panic_probed[i] = !err;
		if (err && IS_ENABLED(CONFIG_KEXEC_CORE))
			pr_notice("auxtrace: no kprobe at %s (error %d): crash kernels need crash_kexec_post_notifiers\n",
				  panic_probes[i].symbol_name, err);
	}
	return 0;
}

/** auxt_panic_exit() - unregister what auxt_panic_init() registered */
void auxt_panic_exit(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(panic_probes); i++)
		if (panic_probed[i])
			unregister_kprobe(&panic_probes[i]);
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_block);
}
NOKPROBE_SYMBOL(auxt_panic_exit);
