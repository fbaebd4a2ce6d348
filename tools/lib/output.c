// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/tool.h"
#include "output.h"

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
