/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The call stack of each thread: its open calls and where they return to. A thread keeps it when
 * it leaves a CPU, and has it again when it runs on, on that CPU or another.
 */
#ifndef STACKS_H
#define STACKS_H

#include <stdbool.h>
#include <stdint.h>

#include "runs.h"

struct call;

struct frame {
	uint64_t back;		/* the call's return address */
	struct call *call;	/* NULL: the function is not known, or not yet */
	/* Indexes of frames of the same bucket; 0: there is none */
	unsigned int before;	/* the first one when this was pushed */
	unsigned int other;	/* the next one outwards that returns elsewhere */
	bool handler;		/* the handler of a signal runs here, or behind it what lets the kernel go on at @back */
	bool exec;		/* the kernel was entered here, and has replaced the program: it will not return to @back */
};

/* Recursion returns to few addresses, on however many frames: those of a bucket are found by them. */
#define STACK_BUCKETS	256

struct stack {
	struct stack *chain;	/* of the same bucket */
	uint64_t key;		/* of the thread */
	unsigned int cpu;	/* where it ran last, */
	uint64_t epoch;		/* and the epoch of that CPU then */
	/* frame[1] to frame[depth] are the open calls; frame[0] is what ran outside them and returns to nowhere known */
	unsigned int depth, space;
	struct frame *frame;
	unsigned int bucket[STACK_BUCKETS];	/* the innermost frame of each */
	uint64_t next;		/* where user code goes on after the system call that it made last; 0: unknown */
	uint64_t instructions;	/* that the thread executed */
	uint64_t off;		/* TSC when its trace stopped last, or it began a program, a lower bound */
	uint64_t left;		/* TSC when it left its CPU last; 0: not known */
	uint64_t away;		/* in TSC ticks, how long other threads ran between its turns, in the part that is wanted */
};

struct stacks {
	struct stack **bucket;	/* a hash table */
	size_t buckets, count;
	uint64_t *epoch;	/* of each CPU: how often it ran what was not traced */
	unsigned int nr_cpus;
};

void stacks_free(struct stacks *s);

/*
 * The stack of @thread (NULL: unknown) which runs on @cpu now. *@stale: the thread may have run
 * since without being traced, so its open calls may have ended.
 */
struct stack *stacks_of(struct stacks *s, const struct run *thread, unsigned int cpu, bool *stale);

/* @cpu ran what was not traced: what is known of the threads that it ran last does not hold any more. */
void stacks_forget_cpu(struct stacks *s, unsigned int cpu);

/* A call that will return to @back; its function is not known yet. */
void stack_push(struct stack *s, uint64_t back);
/* Only the @depth outermost frames are left. */
void stack_cut(struct stack *s, unsigned int depth);
/*
 * The innermost open call that returns to @ip: the index of its frame; 0: there is none, or it is behind many others of its
 * bucket. Takes the same time at any depth.
 */
unsigned int stack_find(const struct stack *s, uint64_t ip);

#endif
