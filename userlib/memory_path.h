/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the kernel names mappings that have an inode, and are no file that anybody could open. Library and command include this. */
#ifndef AUXTRACE_MEMORY_PATH_H
#define AUXTRACE_MEMORY_PATH_H

#include <stdbool.h>
#include <string.h>

/* Is @path, of a mapping, memory that a process shares or keeps, in which it may make code? */
static inline bool is_memory_path(const char *path)
{
	static const char *const begins[] = { "/memfd:", "/dev/zero", "/SYSV", "/anon_hugepage" };

	for (unsigned int i = 0; i < sizeof(begins) / sizeof(*begins); i++)
		if (!strncmp(path, begins[i], strlen(begins[i])))
			return true;
	return false;
}

#endif
