// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>
#include <string.h>

#include "tool.h"

/* The length of the control character that @text begins with; 0: it is none. In UTF-8 some have two bytes. */
static size_t control_length(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;

	if (c[0] == 0xc2 && c[1] >= 0x80 && c[1] < 0xa0)
		return 2;
	return c[0] && (c[0] < 0x20 || c[0] == 0x7f);
}

void make_plain(char *text)
{
	for (; *text; text++)
		memset(text, '?', control_length(text));
}

void print_plain(FILE *out, const char *text)
{
	for (const char *c = text; *c; c++)
		if (control_length(c)) {
			char *copy = xstrdup(text);

			make_plain(copy);
			fputs(copy, out);
			free(copy);
			return;
		}
	fputs(text, out);
}
