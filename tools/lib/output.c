// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"
#include "tool.h"

/* What is not yet complete; NULL: nothing is. */
static const char *output_begun;

void output_must_be_new(const char *path)
{
	char *copy;
	struct stat st;

	if (!lstat(path, &st))
		die(1, "%s exists: name another file, or remove it", path);
	if (errno != ENOENT)
		die(1, "cannot write %s: %s", path, strerror(errno));
	copy = xstrdup(path);
	if (faccessat(AT_FDCWD, dirname(copy), W_OK | X_OK, AT_EACCESS))
		die(1, "cannot write %s: %s", path, strerror(errno));
	free(copy);
}

static int output_remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st, (void)type, (void)ftw;
	if (remove(path))
		say("%s is not complete, and stays: %s", path, strerror(errno));
	return 0;
}

static void output_remove(void)
{
	if (output_begun)
		nftw(output_begun, output_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

static void output_begin(const char *path)
{
	output_begun = path;
	atexit(output_remove);
}

FILE *output_file(const char *path)
{
	FILE *f = fopen(path, "wxe");

	if (!f)
		die(1, "cannot write %s: %s", path, strerror(errno));
	output_begin(path);
	return f;
}

void output_directory(const char *path)
{
	if (mkdir(path, 0700))
		die(1, "cannot make the directory %s: %s", path, strerror(errno));
	output_begin(path);
}

void output_close(FILE *f)
{
	/* If a write failed before, one that works now leaves no errno. */
	int err = fflush(f) ? errno : ferror(f) ? EIO : 0;

	if (fclose(f) && !err)
		err = errno;
	if (err)
		die(1, "cannot write %s: %s", output_begun, strerror(err));
	output_complete();
}

void output_complete(void)
{
	output_begun = NULL;
}
