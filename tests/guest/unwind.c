// SPDX-License-Identifier: GPL-2.0-only
/*
 * unwind ROUNDS: functions that do not return to their callers. In each round longjmp() leaves some of them, signals are
 * handled where a system call ends and where an instruction faults, and a thread that ends runs what its functions have
 * to clean up, as an exception does. At the end exec begins anew. Where each of these leads to, it calls a function
 * whose name begins with mark_. So whoever says from where these were called can be judged by this source:
 * threads.sh does.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Not static, so that they have names; the barriers keep calls from becoming jumps. */
#define FUNCTION(name, arguments)	\
	void name arguments;		\
	void __attribute__((noinline)) name arguments
#define BARRIER		__asm__ volatile("" ::: "memory")
#define MARK(name)	FUNCTION(mark_##name, (void)) { BARRIER; }

MARK(jump)
MARK(handler)
MARK(signal)
MARK(fault)
MARK(clean)
MARK(round)
MARK(exec)

static void die(const char *what)
{
	fprintf(stderr, "unwind: %s: %s\n", what, strerror(errno));
	exit(1);
}

/* ---- longjmp ----------------------------------------------------------------------- */

static sigjmp_buf back;

FUNCTION(deep, (unsigned int calls))
{
	if (!calls)
		siglongjmp(back, 1);
	deep(calls - 1);
	BARRIER;
}

FUNCTION(jumps, (void))
{
	if (!sigsetjmp(back, 0))
		deep(3);
	mark_jump();
	BARRIER;
}

/* ---- signals ----------------------------------------------------------------------- */

FUNCTION(handle, (int number))
{
	mark_handler();
	if (number == SIGSEGV)
		siglongjmp(back, 1);
}

FUNCTION(signals, (void))
{
	/* The handler runs before this call returns. */
	if (syscall(SYS_kill, getpid(), SIGUSR1))
		die("kill");
	mark_signal();
	BARRIER;
}

FUNCTION(touch, (volatile char *nothing))
{
	*nothing = 1;
}

FUNCTION(faults, (char *nothing))
{
	if (!sigsetjmp(back, 1))
		touch(nothing);
	mark_fault();
	BARRIER;
}

/* ---- what functions clean up ------------------------------------------------------- */

FUNCTION(clean, (int *unused))
{
	(void)unused;
	mark_clean();
	BARRIER;
}

FUNCTION(ends, (void))
{
	pthread_exit(NULL);
}

FUNCTION(inner_clean, (void))
{
	int cleaned __attribute__((cleanup(clean))) = 0;

	ends();
	BARRIER;
}

FUNCTION(outer_clean, (void))
{
	int cleaned __attribute__((cleanup(clean))) = 0;

	inner_clean();
	BARRIER;
}

static void *thread(void *arg)
{
	outer_clean();
	return arg;
}

/* ---- all --------------------------------------------------------------------------- */

FUNCTION(each_round, (char *nothing))
{
	pthread_t id;

	jumps();
	signals();
	faults(nothing);
	errno = pthread_create(&id, NULL, thread, NULL);
	if (errno)
		die("pthread_create");
	pthread_join(id, NULL);
	mark_round();
	BARRIER;
}

FUNCTION(replace, (const char *program))
{
	execl(program, program, "0", (char *)NULL);
	die(program);
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = handle };
	unsigned long rounds;
	char *nothing;

	if (argc != 2)
		return 2;
	rounds = strtoul(argv[1], NULL, 10);
	if (!rounds) {
		mark_exec();
		return 0;
	}
	nothing = mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (nothing == MAP_FAILED || sigaction(SIGUSR1, &action, NULL) || sigaction(SIGSEGV, &action, NULL))
		die("mmap or sigaction");
	while (rounds--)
		each_round(nothing);
	replace("/proc/self/exe");
}
