/* SPDX-License-Identifier: GPL-2.0-only */
/* Data rings of each kind beside an AUX area of each mode, for tests that run in all of them. */
#ifndef VM_RING_H
#define VM_RING_H

#include "uapi.h"

#define RING_AUX_SIZE	(1 << 20)	/* of a full trace: space for all that a test makes */
#define NEWEST		AUXTRACE_SETUP_DATA_OVERWRITE
#define BACKWARD	AUXTRACE_SETUP_DATA_BACKWARD
#define OVER		AUXTRACE_SETUP_OVERWRITE

struct mode {
	uint32_t aux, data;
};

/*
 * A session on the first CPU, to which the calling thread is pinned. In overwrite mode
 * the area is small: it wraps under the tests.
 */
void ring_open(struct session *s, const struct mode *m, uint32_t flags, uint64_t data_size);

/* RESUME, trace for a while, PAUSE; the effects of both. */
void ring_window(const struct session *s, unsigned int rounds, struct auxtrace_effect *begin,
		 struct auxtrace_effect *end);

/*
 * The same; the number of records that it makes. Each trace interrupt makes one more.
 */
unsigned int ring_make_records(const struct session *s);

/* Entries for a list of tests. */
#define in_mode(f, aux, data) \
	{ #f " (" #aux ", " #data ")", f, NULL, at_teardown, &(struct mode){ aux, data } }
#define in_each_mode_that_keeps(f) \
	in_mode(f, 0, 0), in_mode(f, 0, BACKWARD), in_mode(f, OVER, 0), in_mode(f, OVER, BACKWARD)
#define in_each_mode(f) \
	in_each_mode_that_keeps(f), in_mode(f, 0, NEWEST), in_mode(f, 0, NEWEST | BACKWARD), \
	in_mode(f, OVER, NEWEST), in_mode(f, OVER, NEWEST | BACKWARD)

#endif
