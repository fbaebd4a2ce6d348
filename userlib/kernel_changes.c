// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Where the kernel's code differs between two times: the file kcore.changes of a recording,
 * which auxtrace(1) describes. The kernel patches its code when it switches a jump label or a
 * static call, or sets a probe. Code is gone when a module is unloaded or a BPF program freed.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "kernel_code.h"
#include "recording_dir.h"

#define PAGE		4096ull
#define SHARED		4	/* so many equal bytes in a row do not end a run of patched bytes */

struct changes {
	const struct kernel_code *before, *after;
	FILE *out;
	uint64_t count;
	uint64_t gone_start, gone_end;	/* pages; not written yet */
};

/* Is that byte of code? The area of a module also has its data. */
static bool is_code(const struct kernel_code *code, uint64_t address)
{
	size_t low = 0, high = code->nr_symbols;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (code->symbols[mid].address <= address)
			low = mid + 1;
		else
			high = mid;
	}
	return low && code->symbols[low - 1].is_code;
}

static int page_to_range(const void *key, const void *element)
{
	const uint64_t page = *(const uint64_t *)key;
	const struct code_range *r = element;

	return page < r->start ? -1 : page >= r->end;
}

static const uint8_t *find_page(const struct kernel_code *code, uint64_t page)
{
	const struct code_range *r = bsearch(&page, code->ranges, code->nr_ranges, sizeof(*r),
					     page_to_range);

	return r ? r->bytes + (page - r->start) : NULL;
}

static void write_bytes(FILE *out, const uint8_t *bytes, size_t count)
{
	putc(' ', out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%02x", bytes[i]);
}

static void write_patched(struct changes *c, uint64_t address, const uint8_t *before,
			  const uint8_t *after, size_t count)
{
	/* What was no code before is not in the trace. */
	if (!is_code(c->before, address))
		return;
	fprintf(c->out, "patched %#" PRIx64, address);
	write_bytes(c->out, before, count);
	write_bytes(c->out, after, count);
	putc('\n', c->out);
	c->count++;
}

static void compare_page(struct changes *c, uint64_t page, const uint8_t *before,
			 const uint8_t *after)
{
	size_t begin, end;

	if (!memcmp(before, after, PAGE))
		return;
	for (begin = 0; begin < PAGE; begin = end) {
		end = begin + 1;
		if (before[begin] == after[begin])
			continue;
		for (size_t i = end; i < PAGE && i <= end + SHARED; i++)
			if (before[i] != after[i])
				end = i + 1;
		write_patched(c, page + begin, before + begin, after + begin, end - begin);
	}
}

static void write_gone(struct changes *c)
{
	if (c->gone_start == c->gone_end)
		return;
	fprintf(c->out, "gone %#" PRIx64 " %#" PRIx64 "\n", c->gone_start, c->gone_end);
	c->count++;
}

static void add_gone(struct changes *c, uint64_t page)
{
	if (!is_code(c->before, page) && !is_code(c->before, page + PAGE - 1))
		return;
	if (c->gone_end != page) {
		write_gone(c);
		c->gone_start = page;
	}
	c->gone_end = page + PAGE;
}

int kernel_changes_write(const struct kernel_code *before, const struct kernel_code *after,
			 int dirfd, uint64_t *count)
{
	struct changes c = { .before = before, .after = after };

	c.out = recording_file(dirfd, "kcore.changes");
	if (!c.out)
		return -1;
	for (size_t i = 0; i < before->nr_ranges; i++) {
		const struct code_range *r = &before->ranges[i];

		for (uint64_t page = r->start; page < r->end; page += PAGE) {
			const uint8_t *now = find_page(after, page);

			if (now)
				compare_page(&c, page, r->bytes + (page - r->start), now);
			else
				add_gone(&c, page);
		}
	}
	write_gone(&c);
	*count = c.count;
	return recording_file_close(c.out, "kcore.changes");
}
