/* SPDX-License-Identifier: GPL-2.0-only */
/* How long a file its readers open, and what to do about a longer one. */
#ifndef FILE_LIMIT_H
#define FILE_LIMIT_H

#include <stdint.h>

struct file_limit {
	uint64_t most;		/* bytes, whole MiB */
	const char *why;	/* goes on behind "this is more than @most, and" */
	uint64_t bytes;		/* that the file has so far */
};

/* So many more are in the file. Says, once, when they are too many, and which options make it shorter. */
void file_limit_add(struct file_limit *limit, uint64_t bytes);

#endif
