// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/json.h"
#include "lib/output.h"
#include "page.h"
#include "report.h"

struct page_call {
	uint32_t function, thread;	/* indexes */
	uint32_t depth;
	unsigned int cut;	/* 1: its begin is not in the trace; 2: its end */
	uint64_t begin, ticks, away;
};

struct page_mark {
	uint64_t tsc;
	unsigned int cpu;
	char *text;
};

/* The page without its data: page.html, up to and behind the line that holds the data's place. */
#define PLACE	"\"@DATA@\""

__asm__(".section .rodata\n"
	"page_template: .incbin \"" PAGE_TEMPLATE "\"\n"
	"page_template_end: .byte 0\n"
	".previous\n");
extern const char page_template[], page_template_end[];

/* ---- what is collected -------------------------------------------------------- */

static int by_length(const void *a, const void *b)
{
	const struct page_call *x = a, *y = b;

	return x->ticks < y->ticks ? 1 : x->ticks > y->ticks ? -1 : 0;
}

/* Leave only the longest calls. */
static void prune(struct page *p)
{
	if (p->count <= PAGE_CALLS)
		return;
	qsort(p->call, p->count, sizeof(*p->call), by_length);
	p->left_out += p->count - PAGE_CALLS;
	p->count = PAGE_CALLS;
	p->shortest = p->call[p->count - 1].ticks;
}

static void include_time(struct page *p, uint64_t tsc)
{
	if (!tsc)
		return;
	if (!p->begin || tsc < p->begin)
		p->begin = tsc;
	if (tsc > p->end)
		p->end = tsc;
}

void page_add(struct page *p, const struct function *function, const struct call *call)
{
	uint64_t ticks = call_ticks(call);

	if (!call->begin.tsc || ticks < p->shortest) {
		p->left_out++;
		return;
	}
	if (!p->call)
		p->call = xcalloc(2 * PAGE_CALLS, sizeof(*p->call));
	p->call[p->count++] = (struct page_call){
		.function = function->index, .thread = call_threads_find(&p->threads, call), .depth = call->depth,
		.cut = !call->begun + 2 * !call->returned, .begin = call->begin.tsc, .ticks = ticks, .away = call->away,
	};
	include_time(p, call->begin.tsc);
	include_time(p, call->end.tsc);
	if (p->count == 2 * PAGE_CALLS)
		prune(p);
}

void page_mark(struct page *p, uint64_t tsc, unsigned int cpu, const char *text)
{
	list_grow(p->mark, p->nr_marks);
	p->mark[p->nr_marks++] = (struct page_mark){ .tsc = tsc, .cpu = cpu, .text = xstrdup(text) };
	include_time(p, tsc);
}

void page_free(struct page *p)
{
	for (size_t i = 0; i < p->nr_marks; i++)
		free(p->mark[i].text);
	call_threads_free(&p->threads);
	free(p->mark);
	free(p->call);
	*p = (struct page){ 0 };
}

/* ---- the file -------------------------------------------------------------------- */

static uint64_t to_ns(const struct meta *meta, uint64_t ticks)
{
	uint64_t ns = 0;

	meta_duration(meta, ticks, &ns);
	return ns;
}

static int by_thread_and_time(const void *a, const void *b)
{
	const struct page_call *x = a, *y = b;

	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	if (x->begin != y->begin)
		return x->begin < y->begin ? -1 : 1;
	return x->depth < y->depth ? -1 : x->depth > y->depth;
}

static void put_functions(FILE *out, const struct functions *functions)
{
	const struct function **list = functions_list(functions);

	fputs("\"functions\":[", out);
	for (size_t i = 0; i < functions->count; i++) {
		fputs(i ? ",\n[" : "[", out);
		json_string(out, list[i]->name);
		putc(',', out);
		json_string(out, list[i]->object);
		fprintf(out, ",%d]", list[i]->kernel);
	}
	fputs("],\n", out);
	free(list);
}

/* Calls: function, ns since the one before, ns that it took, depth, cut as above, ns of other threads. */
static void put_threads(FILE *out, const struct page *p, const struct meta *meta)
{
	size_t at = 0;

	fputs("\"threads\":[", out);
	for (size_t i = 0; i < p->threads.count; i++) {
		const struct call_thread *t = &p->threads.thread[i];
		uint64_t last = 0;
		size_t first = at;

		fputs(i ? ",\n{\"name\":" : "{\"name\":", out);
		json_string(out, t->comm);
		fprintf(out, ",\"known\":%d,\"pid\":%u,\"tid\":%u,\"cpu\":%u,\"calls\":[", t->known, t->pid, t->tid, t->cpu);
		for (; at < p->count && p->call[at].thread == i; at++) {
			const struct page_call *c = &p->call[at];
			uint64_t begin = to_ns(meta, c->begin - p->begin);

			fprintf(out, "%s%u,%" PRIu64 ",%" PRIu64 ",%u,%u,%" PRIu64, at > first ? "," : "",
				c->function, begin - last, to_ns(meta, c->ticks), c->depth, c->cut,
				to_ns(meta, c->away));
			last = begin;
		}
		fputs("]}", out);
	}
	fputs("],\n", out);
}

static void put_marks(FILE *out, const struct page *p, const struct meta *meta)
{
	fputs("\"marks\":[", out);
	for (size_t i = 0; i < p->nr_marks; i++) {
		const struct page_mark *m = &p->mark[i];

		fprintf(out, "%s{\"at\":%" PRIu64 ",\"cpu\":%u,\"text\":", i ? ",\n" : "",
			to_ns(meta, m->tsc - p->begin), m->cpu);
		json_string(out, m->text);
		putc('}', out);
	}
	fputs("],\n", out);
}

static void put_data(FILE *out, const struct page *p, const char *title, const struct report *report,
		     const struct meta *meta)
{
	uint64_t begin = 0;

	if (p->begin)
		meta_clock(meta, p->begin, &begin);
	fputs("{\"title\":", out);
	json_string(out, title);
	/* As text: a number of JavaScript has 53 bits. */
	fprintf(out, ",\"begin\":\"%" PRIu64 ".%09" PRIu64 "\",\"length\":%" PRIu64 ",\"left_out\":%" PRIu64
		",\"shortest\":%" PRIu64 ",\n", begin / 1000000000, begin % 1000000000,
		to_ns(meta, p->end - p->begin), p->left_out, to_ns(meta, p->shortest));
	put_functions(out, &report->functions);
	put_threads(out, p, meta);
	put_marks(out, p, meta);
	fputs("\"compare\":", out);
	if (report->compare && report->contrast.slowest)
		contrast_write_json(out, &report->contrast, report->compare, meta, p->begin);
	else
		fputs("null", out);
	fputs("}", out);
}

void page_write(struct page *p, const char *path, const char *title, const struct report *report,
		const struct meta *meta)
{
	const char *place = strstr(page_template, PLACE);
	FILE *out = output_file(path);

	prune(p);
	if (p->count)
		qsort(p->call, p->count, sizeof(*p->call), by_thread_and_time);
	fwrite(page_template, 1, place - page_template, out);
	put_data(out, p, title, report, meta);
	place += strlen(PLACE);
	fwrite(place, 1, page_template_end - place, out);
	output_close(out);
}
