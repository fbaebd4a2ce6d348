// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "terminal.h"
#include "tool.h"

static bool coloured;
static pid_t pager;		/* 0: there is none */
static int own_stderr = -1;	/* while messages go to the pager */

/* ---- colours ------------------------------------------------------------------ */

static bool wants_colour(void)
{
	const char *never = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && !(never && *never) && term && strcmp(term, "dumb");
}

void terminal_colour(const char *when)
{
	if (!strcmp(when, "auto"))
		coloured = wants_colour();
	else if (!strcmp(when, "always") || !strcmp(when, "never"))
		coloured = !strcmp(when, "always");
	else
		die(EXIT_USAGE, "--color %s: it takes auto, always or never", when);
}

const char *style(enum style s)
{
	/* ECMA-48, SGR */
	static const char *const sequence[NR_STYLES] = {
		[STYLE_PLAIN] = "\033[0m",
		[STYLE_FAINT] = "\033[2m",
		[STYLE_KERNEL] = "\033[35m",
		[STYLE_SOURCE] = "\033[32m",
		[STYLE_HEADING] = "\033[1m",
		[STYLE_BAD] = "\033[31m",
	};

	return coloured ? sequence[s] : "";
}

/* ---- the pager ---------------------------------------------------------------- */

/* NULL: nobody wants one, or there is none. */
static const char *pager_command(void)
{
	const char *command = getenv("AUXTRACE_PAGER") ?: getenv("PAGER");

	if (!command)
		return system("command -v less > /dev/null") ? NULL : "less";
	return *command && strcmp(command, "cat") ? command : NULL;
}

static void run_pager(const char *command, const int fd[2])
{
	dup2(fd[0], STDIN_FILENO);
	close(fd[0]);
	close(fd[1]);
	/* Show colours, go away if one screen is enough, and leave the text on the screen. */
	setenv("LESS", "FRX", false);
	execlp("sh", "sh", "-c", command, NULL);
	_exit(127);
}

void pager_begin(void)
{
	const char *command = isatty(STDOUT_FILENO) ? pager_command() : NULL;
	int fd[2];

	/* The pipe must not take the place of a stdin that is closed. */
	if (!command || fcntl(STDIN_FILENO, F_GETFD) < 0)
		return;
	if (pipe2(fd, O_CLOEXEC))
		die(1, "cannot make a pipe to the pager: %s", strerror(errno));
	pager = fork();
	if (pager < 0)
		die(1, "cannot run the pager: %s", strerror(errno));
	if (!pager)
		run_pager(command, fd);
	/* Messages would disturb its screen: they are part of the text. */
	if (isatty(STDERR_FILENO)) {
		own_stderr = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
		dup2(fd[1], STDERR_FILENO);
	}
	dup2(fd[1], STDOUT_FILENO);
	close(fd[0]);
	close(fd[1]);
	/* ^C is for the pager. When the user leaves it, SIGPIPE ends this process. */
	signal(SIGINT, SIG_IGN);
	/* Nor does this process leave the terminal to others by exit() before that. */
	atexit(pager_end);
}

void pager_end(void)
{
	if (!pager)
		return;
	fflush(stdout);
	close(STDOUT_FILENO);
	if (own_stderr >= 0)
		dup2(own_stderr, STDERR_FILENO);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
	pager = 0;
}
