// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include <string.h>

#include "pokes.h"
#include "userlib/search.h"

#define MAX_NEAR	32	/* addresses of pokes that overlap one read of an instruction */

/* Returns false if @r is no such record, or is cut short. */
static bool parse(const struct side_record *r, struct poke *poke)
{
	const struct {
		struct perf_event_header header;
		uint64_t addr;
		uint16_t old_len, new_len;
		uint8_t bytes[];
	} *rec = (const void *)r->header;

	if (r->header->type != PERF_RECORD_TEXT_POKE || r->size < sizeof(*rec) ||
	    r->size - offsetof(typeof(*rec), bytes) < (size_t)rec->old_len + rec->new_len)
		return false;
	*poke = (struct poke){ rec->addr, r->tsc, rec->old_len, rec->new_len, rec->bytes };
	return true;
}

static void take(struct pokes *p, const struct poke *poke, enum poke_kind kind)
{
	if (!poke->old_len && !poke->new_len)
		return;
	if (kind != POKES_OF_ALL && kind != (poke->old_len && poke->new_len ? POKES_OF_CHANGES : POKES_OF_WHOLE_CODE))
		return;
	list_grow(p->poke, p->count);
	p->poke[p->count++] = *poke;
	if (poke->old_len > p->longest)
		p->longest = poke->old_len;
	if (poke->new_len > p->longest)
		p->longest = poke->new_len;
}

static int by_address(const void *a, const void *b)
{
	const struct poke *x = a, *y = b;

	if (x->addr != y->addr)
		return x->addr < y->addr ? -1 : 1;
	return x->tsc < y->tsc ? -1 : x->tsc > y->tsc;
}

void pokes_find(struct pokes *p, const struct side *side, enum poke_kind kind)
{
	struct poke poke;

	*p = (struct pokes){ 0 };
	for (size_t i = 0; i < side->count; i++)
		if (parse(&side->record[i], &poke))
			take(p, &poke, kind);
	if (p->count)
		qsort(p->poke, p->count, sizeof(*p->poke), by_address);
}

void pokes_free(struct pokes *p)
{
	free(p->poke);
	*p = (struct pokes){ 0 };
}

/* The first poke that may reach @addr. */
static size_t first_near(const struct pokes *p, uint64_t addr)
{
	size_t i;

	find_first(i, p->count, p->poke[i].addr + p->longest > addr);
	return i;
}

bool pokes_touch(const struct pokes *p, uint64_t addr, size_t size)
{
	for (size_t i = first_near(p, addr); i < p->count && p->poke[i].addr < addr + size; i++)
		if (p->poke[i].addr + p->poke[i].new_len > addr)
			return true;
	return false;
}

/*
 * Of the pokes of one address, which begin with number @i: the one that says what was there at @tsc,
 * or NULL if what was there at @base was. *@i becomes the number of the next address's first.
 */
static const struct poke *decisive(const struct pokes *p, size_t *i, uint64_t base, uint64_t tsc)
{
	uint64_t addr = p->poke[*i].addr;
	size_t begin = *i, at;

	find_first(*i, p->count, p->poke[*i].addr > addr);
	find_first(at, *i, at >= begin && p->poke[at].tsc > tsc);
	if (tsc < base)		/* the first one after @tsc has the old bytes */
		return at < *i && p->poke[at].tsc <= base ? &p->poke[at] : NULL;
	/* The last one up to @tsc has the new bytes. */
	return at > begin && p->poke[at - 1].tsc > base ? &p->poke[at - 1] : NULL;
}

static void write_bytes(const uint8_t *bytes, size_t count, uint64_t to, uint64_t addr, uint8_t *buf, size_t size)
{
	for (size_t i = 0; i < count; i++)
		if (to + i >= addr && to + i < addr + size)
			buf[to + i - addr] = bytes[i];
}

void pokes_apply(const struct pokes *p, uint64_t base, uint64_t tsc, uint64_t addr, uint8_t *buf, size_t size)
{
	const struct poke *near[MAX_NEAR];
	size_t count = 0, i = first_near(p, addr);
	bool undo = tsc < base;

	while (i < p->count && p->poke[i].addr < addr + size && count < MAX_NEAR) {
		const struct poke *one = decisive(p, &i, base, tsc);
		size_t at = count;

		if (!one)
			continue;
		/* In the order of time; from @base backward if it is later. */
		for (; at && (near[at - 1]->tsc > one->tsc) != undo; at--)
			near[at] = near[at - 1];
		near[at] = one;
		count++;
	}
	for (size_t n = 0; n < count; n++)
		if (undo)
			write_bytes(near[n]->bytes, near[n]->old_len, near[n]->addr, addr, buf, size);
		else
			write_bytes(near[n]->bytes + near[n]->old_len, near[n]->new_len, near[n]->addr, addr,
				    buf, size);
}

bool pokes_span(const struct pokes *p, uint64_t addr, size_t size, struct code_span *span)
{
	bool touched = false;

	for (size_t i = first_near(p, addr); i < p->count && p->poke[i].addr < addr + size; i++) {
		code_span_cut(span, p->poke[i].tsc);
		touched = true;
	}
	return touched;
}
