/* SPDX-License-Identifier: GPL-2.0-only */
/* A program of user code that takes the same branches each time, and recorded branches. */
#ifndef VM_BRANCHES_H
#define VM_BRANCHES_H

#include "insns.h"
#include "uapi.h"

/* A copy of records; the caller frees @at. */
struct branches {
	struct auxtrace_branch *at;
	size_t count;
};

/* The records in [@begin, @end), both multiples of a record's size. */
struct branches branches_copy(const struct channel *ch, uint64_t begin, uint64_t end);
/*
 * All whole records that a reader finds in the area. In overwrite mode the channel must be at
 * rest; in a full trace the records are those behind the tail that the kernel took last.
 */
struct branches branches_available(const struct channel *ch);

/*
 * The branches of decoded PT: an instruction that is not followed by the next one in memory.
 * A JMP or CALL to the next instruction would be missing; the program below has none.
 */
struct branches branches_of_insns(const struct insns *in);

/* @rounds times some thousand calls, jumps and loops; no system call. */
void branches_make(unsigned int rounds);
/*
 * Keep only what the newest run of branches_make() took: branches of user code between its
 * entry and its end. If the entry was overwritten, *@whole is false and the branches are those
 * from the oldest on. Without the end, none are kept.
 */
void branches_of_run(struct branches *b, bool *whole);

#endif
