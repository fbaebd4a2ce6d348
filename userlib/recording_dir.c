// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"
#include "recording_dir.h"

static bool has_suffix(const char *name, const char *suffix)
{
	size_t len = strlen(name), n = strlen(suffix);

	return len > n && !strcmp(name + len - n, suffix);
}

static bool is_recording_file(const char *name)
{
	static const char *const plain[] = {
		"meta", "kcore", "kcore.changes", "kcore.added", "kallsyms", "modules", "threads", "followed",
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(plain); i++)
		if (!strcmp(name, plain[i]))
			return true;
	if (!strncmp(name, "task.", 5) || !strncmp(name, "vdso.", 5))
		return isdigit((unsigned char)name[5]);
	if (!strncmp(name, "jit.", 4))
		return isdigit((unsigned char)name[4]);
	return !strncmp(name, "cpu", 3) && isdigit((unsigned char)name[3]) &&
	       (has_suffix(name, ".aux") || has_suffix(name, ".data") ||
		has_suffix(name, ".samples") || has_suffix(name, ".side"));
}

static bool is_snapshot(const char *name)
{
	return !strncmp(name, "snapshot.", 9) && name[9] &&
	       strspn(name + 9, "0123456789") == strlen(name + 9);
}

static int clear(int dirfd, const char *dir, bool check);

static int clear_snapshot(int dirfd, const char *dir, const char *name, bool check)
{
	int fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), ret;

	if (fd < 0)
		return fail(errno, "cannot open %s/%s: %s", dir, name, strerror(errno));
	ret = clear(fd, name, check);
	close(fd);
	if (!ret && !check && unlinkat(dirfd, name, AT_REMOVEDIR))
		return fail(errno, "cannot remove %s/%s: %s", dir, name, strerror(errno));
	return ret;
}

/* Call @each for what is in the directory, until it fails. */
static int each_entry(int dirfd, const char *dir,
		      int (*each)(int dirfd, const char *dir, const char *name, void *context), void *context)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), ret = 0;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *e;

	if (!d) {
		ret = fail(errno, "cannot read %s: %s", dir, strerror(errno));
		if (fd >= 0)
			close(fd);
		return ret;
	}
	while (!ret && (errno = 0, e = readdir(d)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, ".."))
			ret = each(dirfd, dir, e->d_name, context);
	if (!ret && errno)
		ret = fail(errno, "cannot list %s: %s", dir, strerror(errno));
	closedir(d);
	return ret;
}

static int clear_entry(int dirfd, const char *dir, const char *name, void *check)
{
	if (is_snapshot(name))
		return clear_snapshot(dirfd, dir, name, *(bool *)check);
	if (!is_recording_file(name))
		return fail(ENOTEMPTY, "%s holds %s, which is not of a recording: name another directory", dir, name);
	if (!*(bool *)check && unlinkat(dirfd, name, 0))
		return fail(errno, "cannot remove %s/%s: %s", dir, name, strerror(errno));
	return 0;
}

/*
 * Remove an earlier recording. With @check remove nothing, and fail if the directory holds
 * a file that does not belong to a recording.
 */
static int clear(int dirfd, const char *dir, bool check)
{
	return each_entry(dirfd, dir, clear_entry, &check);
}

void recording_dir_clear(int dirfd, const char *dir)
{
	clear(dirfd, dir, false);
}

int recording_dir_remove_snapshot(int dirfd, const char *dir, const char *name)
{
	return clear_snapshot(dirfd, dir, name, true) || clear_snapshot(dirfd, dir, name, false) ? -1 : 0;
}

static int add_space(int dirfd, const char *dir, const char *name, void *bytes)
{
	struct stat st;
	int fd, ret;

	if (fstatat(dirfd, name, &st, AT_SYMLINK_NOFOLLOW)) {
		/* Somebody else may have removed it meanwhile. */
		return errno == ENOENT ? 0 : fail(errno, "cannot look at %s/%s: %s", dir, name, strerror(errno));
	}
	if (!S_ISDIR(st.st_mode) || !is_snapshot(name)) {
		*(uint64_t *)bytes += (uint64_t)st.st_blocks * 512 / (st.st_nlink ?: 1);
		return 0;
	}
	fd = openat(dirfd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return fail(errno, "cannot open %s/%s: %s", dir, name, strerror(errno));
	ret = recording_dir_space(fd, name, bytes);
	close(fd);
	return ret;
}

int recording_dir_space(int dirfd, const char *dir, uint64_t *bytes)
{
	return each_entry(dirfd, dir, add_space, bytes);
}

int recording_dir_open(int parent, const char *dir, bool *made)
{
	int fd, err;

	*made = !mkdirat(parent, dir, 0700);
	if (!*made && errno != EEXIST)
		return fail(errno, "cannot make the directory %s: %s", dir, strerror(errno));
	fd = openat(parent, dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		fail(errno, "cannot open the directory %s: %s", dir, strerror(errno));
	else if (!clear(fd, dir, true) && !clear(fd, dir, false))
		return fd;
	err = errno;
	if (fd >= 0)
		close(fd);
	if (*made)
		unlinkat(parent, dir, AT_REMOVEDIR);
	errno = err;
	return -1;
}

FILE *recording_file(int dirfd, const char *name)
{
	FILE *f;
	int fd;

	/* Snapshots have hard links to an earlier kernel file, which must not change. */
	unlinkat(dirfd, name, 0);
	fd = openat(dirfd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	f = fd < 0 ? NULL : fdopen(fd, "w");
	if (f)
		return f;
	fail(errno, "cannot write %s: %s", name, strerror(errno));
	if (fd >= 0)
		close(fd);
	return NULL;
}

int recording_file_close(FILE *f, const char *name)
{
	int err = ferror(f) ? EIO : 0, before = errno;

	errno = 0;
	if (fclose(f) || err)
		return fail(errno ?: err, "cannot write %s: %s", name, strerror(errno ?: err));
	/* The caller may have an error to report that came before. */
	errno = before;
	return 0;
}
