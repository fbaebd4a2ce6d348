/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Code that a process made at run time: its dump, the file jit.PID of a recording. */
#ifndef DECODE_JIT_H
#define DECODE_JIT_H

#include <stddef.h>
#include <stdint.h>

#include "code_span.h"
#include "lib/meta.h"
#include "lib/tool.h"

struct jit_code {
	uint64_t start, end;
	uint64_t tsc;		/* when it was made; 0: before the recording, or not known */
	const uint8_t *bytes;
	const char *name;
};

struct jit {
	struct mapped file;
	struct jit_code *code;	/* by start, then by time */
	size_t count;
	uint64_t longest;	/* the size of the largest */
};

/* Reads @path; reports damage. Without the file there is no code. */
void jit_open(struct jit *j, const char *path, const struct meta *meta);
void jit_close(struct jit *j);

/*
 * What was made last for @ip before @tsc, or else first after it: the flow's time is a little early. NULL:
 * nothing.
 */
const struct jit_code *jit_find(const struct jit *j, uint64_t tsc, uint64_t ip);

/* Cut @span where any of the @size bytes at @ip may have been made. */
void jit_span(const struct jit *j, uint64_t ip, size_t size, struct code_span *span);

#endif
