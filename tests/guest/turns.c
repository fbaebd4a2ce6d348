// SPDX-License-Identifier: GPL-2.0-only
/*
 * turns FILE: two threads of one process take turns on CPU 1, each in a function of its own, and after them
 * two processes. Who ran which function goes to FILE, a line "TID FUNCTION" each: what a tool that tells
 * threads apart has to find.
 *
 * turns FILE alone: one thread, which sleeps after each call of its function. So between two switches of its
 * CPU no other thread of a traced process runs.
 *
 * The file is not position independent, so its functions have the same addresses in all processes.
 */
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define TURNS	40

static volatile unsigned int sum;
static volatile int *turn;	/* whose it is: 0 or 1; shared with the child */
static FILE *told;

/* The compiler must not merge them. */
#define WORK(name, n)						\
	__attribute__((noinline, noclone)) static void name(void)	\
	{							\
		for (unsigned int i = 0; i < 60 + (n); i++)	\
			sum += i ^ (n);				\
	}
WORK(work_of_first_thread, 1)
WORK(work_of_second_thread, 2)
WORK(work_of_parent, 3)
WORK(work_of_child, 4)

static void tell(const char *name)
{
	fprintf(told, "%ld %s\n", (long)syscall(SYS_gettid), name);
	fflush(told);
}

static void take_turns(int me, void (*work)(void), const char *name)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(1, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("turns: sched_setaffinity");
		_exit(1);
	}
	tell(name);
	for (int i = 0; i < TURNS; i++) {
		while (*turn != me)
			sched_yield();
		work();
		*turn = !me;
	}
}

static int work_alone(void)
{
	tell("work_of_parent");
	for (int i = 0; i < TURNS; i++) {
		work_of_parent();
		usleep(1000);
	}
	return 0;
}

static void *first(void *arg)
{
	take_turns(0, work_of_first_thread, "work_of_first_thread");
	return arg;
}

static void *second(void *arg)
{
	take_turns(1, work_of_second_thread, "work_of_second_thread");
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread[2];
	pid_t child;
	int status;

	if (argc != 2 && (argc != 3 || strcmp(argv[2], "alone")))
		return 2;
	told = fopen(argv[1], "w");
	if (told && argc == 3)
		return work_alone();
	turn = mmap(NULL, sizeof(*turn), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!told || turn == MAP_FAILED || pthread_create(&thread[0], NULL, first, NULL) ||
	    pthread_create(&thread[1], NULL, second, NULL)) {
		perror("turns");
		return 1;
	}
	for (int i = 0; i < 2; i++)
		pthread_join(thread[i], NULL);
	child = fork();
	if (!child) {
		take_turns(1, work_of_child, "work_of_child");
		_exit(0);
	}
	take_turns(0, work_of_parent, "work_of_parent");
	return child < 0 || waitpid(child, &status, 0) != child || status;
}
