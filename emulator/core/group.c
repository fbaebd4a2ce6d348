// SPDX-License-Identifier: GPL-2.0-or-later
/* Pending TNT bits and the CYC that precede each group of packets. */
#include "state.h"

/*
 * "Cycle-Accurate Mode": a CYC precedes the packet that it times, if CycThresh
 * cycles have passed since the last CYC. There are never two in one cycle.
 */
void ptm_cyc_upto(struct ptm *p, uint64_t tsc)
{
	unsigned int thresh = p->ctl >> CTL_CYC_THRESH & CTL_FIELD;
	uint64_t cycles;

	if (tsc <= p->cyc_from)
		return;
	cycles = tsc - p->cyc_from;
	if (thresh && cycles < 1ULL << (thresh - 1))
		return;

	p->cyc_from = tsc;
	ptm_cyc(p, cycles);
}

void ptm_tnt_flush(struct ptm *p)
{
	uint8_t bits = p->tnt, n = p->tnt_n;

	if (!n)
		return;

	p->tnt = 0;
	p->tnt_n = 0;

	if (p->ctl & CTL_CYC_EN)
		ptm_cyc_upto(p, p->tnt_tsc);
	ptm_tnt_packet(p, bits, n);
}

/* Of a conditional branch or a compressed RET. With DisTNT neither makes a packet. */
void ptm_tnt(struct ptm *p, bool taken)
{
	if (p->ctl & CTL_DIS_TNT)
		return;
	if (!p->tnt_n && (p->ctl & CTL_CYC_EN))
		p->tnt_tsc = ptm_now(p);

	p->tnt = p->tnt << 1 | taken;
	if (++p->tnt_n == TNT_BITS)
		ptm_tnt_flush(p);
}

void ptm_group(struct ptm *p)
{
	ptm_tnt_flush(p);
	if (p->ctl & CTL_CYC_EN)
		ptm_cyc_upto(p, ptm_now(p));
}
