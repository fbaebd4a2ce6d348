// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "machine.h"
#include "uapi.h"

/* A child that hangs fails its test, not the whole run. */
#define CHILD_SECONDS	30

int child_run(int (*fn)(void *arg), void *arg)
{
	pid_t pid = fork();
	int status;

	if (pid < 0)
		fail_msg("fork failed");
	if (!pid) {
		alarm(CHILD_SECONDS * slowness);
		_exit(fn(arg));
	}
	while (waitpid(pid, &status, 0) < 0)
		assert_int_equal(errno, EINTR);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int caps_mask(uint64_t mask)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data))
		return -errno;
	for (int i = 0; i < 2; i++) {
		uint32_t part = mask >> (32 * i);

		data[i].effective &= part;
		data[i].permitted &= part;
		data[i].inheritable &= part;
	}
	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

int caps_keep(uint64_t caps)
{
	return caps_mask(caps);
}

int caps_drop(uint64_t caps)
{
	return caps_mask(~caps);
}

int caps_regain(void)
{
	struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	if (syscall(SYS_capget, &head, data))
		return -errno;
	for (int i = 0; i < 2; i++)
		data[i].effective = data[i].permitted;
	return syscall(SYS_capset, &head, data) ? -errno : 0;
}
