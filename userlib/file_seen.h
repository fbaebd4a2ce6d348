/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Is the file at a path the one that a process has mapped? A program may be replaced or removed while it is traced.
 *
 * The kernel names a mapped file by device and inode. A file system may use the inode of a removed file again, and a file may be
 * written in its place: so the size and the time of change that the file has when its mapping is seen are kept as well.
 */
#ifndef FILE_SEEN_H
#define FILE_SEEN_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* As /proc/PID/maps and perf have it. inode 0: not known. */
struct file_number {
	uint32_t major, minor;
	uint64_t inode;
};

/* What was at the path when the mapping was seen. */
struct file_seen {
	enum {
		FILE_NOT_SEEN,	/* nobody has looked, or could */
		FILE_MISSING,
		FILE_THERE,	/* the members below are its */
		FILE_OTHER,	/* it was another one already */
	} state;
	bool by_perf;		/* perf reported the mapping */
	uint64_t device, inode, size;
	struct timespec changed;
};

/* Files whose numbers were asked for; 0 bytes: none yet. Of two with the same place the newer one stays. */
#define FILES_KNOWN	256
struct files_now {
	struct file_now {
		bool known, other_to_perf;
		uint64_t device, inode;	/* by stat(2) */
		struct file_number number;
	} file[FILES_KNOWN];
};

/* Look at @path. @mapped_ns: when it was mapped, in CLOCK_REALTIME, but for an error of @error_ns; 0: not known. */
struct file_seen file_see(const char *path, uint64_t mapped_ns, uint64_t error_ns);
/* The same mapping was seen twice: at another file, perhaps. */
void file_seen_again(struct file_seen *seen, const struct file_seen *again);
/* Is the file that is at @path now, as stat(2) says in @st, another one than the kernel's @number, or not as it was seen? */
bool file_is_other(struct files_now *now, const char *path, const struct stat *st, struct file_number number,
		   const struct file_seen *seen);

#endif
