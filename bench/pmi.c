// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures trace interrupts in full-trace mode, ours or perf's, while a reader keeps
 * up. Needs a VM with --exec-log: the host's log is on during a few interrupts, and
 * bench/nmi reads the figures from it. Prints:
 *
 *	pmi WHAT NUMBER
 *
 * Likewise interrupts of a counter of perf's while our sessions record, or none does: what our handlers take
 * of NMIs that are not ours.
 *
 * For BTS, measures also whether any of a million records are lost. Prints:
 *
 *	lost WHAT WRITTEN FULL UNMAPPED NUMBER PRODUCED GAPS
 *
 * These are the records that the model wrote, dropped for lack of space and dropped for
 * lack of a mapping; the interrupts; and, for ours, the records reported to the reader
 * and the gaps. perf counts padding as records and has no gaps: "-".
 */
#include <err.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <poll.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counter.h"
#include "die.h"
#include "host.h"
#include "load.h"
#include "measure.h"
#include "ours.h"
#include "synthetic.h"
#include "theirs.h"

#define AUX_SIZE	(256u << 10)
#define WATERMARK	(16u << 10)
#define DATA_SIZE	(64u << 10)
#define PMIS		6	/* bench/nmi omits those that interrupt the kernel */
#define LARGE_SIZE	(8u << 20)	/* more than the trace between PMIS interrupts of a counter */
#define COUNTER_PERIOD	100000

/*
 * Enough interrupts for a million records between ours. (perf's are closer together by
 * up to a page of margin and a page of padding.)
 */
#define RECORD		sizeof(struct auxtrace_branch)
#define MANY_PMIS	(1000000 * RECORD / WATERMARK + 1)

/* What is traced. */
struct levels {
	const char *ours, *perfs;	/* WHAT */
	uint32_t flags;			/* AUXTRACE_SETUP_KERNEL, _USER */
};

static const struct levels user = { "ours-user", "perf-user", AUXTRACE_SETUP_USER };
static const struct levels both = {
	"ours-both", "perf-both", AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL,
};

/* NMIs that this CPU has taken: trace interrupts only, unless open_counter() was called. */
static uint64_t nmis(void)
{
	FILE *f = fopen("/proc/interrupts", "re");
	char line[256];
	uint64_t n;

	if (!f)
		die("/proc/interrupts");
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, " NMI: %" SCNu64, &n) == 1) {
			fclose(f);
			return n;
		}
	}
	errx(1, "/proc/interrupts has no line of NMIs");
}

/* ---- ours --------------------------------------------------------------- */

static void open_ours(struct ours *ours, const struct source *source, const struct levels *levels)
{
	const struct auxtrace_setup setup = {
		.flags = levels->flags | AUXTRACE_SETUP_PAUSED,
		.aux_size = AUX_SIZE,
		.aux_watermark = WATERMARK,
		.data_size = DATA_SIZE,
	};

	ours_open(ours, source, 1, &setup);
}

/* Runs the load, traced and read, until there have been @pmis interrupts. */
static void run_ours(struct ours *ours, uint64_t pmis)
{
	struct pollfd reader = { .fd = ours->fd, .events = POLLIN };
	uint64_t tail = 0;

	ours_resume(ours);
	while (__atomic_load_n(&ours->status->pmis, __ATOMIC_ACQUIRE) < pmis) {
		uint64_t produced;

		load();
		produced = __atomic_load_n(&ours->status->produced, __ATOMIC_ACQUIRE);
		/* Not each update is an interrupt: poll(2) updates produced too. */
		if (produced - tail < WATERMARK)
			continue;
		tail = produced;
		__atomic_store_n(&ours->user->aux_tail, tail, __ATOMIC_RELEASE);
		/* poll(2) sets the next watermark, counted from the new tail. */
		if (poll(&reader, 1, 0) < 0)
			die("poll");
	}
	ours_pause(ours);
}

static void log_ours(const struct source *source, const struct levels *levels)
{
	struct ours ours;
	uint64_t before;

	open_ours(&ours, source, levels);
	before = nmis();
	host_log(true);
	run_ours(&ours, PMIS);
	host_log(false);
	printf("pmi %s %" PRIu64 "\n", levels->ours, nmis() - before);
	ours_close(&ours);
}

/* ---- NMIs of others ------------------------------------------------------ */

/* A counter of user instructions of this CPU that raises an interrupt each COUNTER_PERIOD. */
static int open_counter(void)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.sample_period = COUNTER_PERIOD,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		die("perf_event_open of a counter");
	return fd;
}

static void log_others(const char *what)
{
	uint64_t before = nmis();
	int fd = open_counter();

	host_log(true);
	while (nmis() - before < PMIS)
		load();
	host_log(false);
	close(fd);
	printf("pmi %s %" PRIu64 "\n", what, nmis() - before);
}

/* While a session records. It has no interrupt of its own meanwhile. */
static void log_others_beside(const char *what, uint32_t flags)
{
	const struct auxtrace_setup setup = {
		.flags = user.flags | flags,
		.aux_size = LARGE_SIZE,
	};
	struct ours ours;

	ours_open(&ours, &source_pt, 1, &setup);
	log_others(what);
	if (ours.status->pmis)
		errx(1, "%s: the session had %llu interrupts of its own", what, ours.status->pmis);
	ours_close(&ours);
}

/* ---- perf --------------------------------------------------------------- */

static void open_theirs(struct theirs *theirs, const struct source *source,
			const struct levels *levels)
{
	const struct theirs_setup setup = {
		.attr = {
			.exclude_kernel = !(levels->flags & AUXTRACE_SETUP_KERNEL),
			.exclude_hv = 1,
			.aux_watermark = WATERMARK,
		},
		.source = source,
		.pid = -1,
		.nr = 1,
		.data_size = DATA_SIZE,
		.aux_size = AUX_SIZE,
	};
	struct perf_event_mmap_page *page;

	theirs_open(theirs, &setup);
	theirs_disable(theirs);
	page = theirs->event[0].page;
	__atomic_store_n(&page->aux_tail, page->aux_head, __ATOMIC_RELEASE);
}

/* The same, until the reader has seen perf's head move @pmis times. */
static void run_theirs(struct theirs *theirs, int pmis)
{
	struct perf_event_mmap_page *page = theirs->event[0].page;
	uint64_t seen = page->aux_tail;
	int moved = 0;

	theirs_enable(theirs);
	while (moved < pmis) {
		uint64_t head;

		load();
		head = __atomic_load_n(&page->aux_head, __ATOMIC_ACQUIRE);
		if (head == seen)
			continue;
		seen = head;
		moved++;
		__atomic_store_n(&page->aux_tail, head, __ATOMIC_RELEASE);
		/* Consume the AUX records, to leave space for more. */
		__atomic_store_n(&page->data_tail, page->data_head, __ATOMIC_RELEASE);
	}
	theirs_disable(theirs);
}

static void log_theirs(const struct source *source, const struct levels *levels)
{
	struct theirs theirs;
	uint64_t before;

	open_theirs(&theirs, source, levels);
	before = nmis();
	host_log(true);
	run_theirs(&theirs, PMIS);
	host_log(false);
	printf("pmi %s %" PRIu64 "\n", levels->perfs, nmis() - before);
	theirs_close(&theirs);
}

/* ---- many --------------------------------------------------------------- */

struct tally {
	uint64_t written, full, unmapped, nmis;
};

static struct tally tally(void)
{
	return (struct tally) {
		.written = model_count(PTM_N_BTS),
		.full = model_count(PTM_N_BTS_FULL),
		.unmapped = model_count(PTM_N_BTS_UNMAPPED),
		.nmis = nmis(),
	};
}

/* Prints the counts since @before, without the newline. */
static void say_lost(const char *what, struct tally before)
{
	struct tally now = tally();

	printf("lost %s %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64, what,
	       now.written - before.written, now.full - before.full,
	       now.unmapped - before.unmapped, now.nmis - before.nmis);
}

static void many_of_ours(const struct levels *levels)
{
	struct tally before;
	struct ours ours;

	open_ours(&ours, &source_bts, levels);
	before = tally();
	run_ours(&ours, MANY_PMIS);
	say_lost(levels->ours, before);
	printf(" %llu %llu\n", ours.status->produced / RECORD, ours.status->gaps);
	ours_close(&ours);
}

static void many_of_theirs(const struct levels *levels)
{
	struct theirs theirs;
	struct tally before;

	open_theirs(&theirs, &source_bts, levels);
	before = tally();
	run_theirs(&theirs, MANY_PMIS);
	say_lost(levels->perfs, before);
	puts(" - -");
	theirs_close(&theirs);
}

/* ---- measurements -------------------------------------------------------- */

void measure_our_pmi(void)
{
	log_ours(&source_pt, &user);
}

void measure_other_nmis(void)
{
	log_others("others-none");
	log_others_beside("others-overwrite", AUXTRACE_SETUP_OVERWRITE);
	log_others_beside("others-full", 0);
}

void measure_their_pmi(void)
{
	log_theirs(&source_pt, &user);
}

void measure_many(void)
{
	counters_start(1);
	many_of_ours(&both);
	many_of_ours(&user);
	many_of_theirs(&both);
	many_of_theirs(&user);
}

void measure_our_bts(void)
{
	log_ours(&source_bts, &both);
	log_ours(&source_bts, &user);
}

void measure_their_bts(void)
{
	log_theirs(&source_bts, &both);
	log_theirs(&source_bts, &user);
}
