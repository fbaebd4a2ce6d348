/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel instructions that CPUs have retired: fixed counter 0 of each. Nothing else
 * uses that counter (nmi_watchdog=0, and no perf event on the CPU's PMU). It excludes
 * user instructions, so that a CPU may run user code while the cost of a request is
 * counted.
 */
#ifndef BENCH_COUNTER_H
#define BENCH_COUNTER_H

#include <stdint.h>

#define MAX_CPUS	64

/* Starts the counters of @nr CPUs, or exits with a message. */
void counters_start(unsigned int nr);
/* Exits with a message unless all counters still count. */
void counters_check(void);

/* Kernel instructions of this CPU. */
static inline uint64_t instructions(void)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a" (low), "=d" (high) : "c" (1u << 30) : "memory");
	return (uint64_t)high << 32 | low;
}

struct cost {
	uint64_t caller;	/* instructions of this CPU */
	uint64_t others;	/* sum over the other CPUs */
	uint64_t wrmsrs;	/* see wrmsrs() */
};

/* Makes CPUs 1 to @nr - 1 the others. Call this and the following functions on CPU 0. */
void costs_begin(unsigned int nr);

/*
 * WRMSRs of IA32_RTIT_*, IA32_DEBUGCTL and IA32_DS_AREA so far, on CPU 0 and the others,
 * as the model counts them.
 */
uint64_t wrmsrs(void);

/* Another counter of the model, on CPU 0: PTM_N_* of emulator/core/synthetic.h. */
uint64_t model_count(unsigned int which);

/*
 * The minimum cost of @op over several runs, on each CPU, less the minimum without an operation: of both
 * other activity can only add to it. @undo prepares the next run.
 */
struct cost cost_of(void (*op)(void *arg), void (*undo)(void *arg), void *arg);

#endif
