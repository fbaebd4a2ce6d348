/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The trace itself, as AUXTRACE records. The bytes of one queue are a stream, one for each CPU. A trace
 * without time has a queue for each thread as well, for windows in which the CPU ran that thread alone:
 * perf cannot tell otherwise whose it is.
 */
#ifndef EXPORT_PERF_AUX_H
#define EXPORT_PERF_AUX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "perf_data.h"
#include "perf_sideband.h"
#include "source/source.h"

struct perf_part {
	const struct meta_cpu *cpu;
	uint64_t begin, end;	/* AUX positions */
	uint64_t tsc;		/* when it began; 0: not known */
	uint32_t tid;		/* whose it is; PERF_NOBODY: the CPU's */
	uint64_t position;	/* of its record in the file */
};

struct perf_parts {
	const char *dir;
	const struct perf_trace *trace;
	size_t count;
	struct perf_part *part;
	bool broken;		/* bytes are missing between two parts of one CPU */
};

void perf_parts_init(struct perf_parts *parts, const char *dir, const struct perf_trace *trace);
/* Add the parts of a CPU's trace. */
void perf_parts_find(struct perf_parts *parts, const struct perf_sideband *sideband);
void perf_parts_free(struct perf_parts *parts);

/* Write the AUXTRACE records and their bytes; note where each record is. */
void perf_parts_write(struct perf_parts *parts, struct perf_data *data);
/* Write the feature that tells perf where they are. */
void perf_parts_write_index(const struct perf_parts *parts, struct perf_data *data);

#endif
