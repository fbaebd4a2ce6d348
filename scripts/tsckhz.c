// SPDX-License-Identifier: GPL-2.0-only
/*
 * tsckhz: prints how many kHz this machine's TSC has, for the kernel parameter
 * tsc_early_khz of a guest whose TSC it is. Of several readings of both clocks the
 * one that nothing came between is taken, so that load does not show.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdint.h>
#include <time.h>
#include <x86intrin.h>

#define TRIES 1000

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * UINT64_C(1000000000) + t.tv_nsec;
}

struct reading {
	uint64_t tsc, ns, took;
};

static struct reading read_both(void)
{
	struct reading best = { .took = UINT64_MAX };

	for (int i = 0; i < TRIES; i++) {
		uint64_t before = now(), tsc = __rdtsc(), took = now() - before;

		if (took < best.took)
			best = (struct reading) { tsc, before + took / 2, took };
	}
	return best;
}

int main(void)
{
	struct timespec nap = { .tv_nsec = 100000000 };
	struct reading first = read_both(), last;

	nanosleep(&nap, NULL);
	last = read_both();
	printf("%" PRIu64 "\n", (last.tsc - first.tsc) * 1000000 / (last.ns - first.ns));
	return 0;
}
