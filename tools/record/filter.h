/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * --filter: the code that is traced, in perf's syntax. Where a program's function is in memory is known
 * when a process has mapped the program. So an option is read first, and placed later.
 */
#ifndef RECORD_FILTER_H
#define RECORD_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <auxtrace.h>

struct filter {
	char *text;		/* "filter main @ prog", for messages */
	uint32_t action;	/* AUXTRACE_FILTER_* */
	char *path;		/* the program; NULL: @first and @last are addresses */
	uint64_t first, last;	/* with @path: offsets in the file */
	uint64_t linked;	/* with @path: the address that @first is linked to */
	bool movable;		/* the program may be mapped anywhere (PIE, a shared library) */
};

struct filters {
	struct filter *filter;
	size_t count;
	struct auxtrace_filter *placed;	/* by filters_place() */
};

/* Add what @text says. Dies of wrong usage and of names that are not there. */
void filters_parse(struct filters *f, const char *text);

/* Does a filter name code of the kernel? Of programs? */
bool filters_have_kernel(const struct filters *f);
bool filters_have_user(const struct filters *f);

/*
 * Find the addresses, in the first of the processes @pid[] (0: none) that has mapped a file. Returns
 * 0 with f->placed, or -1 after a message.
 */
int filters_place(struct filters *f, const pid_t *pid, size_t nr_pids);

void filters_free(struct filters *f);

#endif
