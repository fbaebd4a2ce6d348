// SPDX-License-Identifier: LGPL-2.1-or-later
#include <elf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/debug_file.h"
#include "lib/source_lines.h"
#include "object.h"
#include "userlib/deleted_path.h"
#include "userlib/memory_path.h"

static struct object *object_new(struct objects *os, const char *path)
{
	struct object *o = xcalloc(1, sizeof(*o));
	const char *slash = strrchr(path, '/');

	o->path = xstrdup(path);
	o->name = slash ? o->path + (slash - path + 1) : o->path;
	o->unopened = true;
	o->next = os->first;
	os->first = o;
	return o;
}

static struct object *find(const struct objects *os, const char *path)
{
	struct object *o = os->first;

	while (o && strcmp(o->path, path))
		o = o->next;
	return o;
}

void objects_note(struct objects *os, const char *path, uint64_t size, const char *mtime)
{
	struct object *o;

	if (find(os, path))
		return;
	o = object_new(os, path);
	o->size = size;
	snprintf(o->mtime, sizeof(o->mtime), "%s", mtime);
	o->noted = true;
}

struct object *objects_find(struct objects *os, const char *path)
{
	/* One that was not noted was mapped, but had been removed when the recording was written. */
	return find(os, path) ?: object_new(os, path);
}

struct object *objects_add_vdso(struct objects *os, const char *path)
{
	struct object *o = find(os, path);
	int err;

	/* Many processes have the same one. */
	if (o)
		return o;
	o = object_new(os, path);
	o->name = "[vdso]";
	o->unopened = false;
	err = map_file(path, false, &o->image);
	if (err)
		say("cannot read %s: %s", path, strerror(-err));
	return o;
}

void objects_close(struct objects *os)
{
	while (os->first) {
		struct object *o = os->first;

		os->first = o->next;
		symbols_free(&o->symbols);
		source_lines_close(o->lines);
		debug_file_close(o->debug);
		unmap_file(&o->image);
		free(o->path);
		free(o);
	}
}

/* Say that the file at @path was not that which ran, already when the recording was written. */
static void say_unknown(const char *path)
{
	if (*path == '/' && !is_memory_path(path))
		say("%.*s is not the file that ran: it had been replaced, changed or removed when the recording was written; "
		    "its code is not used", (int)deleted_path_length(path), path);
}

/* Below --symfs only the size is compared. */
void object_open(const struct objects *os, struct object *o)
{
	char real[8300], now[64];
	struct stat st;
	int err;

	if (!o->unopened)
		return;
	o->unopened = false;
	if (!o->noted) {
		say_unknown(o->path);
		return;
	}
	snprintf(real, sizeof(real), "%s%s", os->symfs, o->path);
	if (stat(real, &st)) {
		say("cannot read %s: %s; --symfs names the directory that it is below", real,
		    strerror(errno));
		return;
	}
	snprintf(now, sizeof(now), "%" PRIu64 ".%09ld", (uint64_t)st.st_mtim.tv_sec, st.st_mtim.tv_nsec);
	if ((uint64_t)st.st_size != o->size || (!*os->symfs && strcmp(now, o->mtime))) {
		say("%s is not the file that ran: it has changed since; its code is not used", real);
		return;
	}
	err = map_file(real, false, &o->image);
	if (err)
		say("cannot read %s: %s", real, strerror(-err));
}

bool object_vaddr(const struct object *o, uint64_t offset, uint64_t *vaddr)
{
	const Elf64_Ehdr *eh = (const void *)o->image.data;
	const Elf64_Phdr *ph;

	if (o->image.size < sizeof(*eh) || memcmp(eh->e_ident, ELFMAG, SELFMAG) ||
	    eh->e_ident[EI_CLASS] != ELFCLASS64 ||
	    eh->e_phoff > o->image.size ||
	    eh->e_phnum * sizeof(*ph) > o->image.size - eh->e_phoff)
		return false;
	ph = (const void *)(o->image.data + eh->e_phoff);
	for (unsigned int i = 0; i < eh->e_phnum; i++)
		if (ph[i].p_type == PT_LOAD && offset >= ph[i].p_offset &&
		    offset - ph[i].p_offset < ph[i].p_filesz) {
			*vaddr = offset - ph[i].p_offset + ph[i].p_vaddr;
			return true;
		}
	return false;
}

/* A vdso is not a file that a debug file could belong to: its dynamic symbols are all there is. */
static struct debug_file *debug_of(const struct objects *os, struct object *o)
{
	char real[8300];

	if (!o->have_debug && o->image.data && *o->name != '[') {
		snprintf(real, sizeof(real), "%s%s", os->symfs, o->path);
		o->debug = debug_file_open(real, os->symfs);
	}
	o->have_debug = true;
	return o->debug;
}

static void read_symbols(const struct objects *os, struct object *o)
{
	o->have_symbols = true;
	if (symbols_are_stripped(o->image.data, o->image.size) && debug_of(os, o))
		debug_file_symbols(o->debug, &o->symbols);
	symbols_from_elf(&o->symbols, o->image.data, o->image.size);
}

struct symbol *object_symbol(const struct objects *os, struct object *o, uint64_t vaddr)
{
	if (!o->have_symbols && o->image.data)
		read_symbols(os, o);
	return symbols_find(&o->symbols, vaddr);
}

struct source_lines *object_lines(const struct objects *os, struct object *o)
{
	if (!o->have_lines && debug_of(os, o))
		o->lines = source_lines_open(o->debug);
	o->have_lines = true;
	return o->lines;
}
