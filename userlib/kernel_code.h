/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's code as it is in memory at one time. */
#ifndef KERNEL_CODE_H
#define KERNEL_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kcore.h"

#define KERNEL_PAGE	4096ull
#define INT3		0xcc	/* the kernel fills BPF's memory with it where no program is */

struct code_range {
	uint64_t start, end;	/* whole pages */
	size_t offset;		/* in kernel_code.bytes, while that grows */
	uint8_t *bytes;		/* in kernel_code.bytes; of what is gone: in those of the begin */
};

struct code_symbol {		/* of a module or of generated code; and begin and end of the text */
	uint64_t address;
	bool is_code;
};

struct kernel_code {
	uint64_t stext, etext;
	struct code_range *ranges; /* once it is read: by address, and they do not overlap */
	size_t nr_ranges;
	struct code_symbol *symbols; /* by address, likewise */
	size_t nr_symbols;
	bool lists_data;	/* the symbols include those of modules' data */
	uint8_t *bytes;
	size_t size, room;
};

/* The functions below return 0, or -1 with errno and the message. */

int kernel_code_add_symbol(struct kernel_code *code, uint64_t address, bool is_code);

/* Add pages that have been read. */
int kernel_code_add_range(struct kernel_code *code, const struct code_range *range);
/* After the last one. */
void kernel_code_sort(struct kernel_code *code);

/*
 * Add pages behind all others. Returns where their bytes belong, until the next call; or NULL, with
 * errno and the message.
 */
uint8_t *kernel_code_add_pages(struct kernel_code *code, uint64_t start, size_t size);

/* Read the text, and what is in use of the modules' area, from /proc/kcore. */
int kernel_code_read(struct kernel_code *code);

/* kernel_area.c: read the modules' area. @text: the text's segment, which is another one */
int kernel_area_read(struct kernel_code *code, const struct kcore *kcore, const Elf64_Phdr *text);

/* The range with the page at that address, and the page; or NULL. */
const struct code_range *kernel_code_range(const struct kernel_code *code, uint64_t page);
uint8_t *kernel_code_page(const struct kernel_code *code, uint64_t page);

/*
 * kernel_gone.c: add to @now what @begin has and @now has no more: pages, and BPF programs that were
 * freed in pages that others still use. @begin is used until @now is freed.
 */
int kernel_code_add_gone(struct kernel_code *now, const struct kernel_code *begin);

/* Write the file kcore of a recording. */
int kernel_code_write(const struct kernel_code *code, int dirfd);

/*
 * kernel_changes.c: write the file kcore.changes of a recording, which says where @before
 * differs from @after, which has all of its pages: after kernel_code_add_gone(). *@count: the number
 * of its lines.
 */
int kernel_changes_write(const struct kernel_code *before, const struct kernel_code *after,
			 int dirfd, uint64_t *count);

/* Frees what is in @code; errno stays. */
void kernel_code_free(struct kernel_code *code);

#endif
