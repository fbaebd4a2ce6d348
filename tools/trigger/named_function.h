/* SPDX-License-Identifier: GPL-2.0-only */
/* The functions and numbers of --filter and --on. */
#ifndef NAMED_FUNCTION_H
#define NAMED_FUNCTION_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/symbols.h"

/* An option of the command line, for messages */
struct option_text {
	const char *name;	/* "--filter" */
	const char *text;	/* what was given with it */
};

/* Is all of @text a number, and which one? */
bool is_number(const char *text, uint64_t *value);
/*
 * Find "NAME", "NAME#N" or "NAME#g" in @symbols, which are those of @where: "the kernel", or a file. Dies if that is no
 * function, or may be any of several.
 */
const struct symbol *named_function(const struct option_text *option, const struct symbols *symbols, const char *text,
				    const char *where);

#endif
