// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Code that was there before, and is gone: of a module that was unloaded, or a BPF program that was
 * freed. It may have run meanwhile, and nothing else has its bytes.
 */
#include <stdbool.h>
#include <string.h>

#include "kernel_code.h"

/*
 * BPF programs share pages. A program has whole units of 64 bytes of them, and the kernel fills
 * these with int3 when it frees it (Linux's kernel/bpf/core.c: bpf_prog_pack_free()).
 */
#define BPF_UNIT	64
#define INT3		0xcc

static bool is_freed(const uint8_t *unit)
{
	return *unit == INT3 && !memcmp(unit, unit + 1, BPF_UNIT - 1);
}

/* @now: the page at the end. It gets what @before has of the programs that it has no more. */
static void restore_programs(uint8_t *now, const uint8_t *before)
{
	for (size_t at = 0; at < KERNEL_PAGE; at += BPF_UNIT)
		if (is_freed(now + at))
			memcpy(now + at, before + at, BPF_UNIT);
}

/* Add the pages of @range, which is one of before's, that @code has not. */
static int add_pages(struct kernel_code *gone, const struct kernel_code *code,
		     const struct code_range *range)
{
	struct code_range *last = NULL;

	for (uint64_t page = range->start; page < range->end; page += KERNEL_PAGE) {
		uint8_t *before = range->bytes + (page - range->start);
		uint8_t *now = kernel_code_page(code, page);

		if (now) {
			restore_programs(now, before);
			last = NULL;
		} else if (last) {
			last->end += KERNEL_PAGE;
		} else {
			if (kernel_code_add_range(gone, page, page + KERNEL_PAGE))
				return -1;
			last = &gone->ranges[gone->nr_ranges - 1];
			last->bytes = before;
		}
	}
	return 0;
}

int kernel_code_add_gone(struct kernel_code *code, const struct kernel_code *before)
{
	struct kernel_code gone = { 0 };
	int ret = 0;

	for (size_t i = 0; !ret && i < before->nr_ranges; i++)
		ret = add_pages(&gone, code, &before->ranges[i]);
	if (!ret)
		ret = kernel_code_append(code, &gone);
	kernel_code_free(&gone);
	return ret;
}
