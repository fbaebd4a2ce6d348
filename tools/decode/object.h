/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The ELF files whose code ran, and vdsos: their bytes, the names of their functions, their source lines.
 *
 * An object has no bytes if its file cannot be read, or is not the one that ran.
 */
#ifndef OBJECT_H
#define OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/symbols.h"
#include "lib/tool.h"

struct debug_file;
struct source_lines;

struct object {
	struct object *next;
	char *path;		/* as the traced process had it */
	const char *name;	/* its base name, or "[vdso]" */
	uint64_t size;		/* this and @mtime: as in the recording */
	char mtime[64];
	bool noted;		/* the recording has them */
	bool unopened;
	struct mapped image;
	bool have_debug;
	struct debug_file *debug;	/* NULL: none was needed, or found */
	bool have_symbols;
	struct symbols symbols;
	bool have_lines;
	struct source_lines *lines;	/* NULL: not needed, or there are none */
};

struct objects {
	struct object *first;
	const char *symfs;	/* the files are below this directory; "": they are where they were */
};

/* The file at @path had this size and time of change when the recording was written. */
void objects_note(struct objects *os, const char *path, uint64_t size, const char *mtime);
/*
 * The object of the file at @path; if none was noted, one without bytes. A path that ends with " (deleted)", as the kernel has
 * it, is that of a file which was not there, or was another one, when the recording was written.
 */
struct object *objects_find(struct objects *os, const char *path);
/* The vdso whose copy is the file @path of the recording. */
struct object *objects_add_vdso(struct objects *os, const char *path);
void objects_close(struct objects *os);

/* Read its bytes, if it is the file that ran; else say what is wrong. At the first call only. */
void object_open(const struct objects *os, struct object *o);
/* The address for which the file links its byte at @offset. */
bool object_vaddr(const struct object *o, uint64_t offset, uint64_t *vaddr);
/* The function at that address, or NULL. */
struct symbol *object_symbol(const struct objects *os, struct object *o, uint64_t vaddr);
/* Its source lines, or NULL. */
struct source_lines *object_lines(const struct objects *os, struct object *o);

#endif
