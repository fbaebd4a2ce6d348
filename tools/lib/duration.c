// SPDX-License-Identifier: GPL-2.0
#include <stdio.h>

#include "duration.h"
#include "tool.h"

void duration_text(char *text, size_t size, const char *sign, uint64_t ns)
{
	static const struct { uint64_t ns; const char *name; } unit[] = {
		{ 1000000000, "s" }, { 1000000, "ms" }, { 1000, "us" },
	};

	for (unsigned int i = 0; i < ARRAY_SIZE(unit); i++) {
		if (ns < unit[i].ns)
			continue;
		/* Three digits, or all before the point. */
		snprintf(text, size, "%s%.*f%s", sign, ns < 10 * unit[i].ns ? 2 : ns < 100 * unit[i].ns ? 1 : 0,
			 (double)ns / unit[i].ns, unit[i].name);
		return;
	}
	snprintf(text, size, "%s%uns", sign, (unsigned int)ns);
}
