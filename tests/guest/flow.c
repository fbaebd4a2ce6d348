// SPDX-License-Identifier: GPL-2.0-only
/*
 * flow pt|bts MODE DIR ROUNDS [AUX-SIZE]: records a mixed workload through libauxtrace while QEMU's
 * own execution log is on, and leaves the recording in DIR for the host to decode and compare. MODE
 * is one of
 *   full|overwrite|user|kernel   all that CPUs 0 and 1 run
 *   event                        the same, with event trace
 *   filter                       of that, three functions of the workload and one of the kernel
 *   scope-user|scope-kernel      on CPUs 0 to 3, a process and its descendants (scoped.c), of as many
 *                                steps as there are rounds; others run there as well
 * The next CPU runs the reader and is not traced.
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

#include "flow_scope.h"
#include "workload.h"

#define WORKERS	2

#define KERN	AUXTRACE_SETUP_KERNEL
#define USER	AUXTRACE_SETUP_USER
#define BOTH	(KERN | USER)
#define OVER	AUXTRACE_SETUP_OVERWRITE
#define SCOPE	(AUXTRACE_SETUP_PROCESS | AUXTRACE_SETUP_DESCENDANTS)

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
 * the end. The members of a scope do not wait, either: the area holds the whole trace.
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
	{ "pt", "user", AUXTRACE_PMU_INTEL_PT, USER, 16 << 10, 4, ALONG, 3 },
	{ "pt", "event", AUXTRACE_PMU_INTEL_PT, BOTH, 64 << 10, 8, ALONG, 1 },
	{ "pt", "filter", AUXTRACE_PMU_INTEL_PT, BOTH, 32 << 10, 4, ALONG, 3 },
	{ "pt", "scope-user", AUXTRACE_PMU_INTEL_PT, SCOPE | USER, 1 << 20, 256, ALONG, 0 },
	{ "pt", "scope-kernel", AUXTRACE_PMU_INTEL_PT, SCOPE | BOTH, 4 << 20, 256, ALONG, 0 },
	{ "bts", "full", AUXTRACE_PMU_INTEL_BTS, BOTH, 64 << 20, 512, AFTER, 0 },
	{ "bts", "overwrite", AUXTRACE_PMU_INTEL_BTS, BOTH | OVER, 1 << 20, 0, ALONG, 0 },
	{ "bts", "user", AUXTRACE_PMU_INTEL_BTS, USER, 128 << 10, 32, ALONG, 1 },
	{ "bts", "kernel", AUXTRACE_PMU_INTEL_BTS, KERN, 64 << 20, 512, AFTER, 0 },
	{ "bts", "scope-user", AUXTRACE_PMU_INTEL_BTS, SCOPE | USER, 16 << 20, 128, AFTER, 0 },
	{ "bts", "scope-kernel", AUXTRACE_PMU_INTEL_BTS, SCOPE | BOTH, 64 << 20, 512, AFTER, 0 },
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

static bool is_filtered(const struct mode *mode)
{
	return !strcmp(mode->name, "filter");
}

/* All that traced CPUs run, or members of a scope only? */
static bool is_scoped(const struct mode *mode)
{
	return mode->flags & SCOPE;
}

static int traced_cpus(const struct mode *mode)
{
	return is_scoped(mode) ? SCOPE_CPUS : WORKERS;
}

static int move_tails(struct auxtrace_session *s, const struct mode *mode)
{
	for (int cpu = 0; cpu < traced_cpus(mode); cpu++) {
		struct auxtrace_reader *reader = auxtrace_reader(s, cpu);
		struct auxtrace_spans spans;

		if (!reader || auxtrace_reader_peek(reader, &spans) ||
		    auxtrace_reader_consume(reader, spans.len))
			return -1;
	}
	return 0;
}

/* Read until the workers, or the members of @scope, are done; -1 on failure. */
static int read_along(struct auxtrace_session *s, struct auxtrace_recording *r,
		      const struct mode *mode, const struct scope *scope)
{
	struct pollfd p = { .fd = auxtrace_fd(s), .events = POLLIN };

	while (is_scoped(mode) ? !scope_has_ended(scope, 0) : atomic_load(&working)) {
		if (poll(&p, 1, 20) < 0 && errno != EINTR)
			return -1;
		if (mode->reading == AFTER ? move_tails(s, mode) : auxtrace_recording_drain(r) < 0)
			return -1;
		atomic_fetch_add(&passes, 1);
	}
	return 0;
}

static int begin_workers(struct worker *worker, const struct mode *mode, unsigned int rounds)
{
	atomic_store(&working, WORKERS);
	for (int i = 0; i < WORKERS; i++) {
		worker[i] = (struct worker){ .mode = mode, .cpu = i, .rounds = rounds };
		if (pthread_create(&worker[i].thread, NULL, run_worker, &worker[i])) {
			perror("flow: pthread_create");
			return -1;
		}
	}
	return 0;
}

static int end_workers(struct worker *worker)
{
	int result = 0;

	for (int i = 0; i < WORKERS; i++) {
		pthread_join(worker[i].thread, NULL);
		result |= worker[i].result;
	}
	return result;
}

/* Is the whole trace in the area? */
static bool area_holds_all(const struct mode *mode)
{
	return mode->reading == AFTER || is_scoped(mode);
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

	for (int cpu = 0; cpu < traced_cpus(mode); cpu++) {
		if (auxtrace_reader_status(auxtrace_reader(s, cpu), &st))
			return false;
		pmis += st.pmis;
		if (!area_holds_all(mode) && st.produced < size)
			return false;
		if (mode->flags & OVER && st.pmis < (st.produced - size / 2) / size)
			return false;
	}
	return mode->flags & OVER || pmis >= 2u * traced_cpus(mode);
}

/* A window for each CPU and each gap. With a scope, for each switch to a member: many. */
static bool windows_are_right(const struct auxtrace_totals *totals, const struct mode *mode)
{
	uint64_t cpus = traced_cpus(mode);

	return is_scoped(mode) ? totals->windows >= 10 * cpus : totals->windows == cpus + totals->gaps;
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

/* The kernel's function that the filter mode traces: every context switch runs it. */
#define KERNEL_FUNCTION	"__schedule"

/* The addresses of a function of the kernel: up to the next one in /proc/kallsyms. */
static int kernel_range(const char *name, struct auxtrace_filter *range)
{
	unsigned long long address, first = 0, next = 0;
	char symbol[256], line[512];
	FILE *f;

	for (int pass = 0; pass < 2; pass++) {
		f = fopen("/proc/kallsyms", "re");
		if (!f)
			return -1;
		while (fgets(line, sizeof(line), f)) {
			if (sscanf(line, "%llx %*c %255s", &address, symbol) != 2)
				continue;
			if (!pass && !strcmp(symbol, name))
				first = address;
			if (pass && address > first && (!next || address < next))
				next = address;
		}
		fclose(f);
	}
	range->action = AUXTRACE_FILTER_TRACE;
	range->first = first;
	range->last = next - 1;
	return first && next ? 0 : -1;
}

static int make_filters(struct auxtrace_filter filter[2])
{
	filter[0] = (struct auxtrace_filter){
		.action = AUXTRACE_FILTER_TRACE,
		.first = (uintptr_t)__start_workload_range,
		.last = (uintptr_t)__stop_workload_range - 1,
	};
	if (!kernel_range(KERNEL_FUNCTION, &filter[1]))
		return 0;
	fprintf(stderr, "flow: the kernel has no function " KERNEL_FUNCTION "\n");
	return -1;
}

int main(int argc, char **argv)
{
	struct auxtrace_filter filters[2] = { 0 };
	struct auxtrace_options o = { .size = sizeof(o) };
	struct worker worker[WORKERS];
	struct auxtrace_totals totals;
	struct auxtrace_session *s;
	struct auxtrace_recording *r;
	const struct mode *mode;
	struct scope scope;
	cpu_set_t set;
	int result = 0;
	bool lossy, interrupts, scoped;

	mode = argc == 5 || argc == 6 ? find_mode(argv[1], argv[2]) : NULL;
	if (!mode) {
		fprintf(stderr, "usage: flow pt|bts full|overwrite|user|kernel|filter|scope-user|scope-kernel DIR ROUNDS [AUX-SIZE]\n");
		return 2;
	}
	scoped = is_scoped(mode);
	o.pmu = mode->pmu;
	o.flags = mode->flags;
	if (!strcmp(mode->name, "event"))
		o.config = "tsc,event";
	o.cpus = scoped ? "0-3" : "0-1";
	if (scoped && mode->flags & KERN) {
		/* Kernel code does not tell whose it is: records of context switches do. */
		o.data_size = 1 << 20;
		o.records = AUXTRACE_WANT_DEFAULT | AUXTRACE_WANT_SWITCH;
	}
	o.aux_size = argc == 6 ? strtoull(argv[5], NULL, 0) : mode->aux_size;
	o.aux_watermark = mode->watermarks ? o.aux_size / mode->watermarks : 0;

	if (is_filtered(mode)) {
		if (make_filters(filters))
			return 1;
		o.filters = filters;
		o.nr_filters = 2;
	}
	CPU_ZERO(&set);
	CPU_SET(traced_cpus(mode), &set);
	if (sched_setaffinity(0, sizeof(set), &set)) {
		perror("flow: sched_setaffinity");
		return 1;
	}
	if (scoped) {
		if (scope_begin(&scope, argv[4]))
			return 1;
		o.tid = scope.member;
	}
	s = auxtrace_open(NULL);
	if (!s || auxtrace_setup(s, &o))
		return fail("setup");
	r = auxtrace_recording_create(s, argv[3]);
	if (!r || (scoped && auxtrace_recording_add_task(r, scope.member)))
		return fail("recording");

	if (host("log-on"))
		return 1;
	if (auxtrace_start(s))
		return fail("start");
	if (scoped ? scope_go(&scope) : begin_workers(worker, mode, strtoul(argv[4], NULL, 0)))
		return 1;
	if (read_along(s, r, mode, &scope))
		return fail("drain");
	result |= scoped ? scope_end(&scope, s) : end_workers(worker);
	if (auxtrace_stop(s))
		return fail("stop");
	if (host("log-off"))
		return 1;

	/* The recording would have the trace from the last tail on, and not know where that was. */
	if (mode->reading == AFTER && move_tails(s, mode))
		return fail("tails");
	for (int i = 0; mode->reading == AFTER && i < traced_cpus(mode); i++)
		result |= save_area(s, i, argv[3]);
	/* The members have ended. All have the code of the first one. */
	if ((!scoped && auxtrace_recording_add_all_tasks(r) < 0) || auxtrace_recording_finish(r, &totals))
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
	if ((totals.gaps && !lossy) || !windows_are_right(&totals, mode) || !interrupts) {
		fprintf(stderr, "flow: expected no gap, %s, several interrupts%s\n",
			scoped ? "many windows" : "a window for each CPU (and gap)",
			area_holds_all(mode) ? "" : " and wraps");
		result = 1;
	}
	return !!result;
}
