/* SPDX-License-Identifier: GPL-2.0-only */
/* For flow.c: what a session of a task's scope traces, and what it must not trace. */
#ifndef FLOW_SCOPE_H
#define FLOW_SCOPE_H

#include <stdbool.h>
#include <sys/types.h>

struct auxtrace_session;

#define SCOPE_CPUS	4

struct scope {
	pid_t member;		/* the first process */
	pid_t noise[SCOPE_CPUS];
	int stdout_fd;		/* the members' stdout: at its end all have ended */
};

/*
 * Begin, on CPUs 0 to 3, processes that are no members; and `scoped @steps`, which is stopped when
 * this returns. Returns 0, or -1 with a message.
 */
int scope_begin(struct scope *s, const char *steps);

/* Let the members go on. */
int scope_go(const struct scope *s);

/* Have all members ended? Waits up to @ms milliseconds. */
bool scope_has_ended(const struct scope *s, int ms);

/*
 * End the other processes, and wait until the kernel has freed all threads of members. Returns 0, or
 * -1 with a message if a member failed, or @session has lost one.
 */
int scope_end(const struct scope *s, struct auxtrace_session *session);

#endif
