/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Trace PMUs, as the library sees them. Each is a file source_NAME.c with one table;
 * source.c lists them. No other file distinguishes trace PMUs.
 */
#ifndef AUXTRACE_SOURCE_H
#define AUXTRACE_SOURCE_H

#include <auxtrace.h>
#include <stdio.h>

/**
 * struct source - a trace PMU
 * @pmu: AUXTRACE_PMU_*
 * @name: in messages
 * @macro: name of its AUXTRACE_PMU_* constant, for callers of the library
 * @parse_config: auxtrace_setup(): config bits of @terms, NULL: the default. 0, or -1 with
 *	errno and the message
 * @absent: why @info says that this machine does not have it: a sentence
 * @explain_config: a SETUP failed with EINVAL, and only the config is left to be wrong: set
 *	errno and the message. Returns -1
 * @explain_unsupported: likewise for a SETUP that failed with EOPNOTSUPP
 * @busy: the message for a START that failed with EBUSY
 * @start_error: the message for a START that failed with EIO; NULL: none of its own
 * @write_meta: write the lines of a recording's meta that only this PMU has; NULL: none
 */
struct source {
	uint32_t pmu;
	const char *name;
	const char *macro;
	int (*parse_config)(const struct auxtrace_info *info, const char *terms, uint64_t *config);
	const char *(*absent)(const struct auxtrace_info *info);
	int (*explain_config)(const struct auxtrace_setup *setup);
	int (*explain_unsupported)(const struct auxtrace_info *info,
				   const struct auxtrace_setup *setup);
	const char *busy;
	const char *start_error;
	void (*write_meta)(FILE *f, const struct auxtrace_info *info);
};

extern const struct source source_pt, source_bts;

/* All sources, in the order of their numbers, with a final NULL. */
extern const struct source *const sources[];

/* The source with number @pmu, or NULL. */
const struct source *source_of(uint32_t pmu);

static inline bool source_is_present(const struct source *source, const struct auxtrace_info *info)
{
	return info->out_pmus >> source->pmu & 1;
}

#endif
