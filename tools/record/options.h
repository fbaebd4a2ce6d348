/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line of auxtrace record. */
#ifndef RECORD_OPTIONS_H
#define RECORD_OPTIONS_H

#include <stdbool.h>

#include <auxtrace.h>

#include "record/filter.h"
#include "trigger/trigger_option.h"

#define DEFAULT_SIZE	(4u << 20)

/* What is traced. */
enum record_scope {
	SCOPE_ALL,		/* all that the CPUs run, or the CR3 filter lets pass */
	SCOPE_COMMAND,		/* the command and its descendants */
	SCOPE_TASK,		/* --pid, --tid */
};

/* By what the command and its descendants are followed. */
enum record_follow {
	FOLLOW_BY_DEFAULT,	/* perf's reports, if they serve; else ptrace(2) */
	FOLLOW_BY_PTRACE,	/* --ptrace */
	FOLLOW_BY_PERF,		/* --no-ptrace */
};

struct record_options {
	struct auxtrace_options session;	/* its tid: not yet that of a command */
	bool all;		/* --all */
	uint32_t pid, tid;	/* --pid, --tid; 0: not given */
	uint32_t cr3;		/* --cr3: a process; 0: not given */
	enum record_scope scope;
	const char *dir;
	double duration;	/* seconds; 0: until the command ends */
	char **argv;		/* the command, or NULL */
	const char *control;	/* --control, or NULL */
	bool flight;		/* --snapshot: SIGUSR2 takes a snapshot */
	uint64_t disk;		/* flight: most bytes of disk space; 0: no limit */
	bool default_sizes;	/* neither --size nor --data-size is given: less will do */
	bool keep;		/* --data-keep: do not overwrite records in overwrite mode */
	enum record_follow follow;
	bool switches;		/* --switches: context switches go to the data ring in any case */
	bool start_paused;	/* until a trigger resumes it; without triggers, a signal */
	struct trigger_options triggers;	/* triggers */
	struct filters filters;	/* --filter; @session has none yet */
};

/* Returns -1, or the exit status after --help or an unknown option. Dies of wrong usage. */
int record_options_parse(struct record_options *o, int argc, char **argv);

#endif
