/* SPDX-License-Identifier: GPL-2.0-only */
/* A view that keeps the addresses of instructions in a part of the code, and what the CPU tells of itself, and counts the rest. */
#ifndef COLLECTOR_H
#define COLLECTOR_H

#include "decode/flow.h"
#include "step.h"

struct collector {
	struct view view;
	uint64_t begin, end;		/* of that part */
	bool samples;			/* decode the samples instead, each on its own */
	struct steps steps, behind;	/* and the address behind each instruction */
	uint64_t returns;		/* of the instructions in that part */
	struct cpu_event *event;	/* of the whole trace */
	size_t events;
	uint64_t others, errors, overflows, skips;
};

/* Decode the recording in @dir. False, with a message, if it cannot be read. */
bool collector_decode(struct collector *c, const char *dir);
void collector_free(struct collector *c);

#endif
