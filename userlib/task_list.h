/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The address spaces that a recording knows. */
#ifndef TASK_LIST_H
#define TASK_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include <auxtrace.h>

#include "space.h"

struct task_list;

/* @newest: of processes that have ended it keeps the last thousands only: an area that is overwritten has no trace of others. */
struct task_list *task_list_new(bool newest);
void task_list_free(struct task_list *list);

/* These return 0, or -1 with errno and the message. */
int task_list_add(struct task_list *list, struct auxtrace_session *session, pid_t pid);
/* A thread of the process exited at @time, in the session's clock (0: now). */
int task_list_end(struct task_list *list, pid_t pid, uint64_t time);

/* Why a process is read: nothing was reported, its fork was, or its exec. */
enum task_cause { TASK_READ, TASK_FORK, TASK_EXEC };

/*
 * The process has a new address space since @time, when @parent forked it (0: it is not known which one), or when it did
 * an exec. If it has ended, this returns -1, and the address space has the mappings of @parent, or those that are reported.
 */
int task_list_begin(struct task_list *list, struct auxtrace_session *session, pid_t pid, pid_t parent,
		    uint64_t time, enum task_cause cause);
/* An executable mapping of @pid, which may be gone by now, was reported. "[vdso]" is one, too. */
int task_list_map(struct task_list *list, pid_t pid, const struct reported_map *m);
/* Entries that it does not keep any more. */
size_t task_list_forgotten(const struct task_list *list);
/* Write task.* and vdso.*, but for what is known to have begun after @until. */
int task_list_write(const struct task_list *list, int dirfd, uint64_t until);

#endif
