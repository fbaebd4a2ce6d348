// SPDX-License-Identifier: GPL-2.0-only
/* Branch Trace Store. */
#include <cpuid.h>
#include <inttypes.h>

#include "decode/flow.h"
#include "lib/findings.h"
#include "lib/tool.h"
#include "source.h"

static void find_cpu(void)
{
	unsigned int a, b, c, d;

	if (!__get_cpuid(1, &a, &b, &c, &d) || !(d >> 21 & 1) || !(c >> 2 & 1))
		finding_add(&source_bts, "cpu: bts", NO, "without BTS in 64-bit format: CPUID.1:EDX[21] (DS) or ECX[2] (DTES64) is 0 (most virtual machines hide it)");
	else
		finding_add(&source_bts, "cpu: bts", YES, "with BTS; %s", c >> 4 & 1 ?
			    "it can record kernel or user code alone (DS-CPL)" :
			    "kernel and user code together only (no DS-CPL)");
}

static void find_state(const struct auxtrace_session *session, const struct auxtrace_info *info,
		       uint32_t state)
{
	struct auxtrace_cap_intel_bts bts;

	switch (state) {
	case AUXTRACE_PMU_STATE_OK:
		auxtrace_capability(session, AUXTRACE_CAP_INTEL_BTS, &bts, sizeof(bts));
		source_find_usable(&source_bts, info, bts.flags & AUXTRACE_BTS_BUFFERED ?
				   "; through the kernel's buffer of 64 KiB, because page tables are isolated" : "");
		break;
	case AUXTRACE_PMU_STATE_NO_CPUID:
		finding_add(&source_bts, "bts", NO, "the module sees no BTS in 64-bit format on this CPU");
		break;
	case AUXTRACE_PMU_STATE_DISABLED:
		finding_add(&source_bts, "bts", NO, "firmware or a hypervisor has disabled it (IA32_MISC_ENABLE[11])");
		break;
	case AUXTRACE_PMU_STATE_NO_PMI:
		finding_add(&source_bts, "bts", NO, "the kernel has no architectural PMU to route its interrupt");
		break;
	case AUXTRACE_PMU_STATE_BUSY:
		finding_add(&source_bts, "bts", NO, "perf holds it, or what excludes it, on a CPU now: end perf record -e intel_bts// or -b, where the CPU cannot have both -e intel_pt//, or another session");
		break;
	default:
		finding_add(&source_bts, "bts", NO, "the module gives reason %u, which this command does not know: it is older than the module",
			    state);
	}
}

static void summarize(const struct flow_sum *sum)
{
	say("%" PRIu64 " branches", sum->branches);
}

const struct source source_bts = {
	.pmu = AUXTRACE_PMU_INTEL_BTS,
	.name = "bts",
	.perf_pmu = "intel_bts",
	.perf_trace = &bts_perf,
	.no_filter = "BTS records each branch wherever it is, the hardware compares no addresses and no page tables; use --source pt",
	.no_config = "its terms are of Intel PT's packets; with --source bts each record is a branch, and there is nothing to choose",
	.unsynced = "are of branches that are not whole",
	.find_cpu = find_cpu,
	.find_state = find_state,
	.dump = bts_dump,
	.print_totals = bts_print_totals,
	.summarize = summarize,
};
