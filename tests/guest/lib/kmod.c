// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "kmod.h"
#include "uapi.h"

/* devtmpfs makes the node before init_module() returns; this is for udev systems. */
#define NODE_TRIES	200

int kmod_users(void)
{
	FILE *f = fopen("/sys/module/auxtrace/refcnt", "re");
	int users = -1;

	if (!f)
		return -1;
	if (fscanf(f, "%d", &users) != 1)
		users = -1;
	fclose(f);
	return users;
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

	for (int i = 0; !ret && access("/dev/auxtrace", R_OK) && i < NODE_TRIES; i++)
		usleep(10000);
	return ret;
}

void kmod_required(void)
{
	const char *path = getenv("AUXTRACE_KO");

	if (path && !access(path, R_OK) && kmod_users() >= 0)
		return;
	print_message("SKIP: $AUXTRACE_KO names no module file, or auxtrace is built in\n");
	skip();
}
