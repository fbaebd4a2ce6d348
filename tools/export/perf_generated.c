// SPDX-License-Identifier: GPL-2.0-only
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "decode/pokes.h"
#include "decode/side.h"
#include "lib/bpf_image.h"
#include "perf_generated.h"
#include "perf_kernel.h"
#include "perf_record.h"

#define CHUNK	32768u		/* new_len has 16 bits, and so has the size of the record */
#define PIECE	64u		/* pokes_apply() takes few changes at once */

struct ksymbol {		/* KSYMBOL, behind the header; the name follows */
	uint64_t addr;
	uint32_t len;
	uint16_t type, flags;
};

void perf_generated_read(struct perf_generated *g, const char *dir, const struct meta *meta, const char *out)
{
	const struct side none = { 0 };
	struct symbols kallsyms = { 0 };
	char path[4200];

	*g = (struct perf_generated){ .meta = meta };
	snprintf(path, sizeof(path), "%s/kcore_dir/kcore", out);
	if (map_file(path, false, &g->kcore))
		return;
	snprintf(path, sizeof(path), "%s/kallsyms", dir);
	if (!symbols_from_kallsyms(&kallsyms, path))
		g->text = perf_kernel_text(&kallsyms);
	snprintf(path, sizeof(path), "%s/kcore.added", dir);
	added_open(&g->added, path, &none, &kallsyms);
	symbols_free(&kallsyms);
}

void perf_generated_free(struct perf_generated *g)
{
	added_close(&g->added);
	unmap_file(&g->kcore);
}

static bool is_added(const struct perf_generated *g, uint64_t address)
{
	for (size_t i = 0; i < g->added.count; i++)
		if (g->added.code[i].start == address)
			return true;
	return false;
}

/* Then perf makes no map of its own for the code, and would remove that of kcore at the code's end. */
static bool is_in_kcore(const struct perf_generated *g, uint64_t address)
{
	return perf_kernel_offset(&g->kcore, address, 1);
}

bool perf_generated_replaces(const struct perf_generated *g, const struct perf_event_header *h, size_t size)
{
	const struct ksymbol *k = (const void *)(h + 1);

	if (h->type != PERF_RECORD_KSYMBOL || size < sizeof(*k))
		return false;
	if (k->flags & PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER && is_in_kcore(g, k->addr))
		return true;
	return k->type == PERF_RECORD_KSYMBOL_TYPE_BPF && is_added(g, k->addr);
}

static struct perf_trailer trailer_at(uint64_t time)
{
	return (struct perf_trailer){ .time = time, .id = PERF_ID_SIDEBAND };
}

/* Code whose name begins as a BPF trampoline's does has no bytes to perf, whatever the type. */
static void write_symbol(const struct added_code *code, uint16_t flags, uint64_t time, struct perf_data *data)
{
	const struct ksymbol k = { code->start, code->end - code->start, PERF_RECORD_KSYMBOL_TYPE_OOL, flags };
	const struct perf_trailer trailer = trailer_at(time);
	struct perf_record r;
	char name[256];

	snprintf(name, sizeof(name), "%s%s", bpf_is_image(code->name) ? "generated_" : "", code->name);
	perf_record_begin(&r, PERF_RECORD_KSYMBOL, PERF_RECORD_MISC_KERNEL);
	perf_record_add(&r, &k, sizeof(k));
	perf_record_add_text(&r, name);
	perf_record_end(&r, data, &trailer);
}

static void write_poke(uint64_t address, const uint8_t *old, const uint8_t *new, uint16_t size, uint64_t time,
		       struct perf_data *data)
{
	const uint16_t lengths[2] = { old ? size : 0, size };
	const struct perf_trailer trailer = trailer_at(time);
	static const char zeros[8];
	struct perf_record r;

	perf_record_begin(&r, PERF_RECORD_TEXT_POKE, PERF_RECORD_MISC_KERNEL);
	perf_record_add(&r, &address, sizeof(address));
	perf_record_add(&r, lengths, sizeof(lengths));
	if (old)
		perf_record_add(&r, old, size);
	perf_record_add(&r, new, size);
	perf_record_add(&r, zeros, -r.header.size % 8u);
	perf_record_end(&r, data, &trailer);
}

/* perf takes the later changes from records of their own. */
static uint8_t *bytes_at_begin(const struct added_code *code, const struct pokes *pokes)
{
	size_t size = code->end - code->start;
	uint8_t *bytes = xcalloc(size, 1);

	memcpy(bytes, code->bytes, size);
	for (size_t at = 0; at < size; at += PIECE)
		pokes_apply(pokes, code->read, code->from, code->start + at, bytes + at, size - at < PIECE ? size - at : PIECE);
	return bytes;
}

static void write_code(const struct perf_generated *g, const struct added_code *code, const struct pokes *pokes,
		       struct perf_data *data)
{
	const uint64_t came = perf_time(g->meta, code->from);
	uint8_t *bytes = bytes_at_begin(code, pokes);
	size_t size = code->end - code->start;

	write_symbol(code, 0, came, data);
	for (size_t at = 0; at < size; at += CHUNK)
		write_poke(code->start + at, NULL, bytes + at, size - at < CHUNK ? size - at : CHUNK, came, data);
	if (code->until != UINT64_MAX && !is_in_kcore(g, code->start))
		write_symbol(code, PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER, perf_time(g->meta, code->until), data);
	free(bytes);
}

/*
 * A change of the kernel that is none makes perf read kcore at once: code that comes before that would have a map of its
 * own in place of kcore's.
 */
static void write_no_change(const struct perf_generated *g, struct perf_data *data)
{
	off_t at = g->text ? perf_kernel_offset(&g->kcore, g->text, 1) : 0;

	if (at)
		write_poke(g->text, g->kcore.data + at, g->kcore.data + at, 1, 0, data);
}

void perf_generated_write(const struct perf_generated *g, const char *dir, struct perf_data *data)
{
	const struct added *a = &g->added;
	struct pokes pokes;
	struct side side;

	if (!a->count)
		return;
	must(side_read(&side, dir, g->meta));
	pokes_find(&pokes, &side, POKES_OF_CHANGES);
	write_no_change(g, data);
	/* Of two readings of the same code the later one. */
	for (size_t i = 0; i < a->count; i++)
		if (i + 1 == a->count || a->code[i + 1].start != a->code[i].start || a->code[i + 1].from != a->code[i].from)
			write_code(g, &a->code[i], &pokes, data);
	pokes_free(&pokes);
	side_free(&side);
}
