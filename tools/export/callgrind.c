// SPDX-License-Identifier: GPL-2.0-only
/*
 * Callgrind's profile, for KCachegrind and callgrind_annotate: for each function its own instructions and time, and for
 * each pair of caller and callee the number of calls and what they took altogether. The format: Callgrind Format
 * Specification, in valgrind's manual. Source positions are not in it: each line number is 0.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "decode/functions.h"
#include "format.h"

struct cost {
	uint64_t instructions, ticks;
};

/* The calls of one function by another. */
struct edge {
	struct edge *next;	/* of the same caller */
	const struct function *callee;
	uint64_t calls;
	struct cost all;	/* with what the callee calls */
};

struct profile {		/* of a function */
	struct cost own;
	struct edge *edges;
};

struct callgrind {
	struct calls_sink sink;
	const struct export_request *request;
	FILE *out;
	struct functions functions;
	struct profile *profile;	/* by the functions' index */
	size_t space;
};

static struct callgrind *of_sink(struct calls_sink *s)
{
	return (struct callgrind *)s;
}

static struct profile *profile_of(struct callgrind *c, const struct function *f)
{
	while (f->index >= c->space) {
		size_t space = c->space ? 2 * c->space : 256;

		c->profile = xrealloc(c->profile, space * sizeof(*c->profile));
		for (; c->space < space; c->space++)
			c->profile[c->space] = (struct profile){ 0 };
	}
	return &c->profile[f->index];
}

static struct edge *edge_to(struct profile *caller, const struct function *callee)
{
	struct edge **at, *e;

	for (at = &caller->edges; (e = *at) && e->callee != callee; at = &e->next)
		;
	if (e) {
		*at = e->next;
	} else {
		e = xcalloc(1, sizeof(*e));
		e->callee = callee;
	}
	/* What is called often is found first. */
	e->next = caller->edges;
	caller->edges = e;
	return e;
}

static void callgrind_call_begins(struct calls_sink *s, struct call *call)
{
	call->own = functions_find(&of_sink(s)->functions, call);
}

static void add(struct cost *sum, uint64_t instructions, uint64_t ticks)
{
	sum->instructions += instructions;
	sum->ticks += ticks;
}

static uint64_t without(uint64_t all, uint64_t part)
{
	return all > part ? all - part : 0;
}

static void callgrind_call_ends(struct calls_sink *s, struct call *call)
{
	struct callgrind *c = of_sink(s);
	uint64_t ticks = call_own_ticks(call);
	struct edge *e;

	add(&profile_of(c, call->own)->own, without(call->instructions, call->callee_instructions),
	    without(ticks, call->callee_ticks));
	if (!call->caller || !call->caller->own)
		return;
	e = edge_to(profile_of(c, call->caller->own), call->own);
	e->calls++;
	add(&e->all, call->instructions, ticks);
}

static struct calls_sink *callgrind_begin(const struct export_request *request, FILE *out)
{
	struct callgrind *c = xcalloc(1, sizeof(*c));

	c->sink = (struct calls_sink){ .begin = callgrind_call_begins, .end = callgrind_call_ends };
	c->request = request;
	c->out = out;
	return &c->sink;
}

/* ---- the file ------------------------------------------------------------------ */

static void put_cost(const struct callgrind *c, const struct cost *cost)
{
	uint64_t ns = 0;

	meta_duration(c->request->meta, cost->ticks, &ns);
	fprintf(c->out, "0 %" PRIu64, ns);
	/* Of a call that is cut it is not known how many are inside. */
	if (!c->request->timed)
		fprintf(c->out, " %" PRIu64, cost->instructions);
	putc('\n', c->out);
}

/* A name ends with its line. */
static void put_name(FILE *out, const char *name)
{
	for (; *name; name++)
		putc(*name == '\n' ? ' ' : *name, out);
	putc('\n', out);
}

/* @prefix: "c" for a callee. The kernel's functions are told from a program's of the same name. */
static void put_function(FILE *out, const char *prefix, const struct function *f)
{
	fprintf(out, "%sob=", prefix);
	put_name(out, f->object ?: "???");
	fprintf(out, "%sfn=", prefix);
	if (f->name)
		put_name(out, f->name);
	else
		fputs("[no symbol]\n", out);
}

static void put_profile(const struct callgrind *c, const struct function *f, struct profile *p)
{
	put_function(c->out, "", f);
	put_cost(c, &p->own);
	while (p->edges) {
		struct edge *e = p->edges;

		p->edges = e->next;
		put_function(c->out, "c", e->callee);
		fprintf(c->out, "calls=%" PRIu64 " 0\n", e->calls);
		put_cost(c, &e->all);
		free(e);
	}
	putc('\n', c->out);
}

static void callgrind_end(struct calls_sink *sink)
{
	struct callgrind *c = of_sink(sink);
	const struct function **list = functions_list(&c->functions);

	fprintf(c->out, "# callgrind format\nversion: 1\ncreator: auxtrace " AUXTRACE_VERSION "\ncmd: ");
	put_name(c->out, c->request->dir);
	fprintf(c->out, "positions: line\nevents: Nanoseconds%s\n\nfl=???\n", c->request->timed ? "" : " Instructions");
	for (size_t i = 0; i < c->functions.count; i++)
		put_profile(c, list[i], profile_of(c, list[i]));
	free(list);
	free(c->profile);
	functions_free(&c->functions);
	free(c);
}

const struct export_format callgrind_format = {
	.name = "callgrind",
	.summary = "functions and who calls them, for KCachegrind and callgrind_annotate",
	.begin = callgrind_begin,
	.end = callgrind_end,
};
