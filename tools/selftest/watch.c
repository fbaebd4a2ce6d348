// SPDX-License-Identifier: GPL-2.0-only
/* The parent waits for signals, one a turn. It has no handler, which could come at a wrong time. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/tool.h"
#include "watch.h"

/* What was told to end has so many seconds for it. */
#define GRACE		3

static const int ends[] = { SIGINT, SIGTERM, SIGHUP };

static sigset_t before, awaited;

/* A blocked signal waits even if it is ignored: such a one is not among those that are awaited. */
void watch_begin(void)
{
	struct sigaction action;
	sigset_t blocked;

	signal(SIGCHLD, SIG_DFL);
	sigemptyset(&awaited);
	sigaddset(&awaited, SIGCHLD);
	for (unsigned int i = 0; i < ARRAY_SIZE(ends); i++)
		if (!sigaction(ends[i], NULL, &action) && action.sa_handler != SIG_IGN)
			sigaddset(&awaited, ends[i]);
	blocked = awaited;
	/* Whoever read this output may be gone; that must not end the parent in the midst of it. */
	sigaddset(&blocked, SIGPIPE);
	sigprocmask(SIG_BLOCK, &blocked, &before);
}

void watch_end(void)
{
	sigprocmask(SIG_SETMASK, &before, NULL);
}

/* Waits for a signal, a second at most. Returns it, or 0. */
static int watch_signal(void)
{
	static const struct timespec second = { .tv_sec = 1 };
	int sig;

	do
		sig = sigtimedwait(&awaited, NULL, &second);
	while (sig < 0 && errno == EINTR);
	return sig > 0 ? sig : 0;
}

/* The child gets the terminal's signals itself. One that ended it may have come here, or not. */
static void watch_look_why(struct watch *w)
{
	if (w->signal || w->overdue || !WIFSIGNALED(w->status))
		return;
	if (WTERMSIG(w->status) == SIGPIPE)
		w->signal = SIGPIPE;
	for (unsigned int i = 0; i < ARRAY_SIZE(ends); i++)
		if (WTERMSIG(w->status) == ends[i])
			w->signal = ends[i];
}

/*
 * Time is counted in turns: when a process that was stopped, as by ^Z, goes on, it finds nothing
 * overdue.
 */
static void watch_child(struct watch *w, pid_t child)
{
	unsigned int seconds = 0, step = w->step();
	bool killed = false;

	for (;;) {
		int sig = watch_signal();
		bool first = sig && sig != SIGCHLD && !w->signal;

		/* Also if the child has ended for another reason meanwhile */
		if (first)
			w->signal = sig;
		if (waitpid(child, &w->status, WNOHANG) == child)
			break;
		if (first) {
			kill(child, sig);
			seconds = 0;
		}
		if (sig)
			continue;
		if (!w->signal && !killed && w->step() != step) {
			step = w->step();
			seconds = 0;
			continue;
		}
		if (++seconds < (w->signal || killed ? GRACE : w->limit))
			continue;
		if (killed) {
			w->stays = true;
			return;
		}
		w->overdue = !w->signal;
		kill(child, SIGKILL);
		killed = true;
		seconds = 0;
	}
	watch_look_why(w);
}

bool watch_run(struct watch *w)
{
	pid_t parent = getpid(), child;

	w->status = w->signal = 0;
	w->overdue = w->stays = false;
	fflush(NULL);
	child = fork();
	if (child < 0)
		return false;
	if (!child) {
		/* Without the parent nobody would tell of the work. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		watch_end();
		w->work(w->context);
		fflush(NULL);
		_exit(0);
	}
	watch_child(w, child);
	return true;
}
