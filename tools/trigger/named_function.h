/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions and numbers of a --filter. */
#ifndef RECORD_FILTER_FUNCTION_H
#define RECORD_FILTER_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/symbols.h"

/* Is all of @text a number, and which one? */
bool filter_number(const char *text, uint64_t *value);
/*
 * Find "NAME", "NAME#N" or "NAME#g" in @symbols, which are those of @where: "the kernel", or a file. @filter: all of the
 * filter, for messages. Dies if that is no function, or may be any of several.
 */
const struct symbol *filter_function(const char *filter, const struct symbols *symbols, const char *text,
				     const char *where);

#endif
