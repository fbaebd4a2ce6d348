// SPDX-License-Identifier: GPL-2.0-only
#include <linux/auxtrace.h>

#include "source.h"

#define CONFIG_PT	(1ull << 0)
#define CONFIG_TSC	(1ull << 10)
#define CONFIG_BRANCH	(1ull << 13)

const struct source source_pt = {
	.name = "pt",
	.perfs = "intel_pt",
	.pmu = AUXTRACE_PMU_INTEL_PT,
	.config = CONFIG_PT | CONFIG_TSC | CONFIG_BRANCH,
};

const struct source source_bts = {
	.name = "bts",
	.perfs = "intel_bts",
	.pmu = AUXTRACE_PMU_INTEL_BTS,
};
