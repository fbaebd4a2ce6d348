// SPDX-License-Identifier: GPL-2.0-only
/*
 * threads ROUNDS [MARK GO | alone]: four threads of one process, each with a name. In each round a thread goes to
 * another of two CPUs, and calls shared(), which all of them run. There it lets others run, and
 * calls back a function of its own. So whoever says which thread was in shared(), and from where it was
 * called, can be judged by what shared() called: threads.sh does. Each thread prints its name and its thread ID.
 *
 * With MARK and GO the threads run ROUNDS twice. In between the program makes the file MARK, and waits for GO.
 *
 * With "alone" they run one after the other, and each sleeps before its rounds and behind them: while it runs
 * the others do not, and main() has been waiting for it.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define CPUS		2
#define ALONE_US	100000

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

/* The threads and main() */
static pthread_barrier_t all;
static int twice, alone;

static void *run(void *number)
{
	unsigned int i = (unsigned long)number;

	if (prctl(PR_SET_NAME, thread[i].name))
		die("prctl");
	printf("%s %d\n", thread[i].name, gettid());
	if (alone)
		usleep(ALONE_US);
	thread[i].run(i);
	if (alone)
		usleep(ALONE_US);
	if (twice) {
		pthread_barrier_wait(&all);
		pthread_barrier_wait(&all);
		thread[i].run(i);
	}
	return NULL;
}

static void between(const char *mark, const char *go)
{
	int fd;

	pthread_barrier_wait(&all);
	fd = open(mark, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	if (fd < 0)
		die(mark);
	close(fd);
	while (access(go, F_OK))
		usleep(10000);
	pthread_barrier_wait(&all);
}

int main(int argc, char **argv)
{
	pthread_t id[COUNT];

	twice = argc == 4;
	alone = argc == 3 && !strcmp(argv[2], "alone");
	if (argc != 2 && !twice && !alone)
		return 2;
	rounds = strtoul(argv[1], NULL, 10);
	errno = pthread_barrier_init(&all, NULL, COUNT + 1);
	if (errno)
		die("pthread_barrier_init");
	for (unsigned long i = 0; i < COUNT; i++) {
		errno = pthread_create(&id[i], NULL, run, (void *)i);
		if (errno)
			die("pthread_create");
		if (alone)
			pthread_join(id[i], NULL);
	}
	if (twice)
		between(argv[2], argv[3]);
	for (unsigned int i = 0; i < COUNT && !alone; i++)
		pthread_join(id[i], NULL);
	return 0;
}
