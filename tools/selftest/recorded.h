/* SPDX-License-Identifier: GPL-2.0-only */
/* A recording of some work, and what is decoded of it. */
#ifndef RECORDED_H
#define RECORDED_H

#include "collector.h"
#include "traced.h"

/**
 * struct recorded - what is recorded
 * @options: of the session. It is resumed before the work, and paused behind it
 * @prepare: adds triggers, before the recording begins: returns less than 0 if the library refuses; NULL: none
 * @work: what runs meanwhile, with @amount
 * @judge: looks at the session when it is paused; NULL: nothing is to be looked at
 */
struct recorded {
	struct auxtrace_options options;
	int (*prepare)(struct auxtrace_session *session);
	void (*work)(unsigned long amount);
	unsigned long amount;
	enum outcome (*judge)(const struct selftest *t, struct auxtrace_session *session);
};

/* Record that as @t->dir/@name. PASSED, or what failed. */
enum outcome recorded(const struct selftest *t, const struct recorded *r, const char *name);
/* Decode it. PASSED if all of it is decoded; collector_free() either way. */
enum outcome recorded_decode(const struct selftest *t, const char *name, struct collector *c);
/*
 * Both, where @r->work calls traced_work(@r->amount) once. PASSED if the flow of that work, which @c collects, is what a
 * debugger sees that steps through it; collector_free() either way.
 */
enum outcome recorded_as_stepped(const struct selftest *t, const struct recorded *r, const char *name, struct collector *c);

/* A collector of the flow of traced_work() */
#define WORK_COLLECTOR	{ .begin = (uintptr_t)work_begin, .end = (uintptr_t)work_end }

#endif
