/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernel instructions that CPUs have retired: fixed counter 0 of each, which belongs
 * to us (nmi_watchdog=0, and no event of perf's on the CPU's PMU). User instructions
 * are left out, so that a CPU may do something while what a request costs it is counted.
 */
#ifndef BENCH_COUNTER_H
#define BENCH_COUNTER_H

#include <stdint.h>

#define MAX_CPUS	64

/* Sets them going on @nr CPUs, or exits with a message. */
void counters_start(unsigned int nr);
/* Exits with a message unless all of them still count. */
void counters_check(void);

/* This CPU's. */
static inline uint64_t instructions(void)
{
	uint32_t low, high;

	__asm__ volatile("rdpmc" : "=a" (low), "=d" (high) : "c" (1u << 30) : "memory");
	return (uint64_t)high << 32 | low;
}

struct cost {
	uint64_t caller;	/* instructions of this CPU */
	uint64_t others;	/* of the other CPUs, together */
	uint64_t wrmsrs;	/* see wrmsrs() */
};

/*
 * From now on the CPUs from 1 to @nr - 1 are the others, and what they are doing now
 * is what they do by themselves. Called on CPU 0, as the next.
 */
void costs_begin(unsigned int nr);

/*
 * WRMSRs so far that drive a trace PMU, of IA32_RTIT_*, IA32_DEBUGCTL and IA32_DS_AREA, on
 * CPU 0 and the others, as the model counts them.
 */
uint64_t wrmsrs(void);

/* What else the model counts, of CPU 0: PTM_N_* of emulator/core/synthetic.h. */
uint64_t model_count(unsigned int which);

/*
 * The least that @op cost in several runs, on each CPU: what else ran only adds. @undo
 * makes it ready for the next.
 */
struct cost cost_of(void (*op)(void *arg), void (*undo)(void *arg), void *arg);

#endif
