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

/* kcore has zeros where nothing is mapped. */
static bool is_used(const uint8_t *page)
{
	return (*page && *page != INT3) || memcmp(page, page + 1, KERNEL_PAGE - 1);
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

int kernel_area_search(const struct kcore *kcore, struct kernel_code *code)
{
	const Elf64_Phdr *area = find_area(kcore);
	struct search s = { .code = code };
	uint8_t page[KERNEL_PAGE];
	uint64_t end;

	if (!area)
		return 0;
	end = (area->p_vaddr + area->p_memsz) & -KERNEL_PAGE;
	s.limit = area->p_vaddr + HOLE;
	if (code->last_listed >= area->p_vaddr && code->last_listed < end)
		s.limit = code->last_listed + HOLE;
	for (uint64_t at = area->p_vaddr; at < end && at < s.limit; at += KERNEL_PAGE) {
		uint64_t offset = area->p_offset + (at - area->p_vaddr);

		if (kcore_read(kcore, offset, at, page, sizeof(page)) ||
		    (is_used(page) && found_page(&s, at)))
			return -1;
	}
	return add_found(&s);
}
