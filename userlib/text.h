/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A message that is put together from parts. */
#ifndef AUXTRACE_TEXT_H
#define AUXTRACE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

struct text {
	char buf[512];
	size_t len;
	bool is_full;	/* something did not fit */
};

/*
 * Append a part to @t. A part is what one call appends. If a part does not fit, one " ..." replaces it
 * and all later parts.
 */
void text_add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
