/* SPDX-License-Identifier: GPL-2.0-only */
/* Small files of the kernel, as in /proc and /sys. */
#ifndef VM_FILE_H
#define VM_FILE_H

#include <stdint.h>

/* The decimal number that a file begins with; -1 if it has none or cannot be read. */
int64_t file_number(const char *path);

/* Write @text by one write(2), appending where the kernel distinguishes; 0 or a negative errno. */
int file_write(const char *path, const char *text);

#endif
