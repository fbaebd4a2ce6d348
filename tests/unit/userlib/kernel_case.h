/* SPDX-License-Identifier: GPL-2.0-only */
/* A fake kernel in place of /proc/kcore, kallsyms and modules, for tests of what is recorded of it. */
#ifndef KERNEL_CASE_H
#define KERNEL_CASE_H

#include "recording_case.h"

/* Where its text and the area of its modules are. */
#define TEXT	0xffffffff81000000ull
#define MODULES	0xffffffffa0000000ull

extern char proc[80];	/* the directory that stands for /proc */

/* Setup and teardown of a test: the fake kernel, and begin_recording(). */
int begin_kernel(void **state);
int end_kernel(void **state);

/* A recording of a session that traces the kernel. */
struct auxtrace_recording *kernel_recording(void);
/* The same in overwrite mode. */
struct auxtrace_recording *kernel_flight(void);

void write_proc(const char *name, const char *text, size_t size);
/* Each page of kcore holds its own number, at its start. */
uint32_t page_mark(uint64_t vaddr);
/* Change kcore at @address, as the kernel patches its code. */
void patch(uint64_t address, const char *bytes, size_t size);

/* @name, a kcore of a recording, has these bytes at @address. */
void expect_code(const char *name, uint64_t address, const void *bytes, size_t count);
/* @name, a kcore.changes, is this text. */
void expect_changes(const char *name, const char *expected);

#endif
