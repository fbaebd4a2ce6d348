/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The kernel's code as it is in memory at one time. */
#ifndef KERNEL_CODE_H
#define KERNEL_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kcore.h"

#define KERNEL_PAGE	4096ull

struct code_range {
	uint64_t start, end;	/* whole pages */
	uint64_t from;		/* offset in /proc/kcore */
	uint8_t *bytes;		/* in kernel_code.bytes; of what is gone: in those before */
};

struct code_symbol {		/* of a module or of generated code; and begin and end of the text */
	uint64_t address;
	bool is_code;
};

struct kernel_code {
	struct code_range *ranges; /* by address, apart from each other, once it is read */
	size_t nr_ranges;
	struct code_symbol *symbols; /* by address, likewise */
	size_t nr_symbols;
	uint64_t last_listed;	/* the highest of the symbols' addresses */
	uint8_t *bytes;
};

/* The functions below return 0, or -1 with errno and the message. */

int kernel_code_add_range(struct kernel_code *code, uint64_t start, uint64_t end);
int kernel_code_add_symbol(struct kernel_code *code, uint64_t address, bool is_code);
/* Add ranges that have been read, and are apart from those that @code has. */
int kernel_code_append(struct kernel_code *code, const struct kernel_code *more);

/*
 * Read the bytes of the first range, which is the text, and of what is used of the modules' area, from
 * /proc/kcore.
 */
int kernel_code_read(struct kernel_code *code);

/* kernel_area.c: add the pages of the modules' area that are in use. @text: begin of the text */
int kernel_area_search(const struct kcore *kcore, uint64_t text, struct kernel_code *code);

/* Write the file kcore of a recording. */
int kernel_code_write(const struct kernel_code *code, int dirfd);

/*
 * kernel_gone.c: add what @before has and @code has no more: pages, and BPF programs that were freed
 * in pages that others still use. @before is used until @code is freed.
 */
int kernel_code_add_gone(struct kernel_code *code, const struct kernel_code *before);

/* The page at that address, or NULL. */
uint8_t *kernel_code_page(const struct kernel_code *code, uint64_t page);

/*
 * kernel_changes.c: write the file kcore.changes of a recording, which says where @before
 * differs from @after. *@count: the number of its lines.
 */
int kernel_changes_write(const struct kernel_code *before, const struct kernel_code *after,
			 int dirfd, uint64_t *count);

/* Frees what is in @code. */
void kernel_code_free(struct kernel_code *code);

#endif
