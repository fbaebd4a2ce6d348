// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "file_seen.h"

#define FUSE_MAGIC	0x65735546	/* FUSE_SUPER_MAGIC of the kernel's fs/fuse/inode.c */

static uint64_t to_ns(const struct timespec *t)
{
	return t->tv_sec * 1000000000ull + t->tv_nsec;
}

struct file_seen file_see(const char *path, uint64_t mapped_ns, uint64_t error_ns)
{
	struct file_seen seen = { .state = FILE_THERE };
	struct timespec now;
	struct stat st;

	if (stat(path, &st)) {
		seen.state = errno == ENOENT || errno == ENOTDIR ? FILE_MISSING : FILE_NOT_SEEN;
		return seen;
	}
	seen.device = st.st_dev;
	seen.inode = st.st_ino;
	seen.size = st.st_size;
	seen.changed = st.st_mtim;
	/* Where clocks were wrong, files have times that are still to come: these say nothing. */
	clock_gettime(CLOCK_REALTIME, &now);
	if (mapped_ns && to_ns(&st.st_mtim) > mapped_ns + error_ns && to_ns(&st.st_mtim) <= to_ns(&now))
		seen.state = FILE_OTHER;
	return seen;
}

static bool is_same(const struct file_seen *a, const struct file_seen *b)
{
	return a->device == b->device && a->inode == b->inode && a->size == b->size &&
	       a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

void file_seen_again(struct file_seen *seen, const struct file_seen *again)
{
	if (again->state == FILE_OTHER || (seen->state == FILE_MISSING && again->state == FILE_THERE) ||
	    (seen->state == FILE_THERE && again->state == FILE_THERE && !is_same(seen, again)))
		seen->state = FILE_OTHER;
}

/* The number in the line of maps that begins at @start. */
static bool number_of_mapping(const void *start, struct file_number *number)
{
	FILE *f = fopen("/proc/self/maps", "re");
	bool found = false;
	char *line = NULL;
	size_t size = 0;

	while (f && !found && getline(&line, &size, f) > 0) {
		uint64_t from;

		found = sscanf(line, "%" SCNx64 "-%*x %*s %*x %" SCNx32 ":%" SCNx32 " %" SCNu64, &from, &number->major,
			       &number->minor, &number->inode) == 4 && from == (uintptr_t)start;
	}
	free(line);
	if (f)
		fclose(f);
	return found;
}

/*
 * The number that the kernel has for mappings of the file. On btrfs and overlayfs it is not that of stat(2). perf has
 * another one where a file system maps the file of another one, as overlayfs does.
 */
static bool ask(const char *path, struct file_now *now)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	size_t page = sysconf(_SC_PAGESIZE);
	struct statfs fs;
	struct stat st;
	void *map;

	if (fd < 0)
		return false;
	now->known = false;
	map = fstat(fd, &st) || st.st_dev != now->device || st.st_ino != now->inode || fstatfs(fd, &fs) ?
	      MAP_FAILED : mmap(NULL, page, PROT_READ, MAP_PRIVATE, fd, 0);
	if (map != MAP_FAILED) {
		now->other_to_perf = fs.f_type == OVERLAYFS_SUPER_MAGIC || fs.f_type == FUSE_MAGIC;
		now->known = number_of_mapping(map, &now->number);
		munmap(map, page);
	}
	close(fd);
	return now->known;
}

/* Only if the file can be asked for is a number that stat(2) does not have that of another file. */
static bool has_number(struct files_now *now, const char *path, const struct stat *st, struct file_number number, bool by_perf)
{
	struct file_now *file = &now->file[(st->st_ino + st->st_dev) % FILES_KNOWN];

	if (makedev(number.major, number.minor) == st->st_dev && number.inode == st->st_ino)
		return true;
	if (!file->known || file->device != st->st_dev || file->inode != st->st_ino) {
		*file = (struct file_now){ .device = st->st_dev, .inode = st->st_ino };
		if (!ask(path, file))
			return true;
	}
	return (by_perf && file->other_to_perf) || (file->number.inode == number.inode &&
						    file->number.major == number.major && file->number.minor == number.minor);
}

bool file_is_other(struct files_now *now, const char *path, const struct stat *st, struct file_number number,
		   const struct file_seen *seen)
{
	const struct file_seen is = {
		.device = st->st_dev, .inode = st->st_ino, .size = st->st_size, .changed = st->st_mtim,
	};

	if (seen->state == FILE_MISSING || seen->state == FILE_OTHER || (seen->state == FILE_THERE && !is_same(seen, &is)))
		return true;
	/* Nobody opens a device for this. */
	return number.inode && S_ISREG(st->st_mode) && !has_number(now, path, st, number, seen->by_perf);
}
