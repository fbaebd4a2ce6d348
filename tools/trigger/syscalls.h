/* SPDX-License-Identifier: GPL-2.0 */
/* System calls of the 64-bit table, by name. */
#ifndef SYSCALLS_H
#define SYSCALLS_H

#include "suggest.h"

/*
 * The number of @name, as <asm/unistd.h> or the kernel's tracepoints (sys_enter_NAME)
 * call it, or a number itself, or "*": all, -1. -2: there is none.
 */
long syscall_number(const char *name);
/* Offer all names. */
void syscall_suggest(struct suggestions *n);
/* Call @tell with each, in the order of the numbers' header. */
void syscall_each(void (*tell)(const char *name, long number, void *context), void *context);

#endif
