// SPDX-License-Identifier: LGPL-2.1-or-later
#include <time.h>
#include <x86intrin.h>

#include "instant.h"

struct instant instant_now(void)
{
	struct instant now = { 0 };
	uint64_t least = UINT64_MAX;

	/* An interrupt may come between the two clocks: the quickest of some readings counts. */
	for (int i = 0; i < 5; i++) {
		uint64_t before = __rdtsc(), after;
		struct timespec ts;

		clock_gettime(CLOCK_MONOTONIC, &ts);
		after = __rdtsc();
		if (after - before >= least)
			continue;
		least = after - before;
		now.tsc = before + least / 2;
		now.mono_ns = ts.tv_sec * 1000000000ull + ts.tv_nsec;
	}
	return now;
}
