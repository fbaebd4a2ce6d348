// SPDX-License-Identifier: LGPL-2.1-or-later
/* The device file: every system call on it but mmap(2) is here. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"
#include "lockdown.h"

int device_ioctl(int fd, unsigned long nr, void *arg)
{
	int ret;

	do
		ret = ioctl(fd, nr, arg);
	while (ret == -1 && errno == EINTR);
	if (ret > 0) {
		/* This device's ioctls return 0. */
		errno = EBADE;
		return -1;
	}
	return ret;
}

static int explain_no_device(const char *path)
{
	const char *mode = lockdown_mode();

	if (mode)
		return fail(ENOENT, "there is no %s: the module is not loaded (modprobe auxtrace, or dkms install it first); the kernel is locked down (%s mode), so it takes only a module that is signed by a key it trusts",
			    path, mode);
	return fail(ENOENT, "there is no %s: the module is not loaded (modprobe auxtrace, or dkms install it first)",
		    path);
}

int device_open(const char *path)
{
	struct stat st;
	int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		switch (errno) {
		case ENOENT:
			return explain_no_device(path);
		case EACCES:
		case EPERM:
			return fail(errno, "no permission to open %s: it is root's, or its group's by a udev rule",
				    path);
		}
		return fail(errno, "cannot open %s: %s", path, strerror(errno));
	}
	if (fstat(fd, &st) || !S_ISCHR(st.st_mode)) {
		close(fd);
		return fail(ENOTTY, "%s is not a character device", path);
	}
	return fd;
}
