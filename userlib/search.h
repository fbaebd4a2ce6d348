/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Binary search. Library and command include this. */
#ifndef AUXTRACE_SEARCH_H
#define AUXTRACE_SEARCH_H

#include <stddef.h>

/*
 * Sets @i, a variable of type size_t, to the first index below @n for which @holds is true, or to
 * @n. @holds is an expression of @i; where it is true for an index, it must be true for all that
 * follow.
 */
#define find_first(i, n, holds)						\
	do {								\
		size_t find_low = 0, find_high = (n);			\
									\
		while (find_low < find_high) {				\
			(i) = find_low + (find_high - find_low) / 2;	\
			if (holds)					\
				find_high = (i);			\
			else						\
				find_low = (i) + 1;			\
		}							\
		(i) = find_low;						\
	} while (0)

#endif
