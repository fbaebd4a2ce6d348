// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Code in the modules' area of the kernel. Beside the modules it has what the kernel generates:
 * BPF programs, trampolines of ftrace and kprobes. kallsyms does not list all of it: not the
 * filters that seccomp(2) and sockets have (classic BPF), which a sandboxed service runs on every
 * system call. So the area is searched for pages that are in use.
 */
#include <stdbool.h>
#include <string.h>

#include "kcore.h"
#include "kernel_code.h"

/*
 * In the last 2 GiB of addresses kcore has the text, the modules' area and the page of vsyscalls
 * (Linux's Documentation/arch/x86/x86_64/mm.rst, fs/proc/kcore.c).
 */
#define LAST_2_GIB	0xffffffff80000000ull
#define VSYSCALLS	0xffffffffff600000ull

/*
 * The kernel allocates the lowest addresses that are free. So behind the last page in use, and behind
 * the last symbol, the search goes on for so much only: to leave a larger hole takes a module of
 * that size.
 */
#define HOLE		(16ull << 20)

struct search {
	const struct kcore *kcore;
	const Elf64_Phdr *text, *area;
	uint64_t limit;
	uint8_t text_page[KERNEL_PAGE];
	uint8_t previous[KERNEL_PAGE];	/* of the area, if it was in use */
	uint8_t page[KERNEL_PAGE];
};

static const Elf64_Phdr *find_area(const struct kcore *kcore, const Elf64_Phdr *text)
{
	for (size_t i = 0; i < kcore->count; i++) {
		const Elf64_Phdr *ph = &kcore->ph[i];

		if (ph->p_type == PT_LOAD && ph != text && ph->p_vaddr >= LAST_2_GIB &&
		    ph->p_vaddr < VSYSCALLS)
			return ph;
	}
	return NULL;
}

static int read_text_page(struct search *s)
{
	return kcore_read(s->kcore, s->text, s->text->p_vaddr, s->text_page, KERNEL_PAGE);
}

static int read_page(struct search *s, uint64_t address)
{
	return kcore_read(s->kcore, s->area, address, s->page, KERNEL_PAGE);
}

static bool is_filled(const uint8_t *page, uint8_t byte)
{
	return *page == byte && !memcmp(page, page + 1, KERNEL_PAGE - 1);
}

/*
 * Is the page that was just read in use? 1, 0, or -1 with errno and the message.
 *
 * Where nothing is mapped, kcore has zeros. Before Linux 6.4 it may have there the page that was
 * read before. That is the text's first page, which the area does not have, or the previous
 * page of the area; then the text's page is read, and this one again.
 */
static int is_used(struct search *s, uint64_t address)
{
	if (is_filled(s->page, 0) || is_filled(s->page, INT3) ||
	    !memcmp(s->page, s->text_page, KERNEL_PAGE))
		return 0;
	if (memcmp(s->page, s->previous, KERNEL_PAGE))
		return 1;
	if (read_text_page(s) || read_page(s, address))
		return -1;
	return !!memcmp(s->page, s->text_page, KERNEL_PAGE);
}

static int search_page(struct search *s, struct kernel_code *code, uint64_t address)
{
	int used = read_page(s, address) ? -1 : is_used(s, address);
	uint8_t *bytes;

	/* BPF's memory without programs is mapped, too. */
	if ((used > 0 || is_filled(s->page, INT3)) && s->limit < address + HOLE)
		s->limit = address + HOLE;
	if (used <= 0)
		return used;
	bytes = kernel_code_add_pages(code, address, KERNEL_PAGE);
	if (!bytes)
		return -1;
	memcpy(bytes, s->page, KERNEL_PAGE);
	memcpy(s->previous, s->page, KERNEL_PAGE);
	return 0;
}

int kernel_area_read(struct kernel_code *code, const struct kcore *kcore, const Elf64_Phdr *text)
{
	struct search s = { .kcore = kcore, .text = text, .area = find_area(kcore, text) };
	uint64_t end;

	if (!s.area)
		return 0;
	end = (s.area->p_vaddr + s.area->p_memsz) & -KERNEL_PAGE;
	s.limit = s.area->p_vaddr + HOLE;
	for (size_t i = 0; i < code->nr_symbols; i++) {
		uint64_t symbol = code->symbols[i].address;

		if (symbol >= s.area->p_vaddr && symbol < end && s.limit < symbol + HOLE)
			s.limit = symbol + HOLE;
	}
	if (read_text_page(&s))
		return -1;
	for (uint64_t at = s.area->p_vaddr; at < end && at < s.limit; at += KERNEL_PAGE)
		if (search_page(&s, code, at))
			return -1;
	return 0;
}
