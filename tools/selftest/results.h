/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What became of each chosen check. The process that runs the checks writes it; the one that
 * reports reads it from the same memory, also when the former has crashed in a check.
 */
#ifndef RESULTS_H
#define RESULTS_H

#include "selftest.h"

/* Forget all. Before the first results_add(). */
void results_clear(void);
/* One more check, which is not run yet. */
void results_add(const struct check *check);
unsigned int results_count(void);
const struct check *results_check(unsigned int i);

/* How many checks were begun: those before that number. The last one of them may not have ended. */
unsigned int results_begun(void);
/* The next one begins; the one that began last ends. */
void results_begin(void);
void results_end(enum outcome outcome);
/* Is a check begun, and not ended? */
bool results_running(void);
/* It ended with that outcome, and that is why. */
void results_close(enum outcome outcome, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* How many have that outcome. */
unsigned int results_with(enum outcome outcome);

/* A line of check number @i, and one of what there is to say. */
void results_tell(unsigned int i, FILE *out);
/* How many have which outcome, in a line. */
void results_sum(FILE *out);
/* An array, without a newline behind it. */
void results_json(FILE *out);

#endif
