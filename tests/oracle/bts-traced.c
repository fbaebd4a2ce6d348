// SPDX-License-Identifier: GPL-2.0-only
/*
 * bts-traced ROUNDS CPUS: runs the common workload in a single-threaded process on each
 * of the first CPUS CPUs. Each process stops itself before it begins. When all have
 * stopped, it prints "CPU PID" for each; SIGCONT starts a process. perf records BTS per
 * thread, not per CPU, so it can attach to these before they run.
 */
#include <sys/wait.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "../guest/workload.h"

static int child(int cpu, unsigned int rounds)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("bts-traced: sched_setaffinity");
		return 1;
	}
	raise(SIGSTOP);
	return workload_alone(cpu, rounds) ? 1 : 0;
}

int main(int argc, char **argv)
{
	int rounds = argc == 3 ? atoi(argv[1]) : 0, cpus = argc == 3 ? atoi(argv[2]) : 0;
	int status, failed = 0;

	if (rounds <= 0 || cpus <= 0) {
		fprintf(stderr, "usage: bts-traced ROUNDS CPUS\n");
		return 2;
	}
	for (int cpu = 0; cpu < cpus; cpu++) {
		pid_t pid = fork();

		if (!pid)
			_exit(child(cpu, rounds));
		if (pid < 0 || waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status)) {
			fprintf(stderr, "bts-traced: the process for CPU %d did not start\n", cpu);
			return 1;
		}
		printf("%d %d\n", cpu, pid);
	}
	puts("ready");
	fflush(stdout);
	while (wait(&status) > 0)
		failed |= status;
	return failed ? 1 : 0;
}
