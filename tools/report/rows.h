/* SPDX-License-Identifier: GPL-2.0-only */
/* The table of auxtrace report: a row for each function or, if asked for, each function of a thread or process. */
#ifndef ROWS_H
#define ROWS_H

#include "decode/functions.h"
#include "histogram.h"

/* Whose calls share a row. */
enum rows_by { BY_FUNCTION, BY_PROCESS, BY_THREAD };

/* By what the rows are sorted, largest first. Times are in TSC ticks. */
enum rows_key { KEY_SELF, KEY_TOTAL, KEY_WAITED, KEY_CALLS, KEY_P50, KEY_P99, KEY_MAX, KEY_INSTRUCTIONS, NR_KEYS };

struct row {
	struct row *chain;	/* of the same bucket */
	const struct function *function;
	uint32_t pid, tid;	/* 0: of all */
	bool known;		/* which thread it is */
	char *comm;		/* its name when it was seen first; NULL: not known */
	uint64_t calls;		/* that began */
	uint64_t cut;		/* of them or more: begin or end is not in the trace */
	uint64_t total;		/* time with callees; of recursion only the outermost call's */
	uint64_t self;		/* without callees and without what other threads ran */
	uint64_t waited;	/* other threads ran, within the total */
	uint64_t instructions;	/* without callees */
	bool clipped;		/* and with some from outside the part by time */
	struct histogram durations; /* of whole calls */
};

struct rows {
	enum rows_by by;
	struct row **bucket;
	size_t buckets, count;
};

/* @call has ended; @outermost: none of its callers is the same function. */
void rows_add(struct rows *r, const struct function *function, const struct call *call, bool outermost);

/* The name of a key as --sort takes it. */
extern const char *const row_keys[NR_KEYS];

/*
 * Print the @limit largest rows (0: all). Times are left out if none is known; then the rows are sorted by
 * instructions. @meta: of the recording.
 */
void rows_print(const struct rows *r, enum rows_key key, size_t limit, const struct meta *meta);
void rows_free(struct rows *r);

#endif
