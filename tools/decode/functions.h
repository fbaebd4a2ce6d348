/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Functions that were called, each once, whatever decoder's string names it. Code without a name is one
 * function for each file.
 */
#ifndef FUNCTIONS_H
#define FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>

#include "calls.h"

struct function {
	struct function *chain;	/* of the same bucket */
	char *name;		/* NULL: not known */
	char *object;		/* the file's base name, "[kernel]" and so on; NULL: not known */
	bool kernel;
	size_t index;		/* from 0, in the order in which they were called first */
};

#define FUNCTIONS_KNOWN	1024

struct functions {
	struct function *known[FUNCTIONS_KNOWN];	/* those that were found last, by their strings' addresses */
	struct function **bucket;
	size_t buckets, count;
};

struct function *functions_find(struct functions *f, const struct call *call);
/* All of them, by index. To be freed. */
const struct function **functions_list(const struct functions *f);
void functions_free(struct functions *f);

/* Does a user who says @text mean it? Its name, or name@file with the file's base name. */
bool function_is(const struct function *f, const char *text);
/* Does that user mean the function of @call? */
bool call_is_of(const struct call *call, const char *text);
/* "name (file)" to stdout, as script has it. */
void function_print(const struct function *f);

#endif
