/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of threads, as they were at a time. */
#ifndef THREADS_H
#define THREADS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "side.h"

struct thread_name {
	uint32_t tid;
	uint64_t tsc;		/* from this time on */
	const char *name;	/* NULL: the one of @parent at that time */
	uint32_t parent;
	bool exec;		/* the name is that of a program which the thread begins */
};

struct threads {
	struct thread_name *name;	/* by tid, then by time */
	size_t count;
	char **line;		/* storage of names from that file */
	size_t nr_lines;
};

/*
 * From the file `threads` of the recording in @dir, and from @side, which must outlive it. Returns false, with a
 * message, if it cannot be read.
 */
bool threads_read(struct threads *t, const char *dir, const struct side *side);
void threads_free(struct threads *t);

/* The name of thread @tid at @tsc, or the nearest one that is known; NULL: none is. */
const char *threads_name(const struct threads *t, uint32_t tid, uint64_t tsc);

/* When @tid began another program after @from, and up to @to; 0: it did not, as far as is known. */
uint64_t threads_exec(const struct threads *t, uint32_t tid, uint64_t from, uint64_t to);

#endif
