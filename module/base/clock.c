// SPDX-License-Identifier: GPL-2.0
/*
 * From the TSC of a trace to perf's clock, local_clock().
 *
 * The kernel's own factors are not exported, but what computes them is, from the
 * exported tsc_khz. The offset is measured. Where the kernel's clock is not the
 * TSC (a paravirtual clock, an unstable TSC) the outcome would be wrong: it is
 * checked by a prediction.
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

#define SAMPLES		32
#define CHECK_US	200
/* Between reading the two clocks an interrupt of the host may come. */
#define TOLERANCE_NS	20000

struct sample {
	u64 tsc;
	u64 ns;
};

/* Both clocks at the same moment: the tightest of several tries. */
static struct sample take(void)
{
	struct sample best = { };
	u64 tightest = U64_MAX;
	unsigned long flags;
	int i;

	local_irq_save(flags);
	for (i = 0; i < SAMPLES; i++) {
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

static bool predicts(u64 zero, u32 mult, u32 shift)
{
	struct sample later;
	u64 error;

	usleep_range(CHECK_US, 2 * CHECK_US);
	later = take();
	error = zero + mul_u64_u32_shr(later.tsc, mult, shift) - later.ns;
	return error + TOLERANCE_NS <= 2 * TOLERANCE_NS;
}

/**
 * auxt_clock_describe() - fill in the clock's part of INFO
 * @info: the answer; time_mult is 0 if the kernel's clock is not the TSC
 *
 * May sleep.
 */
void auxt_clock_describe(struct auxtrace_info *info)
{
	struct sample now;
	u32 mult, shift;
	u64 zero;

	info->out_tsc_khz = tsc_khz;
	if (!tsc_khz)
		return;
	clocks_calc_mult_shift(&mult, &shift, tsc_khz, NSEC_PER_MSEC, 0);
	/* As the kernel does it: perf's page gives a shift of less than 32. */
	if (shift == 32) {
		shift = 31;
		mult >>= 1;
	}
	now = take();
	zero = now.ns - mul_u64_u32_shr(now.tsc, mult, shift);
	if (!predicts(zero, mult, shift))
		return;
	info->out_time_shift = shift;
	info->out_time_mult = mult;
	info->out_time_zero = zero;
}

/**
 * auxt_ns_to_tsc() - a time in ticks of the TSC
 * @ns: nanoseconds
 *
 * Return: ticks; U64_MAX, which never passes, if there are more.
 */
u64 auxt_ns_to_tsc(u64 ns)
{
	/* A quotient that does not fit is an exception. */
	if (tsc_khz > NSEC_PER_MSEC && ns > U64_MAX / tsc_khz * NSEC_PER_MSEC)
		return U64_MAX;
	return mul_u64_u32_div(ns, tsc_khz, NSEC_PER_MSEC);
}

/**
 * auxt_tsc_to_ns() - ticks of the TSC as a time
 * @ticks: ticks
 *
 * Return: nanoseconds.
 */
u64 auxt_tsc_to_ns(u64 ticks)
{
	/* As above: U64_MAX / 2 fits from half a GHz on, and less takes centuries. */
	return tsc_khz ? mul_u64_u32_div(ticks, NSEC_PER_MSEC, tsc_khz) : 0;
}
NOKPROBE_SYMBOL(auxt_tsc_to_ns);
