/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which part of a BTS trace is of which window. The trace itself does not say: the data
 * ring's records do, and meta of the newest window.
 */
#ifndef STRETCH_H
#define STRETCH_H

#include <stddef.h>
#include <stdint.h>

#include "records.h"

struct stretch {
	uint64_t begin, end;	/* AUX positions; the same: no branch was taken */
	uint64_t seq;		/* of the window; 0: of one or more that nobody told of */
	const struct auxtrace_record_window *record; /* or NULL */
};

struct stretches {
	struct stretch *stretch;
	size_t count;
};

/* All of [@begin, @end), in order. */
void stretches_find(struct stretches *s, const struct records *r, uint64_t begin, uint64_t end);
void stretches_free(struct stretches *s);

#endif
