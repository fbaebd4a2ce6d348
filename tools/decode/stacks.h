/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The call stack of each thread: the return addresses of its open calls. A thread keeps it when
 * it leaves a CPU, and has it again when it runs on, on that CPU or another.
 */
#ifndef STACKS_H
#define STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "runs.h"

#define STACK_DEPTH	4096	/* deeper calls drop the outermost frame */

struct stack {
	struct stack *chain;	/* of the same bucket */
	uint64_t key;		/* of the thread */
	unsigned int cpu;	/* where it ran last, */
	uint64_t epoch;		/* and the epoch of that CPU then */
	unsigned int depth, space;
	uint64_t *back;		/* return addresses, outermost first */
	uint64_t next;		/* where user code goes on after the system call that it made last; 0: unknown */
};

struct stacks {
	struct stack *bucket[256];
	uint64_t *epoch;	/* of each CPU: how often it ran what was not traced */
	unsigned int nr_cpus;
};

void stacks_free(struct stacks *s);

/*
 * The stack of @thread (NULL: unknown) which runs on @cpu now. It is empty if the thread may have run
 * since without being traced.
 */
struct stack *stacks_of(struct stacks *s, const struct run *thread, unsigned int cpu);

/* @cpu ran what was not traced: what is known of the threads that it ran last does not hold any more. */
void stacks_forget_cpu(struct stacks *s, unsigned int cpu);

void stack_clear(struct stack *s);
/* A call that will return to @back. */
void stack_push(struct stack *s, uint64_t back);
/* Pop the innermost call that returns to @ip, and all calls inside it. False: there is none. */
bool stack_pop_matching(struct stack *s, uint64_t ip);
/* A return to @ip. If it matches no call, pop one nevertheless. */
void stack_pop(struct stack *s, uint64_t ip);

#endif
