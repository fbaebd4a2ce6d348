/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command that is recorded, and its descendants.
 *
 * perf reports where their address spaces begin, change and end, and the command has a tracer only until its
 * first instruction. Where perf does not report, or the user asks for it, ptrace(2) stops them at fork, exec and exit,
 * and the recorder notes their page tables and mappings there.
 *
 * What perf cannot report is code that only the memory of a process has, which is gone at the exit. So a process
 * that names such code by a perf map gets a tracer when that comes (perf_maps.h).
 */
#ifndef CHILD_H
#define CHILD_H

#include <stdbool.h>
#include <sched.h>
#include <sys/types.h>

#include <auxtrace.h>

#include "perf_maps.h"
#include "sideband.h"

/* Where observations of processes are recorded. */
struct notes {
	struct auxtrace_recording *recording; /* NULL: there is none yet, and nothing is recorded */
	struct sideband *sideband;	/* NULL: not available */
	unsigned long lost;		/* records of it that perf lost */
	struct perf_maps *maps;		/* of the command's processes; NULL: they are followed in any case */
	bool may_follow;		/* those of @maps */
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

/* Let the command run. Unless @traced, it and its descendants have no tracer from now on. */
void child_continue(const struct child *child, bool traced);

/* Handle what wait(2) reports, without blocking. */
void child_events(struct child *child, struct notes *notes);

/* Record what perf reported since the last call, and follow processes that need it from now on. */
void notes_reports(struct notes *notes);

/*
 * CPUs may have come online: sideband_renew(), between which and sideband_look() the caller has waited. Returns how many did;
 * then processes are to be added that are there.
 */
unsigned long notes_renew(struct notes *notes);

/* Block until the command has exited. */
void child_wait(struct child *child, struct notes *notes);

#endif
