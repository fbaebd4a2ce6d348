// SPDX-License-Identifier: GPL-2.0-only
/*
 * traced ROUNDS [CPUS]: runs the common workload on the first CPUS CPUs, or on all, at
 * the same time, in one process per CPU.
 */
#include <sys/wait.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../guest/workload.h"

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int status, failed = 0;

	if (argc == 3 && atoi(argv[1]) > 0 && atol(argv[2]) > 0 && atol(argv[2]) <= cpus) {
		cpus = atol(argv[2]);
	} else if (argc != 2 || atoi(argv[1]) <= 0) {
		fprintf(stderr, "usage: traced ROUNDS [CPUS], of %ld CPUs\n", cpus);
		return 2;
	}
	for (long cpu = 0; cpu < cpus; cpu++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("traced: fork");
			return 1;
		}
		if (!pid)
			_exit(workload_run(cpu, atoi(argv[1])) ? 1 : 0);
	}
	while (wait(&status) > 0)
		failed |= status;
	return failed ? 1 : 0;
}
