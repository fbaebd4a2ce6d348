// SPDX-License-Identifier: GPL-2.0-only
/* elapsed COMMAND [ARGUMENT]...: run that, and print how many microseconds it took from fork() to its end. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct timespec begin, end;
	int status;
	pid_t pid;

	if (argc < 2) {
		fputs("usage: elapsed COMMAND [ARGUMENT]...\n", stderr);
		return 2;
	}
	clock_gettime(CLOCK_MONOTONIC, &begin);
	pid = fork();
	if (!pid) {
		/* What it prints is not of interest, and stdout has the result. */
		dup2(STDERR_FILENO, STDOUT_FILENO);
		execvp(argv[1], argv + 1);
		perror(argv[1]);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) < 0) {
		perror("elapsed");
		return 1;
	}
	clock_gettime(CLOCK_MONOTONIC, &end);
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		fprintf(stderr, "elapsed: %s failed\n", argv[1]);
		return 1;
	}
	printf("%lld\n", (end.tv_sec - begin.tv_sec) * 1000000ll + (end.tv_nsec - begin.tv_nsec) / 1000);
	return 0;
}
