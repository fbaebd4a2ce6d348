/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For flowcmp and btscmp: sessions of a task's scope. Their trace has what members ran, and nothing
 * of any other thread.
 *
 * User code tells who ran it: that of members is in a range where no other thread has code. A thread
 * has the CPU from one switch of the kernel's stacks to the next; that is its turn. All of a member's
 * turn is in the trace, and nothing of another thread's, but for the end of the turn: there, still on
 * the thread's stack, the module turns the hardware off or on.
 *
 * A turn may have kernel code only. The session's SWITCH records say which thread has which turn, and
 * the other turns of that thread on that CPU whether it is a member. If none tells, the turn counts as
 * a member's if its first instruction is in the trace. The log also has switches from before and
 * after the session: the records fit in one place only, or no thread would be both.
 */
#ifndef VM_SCOPE_H
#define VM_SCOPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCOPE_MAX_OTHERS	16

struct range {
	uint64_t begin, end;
};

struct scope {
	struct range members;	/* their user code; end 0: the session had no scope */
	uint64_t switch_at;	/* where the kernel begins to change stacks */
	struct range other[SCOPE_MAX_OTHERS];	/* kernel code that no member runs */
	unsigned int nr_others;
	unsigned int *tid;	/* the thread to which each SWITCH record leads */
	size_t nr_tids, space;
};

/* What is known of an instruction in the log. */
enum scope_step {
	SCOPE_MEMBER = 1,	/* user code of members */
	SCOPE_OTHER = 2,	/* what no member runs */
	SCOPE_SWITCH = 4,	/* a turn begins */
	SCOPE_TRACED = 8,	/* it is in the trace; the caller sets this */
};

/*
 * Options: 'm' is --members BEGIN-END, 'w' is --switch ADDRESS, 'o' is --others BEGIN-END, which may
 * come again. Addresses are hexadecimal. 't' is --threads FILE, which has the thread ID of each SWITCH
 * record, a line each. Returns false if @option is none of these, or @arg is wrong.
 */
bool scope_option(struct scope *scope, int option, const char *arg);

/* enum scope_step bits of the instruction at @ip. */
uint8_t scope_step(const struct scope *scope, uint64_t ip, bool user);

struct scope_turns {
	size_t members, others;
	size_t unknown;		/* of these: whose they were only the trace tells */
	size_t longest;		/* end of a turn that was, or was not, traced unlike the turn */
};

/*
 * Judges the turns of a CPU, of which @step has an entry for each instruction in the log, or for each
 * branch. While a member runs, up to @slack of them at a time may be missing. Returns false with a
 * message if a turn is not as it should be, or no member or nobody else had one.
 */
bool scope_judge(const struct scope *scope, const uint8_t *step, size_t count, size_t slack,
		 struct scope_turns *turns);

/* Prints the numbers of turns. @unit is what a step is. */
void scope_print(const struct scope_turns *turns, const char *unit);

#endif
