/* SPDX-License-Identifier: GPL-2.0-only */
/* What a child process executes, instruction by instruction. */
#ifndef STEP_H
#define STEP_H

#include <stddef.h>
#include <stdint.h>

struct steps {
	uint64_t *ip;
	size_t count, room;
};

void steps_add(struct steps *s, uint64_t ip);
void steps_free(struct steps *s);

/*
 * Have a child call traced_work(@branches), stop it at each of its instructions by ptrace(2), and keep the addresses
 * of those in that work's code. Returns 0, or -1 with errno.
 */
int steps_of_work(struct steps *s, unsigned long branches);

#endif
