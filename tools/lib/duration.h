/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Times that something takes, as people write them. */
#ifndef DURATION_H
#define DURATION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* @sign, then @ns in the unit that it needs, such as 1.25us; 16 bytes are enough for a sign of one character. */
void duration_text(char *text, size_t size, const char *sign, uint64_t ns);
/* The first @len characters of @text, such as "100us", "1.5ms" or "2s". False if they are no time. */
bool parse_time(const char *text, size_t len, uint64_t *ns);

#endif
