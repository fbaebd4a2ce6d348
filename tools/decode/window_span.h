/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which part of a BTS trace is of which window. The trace itself does not say: the data
 * ring's records do, and meta of the newest window.
 */
#ifndef WINDOW_SPAN_H
#define WINDOW_SPAN_H

#include <stddef.h>
#include <stdint.h>

#include "records.h"

struct window_span {
	uint64_t begin, end;	/* AUX positions; the same: no branch was taken */
	uint64_t seq;		/* of the window; 0: of one or more that nobody told of */
	const struct auxtrace_record_window *record; /* or NULL */
};

struct window_spans {
	struct window_span *span;
	size_t count;
};

/* All of [@begin, @end), in order. */
void window_spans_find(struct window_spans *s, const struct records *r, uint64_t begin, uint64_t end);
void window_spans_free(struct window_spans *s);

#endif
