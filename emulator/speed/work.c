// SPDX-License-Identifier: GPL-2.0-only
/*
 * work KIND N NAME: runs N rounds of "loop", which has few branches, or of "branchy",
 * which has many; with N 0 it never ends. Before and after, it writes "mark NAME
 * begin" or "end" to the console and waits for an answer, while the host reads how
 * much time the virtual machine has used.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile uint64_t sink;

static void mark(const char *name, const char *what)
{
	char line[80];
	int fd = open("/dev/ttyS0", O_RDWR | O_NOCTTY);
	int n = snprintf(line, sizeof(line), "\nmark %s %s\n", name, what);

	if (fd < 0 || write(fd, line, n) != n || read(fd, line, sizeof(line)) <= 0)
		exit(1);
	close(fd);
}

static uint64_t step(uint64_t x)
{
	return x * 6364136223846793005ULL + 1442695040888963407ULL;
}

static void loop(unsigned long n)
{
	uint64_t x = 1;

	while (n--)
		x = step(step(step(step(step(step(step(step(x)))))))) ^ x >> 7;
	sink = x;
}

static __attribute__((noinline)) uint64_t odd(uint64_t x)
{
	return x & 0x100000 ? x + 3 : x ^ 5;
}

static __attribute__((noinline)) uint64_t even(uint64_t x)
{
	return x & 0x200000 ? x - 7 : x;
}

static void branchy(unsigned long n)
{
	static uint64_t (*const table[])(uint64_t) = { odd, even };
	uint64_t x = 1;

	while (n--) {
		x = step(x);
		x = table[x >> 40 & 1](x);
		if (x & 0x40000)
			sink++;
		x = odd(x);
	}
	sink = x;
}

int main(int argc, char **argv)
{
	unsigned long n;

	if (argc != 4) {
		fprintf(stderr, "usage: work loop|branchy N NAME\n");
		return 2;
	}
	n = strtoul(argv[2], NULL, 0);
	if (!n)
		for (;;)
			strcmp(argv[1], "loop") ? branchy(1000) : loop(1000);
	mark(argv[3], "begin");
	if (!strcmp(argv[1], "loop"))
		loop(n);
	else
		branchy(n);
	mark(argv[3], "end");
	return 0;
}
