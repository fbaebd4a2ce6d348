/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The path of a file that is not there any more, as the kernel writes it in /proc/PID/maps. Library and command include this. */
#ifndef AUXTRACE_DELETED_PATH_H
#define AUXTRACE_DELETED_PATH_H

#include <stddef.h>
#include <string.h>

#define DELETED		" (deleted)"	/* behind the path */

/* The length of @path without that end. */
static inline size_t deleted_path_length(const char *path)
{
	size_t len = strlen(path), end = strlen(DELETED);

	return len > end && !strcmp(path + len - end, DELETED) ? len - end : len;
}

#endif
