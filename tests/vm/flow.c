// SPDX-License-Identifier: GPL-2.0
/*
 * flow pt|bts full|overwrite|user|kernel DIR ROUNDS [AUX-SIZE]: records a mixed workload
 * on CPUs 0 and 1 through libauxtrace, with QEMU's own execution log on meanwhile, and
 * leaves the recording in DIR for the host to decode and compare. CPU 2 runs the reader
 * and is not traced.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <auxtrace.h>

#include "workload.h"

#define TRACED		2
#define READER_CPU	2

#define BOTH	(AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER)
#define OVER	AUXTRACE_SETUP_OVERWRITE

/*
 * Small areas: many interrupts and wraps. A user-only trace is sparse, one of BTS is the
 * opposite: the CPU that reads copies four bytes at most in the time in which another one
 * writes them, so the workload waits for the reader after each round.
 */
static const struct mode {
	const char *source, *name;
	uint32_t pmu, flags;
	uint64_t aux_size;
	unsigned int watermarks;	/* in an area */
} modes[] = {
	{ "pt", "full", AUXTRACE_PMU_INTEL_PT, BOTH, 32 << 10, 4 },
	{ "pt", "overwrite", AUXTRACE_PMU_INTEL_PT, BOTH | OVER, 64 << 10, 0 },
	{ "pt", "user", AUXTRACE_PMU_INTEL_PT, AUXTRACE_SETUP_USER, 16 << 10, 4 },
	{ "bts", "full", AUXTRACE_PMU_INTEL_BTS, BOTH, 2 << 20, 32 },
	{ "bts", "overwrite", AUXTRACE_PMU_INTEL_BTS, BOTH | OVER, 1 << 20, 0 },
	{ "bts", "user", AUXTRACE_PMU_INTEL_BTS, AUXTRACE_SETUP_USER, 128 << 10, 32 },
	{ "bts", "kernel", AUXTRACE_PMU_INTEL_BTS, AUXTRACE_SETUP_KERNEL, 2 << 20, 32 },
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

/* Until the reader has begun to look once more, and is through with that. */
static void wait_for_reader(void)
{
	unsigned int seen = atomic_load(&passes);

	while (atomic_load(&passes) - seen < 2)
		usleep(1000);
}

static void *run_worker(void *arg)
{
	struct worker *w = arg;

	if (w->mode->pmu != AUXTRACE_PMU_INTEL_BTS)
		w->result = workload_run(w->cpu, w->rounds);
	for (; w->mode->pmu == AUXTRACE_PMU_INTEL_BTS && w->rounds && !w->result; w->rounds--) {
		w->result = workload_run(w->cpu, 1);
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

/* Drains until the workers are done; returns -1 with a message on failure. */
static int read_along(struct auxtrace_session *s, struct auxtrace_recording *r)
{
	struct pollfd p = { .fd = auxtrace_fd(s), .events = POLLIN };

	while (atomic_load(&working)) {
		if (poll(&p, 1, 20) < 0 && errno != EINTR)
			return -1;
		if (auxtrace_recording_drain(r) < 0)
			return -1;
		atomic_fetch_add(&passes, 1);
	}
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
	if (read_along(s, r))
		return fail("drain");
	for (int i = 0; i < TRACED; i++) {
		pthread_join(worker[i].thread, NULL);
		result |= worker[i].result;
	}
	if (auxtrace_stop(s))
		return fail("stop");
	if (host("log-off"))
		return 1;

	if (auxtrace_recording_add_all_tasks(r) < 0 || auxtrace_recording_finish(r, &totals))
		return fail("finish");
	auxtrace_close(s);
	printf("%s %s: %llu bytes produced, %llu read, %llu overwritten, %llu windows, %llu gaps, %llu trace interrupts\n",
	       mode->source, mode->name, (unsigned long long)totals.produced, (unsigned long long)totals.read,
	       (unsigned long long)totals.overwritten, (unsigned long long)totals.windows,
	       (unsigned long long)totals.gaps, (unsigned long long)totals.pmis);
	if (totals.produced != totals.read + totals.overwritten) {
		fprintf(stderr, "flow: the account does not add up\n");
		result = 1;
	}
	if (totals.gaps || totals.windows != TRACED || totals.pmis < 2 * TRACED ||
	    totals.produced < TRACED * o.aux_size) {
		fprintf(stderr, "flow: expected no gap, a window for each CPU, several interrupts and wraps\n");
		result = 1;
	}
	return !!result;
}
