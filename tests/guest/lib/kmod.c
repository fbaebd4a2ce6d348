// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "file.h"
#include "insns.h"
#include "kmod.h"
#include "uapi.h"

/* devtmpfs makes the node before finit_module(2) returns; udev makes it later. */
#define NODE_TRIES	200

int kmod_users(void)
{
	return file_number("/sys/module/auxtrace/refcnt");
}

int kmod_unload(void)
{
	return syscall(SYS_delete_module, "auxtrace", O_NONBLOCK) ? -errno : 0;
}

int kmod_load(void)
{
	const char *path = getenv("AUXTRACE_KO");
	int fd = open(path ? path : "", O_RDONLY | O_CLOEXEC);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (syscall(SYS_finit_module, fd, "", 0))
		ret = -errno;
	close(fd);
	symbols_forget();

	for (int i = 0; !ret && access("/dev/auxtrace", R_OK) && i < NODE_TRIES; i++)
		usleep(10000);
	return ret;
}

void kmod_required(void)
{
	const char *path = getenv("AUXTRACE_KO");

	if (!path || access(path, R_OK) || kmod_users() < 0)
		skip_test("$AUXTRACE_KO names no module file, or auxtrace is built in");
}
