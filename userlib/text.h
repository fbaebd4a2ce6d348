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

/* Append to @t. For the first part that does not fit, and all behind it, there are three dots. */
void text_add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));

#endif
