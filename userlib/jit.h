/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Code that a process makes at run time, as perf's jitdump format has it
 * (tools/perf/Documentation/jitdump-specification.txt).
 *
 * A runtime that writes such a dump maps it as if to execute it, so that it is among the process's mappings.
 * Others write a map of names, /tmp/perf-PID.map; the code to it is in the process's memory.
 */
#ifndef JIT_H
#define JIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Is a mapped file a process's dump, by its name jit-PID.dump? */
bool jit_is_dump(const char *path);

/*
 * A dump made of the map of process @pid, and of the code that is in its memory now, which @proc, its
 * directory in /proc, has. Its records have the time 0. NULL: there is no map, or none that can be used.
 */
uint8_t *jit_of_map(pid_t pid, const char *proc, size_t *size);

/* Copy the dump @path to the file @name of the recording. 0, or -1 with errno and the message. */
int jit_copy_dump(int dirfd, const char *name, const char *path);

#endif
