// SPDX-License-Identifier: GPL-2.0
/*
 * flow pt|bts full|overwrite|user|kernel DIR ROUNDS [AUX-SIZE]: records a mixed workload on
 * CPUs 0 and 1 through libauxtrace while QEMU's own execution log is on, and leaves the
 * recording in DIR for the host to decode and compare. CPU 2 runs the reader and is not
 * traced.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <auxtrace.h>

#include "workload.h"

#define TRACED		2
#define READER_CPU	2

#define BOTH	(AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER)
#define OVER	AUXTRACE_SETUP_OVERWRITE

/* When the reader copies the trace. */
enum reading {
	ALONG,		/* while the workload runs */
	AFTER,		/* at the end: the area holds all of it */
};

/*
 * Small areas: many interrupts and wraps. The reader may have to wait long for its CPU. So the
 * workload waits for the reader after each step, and an area holds the trace of two steps; but a
 * step is more than a watermark, or there would be no interrupts. With BTS a round of the kernel
 * takes megabytes. There the reader only moves its tail, so that interrupts come, and copies at
 * the end.
 */
static const struct mode {
	const char *source, *name;
	uint32_t pmu, flags;
	uint64_t aux_size;
	unsigned int watermarks;	/* in an area */
	enum reading reading;
	unsigned int step;		/* in rounds; 0: the workload does not wait */
} modes[] = {
	{ "pt", "full", AUXTRACE_PMU_INTEL_PT, BOTH, 64 << 10, 8, ALONG, 1 },
	{ "pt", "overwrite", AUXTRACE_PMU_INTEL_PT, BOTH | OVER, 128 << 10, 0, ALONG, 0 },
	{ "pt", "user", AUXTRACE_PMU_INTEL_PT, AUXTRACE_SETUP_USER, 16 << 10, 4, ALONG, 3 },
	{ "bts", "full", AUXTRACE_PMU_INTEL_BTS, BOTH, 64 << 20, 512, AFTER, 0 },
	{ "bts", "overwrite", AUXTRACE_PMU_INTEL_BTS, BOTH | OVER, 1 << 20, 0, ALONG, 0 },
	{ "bts", "user", AUXTRACE_PMU_INTEL_BTS, AUXTRACE_SETUP_USER, 128 << 10, 32, ALONG, 1 },
	{ "bts", "kernel", AUXTRACE_PMU_INTEL_BTS, AUXTRACE_SETUP_KERNEL, 64 << 20, 512, AFTER, 0 },
};

static atomic_int working;
static atomic_uint passes;	/* of the reader */

struct worker {
	pthread_t thread;
	const struct mode *mode;
	int cpu;
	unsigned int rounds;
	int result;
};

/* Wait until the reader has begun and ended a pass. */
static void wait_for_reader(void)
{
	unsigned int seen = atomic_load(&passes);

	while (atomic_load(&passes) - seen < 2)
		usleep(1000);
}

static void *run_worker(void *arg)
{
	struct worker *w = arg;

	while (w->rounds && !w->result) {
		unsigned int step = w->mode->step && w->mode->step < w->rounds ? w->mode->step : w->rounds;

		w->result = workload_run(w->cpu, step);
		w->rounds -= step;
		if (w->mode->step)
			wait_for_reader();
	}
	atomic_fetch_sub(&working, 1);
	return NULL;
}

static const struct mode *find_mode(const char *source, const char *name)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (!strcmp(modes[i].source, source) && !strcmp(modes[i].name, name))
			return &modes[i];
	return NULL;
}

/* Trace that goes through a buffer of 64 KiB is lost if an NMI of the kernel fills it. */
static bool may_lose(struct auxtrace_session *s, const struct mode *mode)
{
	struct auxtrace_cap_intel_bts bts;

	return mode->pmu == AUXTRACE_PMU_INTEL_BTS && mode->flags & AUXTRACE_SETUP_KERNEL &&
	       !auxtrace_capability(s, AUXTRACE_CAP_INTEL_BTS, &bts, sizeof(bts)) &&
	       bts.flags & AUXTRACE_BTS_BUFFERED;
}

static int fail(const char *what)
{
	fprintf(stderr, "flow: %s: %s\n", what, auxtrace_error());
	return 1;
}

static int host(const char *request)
{
	char command[64];

	snprintf(command, sizeof(command), "hostctl %s", request);
	if (system(command)) {
		fprintf(stderr, "flow: '%s' failed\n", command);
		return -1;
	}
	return 0;
}

static int move_tails(struct auxtrace_session *s)
{
	for (int cpu = 0; cpu < TRACED; cpu++) {
		struct auxtrace_reader *reader = auxtrace_reader(s, cpu);
		struct auxtrace_spans spans;

		if (!reader || auxtrace_reader_peek(reader, &spans) ||
		    auxtrace_reader_consume(reader, spans.len))
			return -1;
	}
	return 0;
}

/* Read until the workers are done; -1 on failure. */
static int read_along(struct auxtrace_session *s, struct auxtrace_recording *r,
		      const struct mode *mode)
{
	struct pollfd p = { .fd = auxtrace_fd(s), .events = POLLIN };

	while (atomic_load(&working)) {
		if (poll(&p, 1, 20) < 0 && errno != EINTR)
			return -1;
		if (mode->reading == AFTER ? move_tails(s) : auxtrace_recording_drain(r) < 0)
			return -1;
		atomic_fetch_add(&passes, 1);
	}
	return 0;
}

/*
 * Did each CPU's trace wrap, and did interrupts come? In overwrite mode one for each lap; the
 * interrupt of the last lap may have been pending at STOP.
 */
static bool interrupts_came(struct auxtrace_session *s, const struct mode *mode)
{
	const uint64_t size = auxtrace_setup_info(s)->aux_size;
	struct auxtrace_status_page st;
	uint64_t pmis = 0;

	for (int cpu = 0; cpu < TRACED; cpu++) {
		if (auxtrace_reader_status(auxtrace_reader(s, cpu), &st))
			return false;
		pmis += st.pmis;
		if (mode->reading != AFTER && st.produced < size)
			return false;
		if (mode->flags & OVER && st.pmis < (st.produced - size / 2) / size)
			return false;
	}
	return mode->flags & OVER || pmis >= 2 * TRACED;
}

/* Save the area, all of which was consumed but not overwritten, as DIR/cpuN.area. */
static int save_area(struct auxtrace_session *s, int cpu, const char *dir)
{
	size_t size = auxtrace_setup_info(s)->aux_size;
	struct auxtrace_status_page st;
	char path[256];
	void *area;
	FILE *f;
	int ret;

	if (auxtrace_reader_status(auxtrace_reader(s, cpu), &st))
		return fail("status");
	if (st.produced > size) {
		fprintf(stderr, "flow: CPU %d: %llu bytes were produced, more than the area holds\n",
			cpu, (unsigned long long)st.produced);
		return 1;
	}
	area = mmap(NULL, size, PROT_READ, MAP_SHARED, auxtrace_fd(s),
		    AUXTRACE_MMAP_OFFSET(cpu, AUXTRACE_REGION_AUX));
	snprintf(path, sizeof(path), "%s/cpu%d.area", dir, cpu);
	f = fopen(path, "wxe");
	if (area == MAP_FAILED || !f) {
		perror("flow: area");
		return 1;
	}
	ret = fwrite(area, 1, st.produced, f) != st.produced;
	if (fclose(f) || ret) {
		perror(path);
		return 1;
	}
	munmap(area, size);
	return 0;
}

int main(int argc, char **argv)
{
	struct auxtrace_options o = { .size = sizeof(o), .cpus = "0-1" };
	struct worker worker[TRACED];
	struct auxtrace_totals totals;
	struct auxtrace_session *s;
	struct auxtrace_recording *r;
	const struct mode *mode;
	cpu_set_t set;
	int result = 0;
	bool lossy, interrupts;

	mode = argc == 5 || argc == 6 ? find_mode(argv[1], argv[2]) : NULL;
	if (!mode) {
		fprintf(stderr, "usage: flow pt|bts full|overwrite|user|kernel DIR ROUNDS [AUX-SIZE]\n");
		return 2;
	}
	o.pmu = mode->pmu;
	o.flags = mode->flags;
	o.aux_size = argc == 6 ? strtoull(argv[5], NULL, 0) : mode->aux_size;
	o.aux_watermark = mode->watermarks ? o.aux_size / mode->watermarks : 0;

	CPU_ZERO(&set);
	CPU_SET(READER_CPU, &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("flow: sched_setaffinity");
		return 1;
	}
	s = auxtrace_open(NULL);
	if (!s || auxtrace_setup(s, &o))
		return fail("setup");
	r = auxtrace_recording_create(s, argv[3]);
	if (!r)
		return fail("recording");

	if (host("log-on"))
		return 1;
	if (auxtrace_start(s))
		return fail("start");
	atomic_store(&working, TRACED);
	for (int i = 0; i < TRACED; i++) {
		worker[i] = (struct worker){ .mode = mode, .cpu = i };
		worker[i].rounds = strtoul(argv[4], NULL, 0);
		if (pthread_create(&worker[i].thread, NULL, run_worker, &worker[i])) {
			perror("flow: pthread_create");
			return 1;
		}
	}
	if (read_along(s, r, mode))
		return fail("drain");
	for (int i = 0; i < TRACED; i++) {
		pthread_join(worker[i].thread, NULL);
		result |= worker[i].result;
	}
	if (auxtrace_stop(s))
		return fail("stop");
	if (host("log-off"))
		return 1;

	for (int i = 0; mode->reading == AFTER && i < TRACED; i++)
		result |= save_area(s, i, argv[3]);
	if (auxtrace_recording_add_all_tasks(r) < 0 || auxtrace_recording_finish(r, &totals))
		return fail("finish");
	lossy = may_lose(s, mode);
	interrupts = interrupts_came(s, mode);
	auxtrace_close(s);
	printf("%s %s: %llu bytes produced, %llu read, %llu overwritten, %llu windows, %llu gaps, %llu trace interrupts\n",
	       mode->source, mode->name, (unsigned long long)totals.produced, (unsigned long long)totals.read,
	       (unsigned long long)totals.overwritten, (unsigned long long)totals.windows,
	       (unsigned long long)totals.gaps, (unsigned long long)totals.pmis);
	if (mode->reading != AFTER && totals.produced != totals.read + totals.overwritten) {
		fprintf(stderr, "flow: produced is not read plus overwritten\n");
		result = 1;
	}
	if ((totals.gaps && !lossy) || totals.windows != TRACED + totals.gaps || !interrupts) {
		fprintf(stderr, "flow: expected no gap, a window for each CPU (and gap), several interrupts%s\n",
			mode->reading != AFTER ? " and wraps" : "");
		result = 1;
	}
	return !!result;
}
