/* SPDX-License-Identifier: GPL-2.0-only */
/* System calls of the 64-bit table, by name. */
#ifndef SYSCALLS_H
#define SYSCALLS_H

#include <stdint.h>

#include "suggest.h"

/*
 * The number of @name: a name of <asm/unistd.h> or of the kernel's tracepoints
 * (sys_enter_NAME), or a number. -1: "*", all system calls. -2: there is no such call.
 */
long syscall_number(const char *name);
/*
 * The name of <asm/unistd.h> for the call that the kernel's functions and tracepoints name @name, as strace and perf
 * trace show it. Where there is none: @name.
 */
const char *syscall_shown(const char *name);
/* The name of the error that a call returned: ENOENT for -2. NULL: @result is none, or one without a name. */
const char *syscall_error(int64_t result);
/* Offer all names. */
void syscall_suggest(struct suggestions *n);
/* Call @fn with each name, sorted. */
void syscall_each(void (*fn)(const char *name, long number, void *context), void *context);

#endif
