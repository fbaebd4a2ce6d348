/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module's code that was reached: to libFuzzer as its extra counters, and to a file as the
 * places of the whole run. The source is KCOV, which traces the threads, or everywhere.c.
 */
#ifndef DEVICE_COVERAGE_H
#define DEVICE_COVERAGE_H

#include <stdbool.h>

/* Find where the module is. Call again after each load. */
void coverage_locate(void);
/* Trace the calling thread from now on. False if this kernel and module have no coverage. */
bool coverage_begin_thread(void);
/* Take what the calling thread has reached since. */
void coverage_take(void);
/* Take what all contexts have reached since, if the module notes that. */
void coverage_take_everywhere(void);
/* An operation gave a result: the only feedback without coverage. */
void coverage_result(unsigned int op, unsigned int how, int err);
/* Places that were reached in the run. */
unsigned int coverage_places(void);
/* Write them, as "SECTION OFFSET" a line, to @path. */
void coverage_write(const char *path);

#endif
