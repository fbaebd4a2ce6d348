// SPDX-License-Identifier: GPL-2.0-only
/*
 * Conversion from the TSC of a trace to perf's clock, local_clock().
 *
 * The kernel does not export its conversion factors, but it exports tsc_khz and the
 * function that computes them from it. This file measures the offset. Where local_clock()
 * is not based on the TSC (a paravirtual clock, an unstable TSC) the result would be wrong, so
 * this file checks whether it predicts a later value of the clock.
 */

#include <linux/auxtrace.h>
#include <linux/clocksource.h>
#include <linux/delay.h>
#include <linux/irqflags.h>
#include <linux/kprobes.h>
#include <linux/math64.h>
#include <linux/sched/clock.h>
#include "base/clock.h"
#include "compat/compat.h"

#define CLOCK_SAMPLES		32
#define CLOCK_CHECK_US	200
/* On a virtual machine the host may interrupt between the two clock reads. */
#define CLOCK_TOLERANCE_NS	20000

struct clock_sample {
	u64 tsc;
	u64 ns;
};

/* Reads both clocks at the same moment: the tightest of several tries. */
static struct clock_sample clock_take_sample(void)
{
	struct clock_sample best = { };
	u64 tightest = U64_MAX;
	unsigned long flags;
	int i;

	local_irq_save(flags);
	for (i = 0; i < CLOCK_SAMPLES; i++) {
		u64 before = rdtsc_ordered();
		u64 ns = local_clock();
		u64 after = rdtsc_ordered();

		if (after - before >= tightest)
			continue;
		tightest = after - before;
		best.tsc = before + tightest / 2;
		best.ns = ns;
	}
	local_irq_restore(flags);
	return best;
}
NOKPROBE_SYMBOL(clock_take_sample);

static bool clock_predicts(u64 zero, u32 mult, u32 shift)
{
	struct clock_sample later;
	u64 error;

	usleep_range(CLOCK_CHECK_US, 2 * CLOCK_CHECK_US);
	later = clock_take_sample();
	error = zero + mul_u64_u32_shr(later.tsc, mult, shift) - later.ns;
	return error + CLOCK_TOLERANCE_NS <= 2 * CLOCK_TOLERANCE_NS;
}
NOKPROBE_SYMBOL(clock_predicts);

/**
 * auxt_clock_describe() - fill in the clock members of INFO
 * @info: the answer of INFO; out_time_mult stays 0 if local_clock() is not based on the TSC
 *
 * May sleep.
 */
void auxt_clock_describe(struct auxtrace_info *info)
{
	struct clock_sample now;
	u32 mult, shift;
	u64 zero;

	info->out_clock = AUXTRACE_CLOCK_TSC;
	info->out_clock_hz = tsc_khz * 1000ULL;
	if (!tsc_khz)
		return;
	clocks_calc_mult_shift(&mult, &shift, tsc_khz, NSEC_PER_MSEC, 0);
	/* As in perf's mmap page, whose shift is below 32. */
	if (shift == 32) {
		shift = 31;
		mult >>= 1;
	}
	now = clock_take_sample();
	zero = now.ns - mul_u64_u32_shr(now.tsc, mult, shift);
	if (!clock_predicts(zero, mult, shift))
		return;
	info->out_time_shift = shift;
	info->out_time_mult = mult;
	info->out_time_zero = zero;
}
NOKPROBE_SYMBOL(auxt_clock_describe);

/**
 * auxt_ns_to_tsc() - convert nanoseconds to TSC ticks
 * @ns: nanoseconds
 *
 * Return: ticks; U64_MAX if the result does not fit in 64 bits.
 */
u64 auxt_ns_to_tsc(u64 ns)
{
	/* The division would raise #DE if the quotient did not fit. */
	if (tsc_khz > NSEC_PER_MSEC && ns > U64_MAX / tsc_khz * NSEC_PER_MSEC)
		return U64_MAX;
	return mul_u64_u32_div(ns, tsc_khz, NSEC_PER_MSEC);
}
NOKPROBE_SYMBOL(auxt_ns_to_tsc);

/**
 * auxt_tsc_to_ns() - convert TSC ticks to nanoseconds
 * @ticks: ticks, less than U64_MAX / 2
 *
 * Return: nanoseconds.
 */
u64 auxt_tsc_to_ns(u64 ticks)
{
	/* The quotient fits: ticks below U64_MAX / 2 and tsc_khz of half a GHz or more. */
	return tsc_khz ? mul_u64_u32_div(ticks, NSEC_PER_MSEC, tsc_khz) : 0;
}
NOKPROBE_SYMBOL(auxt_tsc_to_ns);
