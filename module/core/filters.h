/* SPDX-License-Identifier: GPL-2.0 */
/* The filters of a session: ranges of addresses. */
#ifndef AUXT_CORE_FILTERS_H
#define AUXT_CORE_FILTERS_H

#include <linux/auxtrace.h>

/* IA32_RTIT_CTL has fields for so many. */
#define AUXT_MAX_FILTERS	4

/**
 * struct auxt_filters - copied from user space, and checked
 * @nr: number of entries in use
 * @filter: the ranges
 */
struct auxt_filters {
	u32 nr;
	struct auxtrace_filter filter[AUXT_MAX_FILTERS];
};

#endif /* AUXT_CORE_FILTERS_H */
