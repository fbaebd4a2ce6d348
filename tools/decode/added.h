/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Code that the kernel generated during a recording, or freed: BPF programs, by the file kcore.added, and what reported.h
 * says. kcore has what was there when it was written.
 */
#ifndef ADDED_H
#define ADDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code_span.h"
#include "lib/symbols.h"
#include "side.h"

#define INT3	0xcc	/* the kernel fills memory for generated code with it where there is none */

struct added_code {
	uint64_t start, end;	/* addresses */
	uint64_t from, until;	/* TSCs: it was there; until is UINT64_MAX if it still was at the end */
	uint64_t read;		/* TSC of its bytes */
	uint8_t *bytes;
	char *name;		/* NULL: unknown */
	uint64_t named;		/* the address that has that name */
};

struct added {
	struct added_code *code;	/* by start, then by the time of the reading */
	size_t count;
	uint64_t longest;	/* the size of the largest */
};

/*
 * Reads the file @path, and reports damage; without it there are no BPF programs. @kallsyms: the kernel's symbols when
 * kcore was written.
 */
void added_open(struct added *a, const char *path, const struct side *side, const struct symbols *kallsyms);
void added_close(struct added *a);

/*
 * The generated code at @ip at @tsc; NULL: kcore has what was there. @in_kcore: kcore has something at @ip, as of
 * @kcore_tsc.
 *
 * What was there when kcore was written is taken from kcore. If none was there at @tsc, and kcore is known to have
 * something else or has nothing, it is what came first after @tsc, as the flow's time is a little early; or else what
 * went last, as the kernel reports the end of a program before it waits until no CPU runs it.
 */
const struct added_code *added_find(const struct added *a, uint64_t tsc, uint64_t ip, bool in_kcore, uint64_t kcore_tsc);

/* Cut @span where any of the @size bytes at @ip may have become other code. */
void added_span(const struct added *a, uint64_t ip, size_t size, struct code_span *span);

#endif
