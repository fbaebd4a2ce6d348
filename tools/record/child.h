/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command that is recorded, and its descendants.
 *
 * ptrace(2) stops them only where address spaces begin and end: at fork, exec and exit.
 * There the recorder notes their page tables and mappings, so that even a process that
 * lives for a moment is known.
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
	unsigned long lost;		/* records that perf lost */
};

struct child {
	pid_t pid;
	bool running;
	int status;		/* as an exit status: 0-125, 128 + signal */
};

/*
 * Start @argv on @cpus (NULL: anywhere) and stop it after its exec, before its first
 * instruction. Returns 0. If that failed, prints a message and returns the exit status that
 * says why: 127 not found, 126 cannot be run, 125 anything else.
 */
int child_start(struct child *child, char **argv, const cpu_set_t *cpus);

/* Let the command run. */
void child_continue(const struct child *child);

/* Handle what wait(2) reports, without blocking. */
void child_events(struct child *child, struct notes *notes);

/* Record what perf reported since the last call. */
void notes_reports(struct notes *notes);

/* Block until the command has exited. */
void child_wait(struct child *child, struct notes *notes);

#endif
