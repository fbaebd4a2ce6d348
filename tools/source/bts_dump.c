// SPDX-License-Identifier: GPL-2.0-only
/* auxtrace dump: the branch records of BTS. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "source.h"

static struct {
	uint64_t branches;
	uint64_t skipped;	/* bytes of records that are cut off at either end */
} totals;

uint64_t bts_dump(const struct trace_file *file, bool print)
{
	uint64_t left = file->size > file->pad ? file->size - file->pad : 0;
	uint64_t skip = auxtrace_branch_next(file->begin) - file->begin;
	struct auxtrace_branch branch;

	if (skip > left)
		skip = left;
	totals.skipped += skip;
	for (left -= skip; left >= sizeof(branch); left -= sizeof(branch)) {
		memcpy(&branch, file->data + file->size - left, sizeof(branch));
		totals.branches++;
		if (print)
			printf("%012" PRIx64 "  branch   from=%016" PRIx64 " to=%016" PRIx64 " flags=%" PRIx64 "\n",
			       (uint64_t)(file->size - left), (uint64_t)branch.from, (uint64_t)branch.to,
			       (uint64_t)branch.flags);
	}
	totals.skipped += left;
	return 0;
}

void bts_print_totals(void)
{
	printf("branches: %" PRIu64 "\nbytes: %" PRIu64 "\nbytes not decoded: %" PRIu64 "\nerrors: 0\n",
	       totals.branches, totals.branches * (uint64_t)sizeof(struct auxtrace_branch),
	       totals.skipped);
}
