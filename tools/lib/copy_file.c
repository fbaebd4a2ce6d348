// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "copy_file.h"
#include "tool.h"

#define STEP	(64u << 20)	/* bytes of a call: a signal comes through between two */

/* Returns false if this file system has no such copy between two files; nothing is copied then. */
static bool send(int out, int in, const char *to, const char *from, off_t offset, uint64_t size)
{
	bool begun = false;

	while (size) {
		ssize_t n = sendfile(out, in, &offset, size < STEP ? size : STEP);

		if (n > 0) {
			size -= n;
			begun = true;
		} else if (!n) {
			die(1, "%s ends %llu bytes too early", from, (unsigned long long)size);
		} else if (errno == EINVAL && !begun) {
			return false;
		} else if (errno != EINTR) {
			die(1, "cannot copy %s to %s: %s", from, to, strerror(errno));
		}
	}
	return true;
}

static void write_all(int out, const char *to, const char *bytes, size_t size)
{
	while (size) {
		ssize_t n = write(out, bytes, size);

		if (n < 0 && errno != EINTR)
			die(1, "cannot write %s: %s", to, strerror(errno));
		if (n > 0) {
			bytes += n;
			size -= n;
		}
	}
}

static void read_and_write(int out, int in, const char *to, const char *from, off_t offset, uint64_t size)
{
	static char buffer[1 << 20];

	while (size) {
		ssize_t n = pread(in, buffer, size < sizeof(buffer) ? size : sizeof(buffer), offset);

		if (n < 0 && errno != EINTR)
			die(1, "cannot read %s: %s", from, strerror(errno));
		if (!n)
			die(1, "%s ends %llu bytes too early", from, (unsigned long long)size);
		if (n > 0) {
			write_all(out, to, buffer, n);
			offset += n;
			size -= n;
		}
	}
}

static void copy(int out, int in, const char *to, const char *from, uint64_t offset, uint64_t size)
{
	if (!send(out, in, to, from, offset, size))
		read_and_write(out, in, to, from, offset, size);
}

void copy_to_fd(int fd, const char *to, const char *from, uint64_t offset, uint64_t size)
{
	int in = open(from, O_RDONLY | O_CLOEXEC);

	if (in < 0)
		die(1, "cannot read %s: %s", from, strerror(errno));
	copy(fd, in, to, from, offset, size);
	close(in);
}

bool copy_file(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out;
	struct stat st;

	if (in < 0 && errno == ENOENT)
		return false;
	if (in < 0 || fstat(in, &st))
		die(1, "cannot read %s: %s", from, strerror(errno));
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (out < 0)
		die(1, "cannot write %s: %s", to, strerror(errno));
	copy(out, in, to, from, 0, st.st_size);
	if (close(out))
		die(1, "cannot write %s: %s", to, strerror(errno));
	close(in);
	return true;
}
