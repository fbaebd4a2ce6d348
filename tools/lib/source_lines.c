// SPDX-License-Identifier: LGPL-2.1-or-later
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>

#include "debug_file.h"
#include "source_lines.h"
#include "symbol_shown.h"
#include "tool.h"
#include "userlib/search.h"

/* Scopes may be nested so deep in a damaged file only. */
#define MAX_NESTED	256

/* An inlined function, at one of its calls. */
struct inlined {
	struct inlined *next;	/* of the same unit */
	struct source_inline shown;
	struct symbol name;
};

/* Addresses that belong to an inlined function. */
struct range {
	uint64_t start, end;
	const struct source_inline *inlined;
};

/* A compilation unit. What it has is read when an address of it is asked for. */
struct unit {
	struct unit *next;
	Dwarf_Die die;
	Dwarf_Die scopes;	/* its functions are below this */
	bool have;
	Dwarf_Lines *lines;
	size_t nr_lines;
	const void *walked;	/* the last entry that walk() came to */
	struct inlined *inlined;
	struct range *range;	/* by address; they do not overlap */
	size_t nr_ranges, space;
};

/* Addresses that belong to a unit. */
struct unit_range {
	uint64_t start, end;
	struct unit *unit;
};

struct source_lines {
	uint64_t bias;		/* of the program's addresses to those in the debug information */
	struct unit *units;
	struct unit_range *range;	/* by address */
	size_t nr_ranges, space;
};

/* ---- units -------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct unit_range *x = a, *y = b;

	return x->start < y->start ? -1 : x->start > y->start;
}

/* Functions that the linker left out have addresses that begin at 0. */
static bool is_linked(uint64_t start, uint64_t end)
{
	return start && start < end;
}

static void add_unit(struct source_lines *s, const Dwarf_Die *die)
{
	struct unit *u = xcalloc(1, sizeof(*u));
	Dwarf_Addr base, start, end;
	ptrdiff_t at = 0;

	u->die = *die;
	u->next = s->units;
	s->units = u;
	while ((at = dwarf_ranges(&u->die, at, &base, &start, &end)) > 0) {
		if (!is_linked(start, end))
			continue;
		if (s->nr_ranges == s->space) {
			s->space = s->space ? 2 * s->space : 64;
			s->range = xrealloc(s->range, s->space * sizeof(*s->range));
		}
		s->range[s->nr_ranges++] = (struct unit_range){ start, end, u };
	}
}

struct source_lines *source_lines_open(struct debug_file *file)
{
	Dwfl_Module *module = debug_file_module(file);
	struct source_lines *s;
	Dwarf_Die *die = NULL;
	Dwarf_Addr bias;

	if (!dwfl_module_getdwarf(module, &bias))
		return NULL;
	s = xcalloc(1, sizeof(*s));
	while ((die = dwfl_module_nextcu(module, die, &bias))) {
		s->bias = bias;
		add_unit(s, die);
	}
	if (!s->nr_ranges) {
		source_lines_close(s);
		return NULL;
	}
	qsort(s->range, s->nr_ranges, sizeof(*s->range), by_start);
	return s;
}

static void unit_close(struct unit *u)
{
	while (u->inlined) {
		struct inlined *i = u->inlined;

		u->inlined = i->next;
		free(i->name.demangled);
		free(i);
	}
	free(u->range);
	free(u);
}

void source_lines_close(struct source_lines *s)
{
	if (!s)
		return;
	while (s->units) {
		struct unit *u = s->units;

		s->units = u->next;
		unit_close(u);
	}
	free(s->range);
	free(s);
}

/* ---- inlined functions --------------------------------------------------------- */

static unsigned int number_of(Dwarf_Die *die, unsigned int attribute)
{
	Dwarf_Attribute attr;
	Dwarf_Word value;

	if (!dwarf_attr(die, attribute, &attr) || dwarf_formudata(&attr, &value) || value > UINT32_MAX)
		return 0;
	return value;
}

static const char *linkage_name(Dwarf_Die *die)
{
	Dwarf_Attribute attr;

	return dwarf_attr_integrate(die, DW_AT_linkage_name, &attr) ? dwarf_formstring(&attr) : NULL;
}

static const struct source_inline *add_inlined(struct unit *u, Dwarf_Die *die, const struct source_inline *outer)
{
	struct inlined *i = xcalloc(1, sizeof(*i));
	Dwarf_Addr base, start, end;
	Dwarf_Files *files;
	ptrdiff_t at = 0;
	size_t count;

	i->name.name = linkage_name(die) ?: dwarf_diename(die) ?: "?";
	i->shown = (struct source_inline){
		.function = symbol_shown(&i->name),
		.line = number_of(die, DW_AT_call_line),
		.depth = outer ? outer->depth + 1 : 0,
		.outer = outer,
	};
	if (!dwarf_getsrcfiles(&u->scopes, &files, &count))
		i->shown.file = dwarf_filesrc(files, number_of(die, DW_AT_call_file), NULL, NULL);
	i->next = u->inlined;
	u->inlined = i;
	while ((at = dwarf_ranges(die, at, &base, &start, &end)) > 0) {
		if (!is_linked(start, end))
			continue;
		if (u->nr_ranges == u->space) {
			u->space = u->space ? 2 * u->space : 64;
			u->range = xrealloc(u->range, u->space * sizeof(*u->range));
		}
		u->range[u->nr_ranges++] = (struct range){ start, end, &i->shown };
	}
	return &i->shown;
}

/*
 * Find the inlined functions in the scope @die, which is inside @outer. A damaged file may lead to an entry again,
 * on very many ways: those of a good one follow each other.
 */
static void walk(struct unit *u, Dwarf_Die *die, const struct source_inline *outer, unsigned int nested)
{
	Dwarf_Die child;

	if (nested == MAX_NESTED || dwarf_child(die, &child))
		return;
	do {
		if (child.addr <= u->walked)
			return;
		u->walked = child.addr;
		switch (dwarf_tag(&child)) {
		case DW_TAG_inlined_subroutine:
			walk(u, &child, add_inlined(u, &child, outer), nested + 1);
			break;
		case DW_TAG_subprogram:
		case DW_TAG_lexical_block:
		case DW_TAG_namespace:
		case DW_TAG_module:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
			walk(u, &child, outer, nested + 1);
			break;
		}
	} while (!dwarf_siblingof(&child, &child));
}

/* Where two begin at one address the outer one comes first. */
static int by_nesting(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return x->inlined->depth < y->inlined->depth ? -1 : x->inlined->depth > y->inlined->depth;
}

/* Ranges that are nested become ones that do not overlap, each of the innermost function. */
static void flatten(struct unit *u)
{
	struct range *open, *flat;
	size_t nr_open = 0, count = 0;
	uint64_t at = 0;

	if (!u->nr_ranges)
		return;
	qsort(u->range, u->nr_ranges, sizeof(*u->range), by_nesting);
	open = xcalloc(u->nr_ranges, sizeof(*open));
	flat = xcalloc(2 * u->nr_ranges, sizeof(*flat));
	for (size_t i = 0; i <= u->nr_ranges; i++) {
		uint64_t next = i < u->nr_ranges ? u->range[i].start : UINT64_MAX;

		/* What ends up to where the next range begins, and what goes on behind it. */
		while (nr_open) {
			struct range *top = &open[nr_open - 1];
			uint64_t end = top->end < next ? top->end : next;

			if (at < end)
				flat[count++] = (struct range){ at, end, top->inlined };
			at = at < end ? end : at;
			if (top->end > next)
				break;
			nr_open--;
		}
		if (i == u->nr_ranges)
			break;
		at = next;
		open[nr_open++] = u->range[i];
		/* An inner one does not reach beyond the outer one, whatever the file says. */
		if (nr_open > 1 && open[nr_open - 1].end > open[nr_open - 2].end)
			open[nr_open - 1].end = open[nr_open - 2].end;
	}
	free(open);
	free(u->range);
	u->range = flat;
	u->nr_ranges = count;
}

/* With split DWARF (gcc -gsplit-dwarf) the scopes are in a file of their own, lines and addresses are not. */
static void find_scopes(struct unit *u)
{
	uint8_t type = 0;
	Dwarf_Die split;

	u->scopes = u->die;
	memset(&split, 0, sizeof(split));
	if (!dwarf_cu_info(u->die.cu, NULL, &type, NULL, &split, NULL, NULL, NULL) && type == DW_UT_skeleton && split.cu)
		u->scopes = split;
}

static void read_unit(struct unit *u)
{
	if (u->have)
		return;
	u->have = true;
	if (dwarf_getsrclines(&u->die, &u->lines, &u->nr_lines))
		u->nr_lines = 0;
	find_scopes(u);
	walk(u, &u->scopes, NULL, 0);
	flatten(u);
}

/* ---- places -------------------------------------------------------------------- */

static void clip(struct source_place *p, uint64_t start, uint64_t end)
{
	if (p->start < start)
		p->start = start;
	if (p->end > end)
		p->end = end;
}

static uint64_t line_addr(const struct unit *u, size_t i)
{
	Dwarf_Addr addr = 0;

	dwarf_lineaddr(dwarf_onesrcline(u->lines, i), &addr);
	return addr;
}

/* The last line that begins at or before @addr. */
static void find_line(const struct unit *u, uint64_t addr, struct source_place *p)
{
	Dwarf_Line *line;
	bool ends = true;
	int number = 0;
	size_t i;

	find_first(i, u->nr_lines, line_addr(u, i) > addr);
	clip(p, i ? line_addr(u, i - 1) : 0, i < u->nr_lines ? line_addr(u, i) : UINT64_MAX);
	if (!i)
		return;
	line = dwarf_onesrcline(u->lines, i - 1);
	if (dwarf_lineendsequence(line, &ends) || ends || dwarf_lineno(line, &number) || number <= 0)
		return;
	p->file = dwarf_linesrc(line, NULL, NULL);
	p->line = number;
}

static void find_inlined(const struct unit *u, uint64_t addr, struct source_place *p)
{
	size_t i;

	find_first(i, u->nr_ranges, u->range[i].start > addr);
	if (i < u->nr_ranges)
		clip(p, 0, u->range[i].start);
	if (!i)
		return;
	if (addr >= u->range[i - 1].end) {
		clip(p, u->range[i - 1].end, UINT64_MAX);
		return;
	}
	clip(p, u->range[i - 1].start, u->range[i - 1].end);
	p->inlined = u->range[i - 1].inlined;
}

bool source_lines_find(struct source_lines *s, uint64_t addr, struct source_place *p)
{
	const struct unit_range *r;
	size_t i;

	addr -= s->bias;
	*p = (struct source_place){ .end = UINT64_MAX };
	find_first(i, s->nr_ranges, s->range[i].start > addr);
	if (i < s->nr_ranges)
		clip(p, 0, s->range[i].start);
	r = i ? &s->range[i - 1] : NULL;
	if (r && addr >= r->end) {
		clip(p, r->end, UINT64_MAX);
	} else if (r) {
		clip(p, r->start, r->end);
		read_unit(r->unit);
		find_line(r->unit, addr, p);
		find_inlined(r->unit, addr, p);
	}
	p->start += s->bias;
	if (p->end != UINT64_MAX)
		p->end += s->bias;
	return p->file;
}
