// SPDX-License-Identifier: GPL-2.0
/*
 * Intel PT's capabilities: SDM volume 3, "Detection of Intel Processor Trace",
 * tables of CPUID leaf 14H.
 */

#include <linux/errno.h>
#include <linux/types.h>
#include "hw/pt_caps.h"

/* Erratum BDM106: setting TraceEn with BranchEn clear faults on Broadwell. */
static bool is_broadwell(u32 family, u32 model)
{
	return family == 6 &&
	       (model == 0x3d || model == 0x47 || model == 0x4f || model == 0x56);
}

/**
 * pt_caps_decode() - read CPUID leaf 14H
 * @caps: the answer
 * @leaf: subleaves 0 and 1; a subleaf that the CPU does not have is zero
 * @family: display family of the CPU
 * @model: display model
 */
void pt_caps_decode(struct pt_caps *caps, const struct pt_cpuid leaf[2],
		    u32 family, u32 model)
{
	*caps = (struct pt_caps) {
		.psb_cyc = leaf[0].ebx >> 1 & 1,
		.mtc = leaf[0].ebx >> 3 & 1,
		.ptwrite = leaf[0].ebx >> 4 & 1,
		.topa = leaf[0].ecx & 1,
		.topa_multi = leaf[0].ecx >> 1 & 1,
		.nr_ranges = leaf[1].eax & 0x7,
		.branch_required = is_broadwell(family, model),
	};
	/* The periods mean nothing where the packets do not exist. */
	if (caps->mtc)
		caps->mtc_periods = leaf[1].eax >> 16;
	if (caps->psb_cyc) {
		caps->cyc_thresholds = leaf[1].ebx & 0xffff;
		caps->psb_periods = leaf[1].ebx >> 16;
	}
}

/**
 * pt_caps_config() - bits that a configuration may have on this CPU
 * @caps: the CPU's capabilities
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
	return bits;
}

static u32 field(u64 config, u64 mask)
{
	return (config & mask) / (mask & -mask);
}

static bool traces_branches(u64 config)
{
	return !(config & PT_CONFIG_PT) || config & PT_CONFIG_BRANCH;
}

/**
 * pt_caps_check() - can this CPU do that?
 * @caps: the CPU's capabilities
 * @config: configuration in perf's format
 *
 * A wrong bit in IA32_RTIT_CTL faults, so nothing may get past here that the
 * CPU does not have.
 *
 * Return: 0; -EINVAL if no CPU could (bits outside the format, a period without
 * its packet, ...) or an erratum forbids it; -EOPNOTSUPP if this one cannot.
 */
int pt_caps_check(const struct pt_caps *caps, u64 config)
{
	u32 psb_period = field(config, PT_CONFIG_PSB_PERIOD);

	if (config & ~PT_CONFIG_FORMAT)
		return -EINVAL;
	/* perf's rule: branch has a meaning only beside pt. */
	if (config & PT_CONFIG_BRANCH && !(config & PT_CONFIG_PT))
		return -EINVAL;
	if (config & PT_CONFIG_MTC_PERIOD && !(config & PT_CONFIG_MTC))
		return -EINVAL;
	if (config & PT_CONFIG_CYC_THRESH && !(config & PT_CONFIG_CYC))
		return -EINVAL;
	if (config & PT_CONFIG_FUP_ON_PTW && !(config & PT_CONFIG_PTW))
		return -EINVAL;
	if (config & ~pt_caps_config(caps))
		return -EOPNOTSUPP;
	if (config & PT_CONFIG_MTC &&
	    !(caps->mtc_periods >> field(config, PT_CONFIG_MTC_PERIOD) & 1))
		return -EOPNOTSUPP;
	if (config & PT_CONFIG_CYC &&
	    !(caps->cyc_thresholds >> field(config, PT_CONFIG_CYC_THRESH) & 1))
		return -EOPNOTSUPP;
	/* Period 0 is what a CPU does that cannot choose. */
	if (psb_period && !(caps->psb_periods >> psb_period & 1))
		return -EOPNOTSUPP;
	if (caps->branch_required && !traces_branches(config))
		return -EINVAL;
	return 0;
}

/**
 * pt_caps_ctl() - IA32_RTIT_CTL for a configuration
 * @config: a configuration that pt_caps_check() has passed
 *
 * Return: the packet enables and periods; the rest is the caller's.
 */
u64 pt_caps_ctl(u64 config)
{
	u64 ctl = config & ~(PT_CONFIG_PT | PT_CONFIG_BRANCH);

	return traces_branches(config) ? ctl | PT_CONFIG_BRANCH : ctl;
}
