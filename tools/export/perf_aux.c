// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "decode/window_span.h"
#include "lib/tool.h"
#include "perf_aux.h"
#include "perf_record.h"

struct auxtrace_event {		/* AUXTRACE; its bytes follow it */
	struct perf_event_header header;
	uint64_t size, offset, reference;
	uint32_t idx, tid, cpu, reserved;
};

/* ---- parts -------------------------------------------------------------- */

static void add(struct perf_parts *parts, const struct perf_part *part)
{
	if (part->begin >= part->end)
		return;
	list_grow(parts->part, parts->count);
	parts->part[parts->count] = *part;
	/* So by_time() keeps the order of a CPU's parts. */
	if (parts->count && parts->part[parts->count - 1].cpu == part->cpu &&
	    part->tsc < parts->part[parts->count - 1].tsc)
		parts->part[parts->count].tsc = parts->part[parts->count - 1].tsc;
	parts->count++;
}

/* The trace after this window begins anew: its last packet may be cut. */
static bool breaks_off(const struct auxtrace_record_window *w)
{
	return w->end_cause == AUXTRACE_CAUSE_FULL || w->end_cause == AUXTRACE_CAUSE_ERROR ||
	       w->end_cause == AUXTRACE_CAUSE_FOREIGN || w->end_cause == AUXTRACE_CAUSE_CPU;
}

/* The stream of a CPU, which ends where trace is missing behind a window. */
static void find_streams(struct perf_parts *parts, const struct records *r, uint64_t begin, uint64_t end)
{
	struct perf_part part = { .cpu = r->cpu, .begin = begin, .tid = PERF_NOBODY };

	for (size_t i = 0; i < r->nr_windows; i++) {
		const struct auxtrace_record_window *w = r->window[i];

		if (w->begin <= part.begin && w->end_position > part.begin)
			part.tsc = w->begin_time;
		if (!breaks_off(w) || w->end_position <= part.begin || w->end_position >= end)
			continue;
		part.end = w->end_position;
		add(parts, &part);
		parts->broken = true;
		part.begin = part.end;
		part.tsc = w->end_time;
	}
	part.end = end;
	add(parts, &part);
}

/* The thread that the CPU ran all the time of that window. */
static uint32_t thread_of(const struct perf_sideband *s, const struct auxtrace_record_window *w)
{
	if (!w || w->begin_tid != w->tid ||
	    !perf_sideband_ran_alone(s, w->tid, perf_time(s->meta, w->begin_time), perf_time(s->meta, w->end_time)))
		return PERF_NOBODY;
	return w->tid;
}

/* Windows of records of @unit bytes. Those at the edges may not be whole. */
static void find_windows(struct perf_parts *parts, const struct perf_sideband *sideband, uint64_t unit,
			 uint64_t begin, uint64_t end)
{
	const struct records *r = sideband->records;
	struct window_spans all;

	window_spans_find(&all, r, begin, end);
	for (size_t i = 0; i < all.count; i++) {
		const struct window_span *s = &all.span[i];

		add(parts, &(struct perf_part){
			.cpu = r->cpu, .tid = thread_of(sideband, s->record), .tsc = s->record ? s->record->begin_time : 0,
			.begin = (s->begin + unit - 1) / unit * unit, .end = s->end / unit * unit,
		});
	}
	window_spans_free(&all);
}

void perf_parts_init(struct perf_parts *parts, const char *dir, const struct perf_trace *trace)
{
	*parts = (struct perf_parts){ .dir = dir, .trace = trace };
}

void perf_parts_find(struct perf_parts *parts, const struct perf_sideband *sideband)
{
	const struct meta_cpu *cpu = sideband->records->cpu;
	char path[4200];
	struct stat st;
	uint64_t size;

	snprintf(path, sizeof(path), "%s/cpu%u.aux", parts->dir, cpu->cpu);
	if (stat(path, &st))
		die(1, "cannot read %s: %s", path, strerror(errno));
	size = (uint64_t)st.st_size > cpu->pad ? st.st_size - cpu->pad : 0;
	if (size != cpu->read) {
		say("%s has %" PRIu64 " bytes of trace, meta says %" PRIu64 ": the recording is damaged", path,
		    size, cpu->read);
		if (size > cpu->read)
			size = cpu->read;
	}
	if (parts->trace->timed)
		find_streams(parts, sideband->records, cpu->begin, cpu->begin + size);
	else
		find_windows(parts, sideband, parts->trace->unit, cpu->begin, cpu->begin + size);
}

void perf_parts_free(struct perf_parts *parts)
{
	free(parts->part);
	*parts = (struct perf_parts){ 0 };
}

/* ---- records ------------------------------------------------------------ */

/* By time, so that the parts of a thread on several CPUs follow one another in its queue. */
static int by_time(const void *a, const void *b)
{
	const struct perf_part *x = a, *y = b;

	if (x->tsc != y->tsc)
		return x->tsc < y->tsc ? -1 : 1;
	if (x->cpu != y->cpu)
		return x->cpu->cpu < y->cpu->cpu ? -1 : 1;
	return x->begin < y->begin ? -1 : x->begin > y->begin;
}

struct queues {			/* those of CPUs have the CPU's number, those of threads come behind them */
	uint32_t *thread;
	uint32_t nr_threads, first;
};

static uint32_t queue_of(struct queues *q, const struct perf_part *p)
{
	uint32_t i;

	if (p->tid == PERF_NOBODY)
		return p->cpu->cpu;
	for (i = 0; i < q->nr_threads; i++)
		if (q->thread[i] == p->tid)
			break;
	if (i == q->nr_threads)
		q->thread[q->nr_threads++] = p->tid;
	return q->first + i;
}

static void write_part(struct perf_parts *parts, struct perf_part *p, uint32_t queue, struct perf_data *data)
{
	static const char zeros[16];
	uint64_t size = p->end - p->begin, padding = -size % 8 + parts->trace->padding;
	const struct auxtrace_event event = {
		.header = { .type = PERF_AUXTRACE, .size = sizeof(event) },
		/* A multiple of 8. Zero bytes are PT packets without meaning. */
		.size = size + padding,
		.offset = p->begin,
		.reference = p->tsc,
		.idx = queue,
		.tid = p->tid,
		.cpu = p->tid == PERF_NOBODY ? p->cpu->cpu : UINT32_MAX,
	};
	char path[4200];

	p->position = perf_data_position(data);
	perf_data_write(data, &event, sizeof(event));
	snprintf(path, sizeof(path), "%s/cpu%u.aux", parts->dir, p->cpu->cpu);
	perf_data_copy(data, path, p->begin - p->cpu->origin, size);
	perf_data_write(data, zeros, padding);
}

void perf_parts_write(struct perf_parts *parts, struct perf_data *data)
{
	struct queues q = { .thread = xcalloc(parts->count + 1, sizeof(*q.thread)) };

	for (size_t i = 0; i < parts->count; i++)
		if (q.first <= parts->part[i].cpu->cpu)
			q.first = parts->part[i].cpu->cpu + 1;
	if (parts->count)
		qsort(parts->part, parts->count, sizeof(*parts->part), by_time);
	for (size_t i = 0; i < parts->count; i++)
		write_part(parts, &parts->part[i], queue_of(&q, &parts->part[i]), data);
	free(q.thread);
}

void perf_parts_write_index(const struct perf_parts *parts, struct perf_data *data)
{
	uint64_t *index = xcalloc(1 + 2 * parts->count, sizeof(*index));

	index[0] = parts->count;
	for (size_t i = 0; i < parts->count; i++) {
		index[1 + 2 * i] = parts->part[i].position;
		index[2 + 2 * i] = sizeof(struct auxtrace_event);
	}
	perf_data_feature(data, PERF_FEATURE_AUXTRACE, index, (1 + 2 * parts->count) * sizeof(*index));
	free(index);
}
