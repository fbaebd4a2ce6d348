// SPDX-License-Identifier: GPL-2.0-only
/* Intel PT. */
#include <cpuid.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lib/findings.h"
#include "source.h"

static void find_cpu(void)
{
	unsigned int a, b, c, d, max = __get_cpuid_max(0, NULL);
	char vendor[13] = "";

	__cpuid(0, a, b, c, d);
	memcpy(vendor, &b, 4);
	memcpy(vendor + 4, &d, 4);
	memcpy(vendor + 8, &c, 4);
	if (max < 0x14 || !__get_cpuid_count(7, 0, &a, &b, &c, &d) || !(b >> 25 & 1)) {
		finding_add(&source_pt, "cpu", NO, "%s without Intel PT: CPUID.7.0:EBX[25] is 0 (most virtual machines hide it)", vendor);
		return;
	}
	__cpuid_count(0x14, 0, a, b, c, d);
	finding_add(&source_pt, "cpu", YES, "%s with Intel PT:%s%s%s%s%s%s%s%s%s", vendor,
		    b & 1 ? " CR3 filter," : "", b & 2 ? " CYC and PSB period," : "",
		    b & 4 ? " IP filter and TraceStop," : "", b & 8 ? " MTC," : "",
		    b & 16 ? " PTWRITE," : "", b & 32 ? " power events," : "",
		    b & 128 ? " event trace," : "",
		    c & 1 ? c & 2 ? " multi-entry ToPA," : " single-entry ToPA," : " no ToPA,",
		    c & 4 ? " single-range output" : " no single-range output");
	if (!(c & 1))
		finding_add(&source_pt, "topa", NO, "the CPU has no ToPA output (CPUID.14H.0:ECX[0]), which auxtrace needs");
}

static void list_values(char *text, size_t size, uint32_t mask)
{
	size_t len = 0;

	*text = 0;
	for (unsigned int i = 0; i < 16 && len < size; i++)
		if (mask >> i & 1)
			len += snprintf(text + len, size - len, "%s%u", len ? " " : "", i);
	if (!mask)
		snprintf(text, size, "none");
}

static void find_values(const char *name, uint32_t mask)
{
	char values[64];

	list_values(values, sizeof(values), mask);
	finding_add(&source_pt, name, NOTE, "%s", values);
}

static void find_time(const struct auxtrace_session *session, const struct auxtrace_info *info)
{
	uint64_t khz = info->out_clock_hz / 1000;
	struct auxtrace_cap_x86 cpu;

	if (!auxtrace_capability(session, AUXTRACE_CAP_X86, &cpu, sizeof(cpu)) && cpu.tsc_art_num)
		finding_add(&source_pt, "time", NOTE, "TSC %" PRIu64 " kHz = ART * %u / %u; %s",
			    khz, cpu.tsc_art_num, cpu.tsc_art_den,
			    info->out_time_mult ? "the kernel's clock follows it" : "the kernel's clock is another one");
	else
		finding_add(&source_pt, "time", NOTE, "TSC %" PRIu64 " kHz; CPUID.15H does not say how it follows the crystal, so MTC packets give no time",
			    khz);
}

static void find_features(const struct auxtrace_session *session)
{
	struct auxtrace_cap_intel_pt pt;
	char terms[256];
	uint64_t flags;

	if (auxtrace_capability(session, AUXTRACE_CAP_INTEL_PT, &pt, sizeof(pt)))
		return;

	/* Fields of several bits follow with their values. */
	flags = pt.config & ~(0xfULL << 14 | 0xfULL << 19 | 0xfULL << 24);
	auxtrace_config_format(flags, terms, sizeof(terms));
	finding_add(&source_pt, "config terms", NOTE, "%s", terms);
	find_values("mtc_period", pt.mtc_periods);
	find_values("cyc_thresh", pt.cyc_thresholds);
	find_values("psb_period", pt.psb_periods);
	finding_add(&source_pt, "address ranges", NOTE, "%u", pt.nr_ranges);
	if (pt.flags & AUXTRACE_PT_SINGLE_ENTRY)
		finding_add(&source_pt, "tables", NOTE, "of one entry: if an interrupt comes too late, trace is lost and counted as a gap, even where there is space");
}

static void find_state(const struct auxtrace_session *session, const struct auxtrace_info *info,
		       uint32_t state)
{
	switch (state) {
	case AUXTRACE_PMU_STATE_OK:
		source_find_usable(&source_pt, info, "");
		break;
	case AUXTRACE_PMU_STATE_NO_CPUID:
		finding_add(&source_pt, "pt", NO, "the module sees no Intel PT on this CPU");
		break;
	case AUXTRACE_PMU_STATE_NO_TOPA:
		finding_add(&source_pt, "pt", NO, "the module needs ToPA output, which this CPU lacks");
		break;
	case AUXTRACE_PMU_STATE_NO_PMI:
		finding_add(&source_pt, "pt", NO, "the kernel has no architectural PMU to route the trace interrupt");
		break;
	case AUXTRACE_PMU_STATE_BUSY:
		finding_add(&source_pt, "pt", NO, "perf or firmware holds it, or what excludes it, on a CPU now: end perf record -e intel_pt//, where the CPU cannot have both BTS or perf record -b, or another session");
		break;
	default:
		finding_add(&source_pt, "pt", NO, "the module gives reason %u, which this command does not know: it is older than the module",
			    state);
	}
	if (!source_is_present(&source_pt, info))
		return;
	find_features(session);
	find_time(session, info);
}

const struct source source_pt = {
	.pmu = AUXTRACE_PMU_INTEL_PT,
	.name = "pt",
	.perf_pmu = "intel_pt",
	.perf_trace = &pt_perf,
	.no_branches = "is a trace of Intel PT, whose packets leave out where a branch comes from and most of where it goes: --insn shows the flow that follows from them",
	.unsynced = "before the first PSB cannot be decoded",
	.find_cpu = find_cpu,
	.find_state = find_state,
	.dump = pt_dump,
	.print_totals = pt_print_totals,
};
