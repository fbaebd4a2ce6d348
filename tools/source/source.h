/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Trace PMUs, as the command sees them. How their traces are decoded: decode/flow.h. Each is a file NAME.c with one table;
 * source.c lists them. No subcommand distinguishes trace PMUs.
 */
#ifndef SOURCE_H
#define SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <auxtrace.h>

#include "lib/meta.h"

struct flow_sum;

/* A file of trace, for auxtrace dump. */
struct trace_file {
	const uint8_t *data;
	size_t size;
	size_t pad;		/* bytes before the trace, as in meta */
	uint64_t begin;		/* AUX position of the first byte behind them */
};

#define PERF_INFO_WORDS	20

/**
 * struct perf_trace - a trace PMU in a perf.data file, for auxtrace export
 * @type: type of perf's AUXTRACE_INFO
 * @unit: the trace is an array of records of so many bytes, at positions that are multiples
 * @padding: zero bytes behind each part, a multiple of 8
 * @timed: the trace tells the time. perf then finds whose it is by the times of context switches
 * @fill_info: the words of AUXTRACE_INFO, with @pmu_type for perf's number of the PMU; returns how many.
 *	@switches: there are records SWITCH_CPU_WIDE; @broken: a queue has parts that do not continue
 *	one another
 */
struct perf_trace {
	uint32_t type;
	uint32_t unit, padding;
	bool timed;
	size_t (*fill_info)(uint64_t words[PERF_INFO_WORDS], const struct meta *meta, uint32_t pmu_type,
			    bool switches, bool broken);
};

extern const struct perf_trace pt_perf, bts_perf;

/**
 * struct source - a trace PMU
 * @pmu: AUXTRACE_PMU_*
 * @name: as --source takes it
 * @perf_pmu: perf's own driver of it, in /sys/bus/event_source/devices
 * @perf_trace: how perf takes its trace from a file; NULL: it cannot
 * @no_config: why --config makes no sense; NULL: it takes terms
 * @no_filter: why --filter makes no sense; NULL: the trace PMU compares addresses
 * @no_branches: why the branches view cannot show it; NULL: it can
 * @unsynced: what cannot be decoded at the edges of a trace, for the sentence "N bytes ..."
 * @find_cpu: info: add findings of what CPUID says without the module
 * @find_state: info: add findings of what the module says; @state: AUXTRACE_PMU_STATE_*
 * @dump: print the packets or records of a file, unless only their totals are wanted.
 *	Returns the number of errors
 * @print_totals: print the totals of all files that were dumped
 * @summarize: script: say what only this source counts; NULL: nothing
 */
struct source {
	uint32_t pmu;
	const char *name;
	const char *perf_pmu;
	const struct perf_trace *perf_trace;
	const char *no_config;
	const char *no_filter;
	const char *no_branches;
	const char *unsynced;
	void (*find_cpu)(void);
	void (*find_state)(const struct auxtrace_session *session, const struct auxtrace_info *info,
			   uint32_t state);
	uint64_t (*dump)(const struct trace_file *file, bool print);
	void (*print_totals)(void);
	void (*summarize)(const struct flow_sum *sum);
};

extern const struct source source_pt, source_bts;

/* All sources with a final NULL. The first one is the default. */
extern const struct source *const sources[];

/* The source with that number, or NULL. */
const struct source *source_of(uint32_t pmu);
/* The source that --source names; dies if there is none. */
const struct source *source_parse(const char *name);
/* The source of the recording in @dir; dies if this command does not know it. */
const struct source *source_of_recording(const struct meta *meta, const char *dir);

static inline bool source_is_present(const struct source *source, const struct auxtrace_info *info)
{
	return info->out_pmus >> source->pmu & 1;
}

/* info: add the finding that sessions can use @source; @more: what else there is to say. */
void source_find_usable(const struct source *source, const struct auxtrace_info *info,
			const char *more);

/* auxtrace dump (pt_dump.c, bts_dump.c): see @dump and @print_totals. */
uint64_t pt_dump(const struct trace_file *file, bool print);
void pt_print_totals(void);
uint64_t bts_dump(const struct trace_file *file, bool print);
void bts_print_totals(void);

#endif
