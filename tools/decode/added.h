/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Code that the kernel generated during a recording, the file kcore.added: BPF programs, of which kcore has those that
 * were there when it was written.
 */
#ifndef ADDED_H
#define ADDED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code_span.h"

struct added_code {
	uint64_t start, end;
	uint64_t from, until;	/* TSCs: it was there; until is UINT64_MAX if it still was when the file was written */
	uint64_t read;		/* TSC of its bytes */
	uint8_t *bytes;
	char *name;
};

struct added {
	struct added_code *code;	/* by start, then by the time of the reading */
	size_t count;
	uint64_t longest;	/* the size of the largest */
};

/* Reads @path; reports damage. Without the file there is no such code. */
void added_open(struct added *a, const char *path);
void added_close(struct added *a);

/*
 * What was at @ip at @tsc and was gone at @kcore_tsc, when kcore was written. Unless @kcore, which says that kcore has
 * something there, also what came first after @tsc, as the flow's time is a little early, or else what went last before
 * it. NULL: nothing.
 */
const struct added_code *added_find(const struct added *a, uint64_t tsc, uint64_t ip, bool kcore, uint64_t kcore_tsc);

/* Cut @span where any of the @size bytes at @ip may have become other code. */
void added_span(const struct added *a, uint64_t ip, size_t size, struct code_span *span);

#endif
