/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the slowest call of a function did otherwise than its other calls: of each function that was called
 * inside, how often and how long, beside the mean of the others.
 */
#ifndef CONTRAST_H
#define CONTRAST_H

#include <stdio.h>

#include "decode/functions.h"

/* What was called inside one call, or in several together. */
struct profile;

struct contrast {
	struct profile *slowest;	/* NULL: there was no call */
	struct call call;		/* that one */
	char *comm;
	struct profile *others;		/* the whole ones together */
	uint64_t nr_others, others_max, others_ticks;
	uint64_t cut;			/* others that are not whole, and not in @others */
};

/* A call begins whose callees are to be noted. */
struct profile *profile_begin(void);
/* @function was called inside, and that call has ended; @outermost: no caller inside is the same function. */
void profile_add(struct profile *p, const struct function *function, const struct call *call, bool outermost);
/* The call with that profile has ended. Takes @p. */
void contrast_end(struct contrast *c, struct profile *p, const struct call *call);

/* @name: of the function, as the user named it. At most @limit rows; 0: all. */
void contrast_print(const struct contrast *c, const char *name, size_t limit, const struct meta *meta);
/* The same as a JSON object, with times in ns, those of the clock since TSC @begin. There must be a slowest call. */
void contrast_write_json(FILE *out, const struct contrast *c, const char *name, const struct meta *meta, uint64_t begin);
void contrast_free(struct contrast *c);

#endif
