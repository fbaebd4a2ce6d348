/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How long code was the same: the TSCs from @from on, and before @until, one of which is @tsc. */
#ifndef CODE_SPAN_H
#define CODE_SPAN_H

#include <stdint.h>

struct code_span {
	uint64_t tsc;		/* 0: not known */
	uint64_t from, until;
};

/* At @change it may become other code. */
static inline void code_span_cut(struct code_span *s, uint64_t change)
{
	if (!change)
		return;
	/* What is taken for a time that is not known holds for that alone. */
	if (!s->tsc)
		s->until = 1;
	else if (change <= s->tsc && change > s->from)
		s->from = change;
	else if (change > s->tsc && change < s->until)
		s->until = change;
	if (s->tsc && !s->from)
		s->from = 1;
}

#endif
