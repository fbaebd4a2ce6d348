/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A recording as one HTML file that a browser opens from disk: the calls of each thread over time, a flame view,
 * and what auxtrace report prints. It needs nothing but itself.
 */
#ifndef PAGE_H
#define PAGE_H

#include "decode/call_threads.h"
#include "decode/functions.h"

struct report;

struct page {
	struct page_call *call;	/* what goes into the file, at most 2 * PAGE_CALLS */
	size_t count;
	uint64_t shortest;	/* shorter calls were left out, in ticks */
	uint64_t left_out;
	struct call_threads threads;
	struct page_mark *mark;
	size_t nr_marks;
	uint64_t begin, end;	/* TSC of the first and the last thing in it; 0: nothing has a time */
};

/* Calls in a file. With more, the shortest are left out, and the page says so. */
#define PAGE_CALLS	400000

/* @call of @function has ended. */
void page_add(struct page *p, const struct function *function, const struct call *call);
/* A line at @tsc, with what happened there on @cpu. */
void page_mark(struct page *p, uint64_t tsc, unsigned int cpu, const char *text);

/* Write the file at @path. @title: names the recording. Dies if it cannot be written. */
void page_write(struct page *p, const char *path, const char *title, const struct report *report,
		const struct meta *meta);
void page_free(struct page *p);

#endif
