/* SPDX-License-Identifier: GPL-2.0-only */
/* The formats of auxtrace export. Each is a table in a file of its own; cmd/export.c lists them. */
#ifndef EXPORT_FORMAT_H
#define EXPORT_FORMAT_H

#include <stdio.h>

#include "decode/calls.h"
#include "lib/meta.h"

struct source;

struct export_request {
	const char *dir;	/* the recording */
	const struct meta *meta;
	const struct source *source;
	const char *out;	/* does not exist yet */
	bool instructions;	/* the weight of a stack, instead of time */
	bool timed;		/* a part by time: calls may be cut */
};

/**
 * struct export_format - a format
 * @name: as --format takes it
 * @summary: for the usage
 * @write: write @request->out; dies with a message if that fails. NULL: the format is one of calls:
 * @begin: a sink of calls that writes to @out
 * @end: write what is left, and free the sink
 * @has_weight: it takes --weight
 */
struct export_format {
	const char *name;
	const char *summary;
	void (*write)(const struct export_request *request);
	struct calls_sink *(*begin)(const struct export_request *request, FILE *out);
	void (*end)(struct calls_sink *sink);
	bool has_weight;
};

extern const struct export_format perf_format, perfetto_format, speedscope_format, folded_format, callgrind_format;

#endif
