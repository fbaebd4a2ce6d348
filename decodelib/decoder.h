/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the files of libauxtrace-decode share. */
#ifndef DECODER_H
#define DECODER_H

#include <auxtrace-decode.h>

#include "decode/calls_cut.h"
#include "decode/replay.h"

#define DECODE_API	__attribute__((visibility("default")))

struct auxtrace_decoder {
	struct auxtrace_decoder_options options;
	struct replay replay;
	struct calls_cut cut;
	const struct flow *flow;	/* while a handler of instructions runs; else NULL */
	int result;		/* the first one of a handler that was not 0: no handler is called any more */
};

/*
 * What this thread says from now on is for @d. Returns who heard it before, for say_back(): a handler of one decoder may
 * use another one.
 */
const struct auxtrace_decoder *say_to(const struct auxtrace_decoder *d);
void say_back(const struct auxtrace_decoder *before);
/* Set errno to @err and the message of the error. Returns -1. */
int decoder_fail(int err, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The same with what was said last. */
int decoder_fail_as_said(int err);

/* The time at @tsc for users; 0: not known. */
uint64_t decoder_ns(const struct auxtrace_decoder *d, uint64_t tsc);
/* A handler returned @result. */
void decoder_heard(struct auxtrace_decoder *d, int result);
/* Decode to the views of @view_of. Returns 0, or -1 with errno. */
int decoder_run(struct auxtrace_decoder *d, struct view *(*view_of)(void *context), void *context);

#endif
