// SPDX-License-Identifier: GPL-2.0-only
/* INFO: what this machine supports and the caller may do. */

#include <linux/auxtrace.h>
#include <linux/capability.h>
#include <linux/cpu.h>
#include <linux/mm.h>
#include <linux/smp.h>
#include <linux/stddef.h>
#include "answer.h"
#include "base/clock.h"
#include "compat/compat.h"
#include "core/caps.h"
#include "core/known.h"
#include "core/trace_pmu.h"
#include "hw/reservation.h"
#include "hw/trace_pmus.h"
#include "info.h"
#include "rights.h"

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

static void info_describe_cpu(struct auxt_caps *caps)
{
	struct auxtrace_cap_x86 cpu = {
		.cap = { .tag = AUXTRACE_CAP_X86, .size = sizeof(cpu) },
		.family = boot_cpu_data.x86,
		.model = boot_cpu_data.x86_model,
		.stepping = boot_cpu_data.x86_stepping,
	};
	u64 platform;

	if (boot_cpu_data.x86_vendor == X86_VENDOR_INTEL) {
		/* CPUID.15H: TSC = ART * EBX / EAX */
		if (boot_cpu_data.cpuid_level >= 0x15 && cpuid_eax(0x15) && cpuid_ebx(0x15)) {
			cpu.tsc_art_num = cpuid_ebx(0x15);
			cpu.tsc_art_den = cpuid_eax(0x15);
		}
		if (!auxt_rdmsr_safe(MSR_PLATFORM_INFO, &platform))
			cpu.max_nonturbo_ratio = platform >> 8 & 0xff;
	}
	auxt_caps_add(caps, &cpu.cap);
}

/* Describes a trace PMU. Returns whether sessions can use it. */
static bool info_describe_pmu(struct auxt_caps *caps, const struct trace_pmu *pmu, bool probe)
{
	struct auxtrace_cap_pmu cap = {
		.cap = { .tag = AUXTRACE_CAP_PMU(pmu->number), .size = sizeof(cap) },
		.pmu = pmu->number,
		.state = pmu->missing(),
	};
	bool usable = cap.state == AUXTRACE_PMU_STATE_OK;

	if (usable) {
		cap.excludes = pmu->excludes();
		if (probe && info_is_busy(pmu))
			cap.state = AUXTRACE_PMU_STATE_BUSY;
	}
	auxt_caps_add(caps, &cap.cap);
	pmu->describe(caps);
	return usable;
}

/* Copies as many capabilities as fit whole into the caller's memory, and zeroes the rest of it. */
static int info_copy_caps(struct auxtrace_info *info, const struct auxt_caps *caps)
{
	struct auxt_answer answer;
	u32 len = 0, next;
	int err;

	for (;;) {
		if (len == caps->len)
			break;
		next = len + ((const struct auxtrace_cap *)(caps->bytes + len))->size;
		if (next > info->caps_len)
			break;
		len = next;
	}
	info->out_caps_len = caps->len;
	err = auxt_answer_pin(&answer, info->caps, info->caps_len);
	if (err)
		return err;
	auxt_answer_write(&answer, 0, caps->bytes, len);
	auxt_answer_write(&answer, len, NULL, info->caps_len - len);
	auxt_answer_unpin(&answer);
	return 0;
}

/* All capabilities together. The ABI promises that they fit in 4096 bytes. */
static_assert(sizeof_field(struct auxt_caps, bytes) <= 4096);
static_assert(sizeof(struct auxtrace_cap_x86) + TRACE_PMUS * sizeof(struct auxtrace_cap_pmu) +
	      sizeof(struct auxtrace_cap_intel_pt) + sizeof(struct auxtrace_cap_intel_bts) <=
	      sizeof_field(struct auxt_caps, bytes));

/**
 * auxt_info() - AUXTRACE_IOC_INFO
 * @session: unused
 * @data: struct auxtrace_info
 *
 * Return: 0; -EINVAL unknown flag; -E2BIG caps_len beyond a page; -EACCES PROBE without CAP_PERFMON;
 * -EFAULT a bad pointer; -ENOMEM; -EINTR a fatal signal.
 */
int auxt_info(struct auxt_session *session, void *data)
{
	struct auxtrace_info *info = data;
	struct auxt_caps caps = { };
	u32 i;

	if (info->flags & ~AUXTRACE_INFO_ALL)
		return -EINVAL;
	if (info->caps_len > PAGE_SIZE)
		return -E2BIG;
	if (info->flags & AUXTRACE_INFO_PROBE && !perfmon_capable())
		return -EACCES;

	*info = (struct auxtrace_info) {
		.size = info->size,
		.flags = info->flags,
		.caps = info->caps,
		.caps_len = info->caps_len,
		.out_abi_version = AUXTRACE_ABI_VERSION,
		.out_nr_cpu_ids = nr_cpu_ids,
		.out_page_size = PAGE_SIZE,
	};
	if (perfmon_capable())
		info->out_may |= AUXTRACE_MAY_TRACE;
	if (capable(CAP_IPC_LOCK))
		info->out_may |= AUXTRACE_MAY_LOCK;
	if (auxt_rights_of_all())
		info->out_may |= AUXTRACE_MAY_TRACE_OWN;
	for (i = 0; i < ARRAY_SIZE(auxt_trace_pmus); i++)
		if (info_describe_pmu(&caps, auxt_trace_pmus[i],
				      info->flags & AUXTRACE_INFO_PROBE))
			info->out_pmus |= 1u << i;
	info_describe_cpu(&caps);
	auxt_clock_describe(info);
	return info_copy_caps(info, &caps);
}
