// SPDX-License-Identifier: GPL-2.0
/*
 * The performance-monitoring interrupt, shared with perf.
 *
 * perf's NMI handler acknowledges every bit of IA32_PERF_GLOBAL_STATUS, ours
 * included, and drops what is not its own. So there are two handlers: the first
 * runs before perf's and as a rule finds the bit; the last runs after it and
 * looks for what came in between. Neither trusts the bit alone: the trace unit
 * itself says whether it has passed a mark. A third is asked about NMIs that nobody wants.
 */

#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <asm/msr.h>
#include <asm/nmi.h>
#include <asm/tsc.h>
#include "core/channel.h"
#include "compat/compat.h"
#include "hw/pmi.h"
#include "hotplug.h"
#include "core/trace_pmu.h"

/*
 * Looks in one NMI. Each takes up what came while the one before worked; an
 * area so small that it fills as fast must not keep the CPU here for good.
 */
#define MAX_LOOKS	8

static bool is_nmi(u32 lvtpc)
{
	return (lvtpc & APIC_MODE_MASK) == APIC_DM_NMI;
}
NOKPROBE_SYMBOL(is_nmi);

/*
 * How many trace units of this CPU need its interrupt, and how the entry was before the
 * first of them.
 */
static DEFINE_PER_CPU(unsigned int, users);
static DEFINE_PER_CPU(u32, was);

/*
 * When something was last handled here, or left to come by a STOP; 0: nothing of it can
 * still come.
 */
static DEFINE_PER_CPU(u64, last_pmi_tsc);

/**
 * auxt_pmi_route() - this CPU's interrupt comes to us
 *
 * perf's PMU driver routes it as an NMI. Where there is none the entry is as reset
 * left it, without a vector. Anything else belongs to somebody (a guest's PMU): hands
 * off.
 */
void auxt_pmi_route(void)
{
	u32 lvtpc = auxt_apic_read(APIC_LVTPC);

	if (this_cpu_inc_return(users) > 1)
		return;
	/* If it is masked, then by an interrupt that nobody has looked at. */
	this_cpu_write(was, is_nmi(lvtpc) ? APIC_DM_NMI : lvtpc);
	if (is_nmi(lvtpc) || !(lvtpc & (APIC_MODE_MASK | APIC_VECTOR_MASK)))
		auxt_apic_write(APIC_LVTPC, APIC_DM_NMI);
}

/**
 * auxt_pmi_unroute() - and no more
 * @pmi_pending: an interrupt was asserted that no handler has looked at
 */
void auxt_pmi_unroute(bool pmi_pending)
{
	if (pmi_pending)
		this_cpu_write(last_pmi_tsc, rdtsc());
	if (this_cpu_dec_return(users))
		return;
	/* Also where we routed nothing: a last PMI may have left it masked. */
	if (is_nmi(auxt_apic_read(APIC_LVTPC)))
		auxt_apic_write(APIC_LVTPC, this_cpu_read(was));
}

/*
 * The CPU masks the entry as it delivers. Unmasked last, or it would deliver
 * again what is being handled. If it does not deliver NMIs now, it is not ours
 * (a guest's PMU).
 */
static void unmask(void)
{
	u32 lvtpc = auxt_apic_read(APIC_LVTPC);

	if (is_nmi(lvtpc) && lvtpc & APIC_LVT_MASKED)
		auxt_apic_write(APIC_LVTPC, lvtpc & ~APIC_LVT_MASKED);
}
NOKPROBE_SYMBOL(unmask);

/*
 * Looks until there is nothing or it has looked so often. Returns how many interrupts
 * it has handled. More than one tells the kernel to
 * swallow an NMI that was on its way already for what has been handled here.
 */
static int handle(struct auxt_channel *ch, int looks)
{
	int handled;

	if (auxt_stop_panicking()) {
		ch->pmu->emergency_stop();
		return NMI_DONE;
	}
	for (handled = 0; handled < looks; handled++) {
		/* Before the look: what comes after it asserts the bit again. */
		bool asserted = ch->pmu->acknowledge(ch);

		if (!auxt_channel_interrupt(ch, asserted))
			break;
		unmask();
	}
	return handled;
}
NOKPROBE_SYMBOL(handle);

static int handle_all(int looks)
{
	int handled = NMI_DONE;
	u32 pmu;

	for (pmu = 0; pmu < TRACE_PMUS; pmu++) {
		struct auxt_channel *ch = auxt_channel_here(pmu);

		if (ch)
			handled += handle(ch, looks);
	}
	if (handled)
		this_cpu_write(last_pmi_tsc, rdtsc());
	return handled;
}
NOKPROBE_SYMBOL(handle_all);

static int first_handler(unsigned int type, struct pt_regs *regs)
{
	/* The last one looks again, after all others. */
	return handle_all(1);
}
NOKPROBE_SYMBOL(first_handler);

static int last_handler(unsigned int type, struct pt_regs *regs)
{
	return handle_all(MAX_LOOKS);
}
NOKPROBE_SYMBOL(last_handler);

/*
 * Nobody wants this one. A trace unit that asks while an NMI runs, or a little before,
 * is often served by that one, and what it asked for comes afterwards: one for each time
 * that something was handled.
 */
static int late_handler(unsigned int type, struct pt_regs *regs)
{
	u64 then = this_cpu_read(last_pmi_tsc);

	/* A second is more than enough, and leaves other people's to be complained of. */
	if (!then || rdtsc() - then > 1000ull * tsc_khz)
		return NMI_DONE;
	this_cpu_write(last_pmi_tsc, 0);
	unmask();
	return NMI_HANDLED;
}
NOKPROBE_SYMBOL(late_handler);

/**
 * auxt_pmi_exists() - is there the interrupt, and a PMU of perf's around it?
 * @version: of the architectural PMU, at least (CPUID.0AH:EAX[7:0])
 *
 * Return: true if so.
 */
bool auxt_pmi_exists(unsigned int version)
{
	return boot_cpu_has(X86_FEATURE_APIC) && boot_cpu_data.cpuid_level >= 0xa &&
	       (cpuid_eax(0xa) & 0xff) >= version;
}

/**
 * auxt_pmi_init() - handle NMIs
 *
 * Return: 0 or an errno.
 */
int auxt_pmi_init(void)
{
	int err;

	err = register_nmi_handler(NMI_LOCAL, first_handler, NMI_FLAG_FIRST, "auxtrace-first");
	if (err)
		return err;
	err = register_nmi_handler(NMI_LOCAL, last_handler, 0, "auxtrace-last");
	if (err)
		goto err_first;
	err = register_nmi_handler(NMI_UNKNOWN, late_handler, 0, "auxtrace-late");
	if (err)
		goto err_last;
	return 0;

err_last:
	unregister_nmi_handler(NMI_LOCAL, "auxtrace-last");
err_first:
	unregister_nmi_handler(NMI_LOCAL, "auxtrace-first");
	return err;
}

/** auxt_pmi_exit() - no more; waits for handlers that run */
void auxt_pmi_exit(void)
{
	unregister_nmi_handler(NMI_UNKNOWN, "auxtrace-late");
	unregister_nmi_handler(NMI_LOCAL, "auxtrace-last");
	unregister_nmi_handler(NMI_LOCAL, "auxtrace-first");
}
