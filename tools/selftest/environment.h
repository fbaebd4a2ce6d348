/* SPDX-License-Identifier: GPL-2.0-only */
/* What a report says of the machine before the checks. machine_find() comes before. */
#ifndef ENVIRONMENT_H
#define ENVIRONMENT_H

#include <stdio.h>

struct selftest;

/* A line each. */
void environment_text(FILE *out);
/* Members of an object, with a comma behind the last. */
void environment_json(FILE *out);
/* Why checks can have no session here and now, by one that is tried; or NULL. */
const char *environment_no_session(const struct selftest *t);

#endif
