/* SPDX-License-Identifier: GPL-2.0-only */
/* The trace PMUs, and the configuration that auxtrace and perf both use with each. */
#ifndef BENCH_SOURCE_H
#define BENCH_SOURCE_H

#include <stdint.h>

struct source {
	const char *name;
	const char *perfs;	/* perf's name for the PMU */
	uint32_t pmu;		/* AUXTRACE_PMU_* */
	uint64_t config;	/* in the bits of perf's format */
};

extern const struct source source_pt, source_bts;

#endif
