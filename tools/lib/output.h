/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A file or directory that a subcommand writes besides its standard output. A program writes one. */
#ifndef OUTPUT_H
#define OUTPUT_H

#include <stdio.h>

/*
 * Dies if @path exists, or if nothing can be made there: decoding may take minutes, and its result would then have
 * no place. Whoever makes it must not overwrite what is there by then, either.
 */
void output_must_be_new(const char *path);

/*
 * Make the file or the directory @path; they die if that fails. If the program exits before it is complete, it is removed, a
 * file also if SIGTERM or SIGHUP ends the program: half of it would look like the whole, and would be in the way of another
 * try. @path stays valid. The file "-" is the standard output.
 */
FILE *output_file(const char *path);
void output_directory(const char *path);

/* All of the file is written: close it, or die. */
void output_close(FILE *f);
/* All of the directory is written. */
void output_complete(void);

#endif
