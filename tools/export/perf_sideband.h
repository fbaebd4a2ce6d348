/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What happened on a CPU besides its trace: the records of its data ring, cpuN.data, and of a dummy event
 * of perf, cpuN.side, if the recording has them. The latter are perf's own and are taken as they are.
 */
#ifndef EXPORT_PERF_SIDEBAND_H
#define EXPORT_PERF_SIDEBAND_H

#include <stdbool.h>
#include <stdint.h>

#include "decode/records.h"
#include "perf_data.h"
#include "perf_generated.h"
#include "perf_task.h"

/* Where the records of context switches are. */
enum perf_switches {
	PERF_NO_SWITCHES,
	PERF_SWITCHES_OF_RING,
	PERF_SWITCHES_OF_SIDE,	/* those of the ring are left out */
};

struct perf_switch {
	uint64_t time;		/* ns of perf's clock */
	uint32_t from, to;	/* threads */
};

struct perf_sideband {
	uint32_t cpu;
	const struct meta *meta;
	const struct records *records;	/* of the CPU; NULL: it is not in the recording's trace */
	struct mapped side;		/* cpuN.side */
	enum perf_switches switches;	/* of this CPU */
	size_t nr_switched;		/* see perf_sideband_find_switches() */
	struct perf_switch *switched;
};

/* @records belong to the caller. */
void perf_sideband_read(struct perf_sideband *s, const char *dir, uint32_t cpu, const struct meta *meta,
			const struct records *records);
void perf_sideband_free(struct perf_sideband *s);

/* Tell @tasks which threads the records name. */
void perf_sideband_add_threads(const struct perf_sideband *s, struct perf_tasks *tasks);

/* List the context switches, by time. */
void perf_sideband_find_switches(struct perf_sideband *s);
/*
 * Did the CPU run thread @tid alone from @begin to @end, in ns? The switch to it may be behind the begin,
 * and that from it before the end. false also if there are no records of switches.
 */
bool perf_sideband_ran_alone(const struct perf_sideband *s, uint32_t tid, uint64_t begin, uint64_t end);

/* Write the records, but for those that @generated replaces. @switches: those to take, on all CPUs. */
void perf_sideband_write(const struct perf_sideband *s, const struct perf_tasks *tasks,
			 const struct perf_generated *generated, enum perf_switches switches, struct perf_data *data);

#endif
