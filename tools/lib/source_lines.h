/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Where code is in its source: files, lines and inlined functions, from a program's debug information (DWARF).
 *
 * A compiler mixes the instructions of neighbouring lines and inlined functions. So the same line, or the same
 * inlined function, may come several times for one execution.
 */
#ifndef SOURCE_LINES_H
#define SOURCE_LINES_H

#include <stdbool.h>
#include <stdint.h>

struct debug_file;
struct source_lines;

/* A function whose code was put into its caller's. */
struct source_inline {
	const char *function;	/* as its source has it */
	const char *file;	/* where it is called; NULL: not known */
	unsigned int line;	/* 0: not known */
	unsigned int depth;	/* inlined functions around it */
	const struct source_inline *outer;	/* the innermost of these; NULL: there is none */
};

/* What all addresses from @start up to @end have in common. */
struct source_place {
	uint64_t start, end;
	const char *file;	/* the path that the compiler had; NULL: not known */
	unsigned int line;	/* 0: not known */
	const struct source_inline *inlined;	/* the innermost inlined function; NULL: none */
};

/* Read from @file, which must outlive it. NULL: it has no debug information. */
struct source_lines *source_lines_open(struct debug_file *file);
/*
 * The place of @addr, an address for which the program is linked. Returns false if it is not known;
 * then @start and @end are where that holds. What it points to is valid until source_lines_close().
 */
bool source_lines_find(struct source_lines *s, uint64_t addr, struct source_place *place);
void source_lines_close(struct source_lines *s);

#endif
