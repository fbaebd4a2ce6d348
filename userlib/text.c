// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdarg.h>
#include <stdio.h>

#include "text.h"

void text_add(struct text *t, const char *format, ...)
{
	va_list ap;
	int n;

	va_start(ap, format);
	n = vsnprintf(t->buf + t->len, sizeof(t->buf) - t->len, format, ap);
	va_end(ap);
	if (n > 0)
		t->len += n;
	if (t->len >= sizeof(t->buf))
		t->len = sizeof(t->buf) - 1;
}
