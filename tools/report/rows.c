// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "decode/view_text.h"
#include "lib/duration.h"
#include "rows.h"

const char *const row_keys[NR_KEYS] = {
	[KEY_SELF] = "self", [KEY_TOTAL] = "total", [KEY_WAITED] = "waited", [KEY_CALLS] = "calls",
	[KEY_P50] = "p50", [KEY_P99] = "p99", [KEY_MAX] = "max", [KEY_INSTRUCTIONS] = "instructions",
};

/* ---- rows ----------------------------------------------------------------- */

static size_t bucket_of(const struct rows *r, size_t function, uint32_t id)
{
	return (function * 0x9e3779b97f4a7c15ull ^ id * 0xff51afd7ed558ccdull) % r->buckets;
}

static uint32_t id_of(const struct rows *r, uint32_t pid, uint32_t tid)
{
	return r->by == BY_FUNCTION ? 0 : r->by == BY_PROCESS ? pid : tid;
}

static void grow(struct rows *r)
{
	struct rows more = { .by = r->by, .buckets = r->buckets ? 4 * r->buckets : 1024, .count = r->count };

	more.bucket = xcalloc(more.buckets, sizeof(*more.bucket));
	for (size_t i = 0; i < r->buckets; i++)
		while (r->bucket[i]) {
			struct row *row = r->bucket[i], **to;

			r->bucket[i] = row->chain;
			to = &more.bucket[bucket_of(&more, row->function->index, id_of(r, row->pid, row->tid))];
			row->chain = *to;
			*to = row;
		}
	free(r->bucket);
	*r = more;
}

static struct row *find(struct rows *r, const struct function *function, const struct call *call)
{
	uint32_t id = id_of(r, call->thread.pid, call->thread.tid);
	struct row *row, **bucket;

	if (r->count >= r->buckets)
		grow(r);
	bucket = &r->bucket[bucket_of(r, function->index, id)];
	for (row = *bucket; row; row = row->chain)
		if (row->function == function && id_of(r, row->pid, row->tid) == id &&
		    (r->by == BY_FUNCTION || row->known == call->known))
			return row;
	row = xcalloc(1, sizeof(*row));
	row->function = function;
	if (r->by != BY_FUNCTION) {
		row->known = call->known;
		row->pid = call->thread.pid;
		row->tid = r->by == BY_THREAD ? call->thread.tid : call->thread.pid;
		row->comm = call->comm ? xstrdup(call->comm) : NULL;
	}
	row->chain = *bucket;
	*bucket = row;
	r->count++;
	return row;
}

void rows_add(struct rows *r, const struct function *function, const struct call *call, bool outermost)
{
	struct row *row = find(r, function, call);
	uint64_t ticks = call_ticks(call), own = call_own_ticks(call);

	row->calls += call->begun;
	row->cut += !call->begun || !call->returned;
	row->self += own > call->callee_ticks ? own - call->callee_ticks : 0;
	row->instructions += call->instructions - call->callee_instructions;
	row->clipped |= call->clipped;
	if (outermost) {
		row->total += ticks;
		row->waited += ticks - own;
	}
	if (call->begun && call->returned && call->begin.tsc)
		histogram_add(&row->durations, ticks);
}

void rows_free(struct rows *r)
{
	for (size_t i = 0; i < r->buckets; i++)
		while (r->bucket[i]) {
			struct row *row = r->bucket[i];

			r->bucket[i] = row->chain;
			histogram_free(&row->durations);
			free(row->comm);
			free(row);
		}
	free(r->bucket);
	*r = (struct rows){ .by = r->by };
}

/* ---- the table ------------------------------------------------------------ */

struct sorted {
	const struct row *row;
	uint64_t value;
};

static uint64_t value_of(const struct row *row, enum rows_key key)
{
	switch (key) {
	case KEY_SELF:
		return row->self;
	case KEY_TOTAL:
		return row->total;
	case KEY_WAITED:
		return row->waited;
	case KEY_CALLS:
		return row->calls;
	case KEY_P50:
		return histogram_percentile(&row->durations, 50);
	case KEY_P99:
		return histogram_percentile(&row->durations, 99);
	case KEY_MAX:
		return row->durations.max;
	default:
		return row->clipped ? 0 : row->instructions;
	}
}

static int by_value(const void *a, const void *b)
{
	const struct sorted *x = a, *y = b;

	if (x->value != y->value)
		return x->value < y->value ? 1 : -1;
	/* What was called first comes first. */
	if (x->row->function->index != y->row->function->index)
		return x->row->function->index < y->row->function->index ? -1 : 1;
	return x->row->tid < y->row->tid ? -1 : x->row->tid > y->row->tid;
}

static struct sorted *sort(const struct rows *r, enum rows_key key)
{
	struct sorted *sorted = xcalloc(r->count, sizeof(*sorted));
	size_t n = 0;

	for (size_t i = 0; i < r->buckets; i++)
		for (const struct row *row = r->bucket[i]; row; row = row->chain)
			sorted[n++] = (struct sorted){ row, value_of(row, key) };
	if (n)
		qsort(sorted, n, sizeof(*sorted), by_value);
	return sorted;
}

static bool has_times(const struct rows *r)
{
	for (size_t i = 0; i < r->buckets; i++)
		for (const struct row *row = r->bucket[i]; row; row = row->chain)
			if (row->total || row->self)
				return true;
	return false;
}

static void print_time(const struct meta *meta, bool known, uint64_t ticks)
{
	char text[16] = "-";
	uint64_t ns;

	if (known && ticks && meta_duration(meta, ticks, &ns))
		duration_text(text, sizeof(text), "", ns);
	printf(" %8s", text);
}

static void print_row(const struct rows *r, const struct row *row, bool timed, const struct meta *meta)
{
	const struct run thread = { .pid = row->pid, .tid = row->tid };

	printf("%8" PRIu64 " %6" PRIu64, row->calls, row->cut);
	if (timed) {
		bool whole = row->durations.count;

		print_time(meta, true, row->total);
		print_time(meta, true, row->self);
		print_time(meta, true, row->waited);
		print_time(meta, whole, value_of(row, KEY_P50));
		print_time(meta, whole, value_of(row, KEY_P99));
		print_time(meta, whole, value_of(row, KEY_MAX));
	}
	if (row->clipped)
		printf(" %12s", "-");
	else
		printf(" %12" PRIu64, row->instructions);
	if (r->by != BY_FUNCTION)
		text_run(stdout, row->known ? &thread : NULL, row->comm);
	printf("  %c  ", row->function->kernel ? 'k' : 'u');
	function_print(row->function);
	putchar('\n');
}

void rows_print(const struct rows *r, enum rows_key key, size_t limit, const struct meta *meta)
{
	bool timed = has_times(r);
	struct sorted *sorted = sort(r, timed || key == KEY_CALLS ? key : KEY_INSTRUCTIONS);
	size_t shown = limit && limit < r->count ? limit : r->count;

	printf("%8s %6s", "calls", "cut");
	if (timed)
		printf(" %8s %8s %8s %8s %8s %8s", "total", "self", "waited", "p50", "p99", "max");
	printf(" %12s", "instructions");
	if (r->by != BY_FUNCTION)
		printf(" %-15s %-11s", "name", r->by == BY_THREAD ? "thread" : "process");
	puts("     function");
	for (size_t i = 0; i < shown; i++)
		print_row(r, sorted[i].row, timed, meta);
	if (shown < r->count)
		printf("and %zu more rows: --limit 0 shows all\n", r->count - shown);
	free(sorted);
}
