/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* perf's own records of all CPUs: the files cpuN.side of a recording. */
#ifndef SIDE_H
#define SIDE_H

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/meta.h"
#include "lib/tool.h"

struct side_record {
	uint64_t tsc;
	const struct perf_event_header *header;	/* of the record, whose body follows */
	size_t size;			/* of header and body, without what follows it: */
	uint32_t pid, tid, cpu;		/* where perf wrote it, and by which thread */
};

struct side {
	struct side_record *record;	/* in the order of time */
	size_t count;
	uint64_t lost;			/* records, by LOST records */
	struct mapped *file;
	size_t nr_files;
};

/*
 * Without files there are no records; without a relation of perf's clock to the TSC they are of no
 * use, and are left out with a message. Returns false, with a message, if a file cannot be read; reports damage.
 */
bool side_read(struct side *s, const char *dir, const struct meta *meta);
void side_free(struct side *s);

#endif
