// SPDX-License-Identifier: GPL-2.0-only
/* AUXTRACE_INFO of Branch Trace Store: what perf's decoder must know. */
#include "source.h"

/* Each branch says all that there is to it, so parts need not continue one another. */
static size_t fill_info(uint64_t words[PERF_INFO_WORDS], const struct meta *meta, uint32_t pmu_type,
			bool switches, bool broken)
{
	size_t n = 0;

	(void)switches;
	(void)broken;
	words[n++] = pmu_type;
	words[n++] = meta->time_shift;
	words[n++] = meta->time_mult;
	words[n++] = meta->time_zero;
	words[n++] = meta->time_mult != 0;	/* cap_user_time_zero */
	words[n++] = 0;				/* not snapshot mode: parts do not overlap */
	return n;
}

const struct perf_trace bts_perf = {
	.type = 2,
	.unit = sizeof(struct auxtrace_branch),
	/* perf leaves out the last record of a part, unless more bytes follow it. */
	.padding = 8,
	.timed = false,
	.fill_info = fill_info,
};
