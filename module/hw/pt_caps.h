/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a CPU's Intel PT supports (CPUID leaf 14H), and whether it supports a given
 * configuration. The caller passes the words of the leaf in; nothing here touches the
 * hardware. The tests compile it in user space.
 */
#ifndef AUXT_PT_CAPS_H
#define AUXT_PT_CAPS_H

#include <linux/types.h>

/*
 * The configuration word has the bits of perf's intel_pt format
 * (/sys/bus/event_source/devices/intel_pt/format). All but PT are the bits of
 * the same meaning in IA32_RTIT_CTL.
 */
#define PT_CONFIG_PT		(1ull << 0)	/* clear: branches are always traced */
#define PT_CONFIG_CYC		(1ull << 1)
#define PT_CONFIG_PWR_EVT	(1ull << 4)
#define PT_CONFIG_FUP_ON_PTW	(1ull << 5)
#define PT_CONFIG_MTC		(1ull << 9)
#define PT_CONFIG_TSC		(1ull << 10)
#define PT_CONFIG_NORETCOMP	(1ull << 11)
#define PT_CONFIG_PTW		(1ull << 12)
#define PT_CONFIG_BRANCH	(1ull << 13)
#define PT_CONFIG_MTC_PERIOD	(0xfull << 14)
#define PT_CONFIG_CYC_THRESH	(0xfull << 19)
#define PT_CONFIG_PSB_PERIOD	(0xfull << 24)
/* Kernels before 5.18 have no name for these bits of IA32_RTIT_CTL. */
#define PT_CONFIG_EVENT		(1ull << 31)
#define PT_CONFIG_NOTNT		(1ull << 55)
#define PT_CONFIG_FORMAT	(PT_CONFIG_PT | PT_CONFIG_CYC | PT_CONFIG_PWR_EVT | \
				 PT_CONFIG_FUP_ON_PTW | PT_CONFIG_MTC | PT_CONFIG_TSC | \
				 PT_CONFIG_NORETCOMP | PT_CONFIG_PTW | PT_CONFIG_BRANCH | \
				 PT_CONFIG_MTC_PERIOD | PT_CONFIG_CYC_THRESH | \
				 PT_CONFIG_PSB_PERIOD | PT_CONFIG_EVENT | PT_CONFIG_NOTNT)

/**
 * struct pt_caps - Intel PT of a CPU, or what several CPUs have in common
 * @psb_cyc: configurable PSB period, CYC packets
 * @mtc: MTC packets
 * @ptwrite: PTWRITE packets
 * @power_events: power event packets
 * @event_trace: packets of interrupts, exceptions and RFLAGS.IF
 * @tnt_disable: TNT packets can be left out
 * @cr3_filter: tracing only while CR3 has a given value
 * @topa: ToPA output
 * @topa_multi: tables of more than one entry; else see topa_single.h
 * @nr_ranges: address ranges that are usable as filters
 * @mtc_periods: bit n: MTC period n
 * @cyc_thresholds: bit n: cycle threshold n
 * @psb_periods: bit n: PSB period n
 * @branch_required: tracing without BranchEn faults (erratum BDM106)
 * @excludes_lbr: the CPU cannot have PT and last branch records on at once
 */
struct pt_caps {
	bool psb_cyc;
	bool mtc;
	bool ptwrite;
	bool power_events;
	bool event_trace;
	bool tnt_disable;
	bool cr3_filter;
	bool topa;
	bool topa_multi;
	bool branch_required;
	bool excludes_lbr;
	u32 nr_ranges;
	u32 mtc_periods;
	u32 cyc_thresholds;
	u32 psb_periods;
};

/* One subleaf of CPUID. */
struct pt_cpuid {
	u32 eax, ebx, ecx, edx;
};

void pt_caps_intersect(struct pt_caps *caps, const struct pt_caps *other);
void pt_caps_decode(struct pt_caps *caps, const struct pt_cpuid leaf[2],
		    u32 family, u32 model);
u64 pt_caps_config(const struct pt_caps *caps);
int pt_caps_check(const struct pt_caps *caps, u64 config);
u64 pt_caps_ctl(u64 config);

#endif /* AUXT_PT_CAPS_H */
