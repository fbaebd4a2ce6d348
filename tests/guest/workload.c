// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "workload.h"

#define RECURSION	100	/* deeper than the 64 entries of RET compression */
#define PAGES		4

/* In a section of its own, so that its addresses are known as a range. */
#define FILTERED	__attribute__((noinline, section("workload_range")))

static unsigned int volatile sink;

static unsigned int op_add(unsigned int x) { return x + 3; }
static unsigned int op_mix(unsigned int x) { return x * 2654435761u; }
static unsigned int op_fold(unsigned int x) { return x ^ x >> 15; }

static unsigned int (*const ops[])(unsigned int) = { op_add, op_mix, op_fold };

static unsigned int indirect_calls(unsigned int x)
{
	for (int i = 0; i < 60; i++)
		x = ops[x % 3](x);
	return x;
}

/* A jump table: an indirect JMP, not a CALL. */
static unsigned int FILTERED indirect_jumps(unsigned int x)
{
	static const void *const label[] = { &&even, &&odd, &&three };

	for (int i = 0; i < 30; i++) {
		goto *label[x % 3];
even:
		x = x / 2 + 7;
		continue;
odd:
		x = 3 * x + 1;
		continue;
three:
		x += 11;
	}
	return x;
}

static unsigned int FILTERED deep(unsigned int n)
{
	unsigned int below = n ? deep(n - 1) : 0;

	/* Work after the call keeps the compiler from making it a loop. */
	return below + (sink & 1);
}

/* Leaves frames whose returns never run. */
static void __attribute__((noinline)) leave(jmp_buf back, unsigned int n)
{
	if (n)
		leave(back, n - 1);
	else if (sink != ~0u)	/* always true, but the compiler must not know */
		longjmp(back, 1);
	sink++;
}

static void unbalanced_returns(void)
{
	jmp_buf back;

	if (!setjmp(back))
		leave(back, 10);
}

/* A RET to where no CALL came from, as a retpoline has. */
static unsigned int FILTERED forged_return(unsigned int x)
{
	asm volatile("lea 1f(%%rip), %%rax\n\t"
		     "sub $128, %%rsp\n\t"	/* step over the red zone */
		     "push %%rax\n\t"
		     "ret\n\t"
		     "ud2\n"
		     "1:\tadd $128, %%rsp\n\t"
		     "inc %0"
		     : "+r" (x) : : "rax", "memory", "cc");
	return x;
}

static void rep_strings(void)
{
	static char a[4096], b[4096];
	void *to = a, *from = b;
	unsigned long n = 300;

	asm volatile("rep stosb" : "+D" (to), "+c" (n) : "a" (sink & 255) : "memory");
	to = a;
	n = 200;
	asm volatile("rep movsb" : "+D" (to), "+S" (from), "+c" (n) : : "memory");
	to = a;
	from = b;
	n = 0;
	asm volatile("rep movsq" : "+D" (to), "+S" (from), "+c" (n) : : "memory");
	to = a;
	from = b;
	n = 50;
	asm volatile("repe cmpsb" : "+D" (to), "+S" (from), "+c" (n) : : "memory", "cc");
}

static int page_faults(void)
{
	long size = sysconf(_SC_PAGESIZE);
	char *p = mmap(NULL, PAGES * size, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return -1;
	for (int i = 0; i < PAGES; i++)
		p[i * size] = i;
	return munmap(p, PAGES * size);
}

static void on_signal(int sig)
{
	sink += sig;
}

static int one_round(unsigned int i)
{
	struct timespec nap = { .tv_nsec = 100000 };

	sink = indirect_calls(sink + i);
	sink = indirect_jumps(sink);
	sink += deep(RECURSION);
	unbalanced_returns();
	sink = forged_return(sink);
	rep_strings();
	syscall(SYS_getppid);
	if (page_faults())
		return -1;
	if (syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1))
		return -1;
	sched_yield();
	if (i % 8 == 0)
		nanosleep(&nap, NULL);
	return 0;
}

struct shift {
	int cpu;
	unsigned int rounds;
	int error;
};

static void *work(void *arg)
{
	struct shift *s = arg;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(s->cpu, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		s->error = errno;
		return NULL;
	}
	for (unsigned int i = 0; i < s->rounds; i++) {
		if (one_round(i)) {
			s->error = errno;
			break;
		}
	}
	return NULL;
}

static int catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };

	return sigaction(SIGUSR1, &sa, NULL) ? errno : 0;
}

static int result(int cpu, int error)
{
	if (error)
		fprintf(stderr, "workload on CPU %d: %s\n", cpu, strerror(error));
	return error ? -1 : 0;
}

int workload_alone(int cpu, unsigned int rounds)
{
	struct shift shift = { .cpu = cpu, .rounds = rounds, .error = catch_signals() };

	if (!shift.error)
		work(&shift);
	return result(cpu, shift.error);
}

int workload_run(int cpu, unsigned int rounds)
{
	struct shift shift[2] = { { .cpu = cpu, .rounds = rounds },
				  { .cpu = cpu, .rounds = rounds } };
	int started = 0, error = catch_signals();
	pthread_t thread[2];

	for (; !error && started < 2; started++)
		error = pthread_create(&thread[started], NULL, work, &shift[started]);
	while (started--) {
		pthread_join(thread[started], NULL);
		if (!error)
			error = shift[started].error;
	}
	return result(cpu, error);
}
