/* SPDX-License-Identifier: GPL-2.0-only */
/* What a report says of the machine before the checks. */
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

#include <stdio.h>

struct selftest;

/*
 * Finds it, on the tested CPU, for CPUs of a machine may differ: the process stays there until this returns. machine_find() comes
 * before, on the same CPU.
 */
void environment_find(const struct selftest *t);
/* A line each. */
void environment_text(FILE *out);
/* Members of an object, with a comma behind the last. */
void environment_json(FILE *out);
/* Why checks can have no session here and now, by one that is tried; or NULL. */
const char *environment_no_session(const struct selftest *t);

#endif
