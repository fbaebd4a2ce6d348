// SPDX-License-Identifier: LGPL-2.1-or-later
/* Branch Trace Store: it has no config; each record is a branch with its addresses. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "internal.h"
#include "trace_pmu.h"

static int parse_config(const struct auxtrace_session *s, const char *terms, uint64_t *config)
{
	(void)s;
	if (terms && *terms)
		return fail(EINVAL, "config \"%s\": BTS has nothing to choose, each of its records is a branch with its addresses: leave config out",
			    terms);
	*config = 0;
	return 0;
}

static const char *absent(uint32_t state)
{
	switch (state) {
	case AUXTRACE_PMU_STATE_NO_CPUID:
		return "this CPU has no BTS in 64-bit format (CPUID.1:EDX[21], DS, or ECX[2], DTES64, is 0)";
	case AUXTRACE_PMU_STATE_DISABLED:
		return "BTS is disabled by firmware or a hypervisor (IA32_MISC_ENABLE[11] is 1)";
	case AUXTRACE_PMU_STATE_NO_PMI:
		return "BTS needs an architectural PMU for its interrupt; the kernel has none here";
	}
	return "this machine has no usable BTS";
}

static int explain_config(const struct auxtrace_setup *setup)
{
	if (setup->config)
		return fail(EINVAL, "config is %#" PRIx64 ": BTS has nothing to choose, it must be 0",
			    (uint64_t)setup->config);
	return fail(EINVAL, "SETUP of BTS failed: %s", strerror(EINVAL));
}

static int explain_unsupported(const struct auxtrace_session *s, const struct auxtrace_setup *setup)
{
	(void)s;
	if (setup->nr_filters)
		return fail(EOPNOTSUPP, "BTS records each branch wherever it is, the hardware compares no addresses: leave the filters out, or use Intel PT");
	if (setup->flags & AUXTRACE_SETUP_ADDRESS_SPACE)
		return fail(EOPNOTSUPP, "flags: BTS compares no page tables: leave ADDRESS_SPACE out (PROCESS traces a process), or use Intel PT");
	return fail(EOPNOTSUPP, "flags: BTS of this CPU records kernel and user code together only (CPUID.1:ECX[4], DS-CPL, is 0): set both KERNEL and USER");
}

static void write_meta(FILE *f, const struct auxtrace_session *s)
{
	struct auxtrace_cap_intel_bts bts;

	capability_get(s, AUXTRACE_CAP_INTEL_BTS, &bts, sizeof(bts));
	fprintf(f, "bts_flags %#x\n", bts.flags);
}

const struct trace_pmu trace_pmu_bts = {
	.pmu = AUXTRACE_PMU_INTEL_BTS,
	.name = "BTS",
	.macro = "AUXTRACE_PMU_INTEL_BTS",
	.parse_config = parse_config,
	.absent = absent,
	.explain_config = explain_config,
	.explain_unsupported = explain_unsupported,
	.busy = "perf, usually, holds BTS, or what excludes it, on a CPU of the session (perf record -e intel_bts//, or last branch records as with -b), or, where the CPU cannot have both, Intel PT is in use (perf record -e intel_pt//, a session of auxtrace); end that and START again",
	.start_error = "perf's debug store is not where IA32_DS_AREA points to on a CPU of the session: other software has moved it, and BTS would write there",
	.write_meta = write_meta,
};
