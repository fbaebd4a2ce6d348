/* SPDX-License-Identifier: GPL-2.0-only */
/* A directory in which a test has other programs make its files. */
#ifndef SCRATCH_H
#define SCRATCH_H

extern char dir[64];
/* Make it, and the file @name in it with @text. 0: done */
int scratch_begin(const char *name, const char *text);
/* Remove it. */
int scratch_end(void **state);
/* Run shell commands in it. The running test fails unless all succeed. */
void run(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
