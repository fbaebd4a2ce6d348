// SPDX-License-Identifier: GPL-2.0
/*
 * Stops the hardware when the kernel panics.
 *
 * The notifier stops the trace PMUs of the CPU that panics. The other CPUs are halted by
 * an NMI or soon will be; their NMI handlers see auxt_panicking() and stop theirs (pmi.c).
 * The notifier waits for nothing.
 */

#include <linux/kprobes.h>
#include <linux/notifier.h>
#include "compat/compat.h"
#include "core/channel.h"
#include "core/trace_pmu.h"
#include "hw/panic.h"

static bool panic_seen;

/**
 * auxt_panicking() - has the kernel begun to panic?
 *
 * Return: true from the panic notifier on, on every CPU.
 */
bool auxt_panicking(void)
{
	return READ_ONCE(panic_seen);
}
NOKPROBE_SYMBOL(auxt_panicking);

static int panic_notify(struct notifier_block *nb, unsigned long action, void *data)
{
	u32 pmu;

	WRITE_ONCE(panic_seen, true);
	for (pmu = 0; pmu < TRACE_PMUS; pmu++)
		if (auxt_channel_here(pmu))
			auxt_channel_here(pmu)->pmu->emergency_stop();
	return NOTIFY_DONE;
}
NOKPROBE_SYMBOL(panic_notify);

static struct notifier_block panic_block = { .notifier_call = panic_notify };

/**
 * auxt_panic_init() - register the notifier
 *
 * Return: 0 or an errno.
 */
int __init auxt_panic_init(void)
{
	return atomic_notifier_chain_register(&panic_notifier_list, &panic_block);
}

/** auxt_panic_exit() - unregister the notifier */
void auxt_panic_exit(void)
{
	atomic_notifier_chain_unregister(&panic_notifier_list, &panic_block);
}
NOKPROBE_SYMBOL(auxt_panic_exit);
