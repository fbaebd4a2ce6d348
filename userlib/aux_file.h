/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writing AUX data to files, without a copy where the file system supports it.
 *
 * DOC: no copy
 *
 * With O_DIRECT the disk reads whole pages directly from the mapping of the AUX area.
 * Each byte must therefore have the same offset within its page in the file as in the
 * area. If the first byte is not the first of a page, zero bytes are written before it; a
 * decoder reads them as PAD packets. A first or last page that is not whole goes through
 * a bounce page.
 *
 * io_uring submits the writes of all files at once. Without io_uring, pwrite(2) writes
 * one chunk after the other. Without O_DIRECT the file is written through the page cache.
 */
#ifndef AUX_FILE_H
#define AUX_FILE_H

#include <auxtrace.h>

struct aux_writer;

struct aux_file {
	const char *dir;	/* its directory, in messages: the opener keeps it */
	char name[32];
	int fd;
	bool direct;
	uint64_t size;		/* bytes of trace, without @pad */
	unsigned int pad;	/* zero bytes before the trace */
};

/* NULL with errno and the message. */
struct aux_writer *aux_writer_new(size_t page_size);
void aux_writer_free(struct aux_writer *w);

/* How files are written if all of them are @direct, or not: text for people. */
const char *aux_writer_how(struct aux_writer *w, bool direct);

/* 0, or -1 with errno and the message. */
int aux_file_open(struct aux_writer *w, struct aux_file *f, int dirfd, const char *dir,
		  const char *name);
void aux_file_close(struct aux_file *f);

/*
 * Queue bytes of @spans for the end of @f: all of them if this is the @last call, else only
 * whole pages. The bytes must not change until aux_writer_flush(). Returns the number of
 * bytes queued, or -1 with errno and the message.
 */
ssize_t aux_file_put(struct aux_writer *w, struct aux_file *f, const struct auxtrace_spans *spans,
		     bool last);

/* Write everything that is queued, and wait for it. */
int aux_writer_flush(struct aux_writer *w);

#endif
