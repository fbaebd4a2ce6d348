// SPDX-License-Identifier: GPL-2.0-only
/* AUXTRACE_INFO of Intel PT: what perf's decoder must know. */
#include "source.h"

/* Where perf's config has its terms; auxtrace's has the same layout. */
#define CONFIG_CYC	 (1ull << 1)
#define CONFIG_MTC	 (1ull << 9)
#define CONFIG_TSC	 (1ull << 10)
#define CONFIG_NORETCOMP (1ull << 11)
#define CONFIG_MTC_PERIOD (0xfull << 14)

#define SWITCHES_CPU_WIDE	3	/* have_sched_switch: records SWITCH_CPU_WIDE */

static size_t fill_info(uint64_t words[PERF_INFO_WORDS], const struct meta *meta, uint32_t pmu_type,
			bool switches, bool broken)
{
	size_t n = 0;

	words[n++] = pmu_type;
	words[n++] = meta->time_shift;
	words[n++] = meta->time_mult;
	words[n++] = meta->time_zero;
	words[n++] = meta->time_mult != 0;	/* cap_user_time_zero */
	words[n++] = CONFIG_TSC;
	words[n++] = CONFIG_NORETCOMP;
	words[n++] = switches ? SWITCHES_CPU_WIDE : 0;
	/* Snapshot mode: perf synchronizes anew in each part. */
	words[n++] = broken;
	words[n++] = 1;				/* a queue for each CPU */
	words[n++] = CONFIG_MTC;
	words[n++] = CONFIG_MTC_PERIOD;
	words[n++] = meta->tsc_art_num;
	words[n++] = meta->tsc_art_den;
	words[n++] = CONFIG_CYC;
	words[n++] = meta->max_nonturbo_ratio;
	words[n++] = 0;				/* length of the address filter */
	words[n++] = 0;				/* cap_event_trace */
	return n;
}

const struct perf_trace pt_perf = {
	.type = 1,
	.unit = 1,
	.timed = true,
	.fill_info = fill_info,
};
