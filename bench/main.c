// SPDX-License-Identifier: GPL-2.0-only
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "die.h"
#include "measure.h"

static const struct {
	const char *name;
	void (*measure)(void);
} parts[] = {
	{ "control", measure_control },
	{ "records", measure_records },
	{ "nmi-others", measure_other_nmis },
	{ "pmi-ours", measure_our_pmi },
	{ "pmi-perf", measure_their_pmi },
	{ "bts-many", measure_many },
	{ "bts-ours", measure_our_bts },
	{ "bts-perf", measure_their_bts },
	{ "trigger", measure_trigger },
	{ "freeze", measure_freeze },
	{ "sample", measure_sample },
	{ "switch", measure_switch },
};

int main(int argc, char **argv)
{
	cpu_set_t first;

	setvbuf(stdout, NULL, _IOLBF, 0);
	CPU_ZERO(&first);
	CPU_SET(0, &first);
	if (sched_setaffinity(0, sizeof(first), &first))
		die("CPU 0");
	for (unsigned int i = 0; argc == 2 && i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!strcmp(argv[1], parts[i].name)) {
			parts[i].measure();
			return 0;
		}
	}
	fprintf(stderr, "usage: bench control|records|nmi-others|pmi-ours|pmi-perf|bts-many|bts-ours|bts-perf|trigger|freeze|sample|switch\n");
	return 2;
}
