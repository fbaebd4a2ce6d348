// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Where the kernel's code differs between two times: the file kcore.changes of a recording,
 * which auxtrace-recording(5) describes. The kernel patches its code when it switches a jump label or a
 * static call, or sets a probe.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "kernel_code.h"
#include "recording_dir.h"
#include "search.h"

#define SHARED	4	/* so many equal bytes in a row do not end a run of patched bytes */

struct changes {
	const struct kernel_code *before, *after;
	FILE *out;
	uint64_t count;
};

/*
 * The symbol that says whether the byte at @address, which is in a range of @code, is code: the last one
 * in the range up to there, or the first one. NULL: the range has none.
 */
static const struct code_symbol *find_symbol(const struct kernel_code *code, uint64_t address)
{
	const struct code_range *range = kernel_code_range(code, address & -KERNEL_PAGE);
	const struct code_symbol *symbol;
	size_t i;

	find_first(i, code->nr_symbols, code->symbols[i].address > address);
	symbol = &code->symbols[i];
	if (i && symbol[-1].address >= range->start)
		return &symbol[-1];
	return i < code->nr_symbols && symbol->address < range->end ? symbol : NULL;
}

/*
 * Was that byte code? Modules also have data there. The symbols of one that was just being loaded are
 * listed only at the end. What has no symbol then either is what the kernel has generated.
 */
static bool was_code(const struct changes *c, uint64_t address)
{
	const struct code_symbol *symbol;

	/* Without CONFIG_KALLSYMS_ALL, a module's data cannot be told from its code. */
	if (!c->before->lists_data)
		return address >= c->before->stext && address < c->before->etext;
	symbol = find_symbol(c->before, address) ?: find_symbol(c->after, address);
	return !symbol || symbol->is_code;
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
	if (!was_code(c, address))
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

	if (!memcmp(before, after, KERNEL_PAGE))
		return;
	for (begin = 0; begin < KERNEL_PAGE; begin = end) {
		end = begin + 1;
		if (before[begin] == after[begin])
			continue;
		for (size_t i = end; i < KERNEL_PAGE && i <= end + SHARED; i++)
			if (before[i] != after[i])
				end = i + 1;
		write_patched(c, page + begin, before + begin, after + begin, end - begin);
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

		for (uint64_t page = r->start; page < r->end; page += KERNEL_PAGE)
			compare_page(&c, page, r->bytes + (page - r->start),
				     kernel_code_page(after, page));
	}
	*count = c.count;
	return recording_file_close(c.out, "kcore.changes");
}
