/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Code that the kernel patched while it ran: perf's TEXT_POKE records. From the time of such a record
 * on the CPUs run either the new bytes or a breakpoint, whose exception is in the trace; before it the old
 * bytes or the breakpoint.
 */
#ifndef POKES_H
#define POKES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "code_span.h"
#include "side.h"

struct poke {
	uint64_t addr, tsc;
	uint16_t old_len, new_len;
	const uint8_t *bytes;	/* the old ones, then the new ones */
};

struct pokes {
	struct poke *poke;	/* by address, then by time */
	size_t count;
	uint16_t longest;	/* of the old and the new bytes of any */
};

enum poke_kind {
	POKES_OF_CHANGES,	/* of code that was there before and after */
	POKES_OF_WHOLE_CODE,	/* it came: there are no old bytes; or it went: there are no new ones */
	POKES_OF_ALL,
};

/* @side must outlive them. */
void pokes_find(struct pokes *p, const struct side *side, enum poke_kind kind);
void pokes_free(struct pokes *p);

/* Has any byte from @addr to @addr + @size - 1 been patched? */
bool pokes_touch(const struct pokes *p, uint64_t addr, size_t size);

/* @buf has the @size bytes at @addr as they were at @base: make them what they were at @tsc. */
void pokes_apply(const struct pokes *p, uint64_t base, uint64_t tsc, uint64_t addr, uint8_t *buf, size_t size);

/* Cut @span where a poke touches any of the @size bytes at @addr. Returns whether one does. */
bool pokes_span(const struct pokes *p, uint64_t addr, size_t size, struct code_span *span);

#endif
