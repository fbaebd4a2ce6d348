/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What a program's debug information says. It is in the program, or, where that is stripped, in a separate debug
 * file: that which .gnu_debuglink or the build-id names, next to the program or in /usr/lib/debug, or what debuginfod
 * has if DEBUGINFOD_URLS is set.
 */
#ifndef DEBUG_FILE_H
#define DEBUG_FILE_H

#include "symbols.h"
#include "tool.h"

struct debug_file;

/*
 * Find the debug information of the program at @path. @symfs: a directory whose usr/lib/debug comes before
 * /usr/lib/debug; "": none. NULL: @path cannot be read, or is no ELF file.
 */
struct debug_file *debug_file_open(const char *path, const char *symfs);
/*
 * The same of a kernel module's debug file, whose sections have no addresses yet: the functions and source lines have
 * ones that are made up.
 */
struct debug_file *debug_file_open_module(const char *path);
/* Add all functions that it has to @s, also where the program has them itself. As above, without order. */
void debug_file_all_symbols(struct debug_file *file, struct symbols *s);
/* Add its functions to @s. Their names are valid until debug_file_close(). Returns false if it has none. */
bool debug_file_symbols(struct debug_file *file, struct symbols *s);
/*
 * Add the functions of the program at @path, whose bytes are @image, to @s: those of its debug file if it is stripped and
 * has one. Returns this debug file, by which the names are valid until debug_file_close(), or NULL.
 */
struct debug_file *program_symbols(struct symbols *s, const char *path, const struct mapped *image);
/* For source_lines.c: what libdwfl calls the program. */
struct Dwfl_Module *debug_file_module(struct debug_file *file);
void debug_file_close(struct debug_file *file);

#endif
