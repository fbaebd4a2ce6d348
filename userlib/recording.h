/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A recording from within: its files, and those of its snapshots. */
#ifndef RECORDING_H
#define RECORDING_H

#include "aux_file.h"
#include "internal.h"

struct stream {			/* what a directory has of one CPU */
	struct auxtrace_reader *reader;
	struct aux_file aux;	/* cpuN.aux */
	uint64_t begin;		/* AUX position of its first byte */
	FILE *data;		/* cpuN.data, or NULL: no data ring */
	char data_name[32];
	uint64_t data_begin;	/* position of its first record */
	uint64_t data_read;	/* bytes in it */
	uint64_t records;
	FILE *samples;		/* cpuN.samples, or NULL: none was in a slot */
	uint64_t sample_bytes;	/* in it */
};

struct files {			/* a directory */
	int dirfd;
	char *dir;
	unsigned int nr_streams;
	struct stream *streams;	/* in CPU order */
};

struct auxtrace_recording {
	struct auxtrace_session *session;
	struct files files;
	struct aux_writer *writer;
	struct task_list *tasks;
	unsigned int snapshots;
};

/* An empty directory, made or cleared. @parent: as openat(2) has it. */
int files_open(struct files *files, struct aux_writer *w, const struct auxtrace_session *s,
	       int parent, const char *dir);
/* Is all written that was handed to stdio? */
int files_flush(struct files *files);
/* Take the files away again. */
void files_remove(struct files *files, int parent);
void files_close(struct files *files);

/* To the end of cpuN.data. */
int stream_write_records(struct files *files, struct stream *stream, const void *records, size_t len);
/* Write the bytes of a record to cpuN.samples if it is a sample in a slot, and release that. */
int stream_save_sample(struct files *files, struct stream *stream, const union auxtrace_record *record);
/* Copy records to the end of the stream's file: of @cut; NULL: what is there. */
int stream_copy_records(struct files *files, struct stream *stream, const struct auxtrace_cut *cut);

/*
 * The file `meta`, the last of a directory. @cuts: of the snapshot that it holds; NULL:
 * it is the recording's own. @totals: to be added to; NULL with @cuts.
 */
int write_meta(const struct auxtrace_recording *rec, struct files *files,
	       const struct auxtrace_cut *cuts, struct auxtrace_totals *totals);

#endif
