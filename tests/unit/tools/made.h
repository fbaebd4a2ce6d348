/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Recordings made by a test, over a few bytes of code whose flow is plain to see, and
 * what `auxtrace script` says of them.
 */
#ifndef MADE_H
#define MADE_H

#include <stdbool.h>
#include <stdio.h>

#include <linux/auxtrace.h>

#include "command.h"

#define BOTH	(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL)

/* A program, at MAIN when it is mapped at its own addresses. */
#define BASE	0x400000ull
#define MAIN	(BASE + 0x1000)
#define F	(MAIN + 0x10)
#define TRY	(MAIN + 0x20)

/* A kernel. */
#define KERNEL	0xffffffff81000000ull
#define ENTRY	KERNEL
#define IRQ	(KERNEL + 0x10)
#define SWITCH	(KERNEL + 0x20)
#define SCHED	(KERNEL + 0x30)
#define TRAP	(KERNEL + 0x40)
#define OFF	(KERNEL + 0x50)
#define FAULT	(KERNEL + 0x60)

#define CR3	0x5000ull
#define CR3_UNKNOWN	UINT64_MAX	/* write_task(): the process ended before it could be read */
#define OTHER	0x9000ull

/* Its directory, with the program, a task that runs it, and the kernel. */
extern char dir[64];
int made_begin(void);
int made_end(void);

/* A file in it, to be written. */
FILE *file(const char *name);
/* The path of one, until the next call. */
char *program_path(const char *name);
void write_program(const char *name);
/* Its bytes alone. */
void write_code(const char *name);
/* The same program but for one byte. */
void write_other_program(const char *name);
/* Assemble @code, which is at MAIN, and let task 100 run it: its source lines are those of the assembly language. */
void write_program_with_lines(const char *code);
/* @name: task.NAME; a program mapped at @base. */
void write_task(const char *name, uint64_t cr3, uint64_t begin_tsc, const char *path, uint64_t base);
/* cpu0.data */
void write_records(const void *records, size_t size);
void append(const char *name, const char *text);
/* meta. @machine: lines of it; @cpu: CPU 0's line */
void write_made_meta(const char *machine, uint32_t flags, const char *cpu);
/*
 * cpu0.aux with @size bytes, and meta. @machine: lines of it; @cpu: the rest of CPU 0's
 * line.
 */
void write_trace(const void *bytes, size_t size, const char *machine, uint32_t flags, const char *cpu);

/* What is expected, a line each. */
void begin_expected(void);
void line(const char *format, ...) __attribute__((format(printf, 1, 2)));
void insn(uint64_t ip, unsigned int size);
/* main calls f, which takes its branch or not, up to the syscall. */
void expect_main(uint64_t base, bool taken);
/* Window number @seq is what window_packets() made. */
void expect_window(int seq);

/* Run `auxtrace script @options` on it. */
const struct result *script(const char *options);
/* Fails unless that said what is expected. */
void expect_flow(const struct result *r);

#endif
