// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "counter.h"
#include "die.h"
#include "synthetic.h"

#define MSR_FIXED_CTR0		0x309
#define MSR_FIXED_CTR_CTRL	0x38d
#define MSR_GLOBAL_CTRL		0x38f
#define FIXED0_KERNEL		1ull
#define GLOBAL_FIXED0		(1ull << 32)
#define RDPMC_FILE		"/sys/bus/event_source/devices/cpu/rdpmc"

#define RUNS			9
/* Time for work started on the other CPUs to end and for them to become idle. */
#define REST_US			250

static unsigned int nr_cpus;
static int msr[MAX_CPUS];
static unsigned int nr_seen;		/* CPUs whose cost is counted */

static uint64_t msr_read(unsigned int cpu, uint32_t reg)
{
	uint64_t value;

	if (pread(msr[cpu], &value, sizeof(value), reg) != sizeof(value))
		die("MSR %#x of CPU %u", reg, cpu);
	return value;
}

static void msr_write(unsigned int cpu, uint32_t reg, uint64_t value)
{
	if (pwrite(msr[cpu], &value, sizeof(value), reg) != sizeof(value))
		die("MSR %#x of CPU %u", reg, cpu);
}

void counters_start(unsigned int nr)
{
	FILE *f = fopen(RDPMC_FILE, "we");

	/* 2: any program may use RDPMC, with or without events. */
	if (!f || fputs("2\n", f) == EOF || fclose(f))
		die(RDPMC_FILE);
	nr_cpus = nr;
	for (unsigned int cpu = 0; cpu < nr; cpu++) {
		char path[32];

		snprintf(path, sizeof(path), "/dev/cpu/%u/msr", cpu);
		msr[cpu] = open(path, O_RDWR | O_CLOEXEC);
		if (msr[cpu] < 0)
			die("%s", path);
		if (msr_read(cpu, MSR_PTM_ID) != PTM_ID_VALUE)
			die("CPU %u is not the emulator's", cpu);
		msr_write(cpu, MSR_FIXED_CTR_CTRL, FIXED0_KERNEL);
		msr_write(cpu, MSR_GLOBAL_CTRL, GLOBAL_FIXED0);
	}
}

void counters_check(void)
{
	for (unsigned int cpu = 0; cpu < nr_cpus; cpu++) {
		uint64_t global = msr_read(cpu, MSR_GLOBAL_CTRL), fixed = msr_read(cpu, MSR_FIXED_CTR_CTRL);

		/* perf's handler of NMIs, also of one that is not its own, enables all counters; the others have no event. */
		if (!(global & GLOBAL_FIXED0) || fixed != FIXED0_KERNEL)
			errx(1, "somebody else has set the counters of CPU %u: IA32_PERF_GLOBAL_CTRL is %#" PRIx64
			     ", IA32_FIXED_CTR_CTRL %#" PRIx64, cpu, global, fixed);
	}
}

static uint64_t instructions_of(unsigned int cpu)
{
	return msr_read(cpu, MSR_FIXED_CTR0);
}

static uint64_t count_of(unsigned int cpu, unsigned int which)
{
	return msr_read(cpu, MSR_PTM_COUNTER + which);
}

uint64_t wrmsrs(void)
{
	uint64_t sum = 0;

	for (unsigned int cpu = 0; cpu < nr_seen; cpu++)
		sum += count_of(cpu, PTM_N_WRMSR) + count_of(cpu, PTM_N_WRMSR_DEBUGCTL) +
		       count_of(cpu, PTM_N_WRMSR_DS_AREA);
	return sum;
}

uint64_t model_count(unsigned int which)
{
	return count_of(0, which);
}

struct run {
	uint64_t caller;
	uint64_t other[MAX_CPUS];
};

/* Reading the other CPUs' counters costs them the same number of instructions in each run. */
static void run_once(struct run *run, void (*op)(void *arg), void *arg)
{
	uint64_t begin, end;

	for (unsigned int cpu = 1; cpu < nr_seen; cpu++)
		run->other[cpu] = -instructions_of(cpu);
	usleep(REST_US);

	begin = instructions();
	op(arg);
	end = instructions();

	usleep(REST_US);
	run->caller = end - begin;
	for (unsigned int cpu = 1; cpu < nr_seen; cpu++)
		run->other[cpu] += instructions_of(cpu);
}

static void nothing(void *arg)
{
	(void)arg;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static void keep_least(struct run *run, const struct run *one)
{
	run->caller = least(run->caller, one->caller);
	for (unsigned int cpu = 1; cpu < nr_seen; cpu++)
		run->other[cpu] = least(run->other[cpu], one->other[cpu]);
}

void costs_begin(unsigned int nr)
{
	nr_seen = nr;
	usleep(REST_US);
}

struct cost cost_of(void (*op)(void *arg), void (*undo)(void *arg), void *arg)
{
	struct run run, reading, one;
	struct cost cost = { 0 };
	uint64_t before;

	memset(&run, 0xff, sizeof(run));
	memset(&reading, 0xff, sizeof(reading));
	/* In turn, so that both find the CPUs in the same state. */
	for (int i = 0; i < RUNS; i++) {
		run_once(&one, nothing, NULL);
		keep_least(&reading, &one);
		run_once(&one, op, arg);
		keep_least(&run, &one);
		undo(arg);
	}
	cost.caller = run.caller - reading.caller;
	for (unsigned int cpu = 1; cpu < nr_seen; cpu++)
		cost.others += run.other[cpu] - reading.other[cpu];
	before = wrmsrs();
	op(arg);
	cost.wrmsrs = wrmsrs() - before;
	undo(arg);
	return cost;
}
