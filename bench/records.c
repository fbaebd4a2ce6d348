// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures writing one record to the data ring, ours and perf's of the same size, in
 * rings of each direction, overwritable or not.
 *
 * perf's: a sample at each return of close(-1), by the tracepoint raw_syscalls:sys_exit.
 * Ours: a WINDOW record at each PAUSE. The same loop is measured without events (or
 * without a data ring), with the output paused, and with records. Prints for each loop
 * the instructions of each run, in their order.
 *
 *	records WHAT RING LOOPS RUN...
 *	size WHAT BYTES
 */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "counter.h"
#include "die.h"
#include "measure.h"
#include "ours.h"
#include "theirs.h"

#define LOOPS		500	/* the ring has space for all records of a run */
#define RUNS		7
#define DATA_SIZE	(64u << 10)
#define AUX_SIZE	(1u << 20)

struct ring {
	const char *name;
	bool backward, overwrite;
};

static const struct ring rings[] = {
	{ "forward", false, false },
	{ "forward-overwrite", false, true },
	{ "backward", true, false },
	{ "backward-overwrite", true, true },
};

static void say(const char *what, const struct ring *ring, const uint64_t *run)
{
	printf("records %s %s %d", what, ring ? ring->name : "-", LOOPS);
	for (int i = 0; i < RUNS; i++)
		printf(" %" PRIu64, run[i]);
	putchar('\n');
}

/* Prints the bytes of one record: LOOPS records moved the ring's head by @moved. */
static void say_size(const char *what, uint64_t moved)
{
	if (!moved || moved % LOOPS)
		errx(1, "%d records of %s take %" PRIu64 " bytes", LOOPS, what, moved);
	printf("size %s %" PRIu64 "\n", what, moved / LOOPS);
}

/* ---- perf --------------------------------------------------------------- */

static uint64_t closes(void)
{
	uint64_t begin = instructions();

	for (int i = 0; i < LOOPS; i++)
		close(-1);
	return instructions() - begin;
}

static void base(void)
{
	uint64_t run[RUNS];

	for (int i = 0; i < RUNS; i++)
		run[i] = closes();
	say("close", NULL, run);
}

static void theirs_runs(struct theirs *theirs, const char *what, const struct ring *ring,
			bool records)
{
	struct perf_event_mmap_page *page = theirs->event[0].page;
	uint64_t run[RUNS], head = 0;

	for (int i = 0; i < RUNS; i++) {
		head = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
		if (!ring->overwrite)
			__atomic_store_n(&page->data_tail, head, __ATOMIC_RELEASE);
		run[i] = closes();
	}
	/* Read the head before the next system call adds a sample. */
	head -= __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	say(what, ring, run);
	if (records)
		say_size(what, ring->backward ? head : -head);
}

static void of_theirs(const struct ring *ring)
{
	struct theirs_setup setup = {
		.attr = {
			.type = PERF_TYPE_TRACEPOINT,
			.config = theirs_tracepoint("raw_syscalls/sys_exit"),
			.sample_period = 1,
			/* Including the raw data, the size of a WINDOW record. */
			.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
				       PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_CPU |
				       PERF_SAMPLE_PERIOD | PERF_SAMPLE_RAW,
			.write_backward = ring->backward,
			.watermark = 1,
			.wakeup_watermark = DATA_SIZE,
		},
		.nr = 1,
		.data_size = DATA_SIZE,
		.data_overwrite = ring->overwrite,
	};
	struct theirs theirs;

	theirs_open(&theirs, &setup);
	theirs_runs(&theirs, "perf", ring, true);
	theirs_output(&theirs, true);
	theirs_runs(&theirs, "perf-paused", ring, false);
	theirs_close(&theirs);
}

/* ---- ours --------------------------------------------------------------- */

static uint64_t pairs(struct ours *ours)
{
	uint64_t begin = instructions();

	for (int i = 0; i < LOOPS; i++) {
		ours_pause(ours);
		ours_resume(ours);
	}
	return instructions() - begin;
}

static void ours_runs(struct ours *ours, const char *what, const struct ring *ring, bool records)
{
	uint64_t run[RUNS], head = 0;

	for (int i = 0; i < RUNS; i++) {
		head = __atomic_load_n(&ours->status->data_head, __ATOMIC_ACQUIRE);
		if (ring && !ring->overwrite)
			__atomic_store_n(&ours->user->data_tail, head, __ATOMIC_RELEASE);
		run[i] = pairs(ours);
	}
	say(what, ring, run);
	if (records)
		say_size(what, __atomic_load_n(&ours->status->data_head, __ATOMIC_ACQUIRE) - head);
}

static void of_ours(const struct ring *ring)
{
	struct auxtrace_setup setup = {
		.flags = AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE,
		.aux_size = AUX_SIZE,
	};
	struct ours ours;

	if (ring) {
		if (ring->backward)
			setup.flags |= AUXTRACE_SETUP_DATA_BACKWARD;
		if (ring->overwrite)
			setup.flags |= AUXTRACE_SETUP_DATA_OVERWRITE;
		else
			setup.data_watermark = DATA_SIZE - 1;
		setup.data_size = DATA_SIZE;
		setup.records = AUXTRACE_WANT_WINDOW;
	}
	ours_open(&ours, &source_pt, 1, &setup);
	if (!ring) {
		ours_runs(&ours, "pair", NULL, false);
	} else {
		ours_runs(&ours, "ours", ring, true);
		ours_output(&ours, true);
		ours_runs(&ours, "ours-paused", ring, false);
	}
	ours_close(&ours);
}

void measure_records(void)
{
	counters_start(1);
	base();
	of_ours(NULL);
	for (unsigned int i = 0; i < sizeof(rings) / sizeof(rings[0]); i++) {
		of_theirs(&rings[i]);
		of_ours(&rings[i]);
	}
	counters_check();
}
