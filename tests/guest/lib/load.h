/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Something to trace: user code that fills an AUX area fast, by indirect calls
 * (a TIP packet each) and conditional branches whose outcome varies.
 */
#ifndef VM_LOAD_H
#define VM_LOAD_H

#include <sys/types.h>

/*
 * @rounds indirect calls on the calling thread; BTS: so many fewer that the trace is of
 * about the same size.
 */
void load_run(unsigned int rounds);

/*
 * Run it on a thread of its own, pinned to @cpu, until load_stop_all(). Returns
 * when the thread runs. Main thread only; fails the running test if it cannot.
 */
void load_start(int cpu);
/* The thread of the load on @cpu. */
pid_t load_tid(int cpu);
void load_stop_all(void);

#endif
