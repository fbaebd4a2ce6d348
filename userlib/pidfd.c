// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Processes by pidfd. The module takes their numbers only: the kernel exports nothing that
 * tells a module the process of a pidfd. A number is looked up before the call, and the process
 * after it: if it has not ended by then, nobody else had its number during the call.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

int pidfd_is_alive(int pidfd)
{
	struct pollfd poller = { .fd = pidfd, .events = POLLIN };

	/* A pidfd is readable from the end of its process on. */
	if (poll(&poller, 1, 0) < 0 || poller.revents & POLLNVAL)
		return fail(EBADF, "%d is no file descriptor", pidfd);
	if (poller.revents)
		return fail(ESRCH, "the process of pidfd %d has ended", pidfd);
	return 0;
}

/* /proc has the numbers of the PID namespace for which it was mounted. */
static bool proc_has_our_numbers(void)
{
	char number[32];
	ssize_t len = readlink("/proc/self", number, sizeof(number) - 1);

	if (len < 0)
		return false;
	number[len] = 0;
	return atoi(number) == getpid();
}

int pidfd_number(int pidfd)
{
	char path[64], line[128];
	int pid = 0, found = 0;
	FILE *f;

	if (!proc_has_our_numbers())
		return fail(EBADF, "/proc is not mounted for this PID namespace: it does not tell the number of pidfd %d",
			    pidfd);
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", pidfd);
	f = fopen(path, "re");
	if (!f)
		return fail(EBADF, "cannot open %s: %s", path, strerror(errno));
	while (!found && fgets(line, sizeof(line), f))
		found = sscanf(line, "Pid: %d", &pid) == 1;
	fclose(f);
	if (!found)
		return fail(EBADF, "%d is a file, but no pidfd", pidfd);
	if (pid == 0)
		return fail(ESRCH, "the process of pidfd %d is not in this PID namespace", pidfd);
	if (pid < 0)
		return fail(ESRCH, "the process of pidfd %d has ended", pidfd);
	return pid;
}

AUXTRACE_API int auxtrace_task_pidfd(struct auxtrace_session *s, int pidfd,
				     struct auxtrace_task *task)
{
	int pid = pidfd_number(pidfd);

	if (pid < 0 || auxtrace_task(s, pid, task))
		return -1;
	return pidfd_is_alive(pidfd);
}
