// SPDX-License-Identifier: LGPL-2.1-or-later
/* Intel PT: its config has the terms of config.c. */
#include <errno.h>
#include <inttypes.h>

#include "internal.h"
#include "trace_pmu.h"
#include "text.h"

static int parse_config(const struct auxtrace_session *s, const char *terms, uint64_t *config)
{
	if (terms)
		return auxtrace_config_parse(terms, config);
	*config = auxtrace_default_config(s);
	return 0;
}

static const char *absent(uint32_t state)
{
	switch (state) {
	case AUXTRACE_PMU_STATE_NO_CPUID:
		return "this CPU has no Intel PT (CPUID.7.0:EBX[25] is 0)";
	case AUXTRACE_PMU_STATE_NO_TOPA:
		return "Intel PT of this CPU has no ToPA output";
	case AUXTRACE_PMU_STATE_NO_PMI:
		return "Intel PT needs an architectural PMU for its interrupt; this CPU has none";
	}
	return "this machine has no usable Intel PT";
}

static int explain_config(const struct auxtrace_setup *setup)
{
	uint64_t outside = setup->config;

	for (unsigned int i = 0; i < nr_config_terms; i++) {
		const struct config_term *t = &config_terms[i];

		outside &= ~CONFIG_TERM_MASK(t);
		if (config_term_value(t, setup->config) && t->needs && !(setup->config & t->needs))
			return fail(EINVAL, "%s is set without %s: add %s", t->name, t->needs_name,
				    t->needs_name);
	}
	if (outside)
		return fail(EINVAL, "config has bits outside the format: %#" PRIx64, outside);
	return fail(EINVAL, "a CPU of the session cannot trace without branches (erratum BDM106): add branch");
}

/*
 * Does the CPU have the value? The value of a period matters as soon as its packet is
 * enabled, also when it is 0. psb_period=0 is what a CPU without a choice does.
 */
static bool has_value(const struct config_term *term, const struct auxtrace_cap_intel_pt *pt,
		      uint64_t config)
{
	uint64_t value = config_term_value(term, config);

	if (!value && !(term->values && term->needs && config & term->needs))
		return true;
	if (value && CONFIG_TERM_MASK(term) & ~pt->config)
		return false;
	return !term->values || term->values(pt) >> value & 1;
}

/* Returns 0 if all CPUs have as many ranges as there are filters. */
static int explain_ranges(const struct auxtrace_setup *setup, const struct auxtrace_cap_intel_pt *pt)
{
	if (setup->nr_filters <= pt->nr_ranges)
		return 0;
	if (!pt->nr_ranges)
		return fail(EOPNOTSUPP, "Intel PT of a CPU of the session cannot filter by address (CPUID.(14H,0):EBX[2] is 0): leave the filters out");
	return fail(EOPNOTSUPP, "%u filters are more than a CPU of the session has ranges for: all have %u",
		    setup->nr_filters, pt->nr_ranges);
}

/* ADDRESS_SPACE. Returns 0 if nothing is wrong with it. */
static int explain_address_space(const struct auxtrace_setup *setup, const struct auxtrace_cap_intel_pt *pt)
{
	const uint32_t both = AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER;

	if (!(setup->flags & AUXTRACE_SETUP_ADDRESS_SPACE))
		return 0;
	if (!(pt->flags & AUXTRACE_PT_CR3_FILTER))
		return fail(EOPNOTSUPP, "ADDRESS_SPACE: Intel PT of a CPU of the session does not compare CR3 (CPUID.(14H,0):EBX[0] is 0): leave it out (PROCESS traces a process)");
	if ((setup->flags & both) == both)
		return fail(EOPNOTSUPP, "ADDRESS_SPACE: page tables are isolated here, so user code and the kernel have different ones, and the CPU compares with one: choose KERNEL or USER, or PROCESS, which traces both, also if the process has linear-address masking on (LAM)");
	return 0;
}

/*
 * INFO tells what all CPUs of the machine have; on a hybrid machine some have more. So a CPU of the
 * session lacks at least one of the terms that INFO does not tell, but perhaps not each of them.
 */
static int explain_unsupported(const struct auxtrace_session *s, const struct auxtrace_setup *setup)
{
	struct auxtrace_cap_intel_pt pt;
	struct text lacks = { .len = 0 };
	uint64_t config = setup->config;
	unsigned int terms = 0;

	capability_get(s, AUXTRACE_CAP_INTEL_PT, &pt, sizeof(pt));
	for (unsigned int i = 0; i < nr_config_terms; i++) {
		const struct config_term *t = &config_terms[i];

		if (has_value(t, &pt, config))
			continue;
		text_add(&lacks, "%s%s", terms++ ? ", " : "", t->name);
		if (!t->values)
			continue;
		text_add(&lacks, "=%" PRIu64 " (all have", config_term_value(t, config));
		for (unsigned int v = 0; v < 16; v++)
			if (t->values(&pt) >> v & 1)
				text_add(&lacks, " %u", v);
		text_add(&lacks, "%s)", t->values(&pt) ? "" : " none");
	}
	if (terms)
		return fail(EOPNOTSUPP, "a CPU of the session lacks %s%s", terms > 1 ? "one or more of " : "",
			    lacks.buf);
	if (explain_ranges(setup, &pt) || explain_address_space(setup, &pt))
		return -1;
	return fail(EOPNOTSUPP, "a CPU of the session lacks something of config %#" PRIx64 "; all have bits of %#" PRIx64 "%s",
		    config, (uint64_t)pt.config, setup->flags & AUXTRACE_SETUP_ADDRESS_SPACE ?
		    "; or the process has linear-address masking on (LAM), which changes its CR3: PROCESS traces it" : "");
}

const struct trace_pmu trace_pmu_pt = {
	.pmu = AUXTRACE_PMU_INTEL_PT,
	.name = "Intel PT",
	.macro = "AUXTRACE_PMU_INTEL_PT",
	.parse_config = parse_config,
	.absent = absent,
	.explain_config = explain_config,
	.explain_unsupported = explain_unsupported,
	.busy = "perf, usually, or firmware holds Intel PT on a CPU of the session (perf record -e intel_pt//), or, where the CPU cannot have both, BTS or last branch records are in use (perf record -b); end that and START again",
};
