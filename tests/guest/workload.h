/* SPDX-License-Identifier: GPL-2.0-only */
/* A mix of all kinds of control flow, for tests that compare flows. */
#ifndef WORKLOAD_H
#define WORKLOAD_H

/*
 * Run @rounds rounds on @cpu with two threads that share it: system calls, page
 * faults, signals, sleeps (timer interrupts, idle), context switches, indirect
 * calls and jumps, recursion deeper than the CPU's return stack, returns that
 * match no call, REP strings. Returns 0, or -1 with a message on stderr.
 * Blocks until done. One caller at a time for each CPU.
 */
int workload_run(int cpu, unsigned int rounds);

/* The same in the calling thread alone, which stays bound to @cpu. */
int workload_alone(int cpu, unsigned int rounds);

/*
 * The range of three functions that each round calls once: indirect jumps, a recursion, and a return
 * that matches no call.
 */
extern const char __start_workload_range[], __stop_workload_range[];

#endif
