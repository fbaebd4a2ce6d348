/* SPDX-License-Identifier: GPL-2.0 */
/* A program of user code whose branches are the same each time, and what of them was recorded. */
#ifndef VM_BRANCHES_H
#define VM_BRANCHES_H

#include "insns.h"
#include "uapi.h"

/* Copy of records; free() @at. */
struct branches {
	struct auxtrace_branch *at;
	size_t count;
};

/* [@begin, @end) of the present area, both multiples of a record's size. */
struct branches branches_copy(const struct channel *ch, uint64_t begin, uint64_t end);
/*
 * All whole ones that a reader finds in the area; in overwrite mode at rest, else with the
 * tail where it was taken.
 */
struct branches branches_available(const struct channel *ch);

/*
 * Those of what PT's decoder says ran: where an instruction is not followed by the one
 * behind it. A JMP or CALL to what is behind it, which there is none of in the program
 * below, would be missing.
 */
struct branches branches_of_insns(const struct insns *in);

/* Some thousand calls, jumps and loops for each of @rounds; no system call. */
void branches_make(unsigned int rounds);
/*
 * Keep only those that branches_make() took: of user code, between the newest run's entry
 * and its end, or from the oldest on if the entry was overwritten (then *@whole is false).
 * None if the end is not there either.
 */
void branches_of_run(struct branches *b, bool *whole);

#endif
