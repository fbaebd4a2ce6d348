// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>

#include "lib/tool.h"
#include "window_span.h"

static void add(struct window_spans *s, uint64_t seq, uint64_t begin, uint64_t end,
		const struct auxtrace_record_window *record)
{
	list_grow(s->span, s->count);
	s->span[s->count++] = (struct window_span){ begin, end, seq, record };
}

/* Behind the last window with a record: the newest window, if meta has its position. */
static void add_rest(struct window_spans *s, const struct meta_cpu *cpu, uint64_t newest, uint64_t begin,
		     uint64_t end)
{
	bool placed = cpu->window_begin != UINT64_MAX && cpu->windows > newest;

	if (placed && cpu->window_begin > begin && cpu->window_begin < end) {
		add(s, 0, begin, cpu->window_begin, NULL);
		begin = cpu->window_begin;
	}
	/* A snapshot ends with the newest window, too, but its meta does not have the begin. */
	if (!placed || cpu->window_begin > begin)
		placed = newest + 1 == cpu->windows;
	add(s, placed ? cpu->windows : 0, begin, end, NULL);
}

void window_spans_find(struct window_spans *s, const struct records *r, uint64_t begin, uint64_t end)
{
	uint64_t at = begin, newest = 0;

	*s = (struct window_spans){ 0 };
	for (size_t i = 0; i < r->nr_windows; i++) {
		const struct auxtrace_record_window *w = r->window[i];
		uint64_t first = w->begin > begin ? w->begin : begin;
		uint64_t last = w->end_position < end ? w->end_position : end;

		/* Overwritten, newer than the trace, or inconsistent with the window before. */
		if (first < at || last < first || (last == begin && w->begin < begin))
			continue;
		if (first > at)
			add(s, 0, at, first, NULL);
		add(s, w->window, first, last, w);
		at = last;
		newest = w->window;
	}
	if (at < end)
		add_rest(s, r->cpu, newest, at, end);
}

void window_spans_free(struct window_spans *s)
{
	free(s->span);
	*s = (struct window_spans){ 0 };
}
