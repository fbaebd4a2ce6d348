// SPDX-License-Identifier: LGPL-2.1-or-later
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

bool parse_time(const char *text, size_t len, uint64_t *ns)
{
	static const struct {
		const char *name;
		double ns;
	} units[] = { { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	char *end;
	double n;

	if (!isdigit((unsigned char)*text))
		return false;
	n = strtod(text, &end);
	for (unsigned int i = 0; i < ARRAY_SIZE(units); i++)
		if (text + len == end + strlen(units[i].name) &&
		    !strncmp(end, units[i].name, strlen(units[i].name))) {
			if (n * units[i].ns >= 9e18)
				return false;
			*ns = n * units[i].ns + 0.5;
			return true;
		}
	return false;
}
