// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TSC, TMA, MTC and CYC (SDM, Intel PT, "Timing Packets").
 *
 * The core crystal clock (ART) is TSC * den / num; CTC are its low bits. A
 * cycle is a tick of the TSC: the model's core clock never changes, which CBR
 * says too.
 */
#include "state.h"

/* MTC counts 8 bits; well before they wrap a gap is bridged by TSC and TMA. */
#define MTC_GAP	200

uint64_t ptm_now(const struct ptm *p)
{
	return p->ops->tsc(p->opaque);
}

static unsigned int mtc_freq(const struct ptm *p)
{
	return p->ctl >> CTL_MTC_FREQ & CTL_FIELD;
}

static uint64_t art(const struct ptm *p, uint64_t tsc)
{
	uint32_t num = p->profile->art_num, den = p->profile->art_den;

	/* Split, so that the product cannot overflow. */
	return tsc / num * den + tsc % num * den / num;
}

static void mtc_done(struct ptm *p, uint64_t period)
{
	uint32_t num = p->profile->art_num, den = p->profile->art_den;
	uint64_t next = (period + 1) << mtc_freq(p);

	p->mtc_period_no = period;
	/* The first TSC whose ART is @next or more. */
	p->mtc_due = next / den * num + (next % den * num + den - 1) / den;
}

void ptm_time_start(struct ptm *p)
{
	uint64_t tsc, ticks;

	if (!(p->ctl & (CTL_TSC_EN | CTL_MTC_EN)))
		return;

	tsc = ptm_now(p);
	if (p->ctl & CTL_TSC_EN)
		ptm_tsc(p, tsc);

	if (p->ctl & CTL_MTC_EN) {
		uint32_t num = p->profile->art_num, den = p->profile->art_den;

		ticks = art(p, tsc);
		if (p->ctl & CTL_TSC_EN)
			ptm_tma(p, ticks, tsc % num * den % num / den);
		mtc_done(p, ticks >> mtc_freq(p));
	}
}

void ptm_time_check(struct ptm *p)
{
	uint64_t tsc, period;

	if (!(p->ctl & CTL_MTC_EN) || !p->trigger_en)
		return;

	tsc = ptm_now(p);
	if (tsc < p->mtc_due)
		return;

	period = art(p, tsc) >> mtc_freq(p);
	ptm_group(p);
	if (period - p->mtc_period_no > MTC_GAP && (p->ctl & CTL_TSC_EN)) {
		ptm_time_start(p);
	} else {
		ptm_mtc(p, period);
		mtc_done(p, period);
	}
}

/*
 * "Cycle-Accurate Mode": a CYC stands before the packet that it times, if
 * CycThresh cycles went by since the last one; never two in one cycle.
 */
void ptm_cyc_upto(struct ptm *p, uint64_t tsc)
{
	unsigned int thresh = p->ctl >> CTL_CYC_THRESH & CTL_FIELD;
	uint64_t cycles = tsc - p->cyc_from;

	if (!cycles || (thresh && cycles < 1ULL << (thresh - 1)))
		return;

	p->cyc_from = tsc;
	ptm_cyc(p, cycles);
}
