/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The spans of a BTS trace that belong to each window. The trace itself does not mark
 * windows: WINDOW records do, and meta has the newest window.
 */
#ifndef WINDOW_SPAN_H
#define WINDOW_SPAN_H

#include <stddef.h>
#include <stdint.h>

#include "records.h"

struct window_span {
	uint64_t begin, end;	/* AUX positions; equal: no branch was taken */
	uint64_t seq;		/* of the window; 0: of one or more without a record */
	const struct auxtrace_record_window *record; /* or NULL */
};

struct window_spans {
	struct window_span *span;
	size_t count;
};

/* Divide [begin, end) into spans, in order. */
void window_spans_find(struct window_spans *s, const struct records *r, uint64_t begin, uint64_t end);
void window_spans_free(struct window_spans *s);

#endif
