// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Code that was there at the begin of a recording, and is gone at its end: of a module that was unloaded,
 * or a BPF program that was freed. It may have run in between.
 */
#include <stdbool.h>
#include <string.h>

#include "kernel_code.h"

/*
 * BPF programs share pages. A program has whole units of 64 bytes of them, and the kernel fills
 * these with int3 when it frees it (Linux's kernel/bpf/core.c: bpf_prog_pack_free()).
 */
#define BPF_UNIT	64

static bool is_freed(const uint8_t *unit)
{
	return *unit == INT3 && !memcmp(unit, unit + 1, BPF_UNIT - 1);
}

/* Fill the units of the page @now that were freed with what they had at the begin. */
static void restore_programs(uint8_t *now, const uint8_t *begin)
{
	for (size_t at = 0; at < KERNEL_PAGE; at += BPF_UNIT)
		if (is_freed(now + at))
			memcpy(now + at, begin + at, BPF_UNIT);
}

/* Add the pages of @range, which is one of begin's, that @now does not have to @gone. */
static int add_pages(struct kernel_code *gone, const struct kernel_code *now,
		     const struct code_range *range)
{
	bool goes_on = false;

	for (uint64_t page = range->start; page < range->end; page += KERNEL_PAGE) {
		uint8_t *begin = range->bytes + (page - range->start);
		uint8_t *there = kernel_code_page(now, page);

		if (there)
			restore_programs(there, begin);
		else if (goes_on)
			gone->ranges[gone->nr_ranges - 1].end += KERNEL_PAGE;
		else if (kernel_code_add_range(gone, &(struct code_range){
				.start = page, .end = page + KERNEL_PAGE, .bytes = begin }))
			return -1;
		goes_on = !there;
	}
	return 0;
}

int kernel_code_add_gone(struct kernel_code *now, const struct kernel_code *begin)
{
	struct kernel_code gone = { 0 };
	int ret = 0;

	for (size_t i = 0; !ret && i < begin->nr_ranges; i++)
		ret = add_pages(&gone, now, &begin->ranges[i]);
	for (size_t i = 0; !ret && i < gone.nr_ranges; i++)
		ret = kernel_code_add_range(now, &gone.ranges[i]);
	kernel_code_sort(now);
	kernel_code_free(&gone);
	return ret;
}
