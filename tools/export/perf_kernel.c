// SPDX-License-Identifier: GPL-2.0-only
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "decode/pokes.h"
#include "decode/side.h"
#include "lib/copy_file.h"
#include "lib/symbols.h"
#include "lib/tool.h"
#include "perf_kernel.h"
#include "perf_record.h"

static int newest_first(const void *a, const void *b)
{
	const struct poke *x = a, *y = b;

	return x->tsc > y->tsc ? -1 : x->tsc < y->tsc;
}

off_t perf_kernel_offset(const struct mapped *image, uint64_t addr, size_t size)
{
	const Elf64_Ehdr *eh = (const void *)image->data;
	const Elf64_Phdr *ph;

	if (image->size < sizeof(*eh) || eh->e_phoff > image->size ||
	    eh->e_phnum * sizeof(*ph) > image->size - eh->e_phoff)
		return 0;
	ph = (const void *)(image->data + eh->e_phoff);
	for (unsigned int i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && addr >= ph[i].p_vaddr && size <= ph[i].p_filesz &&
		    addr - ph[i].p_vaddr <= ph[i].p_filesz - size)
			return ph[i].p_offset + (addr - ph[i].p_vaddr);
	return 0;
}

/*
 * perf takes the code to be that of the begin, and changes it at each TEXT_POKE record. A recording has
 * that of the end: undo the changes in the copy @to of @kcore. What was where code came is not known but by @kcore.
 */
static void make_as_at_begin(const char *kcore, const char *to, const struct meta *meta, const struct side *side)
{
	uint64_t until = meta->kcore_tsc ?: UINT64_MAX;
	struct mapped image;
	struct pokes pokes;
	int err, fd;

	pokes_find(&pokes, side, POKES_OF_ALL);
	if (!pokes.count)
		return;
	err = map_file(kcore, false, &image);
	fd = open(to, O_WRONLY | O_CLOEXEC);
	if (err || fd < 0)
		die(1, "cannot open %s: %s", err ? kcore : to, strerror(err ? -err : errno));
	qsort(pokes.poke, pokes.count, sizeof(*pokes.poke), newest_first);
	for (size_t i = 0; i < pokes.count; i++) {
		const struct poke *p = &pokes.poke[i];
		uint16_t size = p->old_len ?: p->new_len;
		off_t at = perf_kernel_offset(&image, p->addr, size);

		if (at && p->tsc <= until && pwrite(fd, p->old_len ? p->bytes : image.data + at, size, at) != size)
			die(1, "cannot write %s: %s", to, strerror(errno));
	}
	close(fd);
	unmap_file(&image);
	pokes_free(&pokes);
}

void perf_kernel_copy(const char *dir, const struct meta *meta, const char *out)
{
	static const char *const names[] = { "kcore", "kallsyms", "modules" };
	char from[4200], to[4300], folder[4200];
	struct side side;

	snprintf(from, sizeof(from), "%s/kcore", dir);
	if (access(from, F_OK))
		return;
	snprintf(folder, sizeof(folder), "%s/kcore_dir", out);
	if (mkdir(folder, 0700))
		die(1, "cannot make the directory %s: %s", folder, strerror(errno));
	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(from, sizeof(from), "%s/%s", dir, names[i]);
		snprintf(to, sizeof(to), "%s/%s", folder, names[i]);
		copy_file(from, to);
	}
	snprintf(from, sizeof(from), "%s/kcore", dir);
	snprintf(to, sizeof(to), "%s/kcore", folder);
	must(side_read(&side, dir, meta));
	make_as_at_begin(from, to, meta, &side);
	side_free(&side);
}

static uint64_t address_of(const struct symbols *s, const char *name)
{
	for (size_t i = 0; i < s->count; i++)
		if (!strcmp(s->sym[i].name, name))
			return s->sym[i].addr;
	return 0;
}

/*
 * The record names a symbol and its address: perf compares that with kallsyms to see whether the kernel
 * was moved. Modules need no records, for kcore has all code.
 */
static void write_text(struct perf_data *data, const char *symbol, uint64_t start, uint64_t end)
{
	const struct perf_trailer trailer = {
		.pid = PERF_NOBODY, .tid = 0, .id = PERF_ID_SIDEBAND,
	};
	const struct {
		uint32_t pid, tid;
		uint64_t addr, len, pgoff;
	} body = { PERF_NOBODY, 0, start, end - start, start };
	struct perf_record r;
	char name[64];

	snprintf(name, sizeof(name), "[kernel.kallsyms]%s", symbol);
	perf_record_begin(&r, PERF_RECORD_MMAP, PERF_RECORD_MISC_KERNEL);
	perf_record_add(&r, &body, sizeof(body));
	perf_record_add_text(&r, name);
	perf_record_end(&r, data, &trailer);
}

uint64_t perf_kernel_text(const struct symbols *kallsyms)
{
	return address_of(kallsyms, "_text") ?: address_of(kallsyms, "_stext");
}

void perf_kernel_write(const char *dir, struct perf_data *data)
{
	const char *symbol = "_text";
	struct symbols s = { 0 };
	uint64_t start, end;
	char path[4200];

	snprintf(path, sizeof(path), "%s/kallsyms", dir);
	if (symbols_from_kallsyms(&s, path))
		return;
	start = address_of(&s, symbol);
	if (!start) {
		symbol = "_stext";
		start = address_of(&s, symbol);
	}
	end = address_of(&s, "_etext");
	if (start)
		write_text(data, symbol, start, end > start ? end : UINT64_MAX);
	symbols_free(&s);
}
