// SPDX-License-Identifier: GPL-2.0
/*
 * Trace interrupts in full-trace mode, ours or perf's, one after another while a
 * reader keeps up. Needs a VM with --exec-log: the host's log is on while they
 * happen, and bench/nmi reads the figures from it. A line:
 *
 *	pmi WHAT NUMBER
 */
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "die.h"
#include "measure.h"
#include "ours.h"
#include "theirs.h"

#define AUX_SIZE	(256u << 10)
#define WATERMARK	(16u << 10)
#define DATA_SIZE	(64u << 10)
#define PMIS		4

/* ---- something to trace: indirect calls, a packet of several bytes each ------- */

static __attribute__((noinline)) unsigned int up(unsigned int x)
{
	return x * 5 + 1;
}

static __attribute__((noinline)) unsigned int down(unsigned int x)
{
	return x ^ x >> 3;
}

static unsigned int (*const volatile steps[])(unsigned int) = { up, down };

static void load(void)
{
	static volatile unsigned int x = 1;

	for (int i = 0; i < 100; i++)
		x = steps[x & 1](x);
}

/* ---- the host's log ------------------------------------------------------ */

static void host(const char *request)
{
	int fd = open("/dev/ttyS2", O_RDWR | O_CLOEXEC);
	char answer[16] = "";
	size_t n = 0;

	if (fd < 0)
		die("/dev/ttyS2");
	if (write(fd, request, strlen(request)) != (ssize_t)strlen(request))
		die("the host");
	while (n < sizeof(answer) - 1 && !strchr(answer, '\n')) {
		ssize_t got = read(fd, answer + n, sizeof(answer) - 1 - n);

		if (got <= 0)
			die("the host");
		n += got;
	}
	if (strcmp(answer, "ok\n"))
		errx(1, "the host says '%s' to %s", answer, request);
	close(fd);
}

/* ---- the two ------------------------------------------------------------- */

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
	host("log-on\n");
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
	host("log-off\n");
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
	host("log-on\n");
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
	host("log-off\n");
	printf("pmi perf %d\n", pmis);
	theirs_close(&theirs);
}
