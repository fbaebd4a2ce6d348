/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the tests of recordings share: a session of the fake device, a directory to record into,
 * and what is to be in its files. Each function fails the test where it cannot do what it says.
 */
#ifndef RECORDING_CASE_H
#define RECORDING_CASE_H

#include "failure.h"
#include "ringwriter.h"

#include <string.h>

#include <auxtrace.h>

#define SIZE	(2 * PAGE)	/* of an AUX area */
extern char dir[64];			/* the recording is made there */
extern struct auxtrace_session *session;	/* NULL: none is open */

/* Setup and teardown of a test. Files are written without O_DIRECT. */
int begin_recording(void **state);
int end_recording(void **state);
/* In the middle of one: the device is as at its begin. The session has been closed. */
void new_device(void **state);

/* Open and set up a session of these CPUs; with data rings, of CPUs 0 and 1. */
void set_up(const char *cpus, uint32_t flags);
void set_up_data(uint32_t flags, uint32_t slots);
/* As set_up(), and a recording of the session. */
struct auxtrace_recording *new_recording(const char *cpus, uint32_t flags);

/* From now on files are written with O_DIRECT. Skips the test where the file system has none. */
void need_direct(void);

/* Skips the test where io_uring is not allowed. */
void need_uring(void);

/* The CPU produces up to position @to; the present slot gets @count bytes. */
void produce(unsigned int cpu, uint64_t to);
void produce_in_slot(unsigned int cpu, uint64_t count);

/* For on_snapshot: the cut, which switches to next_slot. */
extern uint32_t next_slot;
void take_slot(unsigned int cpu, struct auxtrace_cut *cut);

/* A name as printf(3) makes it, until the next call. */
const char *named(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* A file of the recording: what it has, with a 0 behind it, to be freed; @size may be NULL. */
char *slurp(const char *name, size_t *size);
bool exists(const char *name);
unsigned int mode_of(const char *name);
/* The descriptor by which it is being written. */
int descriptor_of(const char *name);
/* The first value of a key in it, and in the caller's task file. */
uint64_t number_in(const char *name, const char *key);
uint64_t value_of(const char *suffix, const char *key);

void expect_in(const char *name, const char *text);
void expect_not_in(const char *name, const char *text);
/* cpuN.aux has what was produced [from, to), and @pad bytes of 0 before it. */
void expect_aux(unsigned int cpu, uint64_t from, uint64_t to);
void expect_aux_behind(const char *prefix, unsigned int cpu, uint64_t from, uint64_t to, size_t pad);
/* The file has records up to number @last; returns how many. */
uint64_t expect_records(const char *name, uint64_t last);

#endif
