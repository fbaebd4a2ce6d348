// SPDX-License-Identifier: GPL-2.0-only
/*
 * jit dump|map CALLS [SECONDS]: a runtime that makes code. It makes two functions, one after the other at the
 * same address, and one beside them, and calls each CALLS times. It says what it made as perf's
 * jitdump, or as a map of names, which has only what is there at the end. That comes when it has a tracer, for which it
 * waits SECONDS; else at once.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

static FILE *out;
static int dumps;

static void die(const char *what)
{
	fprintf(stderr, "jit: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static void begin(void)
{
	const struct {
		uint32_t magic, version, size, elf_mach, reserved, pid;
		uint64_t time, flags;
	} header = { 0x4a695444, 1, sizeof(header), EM_X86_64, 0, getpid(), now(), 0 };
	char path[64];

	snprintf(path, sizeof(path), dumps ? "/tmp/jit-%d.dump" : "/tmp/perf-%d.map", getpid());
	out = fopen(path, "w+");
	if (!out)
		die(path);
	if (!dumps)
		return;
	fwrite(&header, sizeof(header), 1, out);
	fflush(out);
	/* So that perf's record of the mapping tells where the dump is. */
	if (mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(out), 0) == MAP_FAILED)
		die("mmap");
}

static void tell(const char *name, const void *code, size_t size)
{
	struct {
		uint32_t id, size;
		uint64_t time;
		uint32_t pid, tid;
		uint64_t vma, addr, code_size, index;
	} load = {
		.size = sizeof(load) + strlen(name) + 1 + size, .time = now(), .pid = getpid(), .tid = getpid(),
		.vma = (uintptr_t)code, .addr = (uintptr_t)code, .code_size = size,
	};

	if (dumps) {
		fwrite(&load, sizeof(load), 1, out);
		fwrite(name, strlen(name) + 1, 1, out);
		fwrite(code, size, 1, out);
	} else {
		fprintf(out, "%lx %zx %s\n", (unsigned long)code, size, name);
	}
	fflush(out);
}

/* A loop of @turns, behind @pad bytes that do nothing. Returns its size. */
static size_t make(uint8_t *at, unsigned int pad, uint8_t turns)
{
	const uint8_t loop[] = { 0xb9, turns, 0, 0, 0, 0xff, 0xc9, 0x75, 0xfc, 0xc3 };

	memset(at, 0x90, pad);		/* nop */
	memcpy(at + pad, loop, sizeof(loop));
	return pad + sizeof(loop);
}

static void call(const void *code, unsigned long calls)
{
	while (calls--)
		((void (*)(void))code)();
}

static bool has_tracer(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	int pid = 0;

	if (!f)
		die("/proc/self/status");
	while (!pid && fgets(line, sizeof(line), f))
		sscanf(line, "TracerPid: %d", &pid);
	fclose(f);
	return pid;
}

/* A runtime lives longer than the recorder needs to see it. */
static void wait_for_tracer(double seconds)
{
	for (double left = seconds; !has_tracer(); left -= 0.01) {
		if (left < 0) {
			fprintf(stderr, "jit: nobody follows\n");
			exit(1);
		}
		usleep(10000);
	}
}

int main(int argc, char **argv)
{
	uint8_t *code = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	unsigned long calls;
	size_t size;

	if (argc < 3 || argc > 4 || code == MAP_FAILED)
		return 2;
	dumps = !strcmp(argv[1], "dump");
	calls = strtoul(argv[2], NULL, 10);
	begin();
	if (dumps) {
		size = make(code, 0, 5);
		tell("made_first", code, size);
		call(code, calls);
	}
	size = make(code, 2, 3);
	tell("made_second", code, size);
	call(code, calls);
	size = make(code + 512, 1, 4);
	tell("made_third", code + 512, size);
	call(code + 512, calls);
	if (argc == 4)
		wait_for_tracer(strtod(argv[3], NULL));
	/* The recorder reads the code to a map at the end of the process, or of the recording. */
	return 0;
}
