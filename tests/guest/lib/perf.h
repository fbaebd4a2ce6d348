/* SPDX-License-Identifier: GPL-2.0-only */
/* perf's use of the hardware: events of its intel_pt or intel_bts PMU, and of branches. */
#ifndef VM_PERF_H
#define VM_PERF_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Skips the running test, with a message, if this kernel has no such PMU. */
void perf_required(void);

/* The type of perf's PMU of this name; -1 if the kernel has none. */
int64_t perf_pmu_type(const char *pmu);

/* A disabled event: a descriptor, which teardown closes, or a negative errno. */
int perf_open(pid_t pid, int cpu);
/* The same, not closed by teardown: for other threads than the main one. */
int perf_open_plain(pid_t pid, int cpu);

/*
 * Disabled events that a session may exclude: one for each branch, which is perf's old interface to
 * BTS, and one with the last branch records.
 */
extern const struct perf_event_attr perf_each_branch, perf_last_branches;

/* Any event: a descriptor, not closed by teardown, or a negative errno. */
int perf_open_event(const struct perf_event_attr *attr, pid_t pid, int cpu);

/*
 * Interrupt @cpu by an NMI after each @period instructions, until teardown: a descriptor or a
 * negative errno. Needs no trace PMU.
 */
int perf_sample(int cpu, uint64_t period);

/*
 * Keep perf from throttling events that overflow often. False, with a message, if the kernel
 * does not allow it.
 */
bool perf_unthrottle(void);
/* The same for events that overflow at most @rate times a second; it throttles the others. */
bool perf_throttle(unsigned int rate);

/*
 * Trace by the event, which has not traced yet, while the calling thread runs the load twice
 * for @rounds, with @then between. Returns the number of bytes that perf reports in its AUX
 * area, or a negative errno: -EBADMSG if they are not packets from a PSB on, or records.
 */
int64_t perf_trace_during(int fd, unsigned int rounds, void (*then)(void *arg), void *arg);
int64_t perf_trace(int fd, unsigned int rounds);
/* Does the event trace on @cpu? */
bool perf_works(int fd, int cpu);

/* perf events on a CPU and of a task: both get EBUSY, or both can be opened. */
void perf_is_refused(int cpu);
void perf_is_granted(int cpu);

#endif
