/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command that is recorded, and its descendants.
 *
 * ptrace(2) stops them only where address spaces begin and end: at fork, exec and exit.
 * There the recorder notes their page tables and mappings, so that even a process that
 * lives for a moment is known. Or, after the command's first exec, ptrace is not used, and what perf
 * reports must do.
 */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <sched.h>
#include <sys/types.h>

#include <auxtrace.h>

#include "sideband.h"

/* Where observations of processes are recorded. */
struct notes {
	struct auxtrace_recording *recording; /* NULL: there is none yet, and nothing is recorded */
	struct sideband *sideband;	/* NULL: not available */
	unsigned long lost;		/* records of it that perf lost */
};

struct child {
	pid_t pid;
	int go, report;		/* pipes: it runs the command on a byte; errno if it cannot */
	bool running;
	int status;		/* as an exit status: 0-125, 128 + signal */
};

/*
 * Fork a process that waits to become the command @argv. Returns 0. If that failed, prints a
 * message and returns the exit status 125.
 */
int child_prepare(struct child *child, char **argv);

/*
 * Start the command of a prepared process on @cpus (NULL: anywhere) and stop it after its exec,
 * before its first instruction. Returns 0. If that failed, prints a message and returns the exit
 * status that says why: 127 not found, 126 cannot be run, 125 anything else.
 */
int child_start(struct child *child, const char *command, const cpu_set_t *cpus);

/* End a prepared process that was not started. */
void child_abandon(struct child *child);

/* Let the command run. Unless @follow, it and its descendants have no tracer from now on. */
void child_continue(const struct child *child, bool follow);

/* Handle what wait(2) reports, without blocking. */
void child_events(struct child *child, struct notes *notes);

/* Record what perf reported since the last call. */
void notes_reports(struct notes *notes);

/* Block until the command has exited. */
void child_wait(struct child *child, struct notes *notes);

#endif
