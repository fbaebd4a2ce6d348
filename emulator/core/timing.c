// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * TSC, TMA and MTC (SDM, Intel PT, "Timing Packets").
 *
 * The core crystal clock (ART) is TSC * den / num; the CTC is its low bits. A
 * cycle is a tick of the TSC: the model's core clock never changes, as CBR
 * reports.
 */
#include "state.h"

/* MTC carries 8 bits of the CTC; TSC and TMA bridge a gap well before these wrap. */
#define MTC_GAP	200

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

/* The TSC at which @period of MTCFreq begins: the first whose ART is in it. */
static uint64_t period_tsc(const struct ptm *p, uint64_t period)
{
	uint32_t num = p->profile->art_num, den = p->profile->art_den;
	uint64_t ticks = period << mtc_freq(p);

	return ticks / den * num + (ticks % den * num + den - 1) / den;
}

static void mtc_done(struct ptm *p, uint64_t period)
{
	p->mtc_period_no = period;
	p->mtc_due = period_tsc(p, period + 1);
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
	if (period - p->mtc_period_no > MTC_GAP && (p->ctl & CTL_TSC_EN)) {
		ptm_group(p);
		ptm_time_start(p);
		return;
	}

	/* The MTC may come late, but it reports the tick, and so must its CYC. */
	ptm_tnt_flush(p);
	if (p->ctl & CTL_CYC_EN)
		ptm_cyc_upto(p, period_tsc(p, period));
	ptm_mtc(p, period);
	mtc_done(p, period);
}
