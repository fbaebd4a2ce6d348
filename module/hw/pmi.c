// SPDX-License-Identifier: GPL-2.0-only
/*
 * The performance-monitoring interrupt, shared with perf.
 *
 * perf's NMI handler acknowledges every bit of IA32_PERF_GLOBAL_STATUS, ours included,
 * and drops what is not its own. So there are two handlers: pmi_first() runs before perf's
 * and usually finds the bit; pmi_last() runs after it, for what came in between. That one does not
 * rely on the bit alone: it also asks the trace PMU whether it has passed a mark. A third,
 * pmi_late(), is called for NMIs that no handler has claimed.
 */

#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/percpu.h>
#include <asm/msr.h>
#include <asm/nmi.h>
#include <asm/tsc.h>
#include "compat/compat.h"
#include "core/channel.h"
#include "core/trace_pmu.h"
#include "hw/panic.h"
#include "hw/pmi.h"

/*
 * Rounds in one NMI. Each handles what came during the one before. The bound is for an
 * area so small that it fills during each round.
 */
#define PMI_MAX_ROUNDS	8

static bool pmi_is_nmi(u32 lvtpc)
{
	return (lvtpc & APIC_MODE_MASK) == APIC_DM_NMI;
}
NOKPROBE_SYMBOL(pmi_is_nmi);

/*
 * How late the NMI of an interrupt may come that was handled already, or that STOP left pending.
 * The CPU delivers it within microseconds. A hypervisor may have it pending while it runs other
 * virtual CPUs; its time slices are of a few milliseconds. The bound is small because an unknown
 * NMI may be the machine's: a watchdog, a memory error, the button that forces a crash dump.
 */
#define PMI_LATE_MS	10

/*
 * Trace PMUs that use this CPU's interrupt, and the LVT entry before the first of them. A channel is
 * attached only while its trace PMU is one of these.
 */
static DEFINE_PER_CPU(unsigned int, pmi_users);
static DEFINE_PER_CPU(u32, pmi_lvtpc_before);

/*
 * When this CPU last handled an interrupt, or was left with one pending by STOP. 0: no late
 * NMI can follow.
 */
static DEFINE_PER_CPU(u64, pmi_last_tsc);

/**
 * auxt_pmi_route() - deliver this CPU's PMI as an NMI
 *
 * perf's PMU driver sets up the LVT entry so. Without that driver the entry has its reset
 * value, without a vector. Any other value belongs to other code (a guest's PMU) and is left
 * alone.
 */
void auxt_pmi_route(void)
{
	u32 lvtpc = auxt_apic_read(APIC_LVTPC);

	if (this_cpu_inc_return(pmi_users) > 1)
		return;
	/* A masked entry means that an interrupt was delivered and not handled: unmask it. */
	this_cpu_write(pmi_lvtpc_before, pmi_is_nmi(lvtpc) ? APIC_DM_NMI : lvtpc);
	if (pmi_is_nmi(lvtpc) || !(lvtpc & (APIC_MODE_MASK | APIC_VECTOR_MASK)))
		auxt_apic_write(APIC_LVTPC, APIC_DM_NMI);
}
NOKPROBE_SYMBOL(auxt_pmi_route);

/**
 * auxt_pmi_unroute() - undo auxt_pmi_route()
 * @pmi_pending: an interrupt was asserted that no handler has handled
 */
void auxt_pmi_unroute(bool pmi_pending)
{
	if (pmi_pending)
		this_cpu_write(pmi_last_tsc, rdtsc());
	if (this_cpu_dec_return(pmi_users))
		return;
	/* Even if auxt_pmi_route() wrote nothing: the last PMI may have left the entry masked. */
	if (pmi_is_nmi(auxt_apic_read(APIC_LVTPC)))
		auxt_apic_write(APIC_LVTPC, this_cpu_read(pmi_lvtpc_before));
}
NOKPROBE_SYMBOL(auxt_pmi_unroute);

/*
 * The CPU masks the LVT entry when it delivers the interrupt. Call this after the interrupt was
 * handled, or the CPU would deliver it again. An entry that delivers no NMIs is not ours.
 */
static void pmi_unmask(void)
{
	u32 lvtpc = auxt_apic_read(APIC_LVTPC);

	if (pmi_is_nmi(lvtpc) && lvtpc & APIC_LVT_MASKED)
		auxt_apic_write(APIC_LVTPC, lvtpc & ~APIC_LVT_MASKED);
}
NOKPROBE_SYMBOL(pmi_unmask);

/*
 * Handles interrupts until there is none. Returns how many. A number above one tells the kernel that
 * the NMI of an interrupt handled here may still be latched.
 */
static int pmi_handle(struct auxt_channel *ch)
{
	int handled;

	for (handled = 0; handled < PMI_MAX_ROUNDS; handled++) {
		/* Acknowledge first: an interrupt that comes later asserts the bit again. */
		bool asserted = ch->pmu->acknowledge(ch);

		if (likely(!auxt_channel_interrupt(ch, asserted)))
			break;
		pmi_unmask();
	}
	return handled;
}
NOKPROBE_SYMBOL(pmi_handle);

/* Most NMIs are of others, say, of perf's counters: what the bit does not say is left to pmi_last(). */
static int pmi_first(unsigned int type, struct pt_regs *regs)
{
	int handled = NMI_DONE;
	u32 pmu;

	/* Claimed, so that the kernel does not report the NMI that panic.c sent. */
	if (unlikely(auxt_panicking())) {
		auxt_panic_stop();
		return NMI_HANDLED;
	}
	if (likely(!this_cpu_read(pmi_users)))
		return NMI_DONE;
	for (pmu = 0; pmu < TRACE_PMUS; pmu++) {
		struct auxt_channel *ch = auxt_channel_here(pmu);

		if (!ch || likely(!ch->pmu->acknowledge(ch)))
			continue;
		auxt_channel_interrupt(ch, true);
		pmi_unmask();
		handled++;
	}
	if (unlikely(handled))
		this_cpu_write(pmi_last_tsc, rdtsc());
	return handled;
}
NOKPROBE_SYMBOL(pmi_first);

static int pmi_last(unsigned int type, struct pt_regs *regs)
{
	int handled = NMI_DONE;
	u32 pmu;

	if (likely(!this_cpu_read(pmi_users)) || unlikely(auxt_panicking()))
		return NMI_DONE;
	for (pmu = 0; pmu < TRACE_PMUS; pmu++) {
		struct auxt_channel *ch = auxt_channel_here(pmu);

		if (ch)
			handled += pmi_handle(ch);
	}
	if (unlikely(handled))
		this_cpu_write(pmi_last_tsc, rdtsc());
	return handled;
}
NOKPROBE_SYMBOL(pmi_last);

/*
 * Called for an NMI that no handler has claimed. An interrupt that is asserted during an
 * NMI, or shortly before, is often handled by that NMI, and its own NMI comes later with
 * nothing to do. Each handled interrupt allows one such NMI.
 */
static int pmi_late(unsigned int type, struct pt_regs *regs)
{
	u64 then = this_cpu_read(pmi_last_tsc);

	/*
	 * If the NMI was the trace PMU's, its delivery has masked the entry. Without perf's driver
	 * nobody else unmasks it, and the sessions here would get no interrupt any more.
	 */
	if (this_cpu_read(pmi_users))
		pmi_unmask();
	if (!then)
		return NMI_DONE;
	this_cpu_write(pmi_last_tsc, 0);
	/* The kernel reports it as unknown. */
	if (rdtsc() - then > (u64)PMI_LATE_MS * tsc_khz)
		return NMI_DONE;
	pmi_unmask();
	return NMI_HANDLED;
}
NOKPROBE_SYMBOL(pmi_late);

/**
 * auxt_pmi_exists() - does the CPU have a performance-monitoring interrupt?
 * @version: least version of the architectural PMU (CPUID.0AH:EAX[7:0])
 *
 * Return: true if it has.
 */
bool auxt_pmi_exists(unsigned int version)
{
	return boot_cpu_has(X86_FEATURE_APIC) && boot_cpu_data.cpuid_level >= 0xa &&
	       (cpuid_eax(0xa) & 0xff) >= version;
}
NOKPROBE_SYMBOL(auxt_pmi_exists);

/**
 * auxt_pmi_init() - register the NMI handlers
 *
 * Return: 0 or an errno.
 */
int __init auxt_pmi_init(void)
{
	int err;

	err = register_nmi_handler(NMI_LOCAL, pmi_first, NMI_FLAG_FIRST, "auxtrace-first");
	if (err)
		return err;
	err = register_nmi_handler(NMI_LOCAL, pmi_last, 0, "auxtrace-last");
	if (err)
		goto err_first;
	err = register_nmi_handler(NMI_UNKNOWN, pmi_late, 0, "auxtrace-late");
	if (err)
		goto err_last;
	return 0;

err_last:
	unregister_nmi_handler(NMI_LOCAL, "auxtrace-last");
err_first:
	unregister_nmi_handler(NMI_LOCAL, "auxtrace-first");
	return err;
}

/** auxt_pmi_exit() - unregister the NMI handlers; waits for those that run */
void auxt_pmi_exit(void)
{
	unregister_nmi_handler(NMI_UNKNOWN, "auxtrace-late");
	unregister_nmi_handler(NMI_LOCAL, "auxtrace-last");
	unregister_nmi_handler(NMI_LOCAL, "auxtrace-first");
}
NOKPROBE_SYMBOL(auxt_pmi_exit);
