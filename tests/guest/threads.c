// SPDX-License-Identifier: GPL-2.0-only
/*
 * threads ROUNDS: four threads of one process, each with a name. In each round a thread goes to
 * another of two CPUs, and calls shared(), which all of them run. There it lets others run, and
 * calls back a function of its own. So whoever says which thread was in shared(), and from where it was
 * called, can be judged by what shared() called: threads.sh does.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#define CPUS	2

static unsigned long rounds;

static void die(const char *what)
{
	fprintf(stderr, "threads: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void go_to(unsigned int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		die("sched_setaffinity");
}

/* Not static, so that the calls have names; the barriers keep them from becoming jumps. */
void shared(void (*own)(void));
#define THREAD(name)								\
	void only_##name(void);							\
	void __attribute__((noinline)) only_##name(void)			\
	{									\
		__asm__ volatile("" ::: "memory");				\
	}									\
	void name(unsigned int number);						\
	void __attribute__((noinline)) name(unsigned int number)		\
	{									\
		for (unsigned long i = 0; i < rounds; i++) {			\
			go_to((number + i) % CPUS);				\
			shared(only_##name);					\
			__asm__ volatile("" ::: "memory");			\
		}								\
	}

THREAD(alfa)
THREAD(bravo)
THREAD(charlie)
THREAD(delta)

void __attribute__((noinline)) shared(void (*own)(void))
{
	sched_yield();
	own();
	sched_yield();
	__asm__ volatile("" ::: "memory");
}

static const struct {
	const char *name;
	void (*run)(unsigned int number);
} thread[] = { { "alfa", alfa }, { "bravo", bravo }, { "charlie", charlie }, { "delta", delta } };

#define COUNT	(sizeof(thread) / sizeof(thread[0]))

static void *run(void *number)
{
	unsigned int i = (unsigned long)number;

	if (prctl(PR_SET_NAME, thread[i].name))
		die("prctl");
	thread[i].run(i);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t id[COUNT];

	if (argc != 2)
		return 2;
	rounds = strtoul(argv[1], NULL, 10);
	for (unsigned long i = 0; i < COUNT; i++) {
		errno = pthread_create(&id[i], NULL, run, (void *)i);
		if (errno)
			die("pthread_create");
	}
	for (unsigned int i = 0; i < COUNT; i++)
		pthread_join(id[i], NULL);
	return 0;
}
