// SPDX-License-Identifier: GPL-2.0-only
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "lib/tool.h"

#define EXIT_FAILED	125	/* as env(1), timeout(1): auxtrace itself failed */
#define EXIT_NO_EXEC	126
#define EXIT_NOT_FOUND	127

/* What ptrace stops of a process with a perf map: only the end matters. */
#define TO_THE_END	(PTRACE_O_TRACECLONE | PTRACE_O_TRACEEXIT)
#define FOLLOW	(PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACECLONE | \
		 PTRACE_O_TRACEEXEC | PTRACE_O_TRACEEXIT)

/* In the child: wait until the parent traces it, then exec the command. */
static void __attribute__((noreturn)) exec_command(char **argv, int go, int report)
{
	sigset_t none;
	char byte;
	int err;

	/* A signal that comes while it waits is for the command. */
	if (read(go, &byte, 1) != 1)
		_exit(EXIT_FAILED);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execvp(argv[0], argv);
	err = errno;
	if (write(report, &err, sizeof(err)) != sizeof(err))
		_exit(EXIT_FAILED);
	_exit(EXIT_NOT_FOUND);
}

static bool is_event(int status, int event)
{
	return WIFSTOPPED(status) && status >> 8 == (SIGTRAP | event << 8);
}

static int explain_exec(const char *command, int err)
{
	say("cannot run %s: %s", command, strerror(err));
	return err == ENOENT ? EXIT_NOT_FOUND : EXIT_NO_EXEC;
}

int child_prepare(struct child *child, char **argv)
{
	int go[2], report[2];

	if (pipe2(go, O_CLOEXEC) || pipe2(report, O_CLOEXEC)) {
		say("cannot make a pipe: %s", strerror(errno));
		return EXIT_FAILED;
	}
	fflush(NULL);
	child->pid = fork();
	if (child->pid < 0) {
		say("cannot fork: %s", strerror(errno));
		return EXIT_FAILED;
	}
	if (!child->pid) {
		close(go[1]);
		exec_command(argv, go[0], report[1]);
	}
	close(go[0]);
	close(report[1]);
	child->go = go[1];
	child->report = report[0];
	return 0;
}

void child_abandon(struct child *child)
{
	close(child->go);
	close(child->report);
	kill(child->pid, SIGKILL);
	waitpid(child->pid, NULL, 0);
}

int child_start(struct child *child, const char *command, const cpu_set_t *cpus)
{
	int status, err = 0;

	if (cpus && sched_setaffinity(child->pid, sizeof(*cpus), cpus)) {
		say("cannot place the command on the traced CPUs: %s", strerror(errno));
		child_abandon(child);
		return EXIT_FAILED;
	}
	if (ptrace(PTRACE_SEIZE, child->pid, NULL, FOLLOW)) {
		say("cannot follow the command with ptrace: %s; is kernel.yama.ptrace_scope 3, or another tracer here?",
		    strerror(errno));
		child_abandon(child);
		return EXIT_FAILED;
	}
	if (write(child->go, "", 1) != 1)
		err = errno;
	close(child->go);
	for (;;) {
		if (waitpid(child->pid, &status, __WALL) < 0) {
			if (errno == EINTR)
				continue;
			say("cannot wait for the command: %s", strerror(errno));
			return EXIT_FAILED;
		}
		if (!WIFSTOPPED(status) || is_event(status, PTRACE_EVENT_EXEC))
			break;
		/* The exit of a child whose exec failed, or a signal to deliver. */
		ptrace(PTRACE_CONT, child->pid, NULL, status >> 16 ? 0 : WSTOPSIG(status));
	}
	if (is_event(status, PTRACE_EVENT_EXEC)) {
		close(child->report);
		child->running = true;
		return 0;
	}
	if (read(child->report, &err, sizeof(err)) != sizeof(err))
		err = 0;
	close(child->report);
	if (err)
		return explain_exec(command, err);
	say("the command ended before its exec");
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : EXIT_FAILED;
}

void child_continue(const struct child *child, bool traced)
{
	ptrace(traced ? PTRACE_CONT : PTRACE_DETACH, child->pid, NULL, 0);
}

/* How many threads of @pid have begun to have this tracer. */
static unsigned int seize_threads(pid_t pid)
{
	unsigned int count = 0;
	struct dirent *e;
	char path[32];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && (e = readdir(dir))) {
		pid_t tid = atoi(e->d_name);

		count += tid && !ptrace(PTRACE_SEIZE, tid, NULL, TO_THE_END);
	}
	if (dir)
		closedir(dir);
	return count;
}

/* Stop all threads of @pid where they end. False: it has ended, or has another tracer, or may not be traced. */
static bool follow(pid_t pid)
{
	bool any = false;

	/* Meanwhile a thread without a tracer may have made others. */
	while (seize_threads(pid))
		any = true;
	return any;
}

void notes_reports(struct notes *notes)
{
	pid_t pid;

	if (!notes->sideband || !notes->recording)
		return;
	if (notes->maps)
		perf_maps_look(notes->maps);
	notes->lost += sideband_drain(notes->sideband, notes->recording);
	while (notes->maps && (pid = perf_maps_next(notes->maps)))
		if (!notes->may_follow || !follow(pid))
			perf_maps_failed(notes->maps, pid);
}

unsigned long notes_renew(struct notes *notes)
{
	unsigned long before;

	if (!notes->sideband || !notes->recording)
		return 0;
	before = sideband_cpus_came(notes->sideband);
	notes->lost += sideband_renew(notes->sideband, notes->recording);
	return sideband_cpus_came(notes->sideband) - before;
}

/* False: it could not be read. */
static bool note_task(struct notes *notes, pid_t pid, bool exec)
{
	struct auxtrace_recording *recording = notes->recording;

	if (!recording)
		return false;
	/* When an exec was, perf has reported. */
	if (!(exec ? auxtrace_recording_exec_task(recording, pid, 0) : auxtrace_recording_add_task(recording, pid)))
		return true;
	/* A thread of an exiting process may have no address space. */
	if (errno != ESRCH && errno != ENXIO)
		say("process %d: %s", pid, auxtrace_error());
	return false;
}

/* @pid has stopped: record its address space if that changed, and let it continue. */
static void handle_stop(pid_t pid, int status, struct notes *notes)
{
	int event = status >> 16, sig = WSTOPSIG(status);

	/* What perf has reported so far belongs to the earlier address space. */
	if (event)
		notes_reports(notes);
	switch (event) {
	case PTRACE_EVENT_STOP:
		if (sig != SIGTRAP) {
			/* A job-control stop: the process must stay stopped, as without a tracer. */
			ptrace(PTRACE_LISTEN, pid, NULL, 0);
			return;
		}
		/* A new child, before its first instruction. */
		note_task(notes, pid, false);
		sig = 0;
		break;
	case PTRACE_EVENT_EXIT:
		if (note_task(notes, pid, false) && notes->maps)
			perf_maps_read(notes->maps, pid);
		/* Fails for a thread: its process has not ended. */
		if (notes->recording)
			auxtrace_recording_end_task(notes->recording, pid, 0);
		sig = 0;
		break;
	case PTRACE_EVENT_EXEC:
		note_task(notes, pid, true);
		sig = 0;
		break;
	case 0:
		break;		/* a signal: deliver it */
	default:
		sig = 0;
	}
	ptrace(PTRACE_CONT, pid, NULL, sig);
}

static void handle(struct child *child, pid_t pid, int status, struct notes *notes)
{
	if (WIFSTOPPED(status)) {
		handle_stop(pid, status, notes);
	} else if (pid == child->pid) {
		child->running = false;
		child->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
}

void child_events(struct child *child, struct notes *notes)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, __WALL | WNOHANG)) > 0)
		handle(child, pid, status, notes);
}

void child_wait(struct child *child, struct notes *notes)
{
	int status;
	pid_t pid;

	while (child->running && ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR))
		if (pid > 0)
			handle(child, pid, status, notes);
}
