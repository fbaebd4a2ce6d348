// SPDX-License-Identifier: GPL-2.0-only
/*
 * The program `prog` of the documents' examples, for tests/guest/commands.sh: it serves requests for some seconds, one
 * of them slowly; or crashes, with --crash. Other arguments are the documents' own, and mean nothing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define REQUESTS 300
#define LARGE 40	/* allocates much, at once */
#define SLOW 60

static char *volatile buffer;

static long now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000l + ts.tv_nsec;
}

__attribute__((noinline)) void fatal(int n)
{
	printf("request %d cannot be served\n", n);
	fflush(stdout);
	__builtin_trap();
}

__attribute__((noinline)) int serve(int n)
{
	long begun = now_ns();

	buffer = malloc(n == LARGE ? 16 << 20 : 64);
	if (!buffer)
		return -1;
	buffer[0] = (char)n;
	while (n == SLOW && now_ns() - begun < 30000000)
		;
	free(buffer);
	return n;
}

int main(int argc, char **argv)
{
	int crash = argc > 1 && strcmp(argv[1], "--crash") == 0, sum = 0;

	/* The kernel fills what is allocated, so that the call which allocates much takes long. */
	mlockall(MCL_FUTURE);
	for (int n = 1; n <= REQUESTS; n++) {
		sum += serve(n);
		if (crash && n == 5)
			fatal(n);
		if (!crash)
			usleep(10000);
	}
	printf("%d requests served, %d\n", REQUESTS, sum);
	return 0;
}
