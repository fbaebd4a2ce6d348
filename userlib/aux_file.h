/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * AUX data on their way into files: without a copy where the file system can.
 *
 * DOC: no copy
 *
 * O_DIRECT takes whole pages from the mapping of the AUX area, which the disk then
 * reads itself. So a file has its bytes at the same place in a page as the area: if
 * its first byte is not a page's first, zero bytes stand before it, which are PAD
 * packets to a decoder. Only the first and the last page, if they are not whole, go
 * through a page of our own.
 *
 * Writes of all files are under way together by io_uring. Where that is not to be
 * had, pwrite(2) does the same one by one; where O_DIRECT is not, it is left out.
 */
#ifndef AUX_FILE_H
#define AUX_FILE_H

#include <auxtrace.h>

struct aux_writer;

struct aux_file {
	char name[32];
	int fd;
	bool direct;
	uint64_t size;		/* bytes of trace in it */
	unsigned int pad;	/* zero bytes before them */
};

/* NULL with errno and the sentence. */
struct aux_writer *aux_writer_new(size_t page_size);
void aux_writer_free(struct aux_writer *w);

/* How files are written that are still @direct, or are not, for people. */
const char *aux_writer_how(struct aux_writer *w, bool direct);

/* 0, or -1 with errno and the sentence. */
int aux_file_open(struct aux_writer *w, struct aux_file *f, int dirfd, const char *name);
void aux_file_close(struct aux_file *f);

/*
 * Take what follows the bytes that @f has, as much as can be written now: all of it if
 * this is the @last call, whole pages before that. It must stay as it is until
 * aux_writer_flush(). Returns the bytes taken or -1.
 */
ssize_t aux_file_put(struct aux_writer *w, struct aux_file *f, const struct auxtrace_spans *spans,
		     bool last);

/* Wait until all that was taken is written. */
int aux_writer_flush(struct aux_writer *w);

#endif
