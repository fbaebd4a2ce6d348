/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * CLOCK_MONOTONIC; and the TSC and perf's clock, by the numbers that perf publishes for it (<linux/perf_event.h>,
 * cap_user_time_zero): ns = zero + (tsc * mult >> shift). @mult is 0 if that clock does not follow the TSC.
 */
#ifndef CLOCK_H
#define CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

/* Nanoseconds of CLOCK_MONOTONIC. */
static inline int64_t clock_now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static inline uint64_t clock_to_ns(uint64_t tsc, uint64_t zero, uint32_t mult, uint32_t shift)
{
	return zero + (uint64_t)(((unsigned __int128)tsc * mult) >> shift);
}

/* 0 if @mult is. */
static inline uint64_t clock_to_tsc(uint64_t ns, uint64_t zero, uint32_t mult, uint32_t shift)
{
	/* @zero is modulo 2^64: it is below zero if the TSC did not begin with the kernel. */
	return mult ? ((unsigned __int128)(ns - zero) << shift) / mult : 0;
}

#endif
