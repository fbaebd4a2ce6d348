/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One CPU's files in a recording's directory: cpuN.aux, cpuN.data, cpuN.samples. */
#ifndef STREAM_H
#define STREAM_H

#include <auxtrace.h>
#include <stdio.h>

#include "aux_file.h"

struct stream {
	struct auxtrace_reader *reader;
	int dirfd;
	const char *dir;	/* in messages: the opener keeps it */
	struct aux_file aux;	/* cpuN.aux */
	uint64_t begin;		/* AUX position of its first byte */
	FILE *data;		/* cpuN.data; NULL: no data ring */
	uint64_t data_begin;	/* position of its first record */
	uint64_t data_read;	/* bytes in it */
	uint64_t records;
	FILE *samples;		/* cpuN.samples; NULL: no sample came from a slot */
	uint64_t sample_bytes;	/* in it */
};

/* All return 0, or -1 with errno and the message. After a failed open, close. */
int stream_open(struct stream *stream, struct aux_writer *w, struct auxtrace_reader *reader,
		int dirfd, const char *dir);
/* Append one record to cpuN.data. If its sample is in a slot, save that and release the slot. */
int stream_write_record(struct stream *stream, const union auxtrace_record *record);
/* Append all records of @cut, or of the ring as it is now if @cut is NULL. */
int stream_copy_records(struct stream *stream, const struct auxtrace_cut *cut);
/* Flush stdio's buffers. Fails also if an earlier write did. */
int stream_flush(struct stream *stream);

void stream_close(struct stream *stream);

#endif
