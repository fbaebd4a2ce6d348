// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "jit.h"
#include "userlib/search.h"

/* tools/perf/Documentation/jitdump-specification.txt */
#define MAGIC		0x4a695444	/* "JiTD" */
#define TIME_IS_TSC	1		/* JITDUMP_FLAGS_ARCH_TIMESTAMP; else it is CLOCK_MONOTONIC */

enum { CODE_LOAD, CODE_MOVE };

struct header {
	uint32_t magic, version, size, elf_mach, reserved, pid;
	uint64_t time, flags;
};

struct record {
	uint32_t id, size;
	uint64_t time;
	union {
		struct {
			uint32_t pid, tid;
			uint64_t vma, addr, code_size, index;
			char name[];	/* and behind its final 0 the code */
		} load;
		struct {
			uint32_t pid, tid;
			uint64_t vma, from, to, code_size, index;
		} move;
	};
} __attribute__((packed));	/* records are not aligned */

#define LOAD_SIZE	offsetof(struct record, load.name)
#define MOVE_SIZE	(offsetof(struct record, move.index) + sizeof(uint64_t))

static void add(struct jit *j, const struct jit_code *code)
{
	list_grow(j->code, j->count);
	j->code[j->count++] = *code;
	if (code->end - code->start > j->longest)
		j->longest = code->end - code->start;
}

/* False: it is damaged. */
static bool take_load(struct jit *j, const struct record *r, uint64_t tsc)
{
	size_t room = r->size - LOAD_SIZE, len;

	if (r->size < LOAD_SIZE)
		return false;
	len = strnlen(r->load.name, room);
	if (len == room || r->load.code_size != room - len - 1 || r->load.addr + r->load.code_size < r->load.addr)
		return false;
	add(j, &(struct jit_code){ r->load.addr, r->load.addr + r->load.code_size, tsc,
				   (const uint8_t *)r->load.name + len + 1, r->load.name });
	return true;
}

static bool take_move(struct jit *j, const struct record *r, uint64_t tsc)
{
	if (r->size < MOVE_SIZE || r->move.to + r->move.code_size < r->move.to)
		return false;
	for (size_t i = j->count; i--;) {
		struct jit_code code = j->code[i];

		if (code.start != r->move.from || code.end - code.start != r->move.code_size)
			continue;
		code.start = r->move.to;
		code.end = r->move.to + r->move.code_size;
		code.tsc = tsc;
		add(j, &code);
		break;
	}
	return true;
}

static void parse(struct jit *j, const struct meta *meta, const char *path)
{
	const struct header *header = (const void *)j->file.data;
	const size_t fixed = offsetof(struct record, load);
	size_t at;

	if (j->file.size < sizeof(*header) || header->magic != MAGIC || header->size < sizeof(*header)) {
		say("%s is not a dump of code (jitdump): it is not used", path);
		return;
	}
	for (at = header->size; at < j->file.size;) {
		const struct record *r = (const void *)(j->file.data + at);
		uint64_t tsc;

		/* The writer may have been in the middle of a record. */
		if (j->file.size - at < fixed || r->size < fixed || r->size > j->file.size - at)
			break;
		tsc = header->flags & TIME_IS_TSC ? r->time : meta_mono_tsc(meta, r->time);
		if ((r->id == CODE_LOAD && !take_load(j, r, tsc)) || (r->id == CODE_MOVE && !take_move(j, r, tsc)))
			break;
		at += r->size;
	}
	if (at != j->file.size)
		say("%s: there is no record at offset %zu: the rest is not read", path, at);
}

static int by_start(const void *a, const void *b)
{
	const struct jit_code *x = a, *y = b;

	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->tsc != y->tsc)
		return x->tsc < y->tsc ? -1 : 1;
	/* In the order of the records. */
	return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

void jit_open(struct jit *j, const char *path, const struct meta *meta)
{
	int err;

	*j = (struct jit){ 0 };
	err = map_file(path, false, &j->file);
	if (err) {
		say("cannot read %s: %s", path, strerror(-err));
		return;
	}
	parse(j, meta, path);
	if (j->count)
		qsort(j->code, j->count, sizeof(*j->code), by_start);
}

void jit_close(struct jit *j)
{
	free(j->code);
	unmap_file(&j->file);
	*j = (struct jit){ 0 };
}

/* Is @a, which comes later in the table than @b, a better answer for @tsc? */
static bool better(const struct jit_code *a, const struct jit_code *b, uint64_t tsc)
{
	if (!b)
		return true;
	if (a->tsc > tsc)
		return b->tsc > tsc && a->tsc < b->tsc;
	return b->tsc > tsc || a->tsc >= b->tsc;
}

const struct jit_code *jit_find(const struct jit *j, uint64_t tsc, uint64_t ip)
{
	const struct jit_code *found = NULL;
	size_t i;

	find_first(i, j->count, j->code[i].start + j->longest > ip);
	for (; i < j->count && j->code[i].start <= ip; i++)
		if (j->code[i].end > ip && better(&j->code[i], found, tsc))
			found = &j->code[i];
	return found;
}

void jit_span(const struct jit *j, uint64_t ip, size_t size, struct code_span *span)
{
	size_t i;

	find_first(i, j->count, j->code[i].start + j->longest > ip);
	for (; i < j->count && j->code[i].start < ip + size; i++)
		code_span_cut(span, j->code[i].tsc);
}
