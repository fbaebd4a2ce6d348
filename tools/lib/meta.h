/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads the file `meta` of a recording. */
#ifndef META_H
#define META_H

#include <stdbool.h>
#include <stdint.h>

#define DEFAULT_DIR	"auxtrace.data"
#define MAX_CPU		65535

struct meta_cpu {
	unsigned int cpu;
	uint64_t begin;		/* AUX position of the first byte of trace in cpuN.aux */
	uint64_t read, produced, overwritten;
	uint64_t pad;		/* bytes before it that are not trace */
	uint64_t origin;	/* position of the file's first byte: @begin - @pad */
	uint64_t windows;
	uint64_t window_begin;	/* of the newest window; UINT64_MAX: not known, in a snapshot */
	uint64_t gaps;
	uint64_t data_read;	/* bytes in cpuN.data */
};

struct clock_pair {		/* one instant */
	uint64_t tsc, ns;	/* of CLOCK_MONOTONIC */
};

struct meta_trigger {
	uint32_t id;
	uint64_t hits, acted, held, idle, missed;
	char *text;		/* its label, as --on had it; "": none */
};

#define META_FILTERS	4	/* more than these no CPU has */

struct meta_filter {
	bool stop;		/* AUXTRACE_FILTER_STOP; else _TRACE */
	uint64_t first, last;
};

struct meta {
	unsigned int cpu_family, cpu_model, cpu_stepping;
	unsigned int tsc_art_num, tsc_art_den, max_nonturbo_ratio;
	unsigned int time_shift, time_mult;
	uint64_t time_zero, tsc_khz;
	uint64_t config;
	uint64_t kcore_tsc;	/* when the kernel's code was read; 0: at the end, or never */
	struct clock_pair begin, end;	/* of the recording; 0: not known */
	uint32_t pmu;		/* AUXTRACE_PMU_* */
	uint32_t flags;		/* AUXTRACE_SETUP_* */
	unsigned int nr_filters;
	struct meta_filter filter[META_FILTERS];
	char release[128];
	unsigned int nr_cpus;
	struct meta_cpu *cpu;	/* in CPU order */
	unsigned int nr_triggers;
	struct meta_trigger *trigger;
};

/* NULL, with a message: @dir is not a complete recording, or one that this version cannot read. */
struct meta *meta_read(const char *dir);
/* The label of trigger @id; "" if it has none. */
const char *meta_trigger_text(const struct meta *meta, uint32_t id);
/* The TSC at @ns of CLOCK_MONOTONIC; 0: that is before the recording, or not known. */
uint64_t meta_mono_tsc(const struct meta *meta, uint64_t ns);
/*
 * The kernel's clock at @tsc, in ns; if that does not follow the TSC, ns of the TSC itself. false: neither
 * is known.
 */
bool meta_clock(const struct meta *meta, uint64_t tsc, uint64_t *ns);
/* The first TSC whose time by that clock is not before @ns; 0: there is no clock. */
uint64_t meta_tsc(const struct meta *meta, uint64_t ns);
/* How long @ticks of the TSC are, in ns; false: not known. */
bool meta_duration(const struct meta *meta, uint64_t ticks, uint64_t *ns);
void meta_free(struct meta *meta);

#endif
