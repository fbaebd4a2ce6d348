// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intel PT's capabilities: SDM volume 3, "Detection of Intel Processor Trace",
 * tables of CPUID leaf 14H.
 */

#include <linux/errno.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include <linux/types.h>
#include "core/filters.h"
#include "hw/pt_caps.h"

/* Erratum BDM106: setting TraceEn with BranchEn clear faults on Broadwell. */
static bool pt_caps_is_broadwell(u32 family, u32 model)
{
	return family == 6 &&
	       (model == 0x3d || model == 0x47 || model == 0x4f || model == 0x56);
}
NOKPROBE_SYMBOL(pt_caps_is_broadwell);

/*
 * On these CPUs PT cannot be on together with last branch records: the big cores before Ice Lake,
 * not Goldmont. CPUID does not say so; perf's drivers know the models (lbr_pt_coexist in
 * arch/x86/events/intel/core.c, which is off by default). Later CPUs can have both. This list only
 * serves to tell the user: perf decides.
 */
static bool pt_caps_is_exclusive(u32 family, u32 model)
{
	switch (family == 6 ? model : 0) {
	case 0x4e: case 0x5e: case 0x55:	/* Skylake */
	case 0x8e: case 0x9e:			/* Kaby Lake, Coffee Lake */
	case 0xa5: case 0xa6:			/* Comet Lake */
	case 0x66:				/* Cannon Lake */
		return true;
	}
	return pt_caps_is_broadwell(family, model);
}
NOKPROBE_SYMBOL(pt_caps_is_exclusive);

/**
 * pt_caps_decode() - decode CPUID leaf 14H
 * @caps: the result
 * @leaf: subleaves 0 and 1; a subleaf that the CPU does not have is zero
 * @family: display family of the CPU
 * @model: display model
 */
void pt_caps_decode(struct pt_caps *caps, const struct pt_cpuid leaf[2],
		    u32 family, u32 model)
{
	*caps = (struct pt_caps) {
		.cr3_filter = leaf[0].ebx & 1,
		.psb_cyc = leaf[0].ebx >> 1 & 1,
		.mtc = leaf[0].ebx >> 3 & 1,
		.ptwrite = leaf[0].ebx >> 4 & 1,
		.power_events = leaf[0].ebx >> 5 & 1,
		.event_trace = leaf[0].ebx >> 7 & 1,
		.tnt_disable = leaf[0].ebx >> 8 & 1,
		.topa = leaf[0].ecx & 1,
		.topa_multi = leaf[0].ecx >> 1 & 1,
		.branch_required = pt_caps_is_broadwell(family, model),
		.excludes_lbr = pt_caps_is_exclusive(family, model),
	};
	/* The count means something only if ranges can filter. IA32_RTIT_CTL has fields for four. */
	if (leaf[0].ebx >> 2 & 1)
		caps->nr_ranges = min(leaf[1].eax & 0x7, (u32)AUXT_MAX_FILTERS);
	/* The fields of the periods are defined only if the packets exist. */
	if (caps->mtc)
		caps->mtc_periods = leaf[1].eax >> 16;
	if (caps->psb_cyc) {
		/*
		 * Threshold 0 is none: every CYC packet is sent. CPUs with CYC packets have it,
		 * whether they enumerate it or not.
		 */
		caps->cyc_thresholds = (leaf[1].ebx & 0xffff) | 1;
		caps->psb_periods = leaf[1].ebx >> 16;
	}
}
NOKPROBE_SYMBOL(pt_caps_decode);

/**
 * pt_caps_intersect() - reduce capabilities to those that another CPU has, too
 * @caps: the capabilities
 * @other: those of the other CPU
 */
void pt_caps_intersect(struct pt_caps *caps, const struct pt_caps *other)
{
	caps->psb_cyc &= other->psb_cyc;
	caps->mtc &= other->mtc;
	caps->ptwrite &= other->ptwrite;
	caps->power_events &= other->power_events;
	caps->event_trace &= other->event_trace;
	caps->tnt_disable &= other->tnt_disable;
	caps->cr3_filter &= other->cr3_filter;
	caps->topa &= other->topa;
	caps->topa_multi &= other->topa_multi;
	caps->branch_required |= other->branch_required;
	caps->excludes_lbr |= other->excludes_lbr;
	caps->nr_ranges = min(caps->nr_ranges, other->nr_ranges);
	caps->mtc_periods &= other->mtc_periods;
	caps->cyc_thresholds &= other->cyc_thresholds;
	caps->psb_periods &= other->psb_periods;
}
NOKPROBE_SYMBOL(pt_caps_intersect);

/**
 * pt_caps_config() - configuration bits that are supported
 * @caps: the capabilities
 *
 * Return: mask of PT_CONFIG_* bits.
 */
u64 pt_caps_config(const struct pt_caps *caps)
{
	u64 bits = PT_CONFIG_PT | PT_CONFIG_TSC | PT_CONFIG_NORETCOMP | PT_CONFIG_BRANCH;

	if (caps->psb_cyc)
		bits |= PT_CONFIG_CYC | PT_CONFIG_CYC_THRESH | PT_CONFIG_PSB_PERIOD;
	if (caps->mtc)
		bits |= PT_CONFIG_MTC | PT_CONFIG_MTC_PERIOD;
	if (caps->ptwrite)
		bits |= PT_CONFIG_PTW | PT_CONFIG_FUP_ON_PTW;
	if (caps->power_events)
		bits |= PT_CONFIG_PWR_EVT;
	if (caps->event_trace)
		bits |= PT_CONFIG_EVENT;
	if (caps->tnt_disable)
		bits |= PT_CONFIG_NOTNT;
	return bits;
}
NOKPROBE_SYMBOL(pt_caps_config);

static u32 pt_caps_field(u64 config, u64 mask)
{
	return (config & mask) / (mask & -mask);
}
NOKPROBE_SYMBOL(pt_caps_field);

static bool pt_caps_has_branches(u64 config)
{
	return !(config & PT_CONFIG_PT) || config & PT_CONFIG_BRANCH;
}
NOKPROBE_SYMBOL(pt_caps_has_branches);

/**
 * pt_caps_check() - does this CPU support a configuration?
 * @caps: the CPU's capabilities
 * @config: configuration in perf's format
 *
 * An unsupported bit in IA32_RTIT_CTL raises #GP, so this check must be complete.
 *
 * Return: 0; -EINVAL if no CPU supports it (bits outside the format, a period without its
 * packet, ...) or an erratum forbids it; -EOPNOTSUPP if this CPU does not, for lack of it or of
 * ToPA output.
 */
int pt_caps_check(const struct pt_caps *caps, u64 config)
{
	u32 psb_period = pt_caps_field(config, PT_CONFIG_PSB_PERIOD);

	if (config & ~PT_CONFIG_FORMAT)
		return -EINVAL;
	/* As in perf, branch has a meaning only if pt is set. */
	if (config & PT_CONFIG_BRANCH && !(config & PT_CONFIG_PT))
		return -EINVAL;
	if (config & PT_CONFIG_MTC_PERIOD && !(config & PT_CONFIG_MTC))
		return -EINVAL;
	if (config & PT_CONFIG_CYC_THRESH && !(config & PT_CONFIG_CYC))
		return -EINVAL;
	if (config & PT_CONFIG_FUP_ON_PTW && !(config & PT_CONFIG_PTW))
		return -EINVAL;
	if (!caps->topa)
		return -EOPNOTSUPP;
	if (config & ~pt_caps_config(caps))
		return -EOPNOTSUPP;
	if (config & PT_CONFIG_MTC &&
	    !(caps->mtc_periods >> pt_caps_field(config, PT_CONFIG_MTC_PERIOD) & 1))
		return -EOPNOTSUPP;
	if (config & PT_CONFIG_CYC &&
	    !(caps->cyc_thresholds >> pt_caps_field(config, PT_CONFIG_CYC_THRESH) & 1))
		return -EOPNOTSUPP;
	/* Period 0 is the fixed period of a CPU that cannot configure it. */
	if (psb_period && !(caps->psb_periods >> psb_period & 1))
		return -EOPNOTSUPP;
	if (caps->branch_required && !pt_caps_has_branches(config))
		return -EINVAL;
	return 0;
}
NOKPROBE_SYMBOL(pt_caps_check);

/**
 * pt_caps_ctl() - IA32_RTIT_CTL for a configuration
 * @config: a configuration that pt_caps_check() has passed
 *
 * Return: the packet enables and periods. The caller adds the other bits.
 */
u64 pt_caps_ctl(u64 config)
{
	u64 ctl = config & ~(PT_CONFIG_PT | PT_CONFIG_BRANCH);

	return pt_caps_has_branches(config) ? ctl | PT_CONFIG_BRANCH : ctl;
}
NOKPROBE_SYMBOL(pt_caps_ctl);
