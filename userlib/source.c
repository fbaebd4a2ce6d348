// SPDX-License-Identifier: LGPL-2.1-or-later
#include "source.h"

const struct source *const sources[] = { &source_pt, &source_bts, NULL };

const struct source *source_of(uint32_t pmu)
{
	for (unsigned int i = 0; sources[i]; i++)
		if (sources[i]->pmu == pmu)
			return sources[i];
	return NULL;
}
