/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes of a recording, as COMM and MMAP2 records.
 *
 * The files task.PID say which code a process had mapped, and since when. perf also wants to know which
 * threads belong to a process: the file `threads`, and the records of the CPUs name them.
 */
#ifndef EXPORT_PERF_TASK_H
#define EXPORT_PERF_TASK_H

#include <stdint.h>

#include "perf_data.h"

struct meta;
struct perf_tasks;

struct perf_tasks *perf_tasks_read(const char *dir, const struct meta *meta);
void perf_tasks_free(struct perf_tasks *tasks);

/* Thread @tid is of process @pid. */
void perf_tasks_add_thread(struct perf_tasks *tasks, uint32_t pid, uint32_t tid);
/* The process of thread @tid; PERF_NOBODY if that is not known. */
uint32_t perf_tasks_process_of(const struct perf_tasks *tasks, uint32_t tid);

/*
 * Write the records. Code in a vdso goes to files below @cache, a cache of files by build-id as perf has
 * it: there is no other file with that code. Returns whether there is such a file.
 */
bool perf_tasks_write(const struct perf_tasks *tasks, struct perf_data *data, const char *cache);

#endif
