/* SPDX-License-Identifier: GPL-2.0-only */
/* Finds a function in a program's file. */
#ifndef ELF_FUNCTION_H
#define ELF_FUNCTION_H

#include <stdint.h>

/*
 * The offset in the file @path of the first byte of @function, which is as named_function.h takes it. Dies if the file
 * cannot be read, has no such function, or has several. @text: the --on option, for the message.
 */
uint64_t elf_function(const char *text, const char *path, const char *function);

#endif
