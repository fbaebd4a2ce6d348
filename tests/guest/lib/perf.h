/* SPDX-License-Identifier: GPL-2.0 */
/* perf's own user of the hardware: an event of its intel_pt or intel_bts PMU. */
#ifndef VM_PERF_H
#define VM_PERF_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Skips the running test, saying why, if this kernel has no such PMU. */
void perf_required(void);

/* A disabled event; a descriptor, remembered for teardown, or a negative errno. */
int perf_open(pid_t pid, int cpu);
/* The same, not remembered: for other threads than the main one. */
int perf_open_plain(pid_t pid, int cpu);

/*
 * Interrupt @cpu (an NMI) after each @period instructions, until teardown: a
 * descriptor or a negative errno. Needs no such PMU.
 */
int perf_sample(int cpu, uint64_t period);

/*
 * perf drops overflows of a CPU that it finds too busy with them: not from here on. False,
 * with a message, if it cannot be told so.
 */
bool perf_unthrottle(void);

/*
 * Let the event, which has not traced yet, do so for the time of twice @rounds
 * of the load on the calling thread, with @then in the middle, and return the
 * bytes that perf says are in its AUX area; a negative errno if any step fails,
 * -EBADMSG if they are not packets from a PSB on, or records.
 */
int64_t perf_trace_during(int fd, unsigned int rounds, void (*then)(void *arg), void *arg);
int64_t perf_trace(int fd, unsigned int rounds);

/* The two ways to ask perf for the hardware, both refused or both granted. */
void perf_is_refused(int cpu);
void perf_is_granted(int cpu);

#endif
