// SPDX-License-Identifier: GPL-2.0-only
/* --format perf: a directory that perf script, report and inject open. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "format.h"
#include "lib/output.h"
#include "lib/tool.h"
#include "perf_aux.h"
#include "perf_generated.h"
#include "perf_kernel.h"
#include "perf_record.h"
#include "perf_sideband.h"
#include "perf_task.h"
#include "source/source.h"

/*
 * The number of the PMU on the machine that perf recorded on. The reading machine's PMUs have others, below
 * this, and the file says by name what the event is.
 */
#define PMU_TYPE	0x10000

#define CONFIG_TSC	(1ull << 10)

/* Flags of perf_event_attr, by bit. */
#define ATTR_EXCLUDE_USER	(1ull << 4)
#define ATTR_EXCLUDE_KERNEL	(1ull << 5)
#define ATTR_MMAP		(1ull << 8)
#define ATTR_COMM		(1ull << 9)
#define ATTR_TASK		(1ull << 13)
#define ATTR_SAMPLE_ID_ALL	(1ull << 18)
#define ATTR_MMAP2		(1ull << 23)
#define ATTR_COMM_EXEC		(1ull << 24)
#define ATTR_CONTEXT_SWITCH	(1ull << 26)
#define ATTR_KSYMBOL		(1ull << 29)
#define ATTR_BPF_EVENT		(1ull << 30)
#define ATTR_TEXT_POKE		(1ull << 33)

struct perf_export {
	const struct export_request *request;
	unsigned int nr_cpus;		/* those in meta come first, in its order */
	struct records *records;	/* of those in meta */
	struct perf_sideband *sideband;
	enum perf_switches switches;	/* of any CPU */
	bool side;			/* some CPU has cpuN.side */
	unsigned int max_cpu;
	struct perf_tasks *tasks;
	struct perf_generated generated;
	struct perf_parts parts;
	struct perf_event events[PERF_EVENTS];
	struct perf_data *data;
};

/* ---- reading ------------------------------------------------------------ */

static void read_sideband(struct perf_export *x, unsigned int cpu, const struct records *records)
{
	struct perf_sideband *s;

	x->sideband = xrealloc(x->sideband, (x->nr_cpus + 1) * sizeof(*s));
	s = &x->sideband[x->nr_cpus++];
	perf_sideband_read(s, x->request->dir, cpu, x->request->meta, records);
	if (x->switches < s->switches)
		x->switches = s->switches;
	x->side |= s->side.size;
	if (x->max_cpu < cpu)
		x->max_cpu = cpu;
	perf_sideband_add_threads(s, x->tasks);
}

static bool is_traced(const struct meta *meta, unsigned int cpu)
{
	for (unsigned int i = 0; i < meta->nr_cpus; i++)
		if (meta->cpu[i].cpu == cpu)
			return true;
	return false;
}

/* What CPUs did that were not traced tells of the processes, too. */
static void read_other_sidebands(struct perf_export *x)
{
	DIR *d = opendir(x->request->dir);
	struct dirent *e;

	if (!d)
		die(1, "cannot read %s: %s", x->request->dir, strerror(errno));
	while ((errno = 0, e = readdir(d))) {
		unsigned int cpu;
		int end = 0;

		if (sscanf(e->d_name, "cpu%u.side%n", &cpu, &end) == 1 && end && !e->d_name[end] &&
		    cpu <= MAX_CPU && !is_traced(x->request->meta, cpu))
			read_sideband(x, cpu, NULL);
	}
	if (errno)
		die(1, "cannot list %s: %s", x->request->dir, strerror(errno));
	closedir(d);
}

static void read_recording(struct perf_export *x)
{
	const struct export_request *request = x->request;
	const struct perf_trace *trace = request->source->perf_trace;
	const struct meta *meta = request->meta;

	x->tasks = perf_tasks_read(request->dir, meta);
	perf_parts_init(&x->parts, request->dir, trace);
	x->records = xcalloc(meta->nr_cpus, sizeof(*x->records));
	for (unsigned int i = 0; i < meta->nr_cpus; i++) {
		must(records_read(&x->records[i], request->dir, &meta->cpu[i]));
		read_sideband(x, meta->cpu[i].cpu, &x->records[i]);
		if (!trace->timed)
			perf_sideband_find_switches(&x->sideband[i]);
		perf_parts_find(&x->parts, &x->sideband[i]);
	}
	read_other_sidebands(x);
}

/* What perf will not be able to tell. */
static void say_limits(const struct perf_export *x)
{
	const struct meta *meta = x->request->meta;

	if (!x->parts.count)
		say("%s has no trace: perf will find none either", x->request->dir);
	if (!meta->time_mult)
		say("the kernel's clock did not follow the TSC: perf cannot tell which thread the trace is of");
	else if (x->request->source->perf_trace->timed && !(meta->config & CONFIG_TSC))
		say("a trace without the term tsc: perf cannot tell which thread it is of");
	else if (!x->switches)
		say("no records of context switches: perf takes each window for one thread's, that with which it began");
}

/* ---- writing ------------------------------------------------------------ */

static void describe_events(struct perf_export *x)
{
	const struct export_request *request = x->request;
	const uint32_t flags = request->meta->flags;
	struct perf_event *trace = &x->events[0], *sideband = &x->events[1];

	*trace = (struct perf_event){
		.id = PERF_ID_TRACE,
		.attr = {
			.type = PMU_TYPE, .size = sizeof(trace->attr), .config = request->meta->config,
			.sample_period = 1, .sample_type = PERF_SAMPLE_TYPE,
			.flags = ATTR_SAMPLE_ID_ALL | (flags & AUXTRACE_SETUP_KERNEL ? 0 : ATTR_EXCLUDE_KERNEL) |
				 (flags & AUXTRACE_SETUP_USER ? 0 : ATTR_EXCLUDE_USER),
		},
	};
	snprintf(trace->name, sizeof(trace->name), "%s//", request->source->perf_pmu);
	*sideband = (struct perf_event){
		.id = PERF_ID_SIDEBAND,
		.attr = {
			.type = PERF_TYPE_SOFTWARE, .size = sizeof(sideband->attr), .config = PERF_COUNT_SW_DUMMY,
			.sample_period = 1, .sample_type = PERF_SAMPLE_TYPE,
			.flags = ATTR_SAMPLE_ID_ALL | ATTR_MMAP | ATTR_MMAP2 | ATTR_COMM | ATTR_COMM_EXEC | ATTR_TASK |
				 (x->switches ? ATTR_CONTEXT_SWITCH : 0) |
				 (x->side ? ATTR_KSYMBOL | ATTR_BPF_EVENT | ATTR_TEXT_POKE : 0),
		},
		.name = "dummy:HG",
	};
}

static void write_info(struct perf_export *x)
{
	const struct perf_trace *trace = x->request->source->perf_trace;
	const uint32_t type[2] = { trace->type, 0 };
	uint64_t words[PERF_INFO_WORDS];
	size_t n = trace->fill_info(words, x->request->meta, PMU_TYPE, x->switches, x->parts.broken);
	struct perf_record r;

	perf_record_begin(&r, PERF_AUXTRACE_INFO, 0);
	perf_record_add(&r, type, sizeof(type));
	perf_record_add(&r, words, n * sizeof(words[0]));
	perf_record_write(&r, x->data);
}

/* The times between which there are windows, in ns; false: there is no record of one. */
static bool find_times(const struct perf_export *x, uint64_t times[2])
{
	uint64_t first = UINT64_MAX, last = 0;

	for (unsigned int i = 0; i < x->request->meta->nr_cpus; i++)
		for (size_t j = 0; j < x->records[i].nr_windows; j++) {
			const struct auxtrace_record_window *w = x->records[i].window[j];

			if (first > w->begin_time)
				first = w->begin_time;
			if (last < w->end_time)
				last = w->end_time;
		}
	times[0] = perf_time(x->request->meta, first);
	times[1] = perf_time(x->request->meta, last);
	return first < last;
}

static void write_features(struct perf_export *x)
{
	const struct meta *meta = x->request->meta;
	const uint32_t cpus[2] = { x->max_cpu + 1, x->max_cpu + 1 };
	uint64_t times[2];
	char cpuid[64];

	perf_data_feature_text(x->data, PERF_FEATURE_OSRELEASE, meta->release);
	perf_data_feature_text(x->data, PERF_FEATURE_VERSION, "auxtrace " AUXTRACE_VERSION);
	perf_data_feature_text(x->data, PERF_FEATURE_ARCH, "x86_64");
	perf_data_feature(x->data, PERF_FEATURE_NRCPUS, cpus, sizeof(cpus));
	snprintf(cpuid, sizeof(cpuid), "GenuineIntel,%u,%u,%u", meta->cpu_family, meta->cpu_model,
		 meta->cpu_stepping);
	perf_data_feature_text(x->data, PERF_FEATURE_CPUID, cpuid);
	perf_data_feature_events(x->data);
	perf_parts_write_index(&x->parts, x->data);
	if (find_times(x, times))
		perf_data_feature(x->data, PERF_FEATURE_SAMPLE_TIME, times, sizeof(times));
}

static void write_file(struct perf_export *x)
{
	const struct export_request *request = x->request;
	char path[4200], cache[4200];

	snprintf(path, sizeof(path), "%s/data", request->out);
	snprintf(cache, sizeof(cache), "%s/debug", request->out);
	describe_events(x);
	x->data = perf_data_create(path, x->events);
	write_info(x);
	perf_kernel_write(request->dir, x->data);
	perf_generated_write(&x->generated, request->dir, x->data);
	if (perf_tasks_write(x->tasks, x->data, cache))
		say("perf finds the vdso of the recording with: perf --buildid-dir %s script -i %s", cache, request->out);
	for (unsigned int i = 0; i < x->nr_cpus; i++)
		perf_sideband_write(&x->sideband[i], x->tasks, &x->generated, x->switches, x->data);
	perf_parts_write(&x->parts, x->data);
	perf_data_end_records(x->data);
	write_features(x);
	perf_data_finish(x->data);
}

static void release(struct perf_export *x)
{
	for (unsigned int i = 0; i < x->nr_cpus; i++)
		perf_sideband_free(&x->sideband[i]);
	for (unsigned int i = 0; i < x->request->meta->nr_cpus; i++)
		records_free(&x->records[i]);
	free(x->sideband);
	free(x->records);
	perf_generated_free(&x->generated);
	perf_parts_free(&x->parts);
	perf_tasks_free(x->tasks);
}

static void write(const struct export_request *request)
{
	struct perf_export x = { .request = request };

	if (!request->source->perf_trace)
		die(1, "--format perf: perf cannot decode a trace of the source %s", request->source->name);
	read_recording(&x);
	say_limits(&x);
	output_directory(request->out);
	perf_kernel_copy(request->dir, request->meta, request->out);
	perf_generated_read(&x.generated, request->dir, request->meta, request->out);
	write_file(&x);
	output_complete();
	release(&x);
}

const struct export_format perf_format = {
	.name = "perf",
	.summary = "a directory for perf script, perf report and perf inject (-i OUT)",
	.write = write,
};
