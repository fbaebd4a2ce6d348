// SPDX-License-Identifier: GPL-2.0-only
/*
 * scoped STEPS: what a session of a task's scope traces. Processes with threads, which all do STEPS
 * steps of some 10,000 user instructions, each on another one of CPUs 0 to 3. The program stops
 * itself (SIGSTOP) when it has two threads: the session is set up for its process then, and SIGCONT
 * begins the work.
 *
 * Processes are created by the leader of a process and by another thread, and by fork(2) and vfork(2).
 * They end after their threads, while a thread still works, or before the child that they have
 * created. Two of them exec: one is in a thread that does not lead its process.
 *
 * The file is linked at an address of its own (Makefile), is not position independent, and calls
 * nothing in the vdso. So all user code of the members, and no other in the guest, is in one range.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "workload.h"

#define CPUS	4
#define NUMBERS	48

static unsigned int steps;
static char *steps_text;

static void die(const char *what)
{
	fprintf(stderr, "scoped: %s: %s\n", what, strerror(errno));
	_exit(1);
}

/* ---- work ----------------------------------------------------------------- */

static bool ascending(uint32_t a, uint32_t b) { return a < b; }
static bool descending(uint32_t a, uint32_t b) { return a > b; }

static void sort(uint32_t *first, size_t count, bool (*before)(uint32_t, uint32_t))
{
	size_t left = 0, right = count - 1;
	uint32_t middle;

	if (count < 2)
		return;
	middle = first[count / 2];
	for (;; left++, right--) {
		uint32_t swapped;

		while (before(first[left], middle))
			left++;
		while (before(middle, first[right]))
			right--;
		if (left >= right)
			break;
		swapped = first[left];
		first[left] = first[right];
		first[right] = swapped;
	}
	sort(first, left, before);
	sort(first + right + 1, count - right - 1, before);
}

/* Some thousands of user instructions, whose conditional branches depend on the numbers. */
static void compute(uint32_t seed)
{
	uint32_t number[NUMBERS];

	for (int i = 0; i < NUMBERS; i++)
		number[i] = seed = seed * 1664525 + 1013904223;
	sort(number, NUMBERS, seed & 1 << 16 ? ascending : descending);
}

static void go_to(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

/*
 * One worker: a thread that begins on CPU @first. The mix of all kinds of control flow is nearly all
 * kernel code, so it is done once.
 */
static void work(unsigned int first)
{
	if (workload_alone(first % CPUS, 1))
		_exit(1);
	for (unsigned int i = 0; i < steps; i++) {
		go_to((first + i) % CPUS);
		compute(first * 1000 + i);
		sched_yield();
		compute(first * 2000 + i);
	}
}

static void *work_thread(void *arg)
{
	work((uintptr_t)arg);
	return NULL;
}

static pthread_t begin_thread(void *(*run)(void *), uintptr_t arg)
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, run, (void *)arg);
	if (errno)
		die("pthread_create");
	return thread;
}

static void work_with_threads(unsigned int first)
{
	pthread_t thread[2];

	for (int i = 0; i < 2; i++)
		thread[i] = begin_thread(work_thread, first + i + 1);
	work(first);
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
}

/* ---- processes ------------------------------------------------------------ */

static void run_child(pid_t child)
{
	int status;

	if (waitpid(child, &status, 0) != child)
		die("waitpid");
	if (status) {
		fprintf(stderr, "scoped: a child ended with status %#x\n", status);
		_exit(1);
	}
}

static pid_t fork_child(void (*run)(void))
{
	pid_t child = fork();

	if (child < 0)
		die("fork");
	if (!child) {
		run();
		_exit(0);
	}
	return child;
}

static void child_with_threads(void)
{
	work_with_threads(1);
}

static void *exec_thread(void *arg)
{
	work((uintptr_t)arg);
	execl("/proc/self/exe", "scoped", "again", steps_text, NULL);
	die("exec");
	return NULL;
}

/* The exec ends the leader and the other thread, in the middle of their work. */
static void child_that_execs(void)
{
	begin_thread(exec_thread, 2);
	begin_thread(work_thread, 3);
	for (;;)
		work(1);
}

static void *exit_thread(void *arg)
{
	work((uintptr_t)arg);
	_exit(0);
	return NULL;
}

static void child_that_exits_early(void)
{
	begin_thread(exit_thread, 3);
	for (;;)
		work(2);
}

static void child_that_leaves_one(void)
{
	fork_child(child_with_threads);
}

static void spawn_again(void)
{
	char *const args[] = { "scoped", "again", steps_text, NULL };
	pid_t child;

	errno = posix_spawn(&child, "/proc/self/exe", NULL, NULL, args, NULL);
	if (errno)
		die("posix_spawn");
	run_child(child);
}

/* Children of a thread that does not lead its process. */
static void *parent_thread(void *arg)
{
	pid_t child[] = { fork_child(child_that_exits_early), fork_child(child_that_execs) };

	work((uintptr_t)arg);
	for (size_t i = 0; i < sizeof(child) / sizeof(child[0]); i++)
		run_child(child[i]);
	return NULL;
}

/* ---- the first process ---------------------------------------------------- */

static int begin[2];

/* Is there before the session, and waits until the leader goes on. */
static void *early_thread(void *arg)
{
	char byte;

	if (read(begin[0], &byte, 1) != 1)
		die("read");
	work((uintptr_t)arg);
	return NULL;
}

int main(int argc, char **argv)
{
	bool again = argc == 3 && !strcmp(argv[1], "again");
	pthread_t early, parent;
	pid_t child[2];

	if (argc != 2 && !again) {
		fprintf(stderr, "usage: scoped STEPS\n");
		return 2;
	}
	steps_text = argv[argc - 1];
	steps = strtoul(steps_text, NULL, 0);
	if (again) {
		work_with_threads(0);
		return 0;
	}
	if (pipe(begin))
		die("pipe");
	early = begin_thread(early_thread, 3);
	if (raise(SIGSTOP) || write(begin[1], "", 1) != 1)
		die("the beginning");
	parent = begin_thread(parent_thread, 1);
	child[0] = fork_child(child_with_threads);
	child[1] = fork_child(child_that_leaves_one);
	work_with_threads(2);
	spawn_again();
	for (int i = 0; i < 2; i++)
		run_child(child[i]);
	pthread_join(early, NULL);
	pthread_join(parent, NULL);
	return 0;
}
