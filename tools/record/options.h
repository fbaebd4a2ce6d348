/* SPDX-License-Identifier: GPL-2.0 */
/* What `auxtrace record` is asked for. */
#ifndef RECORD_OPTIONS_H
#define RECORD_OPTIONS_H

#include <stdbool.h>

#include <auxtrace.h>

#include "trigger/trigger_option.h"

struct record_options {
	struct auxtrace_options session;
	const char *dir;
	double duration;	/* seconds; 0: until the command ends */
	char **argv;		/* the command, or NULL */
	const char *control;	/* NULL: nobody else drives it */
	bool flight;		/* SIGUSR2 takes a snapshot */
	bool keep;		/* records, also in overwrite mode */
	bool start_paused;	/* until a trigger resumes it, or if there is none, a signal */
	struct trigger_options triggers;	/* triggers */
};

/* -1: go on; else the exit status of a command that has said all. Dies of wrong usage. */
int record_options_parse(struct record_options *o, int argc, char **argv);

#endif
