/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A message that is put together from parts. */
#ifndef AUXTRACE_TEXT_H
#define AUXTRACE_TEXT_H

#include <stddef.h>

struct text {
	char buf[512];
	size_t len;
};

/* Append to @t; what does not fit is cut off. */
void text_add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
