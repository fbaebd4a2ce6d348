// SPDX-License-Identifier: LGPL-2.1-or-later
#include "json.h"

void json_string(FILE *out, const char *s)
{
	if (!s) {
		fputs("null", out);
		return;
	}
	putc('"', out);
	for (; *s; s++) {
		unsigned char c = *s;

		/* < and > could end the script. */
		if (c < 0x20 || c == 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&')
			fprintf(out, "\\u%04x", c);
		else
			putc(c, out);
	}
	putc('"', out);
}
