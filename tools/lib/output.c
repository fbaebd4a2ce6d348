// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <libgen.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "output.h"
#include "tool.h"

/* What is not yet complete; NULL: nothing is. */
static const char *output_begun;
static struct stat output_made;

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

/* Is it still what this process has made, and not another one under its name? */
static bool output_is_ours(void)
{
	struct stat st;

	return output_begun && !lstat(output_begun, &st) && st.st_dev == output_made.st_dev && st.st_ino == output_made.st_ino;
}

static void output_remove(void)
{
	if (output_is_ours() && nftw(output_begun, output_remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT))
		say("%s is not complete, and stays: %s", output_begun, strerror(errno));
}

/* A handler may call unlink(2), and not walk over a directory. */
static void output_on_signal(int sig)
{
	if (output_is_ours() && S_ISREG(output_made.st_mode))
		unlink(output_begun);
	signal(sig, SIG_DFL);
	raise(sig);
}

/* ^C is progress.h's, which ends the file where it is. */
static void output_begin(const char *path)
{
	static const int ends[] = { SIGHUP, SIGTERM };

	if (lstat(path, &output_made))
		die(1, "cannot write %s: %s", path, strerror(errno));
	output_begun = path;
	atexit(output_remove);
	for (unsigned int i = 0; i < ARRAY_SIZE(ends); i++)
		if (signal(ends[i], output_on_signal) == SIG_IGN)
			signal(ends[i], SIG_IGN);
	/* Then the write that goes beyond a limit fails, and says so. */
	signal(SIGXFSZ, SIG_IGN);
}

FILE *output_file(const char *path)
{
	FILE *f;

	if (!strcmp(path, "-"))
		return stdout;
	f = fopen(path, "wxe");
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

	if (f != stdout && fclose(f) && !err)
		err = errno;
	if (err)
		die(1, "cannot write %s: %s", output_begun ? output_begun : "the standard output", strerror(err));
	output_complete();
}

void output_complete(void)
{
	output_begun = NULL;
}
