// SPDX-License-Identifier: GPL-2.0
/*
 * Trace interrupts in full-trace mode, ours or perf's, one after another while a
 * reader keeps up. Needs a VM with --exec-log: the host's log is on while they
 * happen, and bench/nmi reads the figures from it. A line:
 *
 *	pmi WHAT NUMBER
 */
#include <stdio.h>

#include "host.h"
#include "load.h"
#include "measure.h"
#include "ours.h"
#include "theirs.h"

#define AUX_SIZE	(256u << 10)
#define WATERMARK	(16u << 10)
#define DATA_SIZE	(64u << 10)
#define PMIS		4

void measure_our_pmi(void)
{
	static const struct auxtrace_setup setup = {
		.flags = AUXTRACE_SETUP_USER | AUXTRACE_SETUP_PAUSED,
		.aux_size = AUX_SIZE,
		.aux_watermark = WATERMARK,
		.data_size = DATA_SIZE,
	};
	struct ours ours;
	uint64_t seen = 0;

	ours_open(&ours, 1, &setup);
	host_log(true);
	ours_resume(&ours);
	while (seen < PMIS) {
		uint64_t pmis;

		load();
		pmis = __atomic_load_n(&ours.status->pmis, __ATOMIC_ACQUIRE);
		if (pmis == seen)
			continue;
		seen = pmis;
		__atomic_store_n(&ours.user->aux_tail, ours.status->produced, __ATOMIC_RELEASE);
	}
	ours_pause(&ours);
	host_log(false);
	printf("pmi ours %llu\n", (unsigned long long)ours.status->pmis);
	ours_close(&ours);
}

void measure_their_pmi(void)
{
	static const struct theirs_setup setup = {
		.attr = {
			.exclude_kernel = 1,
			.exclude_hv = 1,
			.aux_watermark = WATERMARK,
		},
		.pt = true,
		.pid = -1,
		.nr = 1,
		.data_size = DATA_SIZE,
		.aux_size = AUX_SIZE,
	};
	struct perf_event_mmap_page *page;
	struct theirs theirs;
	uint64_t head, seen;
	int pmis = 0;

	theirs_open(&theirs, &setup);
	theirs_disable(&theirs);
	page = theirs.event[0].page;
	seen = __atomic_load_n(&page->aux_head, __ATOMIC_ACQUIRE);
	__atomic_store_n(&page->aux_tail, seen, __ATOMIC_RELEASE);
	host_log(true);
	theirs_enable(&theirs);
	while (pmis < PMIS) {
		load();
		head = __atomic_load_n(&page->aux_head, __ATOMIC_ACQUIRE);
		if (head == seen)
			continue;
		seen = head;
		pmis++;
		__atomic_store_n(&page->aux_tail, head, __ATOMIC_RELEASE);
	}
	theirs_disable(&theirs);
	host_log(false);
	printf("pmi perf %d\n", pmis);
	theirs_close(&theirs);
}
