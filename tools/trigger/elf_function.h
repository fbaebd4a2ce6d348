/* SPDX-License-Identifier: GPL-2.0 */
/* Where a function is in a program's file. */
#ifndef ELF_FUNCTION_H
#define ELF_FUNCTION_H

#include <stdint.h>

/*
 * The offset in @path of the function's first byte. Dies, as wrong usage of @text, if the
 * file cannot be read or has no such function; says which are near.
 */
uint64_t elf_function(const char *text, const char *path, const char *function);

#endif
