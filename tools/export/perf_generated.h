/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Code that the kernel generated during the recording, kcore.added, for perf: records KSYMBOL of type OOL, of which perf
 * takes the bytes from TEXT_POKE records. Of BPF programs perf would want a header of its own, HEADER_BPF_PROG_INFO.
 */
#ifndef EXPORT_PERF_GENERATED_H
#define EXPORT_PERF_GENERATED_H

#include <linux/perf_event.h>
#include <stdbool.h>

#include "decode/added.h"
#include "lib/meta.h"
#include "lib/tool.h"
#include "perf_data.h"

struct perf_generated {
	const struct meta *meta;
	struct added added;
	struct mapped kcore;	/* of the export */
	uint64_t text;		/* the kernel's begin; 0: unknown */
};

/* Of the recording @dir, and of @out, which perf_kernel_copy() has written. */
void perf_generated_read(struct perf_generated *g, const char *dir, const struct meta *meta, const char *out);
void perf_generated_free(struct perf_generated *g);

/* Is the record @h, whose body has @size bytes, one that perf must not have? */
bool perf_generated_replaces(const struct perf_generated *g, const struct perf_event_header *h, size_t size);
/* Write the records, after that of the kernel. */
void perf_generated_write(const struct perf_generated *g, const char *dir, struct perf_data *data);

#endif
