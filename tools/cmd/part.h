/* SPDX-License-Identifier: GPL-2.0-only */
/* The options by which script, report and export show a part of a recording, and where they find its files. */
#ifndef PART_H
#define PART_H

#include "decode/calls_cut.h"
#include "decode/replay.h"
#include "source/source.h"

struct part {
	struct replay replay;
	struct calls_cut cut;	/* of views and formats of calls only */
	const char *time;
	const char *symfs;
	const struct source *source;	/* of the recording, when it is open */
	bool text;		/* what is decoded goes to stdout at once */
	bool given;		/* one of the options was there */
	bool of_calls;		/* one of those was there that only calls have */
};

enum { PART_TIME = 1000, PART_FUNCTION, PART_DEPTH, PART_SYMFS, PART_JOBS };

/* For getopt_long(): */
#define PART_SHORT	"C:w:t:"
#define PART_LONG						\
	{ "cpu", required_argument, NULL, 'C' },		\
	{ "window", required_argument, NULL, 'w' },		\
	{ "tid", required_argument, NULL, 't' },		\
	{ "time", required_argument, NULL, PART_TIME },		\
	{ "function", required_argument, NULL, PART_FUNCTION },	\
	{ "max-depth", required_argument, NULL, PART_DEPTH },	\
	{ "symfs", required_argument, NULL, PART_SYMFS },	\
	{ "jobs", required_argument, NULL, PART_JOBS }
/* For --help: */
extern const char part_usage[];

void part_begin(struct part *p);
/* Take option @c with its argument @arg. False: it is none of these. */
bool part_option(struct part *p, int c, const char *arg);
/* Open the recording in @dir. */
void part_open(struct part *p, const char *dir);
/* Decode the part, all CPUs to @view. */
void part_run(struct part *p, struct view *view);
/* Decode the part's calls for @sink. */
void part_calls(struct part *p, struct calls_sink *sink);
/* Say what was decoded and what could not be, on stderr. Returns the exit status: 1 if there were errors. */
int part_summary(const struct part *p);

/* The recording that a command line names after its options. Dies if it names two. */
const char *recording_argument(int argc, char **argv);

#endif
