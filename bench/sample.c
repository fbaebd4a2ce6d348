// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures a hit that takes a SAMPLE, from one in a record to the largest. Prints for each
 * size the kernel instructions of the system call that hits, with a REP MOVS as one
 * instruction, and the nanoseconds of virtual time, under -icount 0 one for each instruction
 * and for each round of a REP MOVS:
 *
 *	sample BYTES INSTRUCTIONS NANOSECONDS
 *
 * Not part of bench/run, because perf has nothing to stand beside it:
 *
 *	make -C bench && scripts/vm --icount 0 --smp 1 --timeout 420 --append nmi_watchdog=0 \
 *		--module "$(scripts/build-module 6.1)" --file build/bench/bench -- bench sample
 */
#include <inttypes.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "counter.h"
#include "die.h"
#include "load.h"
#include "measure.h"
#include "ours.h"

#define HIT		SYS_getppid
#define RUNS		3
#define SLOTS		8	/* one more than are retained, and a power of two */
#define AUX_SIZE	(2ull * AUXTRACE_MAX_SAMPLE * SLOTS)
#define DATA_SIZE	(1u << 20)

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC_RAW, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* Traces at least @bytes more. */
static void produce(const struct ours *ours, uint64_t bytes)
{
	struct auxtrace_status status = { .size = sizeof(status), .flags = AUXTRACE_STATUS_SYNC };
	uint64_t until = 0;

	do {
		for (int i = 0; i < 100; i++)
			load();
		if (ioctl(ours->fd, AUXTRACE_IOC_STATUS, &status))
			die("STATUS");
		until = until ? until : status.out_produced + bytes;
	} while (status.out_produced < until);
}

static void sample(uint64_t bytes)
{
	struct auxtrace_setup setup = {
		.flags = AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE,
		.aux_size = AUX_SIZE,
		.slots = SLOTS,
		.data_size = DATA_SIZE,
		.data_watermark = DATA_SIZE - 1,
	};
	struct auxtrace_trigger trigger = {
		.kind = AUXTRACE_TRIGGER_SYSCALL_ENTER,
		.action = AUXTRACE_ACTION_SAMPLE,
		.number = HIT,
		.sample_size = bytes,
	};
	uint64_t least = ~0ull, least_ns = ~0ull;
	struct ours ours;

	ours_open(&ours, &source_pt, 1, &setup);
	ours_trigger(&ours, &trigger);
	for (int i = 0; i < RUNS; i++) {
		uint64_t before, ns;

		produce(&ours, bytes);
		ns = now();
		before = instructions();
		syscall(HIT);
		before = instructions() - before;
		ns = now() - ns;
		least = before < least ? before : least;
		least_ns = ns < least_ns ? ns : least_ns;
	}
	if (ours.status->samples_cut || ours.status->samples != RUNS)
		errx(1, "%" PRIu64 " samples, %" PRIu64 " cut", (uint64_t)ours.status->samples,
		     (uint64_t)ours.status->samples_cut);
	ours_close(&ours);
	printf("sample %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", bytes, least, least_ns);
}

void measure_sample(void)
{
	counters_start(1);
	sample(4096);
	sample(AUXTRACE_MAX_SAMPLE / 2);
	sample(AUXTRACE_MAX_SAMPLE);
	/* No counters_check(): in trace interrupts perf's NMI handler turns other counters on. */
}
