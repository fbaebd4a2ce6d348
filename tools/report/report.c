// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>

#include "decode/view_text.h"
#include "report.h"

/* Of a call that has begun. */
struct open_call {
	struct open_call *chain;	/* of the same bucket, if it is the innermost of its function */
	struct open_call *outer;	/* of the same function and stack; NULL: it is the outermost */
	const struct open_call *root;	/* the stack: its outermost call */
	struct function *function;
	struct profile *profile;	/* of the call that is compared, if this one is inside it or is it */
	bool compared;			/* it is that call */
};

static struct report *of_sink(struct calls_sink *s)
{
	return (struct report *)s;
}

/* Calls that began before the sink's first are not known to it. */
static struct open_call *open_of(const struct call *call)
{
	return call ? call->own : NULL;
}

/* Where in the table the innermost call of the function and stack of @o is, or its place. */
static struct open_call **innermost_of(struct report *r, const struct open_call *o)
{
	uint64_t key = (uintptr_t)o->root / 16 + o->function->index * 0x9e3779b97f4a7c15ull;
	struct open_call **at = &r->innermost[(key ^ key >> 32) % ARRAY_SIZE(r->innermost)];

	while (*at && ((*at)->root != o->root || (*at)->function != o->function))
		at = &(*at)->chain;
	return at;
}

static void push_open(struct report *r, struct open_call *o)
{
	struct open_call **at = innermost_of(r, o);

	o->outer = *at;
	o->chain = *at ? (*at)->chain : NULL;
	*at = o;
}

/* Calls end innermost first. */
static void pop_open(struct report *r, struct open_call *o)
{
	struct open_call **at = innermost_of(r, o);

	if (o->outer)
		o->outer->chain = o->chain;
	*at = o->outer ?: o->chain;
}

static void report_call_begins(struct calls_sink *s, struct call *call)
{
	struct report *r = of_sink(s);
	struct open_call *o = xcalloc(1, sizeof(*o)), *caller = open_of(call->caller);

	o->function = functions_find(&r->functions, call);
	o->root = caller ? caller->root : o;
	o->profile = caller ? caller->profile : NULL;
	if (!o->profile && r->compare && function_is(o->function, r->compare)) {
		o->profile = profile_begin();
		o->compared = true;
	}
	call->own = o;
	push_open(r, o);
}

static void report_call_ends(struct calls_sink *s, struct call *call)
{
	struct report *r = of_sink(s);
	struct open_call *o = call->own;

	if (!o)
		return;
	r->cut += !call->begun || !call->returned;
	pop_open(r, o);
	rows_add(&r->rows, o->function, call, !o->outer);
	if (r->page)
		page_add(r->page, o->function, call);
	if (o->profile)
		profile_add(o->profile, o->function, call, !o->outer || o->outer->profile != o->profile);
	if (o->compared)
		contrast_end(&r->contrast, o->profile, call);
	free(o);
	call->own = NULL;
}

/* Windows that begin with a switch to a thread are no events of their own. */
static void report_window(struct calls_sink *s, unsigned int cpu, const struct flow *f, uint64_t seq)
{
	const struct auxtrace_record_window *w = records_window(&f->records, seq);
	struct report *r = of_sink(s);
	char *text;

	if (!r->page || !w || !w->begin_time || w->begin_cause == AUXTRACE_CAUSE_TASK)
		return;
	text = window_text(cpu, f, seq);
	page_mark(r->page, w->begin_time, cpu, text);
	free(text);
}

void report_begin(struct report *r)
{
	*r = (struct report){
		.sink = { .begin = report_call_begins, .end = report_call_ends, .window = report_window },
	};
}

void report_free(struct report *r)
{
	contrast_free(&r->contrast);
	rows_free(&r->rows);
	functions_free(&r->functions);
}
