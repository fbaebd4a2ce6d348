/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The text of source files, by line. */
#ifndef SOURCE_TEXT_H
#define SOURCE_TEXT_H

#include <time.h>

struct source_text;

/*
 * Files are looked for below @symfs, then where their names say. @when: text that has changed since may not
 * be that of the program, which is said once for each file.
 */
struct source_text *source_text_begin(const char *symfs, time_t when);
/*
 * Line @number, from 1, of the file at @path without the blanks around it. NULL: the file cannot be read, or has
 * no such line. Valid until source_text_end().
 */
const char *source_text_line(struct source_text *t, const char *path, unsigned int number);
void source_text_end(struct source_text *t);

#endif
