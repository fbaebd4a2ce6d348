// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <auxtrace.h>

#include "flow_scope.h"

static int fail(const char *what)
{
	fprintf(stderr, "flow: %s: %s\n", what, strerror(errno));
	return -1;
}

static void run_on(int first, int last)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (int cpu = first; cpu <= last; cpu++)
		CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		_exit(1);
}

static void __attribute__((noinline)) spin(unsigned int count)
{
	static volatile unsigned int sum;

	while (count--)
		sum += count;
}

/*
 * Computes, yields to members, and sleeps: it preempts them when it wakes. Now and then it creates a
 * process, whose task_struct may be where that of a member was.
 */
static void make_noise(int cpu)
{
	const struct timespec nap = { .tv_nsec = 500000 };

	run_on(cpu, cpu);
	for (unsigned int i = 0;; i++) {
		spin(500);
		sched_yield();
		spin(500);
		if (i % 32 == 31) {
			pid_t child = fork();

			if (!child) {
				spin(100);
				_exit(0);
			}
			if (child < 0 || waitpid(child, NULL, 0) != child)
				_exit(1);
		}
		nanosleep(&nap, NULL);
	}
}

static pid_t begin_member(const char *steps, int stdout_fd)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	run_on(0, SCOPE_CPUS - 1);
	if (dup2(stdout_fd, STDOUT_FILENO) == STDOUT_FILENO)
		execlp("scoped", "scoped", steps, NULL);
	fail("scoped");
	_exit(127);
}

int scope_begin(struct scope *s, const char *steps)
{
	int end[2], status;

	/* Members whose parents have ended become children of this process. */
	if (prctl(PR_SET_CHILD_SUBREAPER, 1))
		return fail("prctl");
	for (int cpu = 0; cpu < SCOPE_CPUS; cpu++) {
		s->noise[cpu] = fork();
		if (s->noise[cpu] < 0)
			return fail("fork");
		if (!s->noise[cpu])
			make_noise(cpu);
	}
	if (pipe2(end, O_CLOEXEC))
		return fail("pipe");
	s->member = begin_member(steps, end[1]);
	close(end[1]);
	s->stdout_fd = end[0];
	/* It is stopped when all its threads are in the kernel. */
	if (s->member < 0 || waitpid(s->member, &status, WUNTRACED) != s->member || !WIFSTOPPED(status))
		return fail("the members have not begun");
	return 0;
}

int scope_go(const struct scope *s)
{
	return kill(s->member, SIGCONT) ? fail("kill") : 0;
}

bool scope_has_ended(const struct scope *s, int ms)
{
	struct pollfd p = { .fd = s->stdout_fd };

	return poll(&p, 1, ms) == 1;
}

static bool is_noise(const struct scope *s, pid_t pid)
{
	for (int cpu = 0; cpu < SCOPE_CPUS; cpu++)
		if (s->noise[cpu] == pid)
			return true;
	return false;
}

/* A process that is no noise, but perhaps a child of it, ends with 0. */
static bool ended_well(const struct scope *s, pid_t pid, int status)
{
	if (is_noise(s, pid) ? WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL : !status)
		return true;
	fprintf(stderr, "flow: %s ended with status %#x\n", is_noise(s, pid) ? "noise" : "a member", status);
	return false;
}

static int reap_all(const struct scope *s)
{
	int status, ret = 0;
	pid_t pid;

	while ((pid = wait(&status)) > 0)
		if (!ended_well(s, pid, status))
			ret = -1;
	return errno == ECHILD ? ret : fail("wait");
}

int scope_end(const struct scope *s, struct auxtrace_session *session)
{
	struct auxtrace_status status;
	int tries = 500;

	for (int cpu = 0; cpu < SCOPE_CPUS; cpu++)
		kill(s->noise[cpu], SIGKILL);
	if (reap_all(s))
		return -1;
	do {
		usleep(10000);
		if (auxtrace_status(session, 0, &status)) {
			fprintf(stderr, "flow: status: %s\n", auxtrace_error());
			return -1;
		}
	} while (status.out_members && tries--);
	if (!status.out_members && !status.out_members_lost)
		return 0;
	fprintf(stderr, "flow: when all members have ended, %llu are left, and %llu were lost\n",
		(unsigned long long)status.out_members, (unsigned long long)status.out_members_lost);
	return -1;
}
