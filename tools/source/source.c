// SPDX-License-Identifier: GPL-2.0-only
#include <stdio.h>
#include <string.h>

#include "lib/findings.h"
#include "lib/tool.h"
#include "source.h"

const struct source *const sources[] = { &source_pt, &source_bts, NULL };

const struct source *source_of(uint32_t pmu)
{
	for (unsigned int i = 0; sources[i]; i++)
		if (sources[i]->pmu == pmu)
			return sources[i];
	return NULL;
}

const struct source *source_parse(const char *name)
{
	char names[64] = "";
	size_t len = 0;

	for (unsigned int i = 0; sources[i]; i++) {
		if (!strcmp(sources[i]->name, name))
			return sources[i];
		len += snprintf(names + len, sizeof(names) - len, "%s%s", i ? " or " : "",
				sources[i]->name);
	}
	die(EXIT_USAGE, "--source %s: it takes %s", name, names);
}

const struct source *source_of_recording(const struct meta *meta, const char *dir)
{
	const struct source *source = source_of(meta->pmu);

	if (!source)
		die(1, "%s/meta: a trace of PMU %u, which this version does not know", dir, meta->pmu);
	return source;
}

void source_find_usable(const struct source *source, const struct auxtrace_info *info,
			const char *more)
{
	if (info->flags & AUXTRACE_INFO_PROBE)
		finding_add(source, source->name, YES, "free on every online CPU%s", more);
	else
		finding_add(source, source->name, NOTE, "usable; whether it is free now can be tried with CAP_PERFMON or CAP_SYS_ADMIN only%s",
			    more);
}
