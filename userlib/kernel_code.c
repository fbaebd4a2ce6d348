// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#include "kcore.h"
#include "kernel_code.h"
#include "recording_dir.h"

/* @array has @n elements of @size bytes, and room for a power of two. Returns it with room for one more. */
static void *make_room(void *array, size_t n, size_t size)
{
	void *grown = array;

	if (!(n & (n - 1)))
		grown = realloc(array, (n ? 2 * n : 1) * size);
	if (!grown)
		fail(ENOMEM, "no memory for the list of the kernel's code");
	return grown;
}

int kernel_code_add_symbol(struct kernel_code *code, uint64_t address, bool is_code)
{
	struct code_symbol *symbols = make_room(code->symbols, code->nr_symbols, sizeof(*symbols));

	if (!symbols)
		return -1;
	code->symbols = symbols;
	symbols[code->nr_symbols++] = (struct code_symbol){ address, is_code };
	return 0;
}

int kernel_code_add_range(struct kernel_code *code, const struct code_range *range)
{
	struct code_range *ranges = make_room(code->ranges, code->nr_ranges, sizeof(*ranges));

	if (!ranges)
		return -1;
	code->ranges = ranges;
	ranges[code->nr_ranges++] = *range;
	return 0;
}

uint8_t *kernel_code_add_pages(struct kernel_code *code, uint64_t start, size_t size)
{
	struct code_range range = { .start = start, .end = start + size, .offset = code->size };
	struct code_range *last = code->nr_ranges ? &code->ranges[code->nr_ranges - 1] : NULL;

	if (code->room - code->size < size) {
		size_t room = code->size + size > 2 * code->room ? code->size + size : 2 * code->room;
		uint8_t *grown = realloc(code->bytes, room);

		if (!grown) {
			fail(ENOMEM, "no memory for %zu bytes of the kernel's code", room);
			return NULL;
		}
		code->bytes = grown;
		code->room = room;
	}
	if (last && last->end == start)
		last->end += size;
	else if (kernel_code_add_range(code, &range))
		return NULL;
	code->size += size;
	return code->bytes + code->size - size;
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

void kernel_code_sort(struct kernel_code *code)
{
	qsort(code->ranges, code->nr_ranges, sizeof(*code->ranges), by_start);
}

/* The pages of the text that @segment has. */
static int read_text(struct kernel_code *code, const struct kcore *kcore, const Elf64_Phdr *segment)
{
	uint64_t start = code->stext & -KERNEL_PAGE, end = (code->etext + KERNEL_PAGE - 1) & -KERNEL_PAGE;
	uint64_t first = segment ? (segment->p_vaddr + KERNEL_PAGE - 1) & -KERNEL_PAGE : 0;
	uint64_t behind = segment ? (segment->p_vaddr + segment->p_memsz) & -KERNEL_PAGE : 0;
	uint8_t *bytes;

	if (start < first)
		start = first;
	if (end > behind)
		end = behind;
	if (start >= end)
		return fail(EIO, "/proc/kcore does not have the kernel's text");
	bytes = kernel_code_add_pages(code, start, end - start);
	return bytes ? kcore_read(kcore, segment, start, bytes, end - start) : -1;
}

int kernel_code_read(struct kernel_code *code)
{
	const Elf64_Phdr *text;
	struct kcore kcore;
	int ret;

	if (kcore_open(&kcore))
		return -1;
	text = kcore_segment(&kcore, code->stext, code->etext);
	ret = read_text(code, &kcore, text) || kernel_area_read(code, &kcore, text) ? -1 : 0;
	kcore_close(&kcore);
	if (ret)
		return -1;
	for (size_t i = 0; i < code->nr_ranges; i++)
		code->ranges[i].bytes = code->bytes + code->ranges[i].offset;
	kernel_code_sort(code);
	if (code->nr_symbols)
		qsort(code->symbols, code->nr_symbols, sizeof(*code->symbols), by_address);
	return 0;
}

static int page_to_range(const void *key, const void *element)
{
	const uint64_t page = *(const uint64_t *)key;
	const struct code_range *r = element;

	return page < r->start ? -1 : page >= r->end;
}

const struct code_range *kernel_code_range(const struct kernel_code *code, uint64_t page)
{
	return bsearch(&page, code->ranges, code->nr_ranges, sizeof(*code->ranges), page_to_range);
}

uint8_t *kernel_code_page(const struct kernel_code *code, uint64_t page)
{
	const struct code_range *r = kernel_code_range(code, page);

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
	FILE *out;

	if (code->nr_ranges >= PN_XNUM)
		return fail(EOVERFLOW, "the kernel's code is in %zu pieces: an ELF file has at most %u",
			    code->nr_ranges, PN_XNUM - 1);
	out = recording_file(dirfd, "kcore");
	if (!out)
		return -1;
	write_headers(out, code);
	for (size_t i = 0; i < code->nr_ranges; i++)
		fwrite(code->ranges[i].bytes, 1, code->ranges[i].end - code->ranges[i].start, out);
	return recording_file_close(out, "kcore");
}

void kernel_code_free(struct kernel_code *code)
{
	int err = errno;

	free(code->ranges);
	free(code->symbols);
	free(code->bytes);
	errno = err;
}
