/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Address spaces as perf reports them: by forks, execs, mappings and exits, in the order of time. Nobody knows their page
 * tables. They serve for processes that have ended, or have executed another program, before they could be read.
 */
#ifndef REPORTED_H
#define REPORTED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "space.h"

struct reported;

/* @newest: of those that have ended it keeps the last thousands only. NULL without memory. */
struct reported *reported_new(bool newest);
void reported_free(struct reported *r);

/* These return 0, or -1 without memory. Times are in the session's clock, and not 0. */

/* @parent has forked @pid. If nothing is reported of @parent, it has what @had has; NULL: that is not known. */
int reported_fork(struct reported *r, pid_t parent, pid_t pid, uint64_t time, const struct space *had);
int reported_exec(struct reported *r, pid_t pid, uint64_t time);
/* "[vdso]" is a path, too. Returns 1 if nothing is reported of @pid. */
int reported_map(struct reported *r, pid_t pid, const struct reported_map *m);
/* A thread of @pid has exited. Returns 1 if nothing is reported of @pid. */
int reported_end(struct reported *r, pid_t pid, uint64_t time);

/* The one that @pid had before the newest one; NULL: none. */
const struct space *reported_before(struct reported *r, pid_t pid);
/* It is not needed any more. */
void reported_drop_before(struct reported *r, pid_t pid);
/* All of them; NULL: the first, behind the last. They have no vdso bytes. */
const struct space *reported_next(const struct reported *r, const struct space *s);
/* How many it does not keep any more. */
size_t reported_forgotten(const struct reported *r);

#endif
