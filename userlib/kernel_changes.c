// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Where the kernel's code differs between two times: the file kcore.changes of a recording,
 * which auxtrace(1) describes. The kernel patches its code when it switches a jump label or a
 * static call, or sets a probe.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "kernel_code.h"
#include "recording_dir.h"

#define SHARED	4	/* so many equal bytes in a row do not end a run of patched bytes */

struct changes {
	const struct kernel_code *before, *after;
	FILE *out;
	uint64_t count;
};

/*
 * Is that byte of @range code? Modules also have data there. What precedes the first symbol of a
 * range is what that is. A range without symbols has what the kernel has generated.
 */
static bool is_code(const struct kernel_code *code, const struct code_range *range, uint64_t address)
{
	const struct code_symbol *symbol;
	size_t low = 0, high = code->nr_symbols;

	/* Without CONFIG_KALLSYMS_ALL, a module's data cannot be told from its code. */
	if (!code->lists_data)
		return address >= code->stext && address < code->etext;
	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (code->symbols[mid].address <= address)
			low = mid + 1;
		else
			high = mid;
	}
	symbol = &code->symbols[low];
	if (low && symbol[-1].address >= range->start)
		return symbol[-1].is_code;
	if (low < code->nr_symbols && symbol->address < range->end)
		return symbol->is_code;
	return true;
}

static void write_bytes(FILE *out, const uint8_t *bytes, size_t count)
{
	putc(' ', out);
	for (size_t i = 0; i < count; i++)
		fprintf(out, "%02x", bytes[i]);
}

static void write_patched(struct changes *c, const struct code_range *range, uint64_t address,
			  const uint8_t *before, const uint8_t *after, size_t count)
{
	/* What was no code before is not in the trace. */
	if (!is_code(c->before, range, address))
		return;
	fprintf(c->out, "patched %#" PRIx64, address);
	write_bytes(c->out, before, count);
	write_bytes(c->out, after, count);
	putc('\n', c->out);
	c->count++;
}

/* A page of @range, which is one of before's */
static void compare_page(struct changes *c, const struct code_range *range, uint64_t page,
			 const uint8_t *after)
{
	const uint8_t *before = range->bytes + (page - range->start);
	size_t begin, end;

	if (!memcmp(before, after, KERNEL_PAGE))
		return;
	for (begin = 0; begin < KERNEL_PAGE; begin = end) {
		end = begin + 1;
		if (before[begin] == after[begin])
			continue;
		for (size_t i = end; i < KERNEL_PAGE && i <= end + SHARED; i++)
			if (before[i] != after[i])
				end = i + 1;
		write_patched(c, range, page + begin, before + begin, after + begin, end - begin);
	}
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

		for (uint64_t page = r->start; page < r->end; page += KERNEL_PAGE) {
			const uint8_t *now = kernel_code_page(after, page);

			if (now)
				compare_page(&c, r, page, now);
		}
	}
	*count = c.count;
	return recording_file_close(c.out, "kcore.changes");
}
