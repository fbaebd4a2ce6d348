// SPDX-License-Identifier: GPL-2.0-only
/* speedscope's own format: an "evented" profile for each thread, whose calls open and close in order. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "decode/call_threads.h"
#include "decode/functions.h"
#include "event_lists.h"
#include "file_limit.h"
#include "format.h"
#include "lib/json.h"

/* The longest string of Chromium, and of all that has its JavaScript engine V8, is a few bytes shorter. */
#define MAX_STRING	(512u << 20)

struct speedscope {
	struct calls_sink sink;
	const struct export_request *request;
	const struct meta *meta;
	FILE *out;
	struct functions functions;
	struct call_threads threads;
	struct event_lists events;
	struct event_list *profile;	/* of each thread */
	size_t nr_profiles;
	uint64_t begin;			/* the first time; 0: none yet */
	struct file_limit limit;	/* of all events; the rest of the file is small beside them */
};

static struct speedscope *of_sink(struct calls_sink *s)
{
	return (struct speedscope *)s;
}

static struct event_list *profile_of(struct speedscope *s, const struct call *call)
{
	size_t i = call_threads_find(&s->threads, call);

	for (; s->nr_profiles <= i; s->nr_profiles++) {
		list_grow(s->profile, s->nr_profiles);
		s->profile[s->nr_profiles] = (struct event_list){ 0 };
	}
	return &s->profile[i];
}

static void add(struct speedscope *s, struct call *call, uint64_t tsc, bool ends)
{
	struct event_list *p = profile_of(s, call);

	/* Estimates of two CPUs may overlap where a thread goes from one to the other. */
	if (tsc < p->last.tsc)
		tsc = p->last.tsc;
	event_list_add(&s->events, p, (struct call_event){ tsc, functions_find(&s->functions, call)->index, ends });
	if (!s->begin || tsc < s->begin)
		s->begin = tsc;
}

static void speedscope_call_begins(struct calls_sink *sink, struct call *call)
{
	/* A call without a time has no place. */
	if (!call->begin.tsc)
		return;
	add(of_sink(sink), call, call->begin.tsc, false);
	call->own = sink;
}

static void speedscope_call_ends(struct calls_sink *sink, struct call *call)
{
	if (call->own)
		add(of_sink(sink), call, call->end.tsc, true);
}

static struct calls_sink *speedscope_begin(const struct export_request *request, FILE *out)
{
	struct speedscope *s = xcalloc(1, sizeof(*s));

	s->sink = (struct calls_sink){ .begin = speedscope_call_begins, .end = speedscope_call_ends };
	s->request = request;
	s->meta = request->meta;
	s->out = out;
	s->limit = (struct file_limit){
		.most = MAX_STRING,
		.why = "a browser's string holds 512: speedscope before version 1.14 does not open it, and later ones slowly, as far as the browser has memory",
	};
	event_lists_begin(&s->events, request->out);
	return &s->sink;
}

/* ---- the file ------------------------------------------------------------------ */

static void put_frames(struct speedscope *s)
{
	const struct function **list = functions_list(&s->functions);

	fputs("\"shared\":{\"frames\":[", s->out);
	for (size_t i = 0; i < s->functions.count; i++) {
		fputs(i ? ",\n{\"name\":" : "{\"name\":", s->out);
		json_string(s->out, list[i]->name ?: "[no symbol]");
		if (list[i]->object) {
			fputs(",\"file\":", s->out);
			json_string(s->out, list[i]->object);
		}
		putc('}', s->out);
	}
	fputs("]},\n", s->out);
	free(list);
}

static uint64_t ns_of(const struct speedscope *s, uint64_t tsc)
{
	uint64_t ns = 0;

	meta_duration(s->meta, tsc - s->begin, &ns);
	return ns;
}

static void put_profile(struct speedscope *s, const struct call_thread *thread, const struct event_list *p)
{
	const struct call_event *event;
	const char *separator = "";
	char name[80];
	size_t count;
	int length;

	fputs("{\"type\":\"evented\",\"name\":", s->out);
	call_thread_name(thread, name, sizeof(name));
	json_string(s->out, name);
	fprintf(s->out, ",\"unit\":\"nanoseconds\",\"startValue\":%" PRIu64 ",\"endValue\":%" PRIu64 ",\"events\":[",
		ns_of(s, p->first.tsc), ns_of(s, p->last.tsc));
	for (size_t nr = 0; (event = event_list_block(&s->events, p, nr, &count)); nr++)
		for (; count; count--, event++, separator = ",") {
			length = fprintf(s->out, "%s{\"type\":\"%c\",\"frame\":%u,\"at\":%" PRIu64 "}", separator,
					 event->ends ? 'C' : 'O', event->function, ns_of(s, event->tsc));
			/* Whoever closes the file says that it could not be written. */
			if (length > 0)
				file_limit_add(&s->limit, length);
		}
	fputs("]}", s->out);
}

static void speedscope_end(struct calls_sink *sink)
{
	struct speedscope *s = of_sink(sink);

	fputs("{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\"exporter\":\"auxtrace\",\"name\":", s->out);
	json_string(s->out, s->request->dir);
	fputs(",\n", s->out);
	put_frames(s);
	fputs("\"profiles\":[", s->out);
	for (size_t i = 0; i < s->nr_profiles; i++) {
		if (i)
			fputs(",\n", s->out);
		put_profile(s, &s->threads.thread[i], &s->profile[i]);
		event_list_free(&s->profile[i]);
	}
	fputs("]}\n", s->out);
	event_lists_end(&s->events);
	free(s->profile);
	call_threads_free(&s->threads);
	functions_free(&s->functions);
	free(s);
}

const struct export_format speedscope_format = {
	.name = "speedscope",
	.summary = "calls of each thread over time, for speedscope",
	.begin = speedscope_begin,
	.end = speedscope_end,
};
