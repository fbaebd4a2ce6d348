// SPDX-License-Identifier: GPL-2.0-only
/*
 * Folded stacks, for flame graphs: a line for each stack of functions, "comm;main;f;g_[k] N", outermost first, sorted.
 * N is without callees: the time in ns, as far as it is known, and without what other threads ran; or instructions.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/functions.h"
#include "format.h"

/* Functions in a line. What is deeper is added to the last of them: of deep recursion each depth would be a line. */
#define MAX_STACK	1024

/* Calls with the same callers. */
struct node {
	struct node *caller, *callees, *sibling;
	const struct function *function;	/* NULL: a thread's name */
	const char *comm;
	uint64_t weight;	/* TSC ticks or instructions */
	unsigned int depth;	/* functions up to this one */
	size_t length;		/* of its stack, as text */
};

struct folded {
	struct calls_sink sink;
	const struct meta *meta;
	FILE *out;
	struct functions functions;
	struct node *comms;
	bool instructions;	/* the weight, instead of time */
	uint64_t too_deep;	/* calls */
	char *stack;		/* as text: of the node that is written */
	size_t used, space;
};

static struct folded *of_sink(struct calls_sink *s)
{
	return (struct folded *)s;
}

static struct node *new_node(struct node **list, struct node *caller)
{
	struct node *n = xcalloc(1, sizeof(*n));

	n->caller = caller;
	n->sibling = *list;
	*list = n;
	return n;
}

static struct node *comm_node(struct folded *f, const char *comm)
{
	struct node *n;

	for (n = f->comms; n; n = n->sibling)
		if (!strcmp(n->comm, comm))
			return n;
	n = new_node(&f->comms, NULL);
	n->comm = xstrdup(comm);
	return n;
}

static struct node *callee_node(struct node *caller, const struct function *function)
{
	struct node **at, *n;

	for (at = &caller->callees; (n = *at); at = &n->sibling) {
		if (n->function != function)
			continue;
		/* What is called often is found first. */
		*at = n->sibling;
		n->sibling = caller->callees;
		caller->callees = n;
		return n;
	}
	n = new_node(&caller->callees, caller);
	n->function = function;
	n->depth = caller->depth + 1;
	return n;
}

static void folded_call_begins(struct calls_sink *s, struct call *call)
{
	struct node *caller = call->caller ? call->caller->own : NULL;
	struct folded *f = of_sink(s);

	if (caller && caller->depth == MAX_STACK) {
		call->own = caller;
		f->too_deep++;
		return;
	}
	call->own = callee_node(caller ?: comm_node(f, call->comm ?: "?"), functions_find(&f->functions, call));
}

static void folded_call_ends(struct calls_sink *s, struct call *call)
{
	struct node *node = call->own;
	bool instructions = of_sink(s)->instructions;
	uint64_t all = instructions ? call->instructions : call_own_ticks(call);
	uint64_t callees = instructions ? call->callee_instructions : call->callee_ticks;

	if (all > callees)
		node->weight += all - callees;
}

static struct calls_sink *folded_begin(const struct export_request *request, FILE *out)
{
	struct folded *f = xcalloc(1, sizeof(*f));

	f->sink = (struct calls_sink){ .begin = folded_call_begins, .end = folded_call_ends };
	f->meta = request->meta;
	f->out = out;
	f->instructions = request->instructions;
	f->space = 4096;
	f->stack = xrealloc(NULL, f->space);
	return &f->sink;
}

/* ---- the file ------------------------------------------------------------------ */

static void put(struct folded *f, const char *text, size_t length)
{
	if (f->space - f->used < length) {
		f->space = 2 * (f->used + length);
		f->stack = xrealloc(f->stack, f->space);
	}
	memcpy(f->stack + f->used, text, length);
	f->used += length;
}

/* ";" separates functions, and a line is a stack. */
static void put_name(struct folded *f, const char *name)
{
	for (;;) {
		size_t plain = strcspn(name, ";\n");

		put(f, name, plain);
		name += plain;
		if (!*name)
			return;
		put(f, *name++ == ';' ? ":" : " ", 1);
	}
}

static void put_function(struct folded *f, const struct function *function)
{
	put(f, ";", 1);
	if (function->name) {
		put_name(f, function->name);
	} else {
		put(f, "[", 1);
		put_name(f, function->object ?: "unknown");
		put(f, "]", 1);
	}
	if (function->kernel)
		put(f, "_[k]", 4);
}

/* Each stack is that of the caller and one more: what is written is there up to that. Callers come first. */
static void make_stack(struct folded *f, struct node *n)
{
	f->used = n->caller ? n->caller->length : 0;
	if (n->function)
		put_function(f, n->function);
	else
		put_name(f, n->comm);
	n->length = f->used;
}

/* The next node of the tree, callees before siblings. */
static struct node *next_node(struct node *n)
{
	if (n->callees)
		return n->callees;
	while (n && !n->sibling)
		n = n->caller;
	return n ? n->sibling : NULL;
}

static void free_nodes(struct node *n)
{
	while (n) {
		struct node *next;

		if (n->callees) {
			/* Callees first: they become the head of the list. */
			struct node *last = n->callees;

			while (last->sibling)
				last = last->sibling;
			last->sibling = n->sibling;
			next = n->callees;
		} else {
			next = n->sibling;
		}
		if (!n->function)
			free((char *)n->comm);
		free(n);
		n = next;
	}
}

/* The number behind a stack; 0: it has no line. */
static uint64_t weight_of(const struct folded *f, const struct node *n)
{
	uint64_t ns;

	if (!n->function)
		return 0;
	if (f->instructions)
		return n->weight;
	return meta_duration(f->meta, n->weight, &ns) ? ns : 0;
}

static int compare_names(const struct node *a, const struct node *b)
{
	int order;

	if (!a->function || !b->function)
		return strcmp(a->comm, b->comm);
	order = strcmp(a->function->name ?: "", b->function->name ?: "");
	if (!order)
		order = strcmp(a->function->object ?: "", b->function->object ?: "");
	/* Functions of the same name: as they came */
	return order ? order : a->function->index < b->function->index ? -1 : 1;
}

static int compare_nodes(const void *a, const void *b)
{
	return compare_names(*(struct node *const *)a, *(struct node *const *)b);
}

/* The order of lines does not depend on which call came first: two files can be compared. */
static void sort_nodes(struct node **list)
{
	struct node **nodes;
	size_t count = 0;

	for (struct node *n = *list; n; n = n->sibling)
		count++;
	if (count < 2)
		return;
	nodes = xcalloc(count, sizeof(*nodes));
	count = 0;
	for (struct node *n = *list; n; n = n->sibling)
		nodes[count++] = n;
	qsort(nodes, count, sizeof(*nodes), compare_nodes);
	for (size_t i = 0; i < count; i++) {
		*list = nodes[i];
		list = &nodes[i]->sibling;
	}
	*list = NULL;
	free(nodes);
}

static void folded_end(struct calls_sink *sink)
{
	struct folded *f = of_sink(sink);

	sort_nodes(&f->comms);
	for (struct node *n = f->comms; n; n = next_node(n)) {
		uint64_t weight = weight_of(f, n);

		sort_nodes(&n->callees);
		make_stack(f, n);
		if (!weight)
			continue;
		fwrite_unlocked(f->stack, 1, f->used, f->out);
		fprintf(f->out, " %" PRIu64 "\n", weight);
	}
	if (f->too_deep)
		say("%" PRIu64 " calls were more than %u deep: they are in the line of the call at that depth; --function exports what is inside one",
		    f->too_deep, MAX_STACK);
	free(f->stack);
	free_nodes(f->comms);
	functions_free(&f->functions);
	free(f);
}

const struct export_format folded_format = {
	.name = "folded",
	.summary = "stacks with their time, for flame graphs (flamegraph.pl, speedscope)",
	.begin = folded_begin,
	.end = folded_end,
	.has_weight = true,
};
