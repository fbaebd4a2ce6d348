// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Code in the modules' area of the kernel. Beside the modules it has what the kernel generates:
 * BPF programs, trampolines of ftrace and kprobes. kallsyms does not list all of it: not the
 * filters that seccomp(2) and sockets have (classic BPF), which each system call of many a
 * systemd service runs. So the area is searched for pages that are in use.
 */
#include <stdbool.h>
#include <string.h>

#include "kcore.h"
#include "kernel_code.h"

/*
 * Where the area begins (MODULES_VADDR, in Linux's Documentation/arch/x86/x86_64/mm.rst): in a
 * kernel that can be at random addresses, and in one that cannot.
 */
#define AREA_RANDOM	0xffffffffc0000000ull
#define AREA_FIXED	0xffffffffa0000000ull

/*
 * The kernel allocates the lowest addresses that are free. So nothing more is expected behind as much
 * that is not in use: only a module of that size could leave such a hole.
 */
#define HOLE		(16ull << 20)

#define INT3		0xcc	/* fills BPF's memory where no program is */

struct search {
	struct kernel_code *code;
	uint64_t start, end;	/* the last pages in use, not added yet */
	uint64_t limit;
};

static const Elf64_Phdr *find_area(const struct kcore *kcore)
{
	for (size_t i = 0; i < kcore->count; i++) {
		const Elf64_Phdr *ph = &kcore->ph[i];

		if (ph->p_type == PT_LOAD && (ph->p_vaddr == AREA_RANDOM || ph->p_vaddr == AREA_FIXED))
			return ph;
	}
	return NULL;
}

static int read_page(const struct kcore *kcore, const Elf64_Phdr *ph, uint64_t address, uint8_t *page)
{
	return kcore_read(kcore, ph->p_offset + (address - ph->p_vaddr), address, page, KERNEL_PAGE);
}

/*
 * Where nothing is mapped, kcore has zeros. Before Linux 6.4 it has there what was in its buffer: the page
 * that was read before.
 */
static bool is_used(const uint8_t *page, const uint8_t *before)
{
	bool filled = (!*page || *page == INT3) && !memcmp(page, page + 1, KERNEL_PAGE - 1);

	return !filled && memcmp(page, before, KERNEL_PAGE);
}

static int add_found(struct search *s)
{
	return s->start < s->end ? kernel_code_add_range(s->code, s->start, s->end) : 0;
}

static int found_page(struct search *s, uint64_t address)
{
	if (s->end != address) {
		if (add_found(s))
			return -1;
		s->start = address;
	}
	s->end = address + KERNEL_PAGE;
	if (s->limit < s->end + HOLE)
		s->limit = s->end + HOLE;
	return 0;
}

int kernel_area_search(const struct kcore *kcore, uint64_t text, struct kernel_code *code)
{
	const Elf64_Phdr *area = find_area(kcore), *ph = kcore_segment(kcore, text);
	uint8_t pages[2][KERNEL_PAGE];
	struct search s = { .code = code };
	unsigned int turn = 0;
	uint64_t end;

	if (!area || !ph)
		return 0;
	end = (area->p_vaddr + area->p_memsz) & -KERNEL_PAGE;
	s.limit = area->p_vaddr + HOLE;
	if (code->last_listed >= area->p_vaddr && code->last_listed < end)
		s.limit = code->last_listed + HOLE;
	/* The area may begin with a hole. */
	if (read_page(kcore, ph, text, pages[1]))
		return -1;
	for (uint64_t at = area->p_vaddr; at < end && at < s.limit; at += KERNEL_PAGE, turn = !turn)
		if (read_page(kcore, area, at, pages[turn]) ||
		    (is_used(pages[turn], pages[!turn]) && found_page(&s, at)))
			return -1;
	return add_found(&s);
}
