/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Trace PMUs, as the library sees them. Each is a file trace_pmu_NAME.c with one table;
 * trace_pmu.c lists them. No other file distinguishes trace PMUs.
 */
#ifndef AUXTRACE_TRACE_PMU_H
#define AUXTRACE_TRACE_PMU_H

#include <auxtrace.h>
#include <stdio.h>

/**
 * struct trace_pmu - a trace PMU
 * @pmu: AUXTRACE_PMU_*
 * @name: in messages
 * @macro: name of its AUXTRACE_PMU_* constant, for callers of the library
 * @parse_config: auxtrace_setup(): config bits of @terms, NULL: the default. 0, or -1 with
 *	errno and the message
 * @absent: what AUXTRACE_PMU_STATE_* means, other than OK and BUSY: a sentence
 * @explain_config: a SETUP failed with EINVAL, and only the config is left to be wrong: set
 *	errno and the message. Returns -1
 * @explain_unsupported: likewise for a SETUP that failed with EOPNOTSUPP
 * @busy: the message for a START that failed with EBUSY
 * @start_error: the message for a START that failed with EIO; NULL: none of its own
 * @write_meta: write the lines of a recording's meta that only this PMU has; NULL: none
 */
struct trace_pmu {
	uint32_t pmu;
	const char *name;
	const char *macro;
	int (*parse_config)(const struct auxtrace_session *s, const char *terms, uint64_t *config);
	const char *(*absent)(uint32_t state);
	int (*explain_config)(const struct auxtrace_setup *setup);
	int (*explain_unsupported)(const struct auxtrace_session *s,
				   const struct auxtrace_setup *setup);
	const char *busy;
	const char *start_error;
	void (*write_meta)(FILE *f, const struct auxtrace_session *s);
};

extern const struct trace_pmu trace_pmu_pt, trace_pmu_bts;

/* All trace_pmus, in the order of their numbers, with a final NULL. */
extern const struct trace_pmu *const trace_pmus[];

/* The trace PMU with number @pmu, or NULL. */
const struct trace_pmu *trace_pmu_of(uint32_t pmu);

static inline bool trace_pmu_is_present(const struct trace_pmu *pmu, const struct auxtrace_info *info)
{
	return info->out_pmus >> pmu->pmu & 1;
}

#endif
