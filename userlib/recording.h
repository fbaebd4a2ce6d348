/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A recording: its own files, and those of each of its snapshots. */
#ifndef RECORDING_H
#define RECORDING_H

#include "aux_file.h"
#include "instant.h"
#include "kernel_added.h"
#include "stream.h"
#include "task_list.h"

struct files {			/* the files of one directory */
	int dirfd;
	char *dir;
	bool made;		/* the directory was not there before */
	unsigned int nr_streams;
	struct stream *streams;	/* in CPU order */
};

struct auxtrace_recording {
	struct auxtrace_session *session;
	struct files files;
	struct aux_writer *writer;
	struct task_list *tasks;
	void (*on_cut)(void *arg); /* adds reports of tasks; NULL: nothing does */
	void *on_cut_arg;
	struct kernel_code *kernel; /* as the recording began; NULL: not known */
	struct kernel_added added;
	uint64_t kcore_time;	/* when kcore was written, in the session's clock; 0: not yet */
	struct instant begin;	/* of the recording */
	unsigned int snapshots;	/* complete ones */
	unsigned int snapshots_gone; /* the first of them, which auxtrace_recording_trim() removed, or somebody else */
	uint64_t space;		/* the bytes that it was last asked to leave; UINT64_MAX: it was not called */
};

/* As auxtrace_recording_trim(), but adds to *@removed what it has removed, also if it then fails. Returns 0 or -1. */
int recording_trim(struct auxtrace_recording *rec, uint64_t bytes, uint64_t *removed);

/*
 * Make or clear the directory @dir, and open a stream for each CPU. @parent: as for openat(2). If
 * files_open() fails, it has removed the files that it made, and the directory if `made`.
 */
int files_open(struct files *files, struct aux_writer *w, const struct auxtrace_session *s,
	       int parent, const char *dir);
/* Flush stdio's buffers. Fails also if an earlier write did. */
int files_flush(struct files *files);
/* Close and remove the files; remove the directory if files_open() made it. Keeps errno and the message. */
void files_remove(struct files *files, int parent);
void files_close(struct files *files);

/*
 * Write `meta`, which must be the last file of a directory: it marks the recording complete.
 * @cuts: the snapshot that the directory holds; NULL: it is the recording's own directory.
 * @totals: sums to add to; NULL with @cuts.
 */
int write_meta(const struct auxtrace_recording *rec, struct files *files,
	       const struct auxtrace_cut *cuts, struct auxtrace_totals *totals);

/* kernel.c: the kernel's code as it is now. NULL with errno and the message. */
struct kernel_code *kernel_read(void);
void kernel_free(struct kernel_code *code);
/*
 * Write kcore, kallsyms and modules; with @before also kcore.changes, and the number of its
 * lines to *@changes. 0, or -1 with errno and the message.
 */
int kernel_record(int dirfd, const struct kernel_code *before, uint64_t *changes);

#endif
