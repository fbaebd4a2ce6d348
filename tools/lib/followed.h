/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The file `followed` of a recording: how the recorder learned of processes, and what of that was lost. */
#ifndef FOLLOWED_H
#define FOLLOWED_H

#include <stdbool.h>

enum followed_by { FOLLOWED_NONE, FOLLOWED_BY_PERF, FOLLOWED_BY_PTRACE };

struct followed {
	enum followed_by by;		/* the command; FOLLOWED_NONE: there was none */
	bool reports;			/* perf reported processes */
	unsigned long reports_lost;	/* by perf */
	unsigned long cpus_came;	/* online, each time they did: perf's reports of them began later */
	unsigned long sleeps;		/* of the machine: perf's clock stood still */
	unsigned long generated_lost;	/* pieces of code of the kernel (record/generated.h) */
	unsigned long perf_maps_lost;	/* processes (record/perf_maps.h) */
};

/* Write the file in the directory @dir. 0, or -1 after a message. */
int followed_write(const struct followed *by, const char *dir);
/* Read it. Recordings of programs that use the library alone have none: then nothing is known to be lost. */
void followed_read(struct followed *f, const char *dir);
/* Say what was lost, if anything was. */
void followed_say(const struct followed *f);

#endif
