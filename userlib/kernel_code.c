// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "kcore.h"
#include "kernel_code.h"
#include "recording_dir.h"

int kernel_code_add_range(struct kernel_code *code, uint64_t start, uint64_t end)
{
	struct code_range *grown = realloc(code->ranges, (code->nr_ranges + 1) * sizeof(*grown));

	if (!grown)
		return fail(ENOMEM, "no memory for the list of kernel code");
	code->ranges = grown;
	grown[code->nr_ranges++] = (struct code_range){
		.start = start & -KERNEL_PAGE, .end = (end + KERNEL_PAGE - 1) & -KERNEL_PAGE,
	};
	return 0;
}

int kernel_code_add_symbol(struct kernel_code *code, uint64_t address, bool is_code)
{
	size_t n = code->nr_symbols;

	/* Its room is a power of two. */
	if (!(n & (n - 1))) {
		struct code_symbol *grown = realloc(code->symbols, (n ? 2 * n : 1) * sizeof(*grown));

		if (!grown)
			return fail(ENOMEM, "no memory for the symbols of modules");
		code->symbols = grown;
	}
	code->symbols[code->nr_symbols++] = (struct code_symbol){ address, is_code };
	if (code->last_listed < address)
		code->last_listed = address;
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct code_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

static int by_address(const void *a, const void *b)
{
	const struct code_symbol *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

int kernel_code_append(struct kernel_code *code, const struct kernel_code *more)
{
	size_t count = code->nr_ranges + more->nr_ranges;
	struct code_range *grown;

	if (!more->nr_ranges)
		return 0;
	grown = realloc(code->ranges, count * sizeof(*grown));
	if (!grown)
		return fail(ENOMEM, "no memory for the list of kernel code");
	memcpy(&grown[code->nr_ranges], more->ranges, more->nr_ranges * sizeof(*grown));
	qsort(grown, count, sizeof(*grown), by_start);
	code->ranges = grown;
	code->nr_ranges = count;
	return 0;
}

/*
 * Cut the range to the pages that a segment of kcore has, and say where they are. False: it has
 * none.
 */
static bool locate_range(struct code_range *r, const struct kcore *kcore)
{
	for (size_t i = 0; i < kcore->count; i++) {
		const Elf64_Phdr *ph = &kcore->ph[i];
		uint64_t start = (ph->p_vaddr + KERNEL_PAGE - 1) & -KERNEL_PAGE;
		uint64_t end = (ph->p_vaddr + ph->p_memsz) & -KERNEL_PAGE;

		if (ph->p_type != PT_LOAD || r->end <= start || r->start >= end)
			continue;
		if (r->start < start)
			r->start = start;
		if (r->end > end)
			r->end = end;
		r->from = ph->p_offset + (r->start - ph->p_vaddr);
		return true;
	}
	return false;
}

static int read_ranges(const struct kcore *kcore, struct kernel_code *code)
{
	size_t size = 0, n = 0;
	int ret = 0;

	for (size_t i = 0; i < code->nr_ranges; i++)
		if (locate_range(&code->ranges[i], kcore))
			code->ranges[n++] = code->ranges[i];
	code->nr_ranges = n;
	if (!n)
		return fail(EIO, "/proc/kcore does not have the kernel's text");
	for (size_t i = 0; i < n; i++)
		size += code->ranges[i].end - code->ranges[i].start;
	code->bytes = malloc(size);
	if (!code->bytes)
		return fail(ENOMEM, "no memory for the %zu bytes of the kernel's code", size);
	size = 0;
	for (size_t i = 0; !ret && i < n; i++) {
		struct code_range *r = &code->ranges[i];

		r->bytes = code->bytes + size;
		ret = kcore_read(kcore, r->from, r->start, code->bytes + size, r->end - r->start);
		size += r->end - r->start;
	}
	return ret;
}

int kernel_code_read(struct kernel_code *code)
{
	struct kcore kcore;
	int ret;

	if (kcore_open(&kcore))
		return -1;
	if (code->nr_symbols)
		qsort(code->symbols, code->nr_symbols, sizeof(*code->symbols), by_address);
	ret = kernel_area_search(&kcore, code->ranges[0].start, code);
	if (!ret) {
		qsort(code->ranges, code->nr_ranges, sizeof(*code->ranges), by_start);
		ret = read_ranges(&kcore, code);
	}
	kcore_close(&kcore);
	return ret;
}

static int page_to_range(const void *key, const void *element)
{
	const uint64_t page = *(const uint64_t *)key;
	const struct code_range *r = element;

	return page < r->start ? -1 : page >= r->end;
}

uint8_t *kernel_code_page(const struct kernel_code *code, uint64_t page)
{
	const struct code_range *r = bsearch(&page, code->ranges, code->nr_ranges, sizeof(*r),
					     page_to_range);

	return r ? r->bytes + (page - r->start) : NULL;
}

static void write_headers(FILE *out, const struct kernel_code *code)
{
	uint64_t offset = sizeof(Elf64_Ehdr) + code->nr_ranges * sizeof(Elf64_Phdr);
	Elf64_Ehdr eh = {
		.e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
		.e_type = ET_CORE,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_phoff = sizeof(eh),
		.e_ehsize = sizeof(eh),
		.e_phentsize = sizeof(Elf64_Phdr),
		.e_phnum = code->nr_ranges,
	};

	offset = (offset + KERNEL_PAGE - 1) & -KERNEL_PAGE;
	fwrite(&eh, sizeof(eh), 1, out);
	for (size_t i = 0; i < code->nr_ranges; i++) {
		const struct code_range *r = &code->ranges[i];
		Elf64_Phdr ph = {
			.p_type = PT_LOAD,
			.p_flags = PF_R | PF_X,
			.p_offset = offset,
			.p_vaddr = r->start,
			.p_filesz = r->end - r->start,
			.p_memsz = r->end - r->start,
			.p_align = KERNEL_PAGE,
		};

		fwrite(&ph, sizeof(ph), 1, out);
		offset += ph.p_filesz;
	}
	while (ftell(out) % KERNEL_PAGE)
		putc(0, out);
}

int kernel_code_write(const struct kernel_code *code, int dirfd)
{
	FILE *out = recording_file(dirfd, "kcore");

	if (!out)
		return -1;
	write_headers(out, code);
	for (size_t i = 0; i < code->nr_ranges; i++)
		fwrite(code->ranges[i].bytes, 1, code->ranges[i].end - code->ranges[i].start, out);
	return recording_file_close(out, "kcore");
}

void kernel_code_free(struct kernel_code *code)
{
	free(code->ranges);
	free(code->symbols);
	free(code->bytes);
}
