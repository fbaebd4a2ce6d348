// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include <string.h>

#include "pokes.h"
#include "reported.h"
#include "userlib/search.h"

#define PAGE_SIZE	4096ull

struct name {			/* of a KSYMBOL record */
	uint64_t start, end, tsc;
	bool came;
	const char *text;
	size_t length;
};

struct names {
	struct name *name;	/* by start, then by time */
	size_t count;
	uint64_t longest;
};

static void take_name(struct names *n, const struct side_record *r)
{
	const struct {
		struct perf_event_header header;
		uint64_t addr;
		uint32_t len;
		uint16_t type, flags;
		char name[];
	} *rec = (const void *)r->header;
	size_t before = offsetof(typeof(*rec), name), length;

	if (r->header->type != PERF_RECORD_KSYMBOL || r->size <= before || rec->type != PERF_RECORD_KSYMBOL_TYPE_OOL)
		return;
	length = strnlen(rec->name, r->size - before);
	if (!length || rec->addr + rec->len < rec->addr)
		return;
	list_grow(n->name, n->count);
	n->name[n->count++] = (struct name){
		rec->addr, rec->addr + rec->len, r->tsc, !(rec->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER),
		rec->name, length,
	};
	if (rec->len > n->longest)
		n->longest = rec->len;
}

static int by_start(const void *a, const void *b)
{
	const struct name *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return x->tsc < y->tsc ? -1 : x->tsc > y->tsc;
}

static void find_names(struct names *n, const struct side *side)
{
	*n = (struct names){ 0 };
	for (size_t i = 0; i < side->count; i++)
		take_name(n, &side->record[i]);
	if (n->count)
		qsort(n->name, n->count, sizeof(*n->name), by_start);
}

/* The name that @code got last before it came; or else the one that was taken from it first. */
static const struct name *name_of(const struct names *n, const struct added_code *code)
{
	const struct name *came = NULL, *went = NULL;
	size_t i;

	find_first(i, n->count, n->name[i].start + n->longest > code->start);
	for (; i < n->count && n->name[i].start <= code->start; i++) {
		const struct name *name = &n->name[i];

		if (name->end <= code->start)
			continue;
		if (name->came && name->tsc <= code->from && (!came || name->tsc >= came->tsc))
			came = name;
		if (!name->came && name->tsc >= code->from && (!went || name->tsc < went->tsc))
			went = name;
	}
	return came ?: went;
}

/* The name of a page that was there before the recording began, and still is, is in kallsyms. */
static void give_name(struct added_code *code, const struct names *names, const struct symbols *kallsyms)
{
	const struct name *name = name_of(names, code);
	const struct symbol *sym = name ? NULL : symbols_find(kallsyms, code->start);

	if (name) {
		code->name = xcalloc(name->length + 1, 1);
		memcpy(code->name, name->text, name->length);
		code->named = name->start;
	} else if (sym && sym->addr / PAGE_SIZE == code->start / PAGE_SIZE) {
		code->name = xstrdup(sym->name);
		code->named = sym->addr;
	}
}

static struct added_code *add(struct added *a, uint64_t start, uint64_t read, const uint8_t *bytes, uint16_t size)
{
	struct added_code *code;

	list_grow(a->code, a->count);
	code = &a->code[a->count++];
	*code = (struct added_code){ .start = start, .end = start + size, .read = read, .bytes = xcalloc(size, 1) };
	memcpy(code->bytes, bytes, size);
	return code;
}

/* The pokes of one address, of which @count are from @poke on, by time. A record may be lost. */
static void add_address(struct added *a, const struct poke *poke, size_t count)
{
	struct added_code *open = NULL;
	uint64_t from = 1;	/* it was there before the recording began */

	for (size_t i = 0; i < count; i++) {
		const struct poke *p = &poke[i];

		if (open)
			open->until = p->tsc;
		if (p->new_len) {
			open = add(a, p->addr, p->tsc, p->bytes, p->new_len);
			open->from = p->tsc;
			open->until = UINT64_MAX;
			continue;
		}
		/* That it came was not reported: these are the bytes that it had in the end. */
		if (!open) {
			struct added_code *code = add(a, p->addr, p->tsc, p->bytes, p->old_len);

			code->from = from;
			code->until = p->tsc;
		}
		open = NULL;
		from = p->tsc;
	}
}

void reported_add(struct added *a, const struct side *side, const struct symbols *kallsyms)
{
	size_t first = a->count;
	struct pokes pokes;
	struct names names;

	pokes_find(&pokes, side, POKES_OF_WHOLE_CODE);
	find_names(&names, side);
	for (size_t i = 0, next; i < pokes.count; i = next) {
		for (next = i + 1; next < pokes.count && pokes.poke[next].addr == pokes.poke[i].addr; next++)
			;
		add_address(a, &pokes.poke[i], next - i);
	}
	for (size_t i = first; i < a->count; i++)
		give_name(&a->code[i], &names, kallsyms);
	free(names.name);
	pokes_free(&pokes);
}
