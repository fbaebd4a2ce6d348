/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An input of the fuzzer is a program: records of 16 bytes, each an operation on
 * /dev/auxtrace or around it. Four threads run it, each its own records in order. The
 * operation PHASE is for all: what follows it begins when what precedes it has ended. REPEAT
 * has its thread run the next few of its records up to some thousand times more, and begins no
 * round after a while (run --repeat): calls are cheap, and the sessions that they need are not.
 */
#ifndef DEVICE_PROGRAM_H
#define DEVICE_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define THREADS		4U
#define FILES		4U	/* sessions that a program can have at a time */
#define MAX_RECORDS	256U

enum operation {
	/* ioctls */
	OP_INFO, OP_SETUP, OP_START, OP_STOP, OP_PAUSE, OP_RESUME, OP_STATUS, OP_TASK,
	OP_OUTPUT, OP_SNAPSHOT, OP_RELEASE, OP_ADD, OP_DEL, OP_READ, OP_UNKNOWN,
	/* the file and its mappings */
	OP_OPEN, OP_CLOSE, OP_MMAP, OP_MUNMAP, OP_MREMAP, OP_MPROTECT, OP_TAIL, OP_LOOK, OP_POLL,
	OP_FILE, OP_PASS, OP_FORK,
	/* what happens around it */
	OP_FIRE, OP_WORK, OP_SIGNAL, OP_PIN, OP_CAPABILITIES, OP_PERF, OP_HOTPLUG, OP_UNLOAD,
	OP_PHASE, OP_REPEAT,
	OPERATIONS
};

/**
 * struct record - an operation
 * @op: enum operation, modulo OPERATIONS
 * @who: bits 1:0 thread, 3:2 file, 5:4 CPU, 6: break the argument, 7: let the nth allocation
 *	or copy fail
 * @p: what to do, see operations.c; the last byte is n
 */
struct record {
	uint8_t op, who;
	uint8_t p[14];
};
_Static_assert(sizeof(struct record) == 16, "a record has 16 bytes");

#define WHO_BROKEN	0x40U
#define WHO_FAILS	0x80U

static inline unsigned int record_thread(const struct record *r)
{
	return r->who % THREADS;
}

static inline unsigned int record_file(const struct record *r)
{
	return r->who >> 2 & 3;
}

static inline unsigned int record_cpu(const struct record *r)
{
	return r->who >> 4 & 3;
}

#endif
