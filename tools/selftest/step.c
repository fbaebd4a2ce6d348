// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/tool.h"
#include "step.h"
#include "traced.h"

void steps_add(struct steps *s, uint64_t ip)
{
	if (s->count == s->room) {
		s->room = s->room ? 2 * s->room : 4096;
		s->ip = xrealloc(s->ip, s->room * sizeof(*s->ip));
	}
	s->ip[s->count++] = ip;
}

void steps_free(struct steps *s)
{
	free(s->ip);
	*s = (struct steps){ 0 };
}

static int steps_follow(struct steps *s, pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) < 0)
		return -1;
	/* It stops itself before the work, and ends behind it. */
	while (WIFSTOPPED(status)) {
		struct user_regs_struct regs;
		int sig = WSTOPSIG(status);

		if (ptrace(PTRACE_GETREGS, child, NULL, &regs))
			return -1;
		if (regs.rip >= (uintptr_t)work_begin && regs.rip < (uintptr_t)work_end)
			steps_add(s, regs.rip);
		if (sig == SIGTRAP || sig == SIGSTOP)
			sig = 0;
		if (ptrace(PTRACE_SINGLESTEP, child, NULL, (void *)(intptr_t)sig) || waitpid(child, &status, 0) < 0)
			return -1;
	}
	/* Who is traced already, as by strace -f, has no second tracer. */
	if (!WIFEXITED(status) || WEXITSTATUS(status)) {
		errno = EPERM;
		return -1;
	}
	return 0;
}

int steps_of_work(struct steps *s, unsigned long branches)
{
	pid_t child = traced_fork();
	int error;

	if (child < 0)
		return -1;
	if (!child) {
		if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) || raise(SIGSTOP))
			_exit(1);
		traced_work(branches);
		_exit(0);
	}
	if (!steps_follow(s, child))
		return 0;
	error = errno;
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	errno = error;
	return -1;
}
