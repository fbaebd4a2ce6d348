// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

void text_add(struct text *t, const char *format, ...)
{
	static const char dots[] = " ...";
	size_t room = sizeof(t->buf) - t->len - (sizeof(dots) - 1);
	va_list ap;
	int n;

	if (t->is_full)
		return;
	va_start(ap, format);
	n = vsnprintf(t->buf + t->len, room, format, ap);
	va_end(ap);
	if (n >= 0 && (size_t)n < room) {
		t->len += n;
		return;
	}
	memcpy(t->buf + t->len, dots, sizeof(dots));
	t->len += sizeof(dots) - 1;
	t->is_full = true;
}
