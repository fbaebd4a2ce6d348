/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which of the command's processes name the code that they make by a perf map, /tmp/perf-PID.map.
 *
 * Such a map has names and addresses. The code itself is only in the process's memory, which is gone when perf reports
 * the exit: somebody has to stop the process at its end and read it there. perf's reports say which processes descend
 * from the command and which of them map memory for code; the kernel says when a map comes (inotify(7)).
 */
#ifndef PERF_MAPS_H
#define PERF_MAPS_H

#include <stdbool.h>
#include <sys/types.h>

struct perf_maps;

/*
 * NULL with errno: nobody says when maps come. @dir: where they come, valid until perf_maps_close(). @command: its process,
 * before it has descendants.
 */
struct perf_maps *perf_maps_open(const char *dir, pid_t command);
void perf_maps_close(struct perf_maps *m);
/* A file descriptor for poll(2), readable when files have come to /tmp. */
int perf_maps_fd(const struct perf_maps *m);

/* Look which maps have come. Then tell what perf has reported by now, before asking for the next one. */
void perf_maps_look(struct perf_maps *m);

/* perf's reports, in the order of time. @path: of a mapping for execution. perf_maps_exited(): of a main thread. */
void perf_maps_forked(struct perf_maps *m, pid_t parent, pid_t pid);
void perf_maps_mapped(struct perf_maps *m, pid_t pid, const char *path);
void perf_maps_execed(struct perf_maps *m, pid_t pid);
void perf_maps_exited(struct perf_maps *m, pid_t pid);

/* A process that is to be followed to its end; each is returned once. 0: there is none. */
pid_t perf_maps_next(struct perf_maps *m);
/* It cannot be followed. */
void perf_maps_failed(struct perf_maps *m, pid_t pid);
/* The main thread of @pid has stopped at its end, and the code has been read. */
void perf_maps_read(struct perf_maps *m, pid_t pid);

/* How many have ended before their code could be read. */
unsigned long perf_maps_lost(const struct perf_maps *m);

#endif
