// SPDX-License-Identifier: GPL-2.0
/* INFO: what this machine supports and the caller may do. */

#include <linux/auxtrace.h>
#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/smp.h>
#include "base/clock.h"
#include "compat/compat.h"
#include "core/trace_pmu.h"
#include "hw/bts.h"
#include "hw/pt.h"
#include "hw/reservation.h"
#include "info.h"

struct info_probe {
	const struct trace_pmu *pmu;
	atomic_t busy;
};

static void info_probe_cpu(void *info)
{
	struct info_probe *probe = info;

	if (probe->pmu->in_use())
		atomic_set(&probe->busy, 1);
}

/* Does perf, a session or the firmware use the trace PMU of any CPU? */
static bool info_is_busy(const struct trace_pmu *pmu)
{
	struct info_probe probe = { .pmu = pmu };
	unsigned int cpu;

	cpus_read_lock();
	for_each_online_cpu(cpu)
		/* Other errors mean that the caller lacks privilege. */
		if (auxt_reservation_probe(pmu, cpu) == -EBUSY)
			atomic_set(&probe.busy, 1);
	if (!atomic_read(&probe.busy))
		on_each_cpu(info_probe_cpu, &probe, 1);
	cpus_read_unlock();
	return atomic_read(&probe.busy);
}

static void info_describe_cpu(struct auxtrace_info *info)
{
	u64 platform;

	info->out_cpu_family = boot_cpu_data.x86;
	info->out_cpu_model = boot_cpu_data.x86_model;
	info->out_cpu_stepping = boot_cpu_data.x86_stepping;
	if (boot_cpu_data.x86_vendor != X86_VENDOR_INTEL)
		return;
	/* CPUID.15H: TSC = ART * EBX / EAX */
	if (boot_cpu_data.cpuid_level >= 0x15 && cpuid_eax(0x15) && cpuid_ebx(0x15)) {
		info->out_tsc_art_num = cpuid_ebx(0x15);
		info->out_tsc_art_den = cpuid_eax(0x15);
	}
	if (!auxt_rdmsr_safe(MSR_PLATFORM_INFO, &platform))
		info->out_max_nonturbo_ratio = platform >> 8 & 0xff;
}

/**
 * auxt_info() - AUXTRACE_IOC_INFO
 * @session: unused
 * @data: struct auxtrace_info
 *
 * Return: 0, or -EINVAL for an unknown flag.
 */
int auxt_info(struct auxt_session *session, void *data)
{
	struct auxtrace_info *info = data;
	const struct pt_caps *caps = auxt_pt_caps();
	u32 size = info->size, flags = info->flags;

	if (flags & ~AUXTRACE_INFO_ALL)
		return -EINVAL;

	*info = (struct auxtrace_info) {
		.size = size,
		.flags = flags,
		.out_abi_version = AUXTRACE_ABI_VERSION,
		.out_pt = auxt_pt.missing(),
		.out_bts = auxt_bts.missing(),
		.out_nr_cpu_ids = nr_cpu_ids,
		.out_page_size = PAGE_SIZE,
	};
	if (perfmon_capable())
		info->out_may |= AUXTRACE_MAY_TRACE;
	if (capable(CAP_IPC_LOCK))
		info->out_may |= AUXTRACE_MAY_LOCK;
	if (info->out_pt != AUXTRACE_PT_NO_CPUID) {
		info->out_pt_config = pt_caps_config(caps);
		info->out_pt_mtc_periods = caps->mtc_periods;
		info->out_pt_cyc_thresholds = caps->cyc_thresholds;
		info->out_pt_psb_periods = caps->psb_periods;
		info->out_pt_nr_ranges = caps->nr_ranges;
	}
	if (info->out_pt == AUXTRACE_PT_OK) {
		info->out_pmus |= 1u << AUXTRACE_PMU_INTEL_PT;
		if (flags & AUXTRACE_INFO_PROBE && info_is_busy(&auxt_pt))
			info->out_pt = AUXTRACE_PT_BUSY;
	}
	if (info->out_bts == AUXTRACE_BTS_OK) {
		info->out_pmus |= 1u << AUXTRACE_PMU_INTEL_BTS;
		info->out_bts_flags = auxt_bts_flags();
		if (flags & AUXTRACE_INFO_PROBE && info_is_busy(&auxt_bts))
			info->out_bts = AUXTRACE_BTS_BUSY;
	}
	info_describe_cpu(info);
	auxt_clock_describe(info);
	return 0;
}
