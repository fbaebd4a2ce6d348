/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A load to trace: user code that fills an AUX area fast, by indirect calls (a TIP packet
 * each) and conditional branches whose outcome varies.
 */
#ifndef VM_LOAD_H
#define VM_LOAD_H

#include <stdint.h>
#include <sys/types.h>

/*
 * @rounds indirect calls on the calling thread. With BTS fewer, so that the trace has about
 * the same size.
 */
void load_run(unsigned int rounds);

/*
 * START, @rounds on the session's first CPU, STOP; the number of bytes that the first channel
 * then has.
 */
struct session;
uint64_t load_trace(const struct session *s, unsigned int rounds);

/*
 * Run the load on a thread of its own, pinned to @cpu, until load_stop_all(). Returns when the
 * thread runs. For the main thread; fails the running test on an error.
 */
void load_start(int cpu);
/* The thread ID of the load on @cpu. */
pid_t load_tid(int cpu);
void load_stop_all(void);

#endif
