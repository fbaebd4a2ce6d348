// SPDX-License-Identifier: GPL-2.0-only
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "contrast.h"
#include "lib/duration.h"
#include "lib/json.h"

/* One function inside. */
struct cell {
	const struct function *function; /* NULL: free */
	uint64_t calls;
	uint64_t total, self;	/* TSC ticks, as in struct row */
};

/* A hash table with open addressing, at most half full. */
struct profile {
	struct cell *cell;
	size_t size, used;
};

struct profile *profile_begin(void)
{
	struct profile *p = xcalloc(1, sizeof(*p));

	p->size = 16;
	p->cell = xcalloc(p->size, sizeof(*p->cell));
	return p;
}

static void profile_free(struct profile *p)
{
	if (p)
		free(p->cell);
	free(p);
}

static struct cell *place(struct cell *cells, size_t size, const struct function *function)
{
	size_t i = function->index * 0x9e3779b97f4a7c15ull % size;

	while (cells[i].function && cells[i].function != function)
		i = (i + 1) % size;
	return &cells[i];
}

static struct cell *cell_of(struct profile *p, const struct function *function)
{
	struct cell *cell = place(p->cell, p->size, function), *more;

	if (cell->function)
		return cell;
	if (2 * (p->used + 1) > p->size) {
		more = xcalloc(4 * p->size, sizeof(*more));
		for (size_t i = 0; i < p->size; i++)
			if (p->cell[i].function)
				*place(more, 4 * p->size, p->cell[i].function) = p->cell[i];
		free(p->cell);
		p->cell = more;
		p->size *= 4;
		cell = place(p->cell, p->size, function);
	}
	cell->function = function;
	p->used++;
	return cell;
}

/* The counts of @function, 0 if it was not called; @p may be NULL. */
static struct cell look_up(const struct profile *p, const struct function *function)
{
	return p ? *place(p->cell, p->size, function) : (struct cell){ 0 };
}

void profile_add(struct profile *p, const struct function *function, const struct call *call, bool outermost)
{
	struct cell *cell = cell_of(p, function);
	uint64_t own = call_own_ticks(call);

	cell->calls += call->begun;
	cell->self += own > call->callee_ticks ? own - call->callee_ticks : 0;
	if (outermost)
		cell->total += call_ticks(call);
}

/* ---- the slowest call and the others ------------------------------------------ */

/* Whole calls are what is usual. */
static void add_other(struct contrast *c, struct profile *p, const struct call *call)
{
	uint64_t ticks = call_ticks(call);

	if (!call->returned) {
		c->cut++;
		profile_free(p);
		return;
	}
	if (!c->others)
		c->others = profile_begin();
	for (size_t i = 0; i < p->size; i++) {
		const struct cell *from = &p->cell[i];
		struct cell *to;

		if (!from->function)
			continue;
		to = cell_of(c->others, from->function);
		to->calls += from->calls;
		to->total += from->total;
		to->self += from->self;
	}
	c->nr_others++;
	c->others_ticks += ticks;
	if (ticks > c->others_max)
		c->others_max = ticks;
	profile_free(p);
}

void contrast_end(struct contrast *c, struct profile *p, const struct call *call)
{
	if (!call->begun) {
		c->cut++;
		profile_free(p);
		return;
	}
	if (c->slowest && call_ticks(call) <= call_ticks(&c->call)) {
		add_other(c, p, call);
		return;
	}
	if (c->slowest)
		add_other(c, c->slowest, &c->call);
	c->slowest = p;
	c->call = *call;
	free(c->comm);
	c->comm = call->comm ? xstrdup(call->comm) : NULL;
}

void contrast_free(struct contrast *c)
{
	profile_free(c->slowest);
	profile_free(c->others);
	free(c->comm);
	*c = (struct contrast){ 0 };
}

/* ---- text ------------------------------------------------------------------ */

struct difference {
	const struct function *function;
	struct cell here;
	double calls, total, self;	/* of the others, on average */
};

/* By how much the time with callees differs; functions with the same one were called in this order. */
static int by_difference(const void *a, const void *b)
{
	const struct difference *x = a, *y = b;
	double dx = x->here.total - x->total, dy = y->here.total - y->total;

	dx = dx < 0 ? -dx : dx;
	dy = dy < 0 ? -dy : dy;
	if (dx != dy)
		return dx < dy ? 1 : -1;
	return x->function->index < y->function->index ? -1 : x->function->index > y->function->index;
}

static struct difference *differences(const struct contrast *c, size_t *count)
{
	size_t most = c->slowest->used + (c->others ? c->others->used : 0);
	struct difference *d = xcalloc(most, sizeof(*d));
	const struct profile *const from[] = { c->slowest, c->others };

	*count = 0;
	for (unsigned int k = 0; k < ARRAY_SIZE(from); k++)
		for (size_t i = 0; from[k] && i < from[k]->size; i++) {
			const struct function *function = from[k]->cell[i].function;
			struct cell usual;

			if (!function || (k && look_up(c->slowest, function).function))
				continue;
			usual = look_up(c->others, function);
			d[(*count)++] = (struct difference){
				.function = function,
				.here = look_up(c->slowest, function),
				.calls = c->nr_others ? (double)usual.calls / c->nr_others : 0,
				.total = c->nr_others ? (double)usual.total / c->nr_others : 0,
				.self = c->nr_others ? (double)usual.self / c->nr_others : 0,
			};
		}
	if (*count)
		qsort(d, *count, sizeof(*d), by_difference);
	return d;
}

static const char *time_text(const struct meta *meta, double ticks, char text[16])
{
	uint64_t ns;

	strcpy(text, "-");
	if (ticks >= 0.5 && meta_duration(meta, ticks + 0.5, &ns))
		duration_text(text, 16, "", ns);
	return text;
}

static const char *calls_text(double calls, char text[16])
{
	if (calls == 0)
		strcpy(text, "-");
	else
		snprintf(text, 16, calls < 10 && calls != (uint64_t)calls ? "%.2f" : "%.0f", calls);
	return text;
}

/* What is to be said of a difference in words. */
static const char *words_of(const struct difference *d, bool others, char text[40])
{
	strcpy(text, "");
	if (!others)
		return text;
	if (!d->here.function)
		strcpy(text, "not called here");
	else if (!d->calls && !d->total)
		strcpy(text, "called only here");
	else if (d->calls < 0.1 && d->here.calls)
		strcpy(text, "seldom called otherwise");
	else if (d->total && d->here.total >= 2 * d->total)
		snprintf(text, 40, "%.*f times longer here", d->here.total < 10 * d->total ? 1 : 0,
			 d->here.total / d->total);
	return text;
}

static void print_head(const struct contrast *c, const char *name, const struct meta *meta)
{
	const struct call *call = &c->call;
	char text[16], mean[16], max[16];
	uint64_t ns;

	printf("%s: the slowest call took %s%s", name, call->returned ? "" : "more than ",
	       time_text(meta, call_ticks(call), text));
	if (call->away)
		printf(" (other threads ran for %s of it)", time_text(meta, call->away, text));
	printf(", on CPU %u", call->cpu);
	if (call->begin.tsc && meta_clock(meta, call->begin.tsc, &ns))
		printf(" at %" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
	if (call->window)
		printf(" in window %" PRIu64, call->window);
	if (call->known) {
		fputs(", thread ", stdout);
		print_plain(stdout, c->comm ?: "?");
		printf(" %u", call->thread.tid);
	}
	printf(".\n");
	if (c->nr_others)
		printf("%" PRIu64 " other calls: %s on average, at most %s.", c->nr_others,
		       time_text(meta, (double)c->others_ticks / c->nr_others, mean),
		       time_text(meta, c->others_max, max));
	else
		printf("There is no other call to compare it with.");
	if (c->cut)
		printf(" %" PRIu64 " more are not whole, and not in these figures.", c->cut);
	printf("\n\n");
}

void contrast_print(const struct contrast *c, const char *name, size_t limit, const struct meta *meta)
{
	struct difference *d;
	size_t count;

	if (!c->slowest) {
		printf("%s: no call of it begins in the trace%s\n", name,
		       c->cut ? ", though it ran" : "; name functions as auxtrace report shows them, or NAME@FILE");
		return;
	}
	print_head(c, name, meta);
	printf("%8s %8s %8s %8s %8s %8s  %-24s     function\n", "total", "usually", "self", "usually", "calls",
	       "usually", "");
	d = differences(c, &count);
	for (size_t i = 0; i < count && (!limit || i < limit); i++) {
		char text[6][16], words[40];

		printf("%8s %8s %8s %8s %8s %8s", time_text(meta, d[i].here.total, text[0]),
		       time_text(meta, d[i].total, text[1]), time_text(meta, d[i].here.self, text[2]),
		       time_text(meta, d[i].self, text[3]), calls_text(d[i].here.calls, text[4]),
		       calls_text(d[i].calls, text[5]));
		printf("  %-24s  %c  ", words_of(&d[i], c->nr_others, words), d[i].function->kernel ? 'k' : 'u');
		function_print(d[i].function);
		putchar('\n');
	}
	if (limit && count > limit)
		printf("and %zu more functions: --limit 0 shows all\n", count - limit);
	free(d);
}

/* ---- JSON ------------------------------------------------------------------ */

/* More differences than these say little. */
#define JSON_ROWS	200

static uint64_t ns_of(const struct meta *meta, double ticks)
{
	uint64_t ns = 0;

	meta_duration(meta, ticks + 0.5, &ns);
	return ns;
}

void contrast_write_json(FILE *out, const struct contrast *c, const char *name, const struct meta *meta, uint64_t begin)
{
	const struct call *call = &c->call;
	struct difference *d;
	size_t count;

	fputs("{\"name\":", out);
	json_string(out, name);
	fprintf(out, ",\"at\":%" PRIu64 ",\"took\":%" PRIu64 ",\"returned\":%d,\"cpu\":%u,\"tid\":%u,\"comm\":",
		ns_of(meta, call->begin.tsc > begin ? call->begin.tsc - begin : 0), ns_of(meta, call_ticks(call)),
		call->returned, call->cpu, call->thread.tid);
	json_string(out, c->comm);
	fprintf(out, ",\"others\":%" PRIu64 ",\"mean\":%" PRIu64 ",\"max\":%" PRIu64 ",\"cut\":%" PRIu64 ",\"rows\":[",
		c->nr_others, c->nr_others ? ns_of(meta, (double)c->others_ticks / c->nr_others) : 0,
		ns_of(meta, c->others_max), c->cut);
	d = differences(c, &count);
	for (size_t i = 0; i < count && i < JSON_ROWS; i++) {
		char words[40];

		fprintf(out, "%s[%zu,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%.2f,", i ? ",\n" : "",
			d[i].function->index, ns_of(meta, d[i].here.total), ns_of(meta, d[i].total),
			ns_of(meta, d[i].here.self), ns_of(meta, d[i].self), d[i].here.calls, d[i].calls);
		json_string(out, words_of(&d[i], c->nr_others, words));
		fputs("]", out);
	}
	fputs("]}", out);
	free(d);
}
