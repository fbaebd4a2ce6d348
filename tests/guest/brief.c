// SPDX-License-Identifier: GPL-2.0-only
/*
 * Processes that do not live long. `brief NUMBER` forks so many, one after the other. Each calls a function, and
 * another one behind an exec, and prints its number. Nothing is running when the program ends. `brief NUMBER traced`
 * traces each of them with ptrace(2), as a debugger does.
 */
#include <stdio.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#define FUNCTION	__attribute__((noinline, noclone, used))

static FUNCTION void before_exec(void)
{
	__asm__ volatile("nop");
}

static FUNCTION void came_and_went(void)
{
	__asm__ volatile("nop");
}

static bool live(bool traced)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		before_exec();
		if (traced && ptrace(PTRACE_TRACEME, 0, NULL, NULL))
			_exit(1);
		execl("/proc/self/exe", "brief", (char *)NULL);
		_exit(1);
	}
	if (pid < 0)
		return false;
	/* It stops behind its exec. */
	if (traced && (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status) || ptrace(PTRACE_CONT, pid, NULL, NULL)))
		return false;
	return waitpid(pid, &status, 0) == pid && !status;
}

int main(int argc, char **argv)
{
	if (argc == 1) {
		came_and_went();
		printf("%d\n", getpid());
		return 0;
	}
	for (int left = atoi(argv[1]); left; left--)
		if (!live(argc > 2)) {
			fprintf(stderr, "brief: a process has failed\n");
			return 1;
		}
	return 0;
}
