/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Copies of files that may be large: the kernel copies, and no memory of ours holds them. */
#ifndef COPY_FILE_H
#define COPY_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* Append @size bytes of the file @from, from @offset, at the offset of @fd, whose path is @to. Dies on failure. */
void copy_to_fd(int fd, const char *to, const char *from, uint64_t offset, uint64_t size);

/* Copy the file @from to the new file @to. false: there is no file @from. Dies on other failures. */
bool copy_file(const char *from, const char *to);

#endif
