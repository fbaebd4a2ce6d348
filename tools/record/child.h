/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The command that is recorded, with its descendants.
 *
 * They are followed by ptrace(2), only where address spaces come and go: at fork,
 * exec and exit. Nothing else of them stops. Their page tables and mappings are
 * noted there, so that they are known however short they live.
 */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <sched.h>
#include <sys/types.h>

#include <auxtrace.h>

#include "sideband.h"

/* Where what is seen of processes goes. */
struct notes {
	struct auxtrace_recording *recording;
	struct sideband *sideband;	/* NULL: not to be had */
	unsigned long lost;		/* reports that perf could not make */
};

struct child {
	pid_t pid;
	bool running;
	int status;		/* as an exit status: 0-125, 128 + signal */
};

/*
 * Start @argv on @cpus (NULL: anywhere) and stop it right after its exec, before
 * its first instruction. Returns 0; or the exit status that says why there is no
 * command: 126, 127, or 125, with a message said.
 */
int child_start(struct child *child, char **argv, const cpu_set_t *cpus);

/* Let it go. */
void child_continue(const struct child *child);

/* Take what wait(2) has to tell, without blocking. */
void child_events(struct child *child, struct notes *notes);

/* Hand over what perf reported since the last time. */
void notes_reports(struct notes *notes);

/* Block until the command is gone. */
void child_wait(struct child *child, struct notes *notes);

#endif
