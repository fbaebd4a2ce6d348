/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An address space: what a decoder needs to find user code by CR3, or by the process, and address. */
#ifndef SPACE_H
#define SPACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <auxtrace.h>

#include "file_seen.h"

struct space {
	struct space *next, *older;	/* in the lists of task_list.c, and of reported.c */
	pid_t pid;
	char comm[64];
	char exe[4096];
	uint64_t cr3, cr3_mask;	/* cr3_mask 0: not known, it is made of reports */
	uint64_t seen_tsc;	/* when it was first read: when that began, */
	uint64_t read_tsc;	/* and when it had been done */
	uint64_t begin_tsc, end_tsc;	/* end_tsc 0: it has not ended, as far as we know */
	bool cut;		/* the process ended while it was read: mappings may be missing */
	bool gone;		/* by an exec; or another process has its page-table root, or its number */
	uint64_t vdso_start;
	size_t vdso_len;
	uint8_t *vdso;
	uint8_t *jit;		/* code that it made, by its map of names; NULL: there is none */
	size_t jit_size;
	size_t count;
	struct space_map {
		char *line;	/* of /proc/PID/maps, without a newline */
		struct file_seen seen;	/* of what is mapped for execution */
	} *map;
};

/* An executable mapping, as it is reported. */
struct reported_map {
	uint64_t start, end, offset;
	const char *path;
	struct file_number number;
	struct file_seen seen;
};

/*
 * The address space that @pid (0: the caller) has now, with what it has mapped. NULL with errno and the message:
 * ESRCH, ENOENT or ENXIO if the process has ended, or is a kernel thread.
 */
struct space *space_read(struct auxtrace_session *session, pid_t pid);
void space_free(struct space *s);
/* Add a line of maps, if it is not there. 0, or -1 without memory. */
int space_add_mapping(struct space *s, const char *line, const struct file_seen *seen);
/* The same of a mapping that was reported. One whose path has a newline is left out: the rest would be another line. */
int space_add_reported(struct space *s, const struct reported_map *m);
/* @to, which has nothing, gets the names and mappings of @from. 0, or -1 without memory. */
int space_copy(struct space *to, const struct space *from);
/*
 * Does process @s->pid have the page tables of @s no more? If the device cannot say, it is taken
 * to have them.
 */
bool space_has_gone(const struct auxtrace_session *session, const struct space *s);
/*
 * Write task.@suffix, and jit.@suffix if there is code for it. @vdso: the file with its vdso; NULL: not known. @now
 * serves for all that is written at the same time. 0, or -1 with errno and the message.
 */
int space_write(const struct space *s, const char *suffix, const char *vdso, struct files_now *now, int dirfd);
/* Write its vdso to the file @name. */
int space_write_vdso(const struct space *s, const char *name, int dirfd);

/* Where the newest suffice, so many address spaces that have ended are kept, and half of them when they become more. */
#define SPACES_ENDED_MAX	4096
/* Of @count times at which some ended, in any order, which this sorts: that from which on they are kept. 0: all are. */
uint64_t spaces_kept_from(uint64_t *end, size_t count);

#endif
