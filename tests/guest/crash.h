/* SPDX-License-Identifier: GPL-2.0-only */
/* What crash.c leaves for test_crash.c, which runs after the kernel has crashed. */
#ifndef VM_CRASH_H
#define VM_CRASH_H

#include <stdint.h>

#define CRASH_PLAN	"/crash/plan"
#define CRASH_MAGIC	0x6873617263787561ULL	/* "auxcrash", low byte first */
#define CRASH_CPUS	4
/* Pages of an AUX area: so many that the trace up to the crash does not fill it. */
#define CRASH_PAGES	8192

struct crash_channel {
	int32_t cpu;
	uint32_t landmark_runs;		/* a thread calls the landmark on this CPU */
	uint64_t bytes_before;		/* bytes of trace that the CPU had written before START */
	uint64_t status;		/* physical addresses of its pages */
	uint64_t aux[CRASH_PAGES];
};

struct crash_plan {
	uint64_t magic;
	int32_t crash_cpu;
	uint32_t channels;
	uint32_t early;			/* the kernel panics: the trace ends before its message */
	uint32_t counted;		/* bytes_before is valid */
	uint64_t pages;			/* of each AUX area */
	uint64_t landmark;		/* a function that is called until the crash */
	uint64_t note;			/* physical address of struct crash_note */
	struct crash_channel channel[CRASH_CPUS];
};

struct crash_note {
	uint64_t magic;
	uint64_t tsc;			/* at the last moment */
	uint64_t line_bytes;		/* of trace, of a CPU for which the kernel prints a line or two */
};

#endif
