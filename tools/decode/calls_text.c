// SPDX-License-Identifier: LGPL-2.1-or-later
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "calls_text.h"
#include "lib/duration.h"
#include "lib/source_text.h"
#include "lib/terminal.h"
#include "lib/tool.h"
#include "trigger/syscalls.h"
#include "view_text.h"

#define MAX_INDENT	40
/*
 * A line waits until its call has ended, and all lines behind it wait with it. When so many wait, the first
 * goes without a duration.
 */
#define MAX_WAITING	(1u << 18)

struct text_line {
	char *text;
	size_t at;		/* where the duration goes */
	const char *system_call;	/* goes behind how it was entered, with which the text ends; NULL: none is known */
	bool inside;		/* it was not entered by that */
	bool waits;
	const struct call *call;	/* while it waits: that one is open */
	char duration[16];
};

struct calls_text {
	struct calls_sink sink;
	const struct meta *meta;
	struct source_text *source;	/* NULL: without source lines */
	const struct call *line_call;	/* of the source line that was printed last, and its inlined function */
	const struct source_inline *line_inlined;
	struct text_line *line;	/* a ring of MAX_WAITING */
	uint64_t first, count;	/* numbers of lines, from 0 */
};

static struct calls_text *of_sink(struct calls_sink *s)
{
	return (struct calls_text *)s;
}

static void add_system_call(struct text_line *l, const struct call *c)
{
	if (!c->system_call)
		return;
	l->system_call = syscall_shown(c->system_call);
	l->inside = strcmp(c->how, CALL_HOW_SYSTEM);
}

static void print_first(struct calls_text *t)
{
	struct text_line *l = &t->line[t->first++ % MAX_WAITING];

	if (l->waits)
		add_system_call(l, l->call);
	if (l->at)
		printf("%.*s%9s%.*s", (int)l->at, l->text, l->duration,
		       (int)(strlen(l->text + l->at) - (l->system_call ? strlen(">\n") : 0)), l->text + l->at);
	else
		fputs(l->text, stdout);
	if (l->system_call) {
		fputs(l->inside ? ", system call " : " ", stdout);
		print_plain(stdout, l->system_call);
		fputs(">\n", stdout);
	}
	free(l->text);
	l->text = NULL;
}

static void print_ready(struct calls_text *t)
{
	while (t->first < t->count && !t->line[t->first % MAX_WAITING].waits)
		print_first(t);
}

/* ---- a line of a call --------------------------------------------------------- */

static FILE *open_line(struct calls_text *t, size_t *size)
{
	struct text_line *l;
	FILE *out;

	if (t->count - t->first == MAX_WAITING)
		print_first(t);
	l = &t->line[t->count % MAX_WAITING];
	*l = (struct text_line){ 0 };
	out = open_memstream(&l->text, size);
	if (!out)
		out_of_memory();
	return out;
}

/* @call: its line, which waits for its end, and has its duration at @at; NULL: another line. */
static void close_line(struct calls_text *t, FILE *out, const struct call *call, size_t at)
{
	struct text_line *l = &t->line[t->count++ % MAX_WAITING];

	if (fclose(out))
		out_of_memory();
	l->at = at;
	l->call = call;
	l->waits = call;
	print_ready(t);
}

/* What came to light by a return is no call that begins. */
static bool has_line(const struct call *c)
{
	return c->begun || c->how;
}

/* CPU, time and thread. */
static void text_when(FILE *out, const struct calls_text *t, const struct call *c, uint64_t tsc)
{
	uint64_t ns = 0;
	bool timed = tsc && meta_clock(t->meta, tsc, &ns);

	fprintf(out, "%s%3u ", style(STYLE_FAINT), c->cpu);
	text_time(out, timed, ns);
	text_run(out, c->known ? &c->thread : NULL, c->comm);
	fputs(style(STYLE_PLAIN), out);
}

/* How code @depth calls deep begins. */
static void text_indent(FILE *out, const struct call *c, unsigned int depth)
{
	fprintf(out, " %c  %*s", code_is_kernel(c->ip) ? 'k' : 'u', 2 * (depth < MAX_INDENT ? depth : MAX_INDENT), "");
}

static void text_begin(struct calls_sink *s, struct call *c)
{
	struct calls_text *t = of_sink(s);
	size_t size;
	long at;
	FILE *out;

	t->line_call = NULL;
	if (!has_line(c))
		return;
	/* The line's number, plus 1, until it has its duration. */
	c->own = (void *)(uintptr_t)(t->count + 1);
	out = open_line(t, &size);
	text_when(out, t, c, c->begin.tsc);
	at = ftell(out);
	text_indent(out, c, c->depth);
	if (code_is_kernel(c->ip))
		fputs(style(STYLE_KERNEL), out);
	text_name(out, c->ip, &c->name);
	if (code_is_kernel(c->ip))
		fputs(style(STYLE_PLAIN), out);
	if (c->how)
		fprintf(out, "  <%s>", c->how);
	putc('\n', out);
	close_line(t, out, c, at);
}

static uint64_t ns_between(const struct calls_text *t, uint64_t begin, uint64_t end)
{
	uint64_t ns;

	return begin && end > begin && meta_duration(t->meta, end - begin, &ns) ? ns : 0;
}

static void text_end(struct calls_sink *s, struct call *c)
{
	struct calls_text *t = of_sink(s);
	uint64_t number = (uintptr_t)c->own - 1, ns = ns_between(t, c->begin.tsc, c->end.tsc);
	struct text_line *l = &t->line[number % MAX_WAITING];
	const char *sign = "";

	if (!c->own || number < t->first)
		return;
	l->waits = false;
	if (!c->begun || !c->returned) {
		sign = ">";
	} else if (c->end.after <= c->begin.before || !c->begin.before) {
		/* No packet with the time lies between them: all that is known is how long it cannot have been. */
		sign = "<";
		ns = ns_between(t, c->begin.after, c->end.before);
	}
	if (ns)
		duration_text(l->duration, sizeof(l->duration), sign, ns);
	add_system_call(l, c);
	print_ready(t);
}

/* ---- source lines ------------------------------------------------------------- */

/* Behind the columns of a call: no duration. */
static FILE *open_source_line(struct calls_text *t, size_t *size, const struct call *c, uint64_t tsc, unsigned int depth)
{
	FILE *out = open_line(t, size);

	text_when(out, t, c, tsc);
	fprintf(out, "%9s", "");
	text_indent(out, c, depth);
	return out;
}

/* The name of the file without its directories, and the line. */
static void text_place(FILE *out, const char *path, unsigned int line)
{
	const char *slash = strrchr(path, '/');

	print_plain(out, slash ? slash + 1 : path);
	fprintf(out, ":%u", line);
}

static bool is_around(const struct source_inline *outer, const struct source_inline *i)
{
	while (i && i != outer)
		i = i->outer;
	return i;
}

/* The functions that are inlined at this line, outermost first, but for those that were at the line before. */
static void print_inlined(struct calls_text *t, const struct call *c, uint64_t tsc, const struct source_inline *i)
{
	size_t size;
	FILE *out;

	if (!i || (t->line_call == c && is_around(i, t->line_inlined)))
		return;
	print_inlined(t, c, tsc, i->outer);
	out = open_source_line(t, &size, c, tsc, c->depth + 1 + i->depth);
	print_plain(out, i->function);
	fputs("  <inlined", out);
	if (i->file) {
		fputs(" at ", out);
		text_place(out, i->file, i->line);
	}
	fputs(">\n", out);
	close_line(t, out, NULL, 0);
}

/* A call that has no line because it had begun before: without its name the source line would seem the one before's. */
static void name_call(struct calls_text *t, struct call *c, uint64_t tsc)
{
	size_t size;
	FILE *out;

	c->own = (void *)(uintptr_t)(t->count + 1);
	out = open_source_line(t, &size, c, tsc, c->depth);
	text_name(out, c->ip, &c->name);
	fputs("  <begun earlier>\n", out);
	close_line(t, out, NULL, 0);
}

static void text_source_line(struct calls_sink *s, struct call *c, const struct call_line *line)
{
	struct calls_text *t = of_sink(s);
	const char *text = source_text_line(t->source, line->file, line->number);
	unsigned int inside = line->inlined ? line->inlined->depth + 1 : 0;
	size_t size;
	FILE *out;

	if (!c->own)
		name_call(t, c, line->tsc);
	print_inlined(t, c, line->tsc, line->inlined);
	out = open_source_line(t, &size, c, line->tsc, c->depth + 1 + inside);
	fputs(style(STYLE_SOURCE), out);
	text_place(out, line->file, line->number);
	fputs(style(STYLE_PLAIN), out);
	if (text && *text)
		fprintf(out, "  %s", text);
	putc('\n', out);
	close_line(t, out, NULL, 0);
	t->line_call = c;
	t->line_inlined = line->inlined;
}

/* ---- other lines --------------------------------------------------------------- */

#define TEXT_LINE(t, call)				\
	do {						\
		size_t size_;				\
		FILE *out = open_line(t, &size_);	\
							\
		call;					\
		close_line(t, out, NULL, 0);			\
	} while (0)

static void text_line_window(struct calls_sink *s, unsigned int cpu, const struct flow *f, uint64_t seq)
{
	TEXT_LINE(of_sink(s), text_window(out, cpu, f, seq));
}

static void text_line_sample(struct calls_sink *s, unsigned int cpu, const struct flow *f, size_t nr,
			     const struct auxtrace_record_sample *sample)
{
	TEXT_LINE(of_sink(s), text_sample(out, cpu, f, nr, sample));
}

static void text_line_overflow(struct calls_sink *s, unsigned int cpu)
{
	TEXT_LINE(of_sink(s), text_overflow(out, cpu));
}

static void text_line_event(struct calls_sink *s, unsigned int cpu, const struct cpu_event *event, uint64_t tsc)
{
	struct calls_text *t = of_sink(s);
	uint64_t ns = 0;
	bool timed = tsc && meta_clock(t->meta, tsc, &ns);

	TEXT_LINE(t, text_cpu_event(out, cpu, timed, ns, event));
}

static void text_line_skip(struct calls_sink *s, unsigned int cpu, const struct flow *f, uint64_t ip, uint64_t cr3)
{
	TEXT_LINE(of_sink(s), text_skip(out, cpu, f, ip, cr3));
}

static void text_line_error(struct calls_sink *s, unsigned int cpu, uint64_t offset, uint64_t ip, const char *message)
{
	TEXT_LINE(of_sink(s), text_error(out, cpu, offset, ip, message));
}

struct calls_sink *calls_text_begin(const struct meta *meta, struct source_text *source)
{
	struct calls_text *t = xcalloc(1, sizeof(*t));

	t->meta = meta;
	t->source = source;
	t->line = xcalloc(MAX_WAITING, sizeof(*t->line));
	t->sink = (struct calls_sink){
		.begin = text_begin,
		.end = text_end,
		.line = source ? text_source_line : NULL,
		.window = text_line_window,
		.sample = text_line_sample,
		.overflow = text_line_overflow,
		.cpu_event = text_line_event,
		.skip = text_line_skip,
		.error = text_line_error,
	};
	return &t->sink;
}

void calls_text_end(struct calls_sink *sink)
{
	struct calls_text *t = of_sink(sink);

	while (t->first < t->count)
		print_first(t);
	free(t->line);
	free(t);
}
