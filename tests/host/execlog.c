// SPDX-License-Identifier: GPL-2.0-only
/*
 * execlog OUT < LOG: reduces QEMU's own execution log to what ran, in OUT (ran.h). QEMU writes
 * the log with -d exec,int,nochain,in_asm, one instruction for each translation block, and all
 * CPUs in one thread. The log is independent of the trace model. It should come through a pipe
 * as QEMU writes it: for ten million instructions it has gigabytes.
 *
 * Lines of the log:
 *   Trace CPU: HOST-ADDRESS [CS-BASE/PC/FLAGS/CFLAGS] SYMBOL
 *	an attempt to execute one instruction; the CPL is in FLAGS[1:0]
 *   Stopped execution of TB chain before HOST-ADDRESS [PC] SYMBOL
 *	that attempt was not completed
 *   N: v=VECTOR ... IP=CS:IP ...
 *	an interrupt or exception; the registers follow, among them "TR =SEL BASE"
 *   0xPC: and below it OBJD-T: BYTES
 *	the instruction's bytes, when it is translated, before it first runs
 *
 * A REP string is one line for each iteration, and an instruction that QEMU restarts is logged
 * again: equal neighbours of a CPU that are no branches count as one.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ran.h"

#define CHUNK	(1 << 20)

struct code {
	uint64_t ip;		/* 0: free; no code runs at 0 */
	uint64_t word;		/* ran_code() without the CPL */
};

static struct codes {
	struct code *code;	/* open addressing, at most half full */
	size_t size, used;
} codes;

static struct {
	FILE *out;
	uint64_t number;	/* of the line */
	unsigned int cpu;	/* of the latest Trace line */
	uint64_t latest[RAN_MAX_CPUS];	/* word of each CPU */
	uint64_t block;		/* the instruction whose bytes come next */
	uint64_t event;		/* the event whose task register comes next; 0: none */
} log;

static void die(const char *what)
{
	fprintf(stderr, "execlog: line %" PRIu64 ": %s\n", log.number, what);
	exit(1);
}

static void put(uint64_t word)
{
	if (fwrite(&word, sizeof(word), 1, log.out) != 1)
		die(strerror(errno));
}

static struct code *code_at(uint64_t ip)
{
	size_t i = ip * 0x9e3779b97f4a7c15ULL >> 20;

	for (;; i++) {
		struct code *c = &codes.code[i & (codes.size - 1)];

		if (c->ip == ip || !c->ip)
			return c;
	}
}

static void codes_grow(void)
{
	struct codes old = codes;

	codes.size = old.size ? 2 * old.size : 1 << 16;
	codes.code = calloc(codes.size, sizeof(*codes.code));
	if (!codes.code)
		die(strerror(ENOMEM));
	for (size_t i = 0; i < old.size; i++)
		if (old.code[i].ip)
			*code_at(old.code[i].ip) = old.code[i];
	free(old.code);
}

static bool is_prefix(uint8_t byte)
{
	return byte == 0x66 || byte == 0x67 || byte == 0xf0 || byte == 0xf2 || byte == 0xf3 ||
	       (byte & 0xe7) == 0x26 || byte == 0x64 || byte == 0x65 || (byte & 0xf0) == 0x40;
}

static enum ran_class classify_0f(uint8_t opcode)
{
	switch (opcode) {
	case 0x80 ... 0x8f:
		return RAN_JCC;
	case 0x05:		/* SYSCALL */
	case 0x07:		/* SYSRET */
	case 0x34:		/* SYSENTER */
	case 0x35:		/* SYSEXIT */
	case 0xaa:		/* RSM */
		return RAN_FAR;
	case 0x30:
		return RAN_WRMSR;
	default:
		return RAN_PLAIN;
	}
}

/* 64-bit code. INT n and INT3 are logged as events. */
static enum ran_class classify(const uint8_t *byte, unsigned int n)
{
	unsigned int i = 0, reg;

	while (i + 1 < n && is_prefix(byte[i]))
		i++;
	switch (byte[i]) {
	case 0x70 ... 0x7f:
	case 0xe0 ... 0xe3:	/* LOOP, JRCXZ */
		return RAN_JCC;
	case 0xe8:
	case 0xe9:
	case 0xeb:
	case 0xc2:
	case 0xc3:
		return RAN_NEAR;
	case 0xca:
	case 0xcb:
	case 0xcf:
		return RAN_FAR;
	case 0xff:
		reg = i + 1 < n ? byte[i + 1] >> 3 & 7 : 0;
		if (reg == 2 || reg == 4)
			return RAN_NEAR;
		return reg == 3 || reg == 5 ? RAN_FAR : RAN_PLAIN;
	case 0x0f:
		return i + 1 < n ? classify_0f(byte[i + 1]) : RAN_PLAIN;
	default:
		return RAN_PLAIN;
	}
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return -1;
}

/* The number at *@p; moves *@p behind @end, which must follow the number. */
static uint64_t hex(const char **p, char end)
{
	uint64_t value = 0;
	int digit;

	while ((digit = hex_digit(**p)) >= 0) {
		value = value << 4 | digit;
		++*p;
	}
	if (**p != end)
		die("unexpected format");
	++*p;
	return value;
}

static const char *behind(const char *line, const char *text)
{
	const char *at = strstr(line, text);

	if (!at)
		die("unexpected format");
	return at + strlen(text);
}

static void on_trace(const char *line)
{
	const char *p = behind(line, "[");
	uint64_t ip, flags, word;
	char *end;

	log.cpu = strtoul(line + 6, &end, 10);
	if (*end != ':' || log.cpu >= RAN_MAX_CPUS)
		die("no CPU, or one too many");
	hex(&p, '/');
	ip = hex(&p, '/');
	flags = hex(&p, '/');
	word = ran_word(RAN_INSN, log.cpu, ip) | ran_code(0, 0, (flags & 3) == 3) |
	       code_at(ip)->word;
	if (word == log.latest[log.cpu] &&
	    (ran_class(word) == RAN_PLAIN || ran_class(word) == RAN_WRMSR))
		return;
	log.latest[log.cpu] = word;
	put(word);
}

static void on_stopped(const char *line)
{
	const char *p = behind(line, "[");

	put(ran_word(RAN_STOPPED, log.cpu, hex(&p, ']')));
	log.latest[log.cpu] = 0;
}

static void on_event(const char *line)
{
	const char *p = behind(line, " IP=");

	hex(&p, ':');
	log.event = ran_word(RAN_EVENT, 0, hex(&p, ' '));
}

static void on_task_register(const char *line)
{
	const char *p = behind(line, "=");

	hex(&p, ' ');
	put(log.event);
	put(hex(&p, ' '));
	log.event = 0;
	/* The event's CPU is not known here: no CPU's next attempt is a repetition. */
	memset(log.latest, 0, sizeof(log.latest));
}

static void on_bytes(const char *line)
{
	const char *p = behind(line, " ");
	uint8_t byte[15];
	unsigned int n = 0;
	struct code *c;

	while (n < sizeof(byte) && hex_digit(p[0]) >= 0 && hex_digit(p[1]) >= 0) {
		byte[n++] = hex_digit(p[0]) << 4 | hex_digit(p[1]);
		p += 2;
	}
	if (!n || *p || !log.block)
		die("not one instruction's bytes");
	if (2 * (codes.used + 1) > codes.size)
		codes_grow();
	c = code_at(log.block);
	codes.used += !c->ip;
	c->ip = log.block;
	c->word = ran_code(classify(byte, n), n, false);
	log.block = 0;
}

static void on_line(const char *line)
{
	const char *p = line + 2;

	log.number++;
	if (!strncmp(line, "Trace ", 6))
		on_trace(line);
	else if (!strncmp(line, "Stopped execution", 17))
		on_stopped(line);
	else if (strstr(line, ": v="))
		on_event(line);
	else if (!strncmp(line, "TR =", 4) && log.event)
		on_task_register(line);
	else if (!strncmp(line, "OBJD-T: ", 8))
		on_bytes(line);
	else if (!strncmp(line, "0x", 2))
		log.block = hex(&p, ':');
}

/* QEMU writes each line separately: sleep, so that it need not wake the reader for each. */
static void nap(void)
{
	static const struct timespec t = { .tv_nsec = 2000000 };

	nanosleep(&t, NULL);
}

static void read_log(char *buffer)
{
	size_t have = 0;
	ssize_t n;

	while ((n = read(STDIN_FILENO, buffer + have, CHUNK - have)) > 0) {
		char *line = buffer, *end;

		have += n;
		while ((end = memchr(line, '\n', buffer + have - line))) {
			*end = 0;
			on_line(line);
			line = end + 1;
		}
		have -= line - buffer;
		memmove(buffer, line, have);
		if (have == CHUNK)
			die("it is too long");
		if (n < CHUNK / 4)
			nap();
	}
	if (n < 0)
		die(strerror(errno));
	if (have || log.event)
		die("the log ends within it");
}

int main(int argc, char **argv)
{
	char *buffer = malloc(CHUNK);

	if (argc != 2) {
		fprintf(stderr, "usage: execlog OUT < LOG\n");
		return 2;
	}
	log.out = fopen(argv[1], "w");
	if (!log.out || !buffer)
		die(strerror(errno));
	/* A larger pipe; not if stdin is none, or without the right to. */
	fcntl(STDIN_FILENO, F_SETPIPE_SZ, CHUNK);
	codes_grow();
	read_log(buffer);
	if (fclose(log.out))
		die(strerror(errno));
	free(codes.code);
	free(buffer);
	return 0;
}
