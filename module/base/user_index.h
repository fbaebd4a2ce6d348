/* SPDX-License-Identifier: GPL-2.0-only */
/* Indexes into arrays that user space chooses. */
#ifndef AUXT_USER_INDEX_H
#define AUXT_USER_INDEX_H

#include <linux/nospec.h>

/**
 * auxt_user_index() - check an index that user space chose
 * @index: pointer to the index, of any unsigned type
 * @nr: number of elements of the array
 *
 * A CPU that mispredicts the caller's use of the result does not read beyond the array: *@index is
 * less than @nr, which is not 0, from here on, also in speculative execution. All arrays that user
 * space can index go through this macro, so that no check lacks that; scripts/lint finds the
 * usual forms of one that does not.
 *
 * Return: true if the array has the element; else *@index is 0.
 */
#define auxt_user_index(index, nr)					\
({									\
	typeof(index) __at = (index);					\
	typeof(nr) __nr = (nr);						\
	bool __exists = *__at < __nr;					\
									\
	*__at = array_index_nospec(*__at, __nr);			\
	__exists;							\
})

#endif /* AUXT_USER_INDEX_H */
