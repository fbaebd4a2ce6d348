/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The first line of a file in /proc or /sys, which as a rule is all of it. */
#ifndef FIRST_LINE_H
#define FIRST_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* Put it to @line, without its end. False, and an empty @line: the file cannot be read, or has none. */
static inline bool first_line(const char *path, char *line, size_t size)
{
	FILE *f = fopen(path, "re");
	bool got = f && fgets(line, (int)size, f);

	if (f)
		fclose(f);
	line[got ? strcspn(line, "\n") : 0] = '\0';
	return got;
}

#endif
