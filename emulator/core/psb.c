// SPDX-License-Identifier: GPL-2.0-or-later
/* PSB+ and the end of an overflow: the points where a decoder (re)synchronizes. */
#include "state.h"

/*
 * SDM, Intel PT, "PSB+": the state that a decoder needs to start here. @ip is the
 * next instruction. The FUP with @ip and MODE.Exec are present only while PacketEn;
 * where events are traced without branches, MODE.Exec is there alone.
 */
void ptm_psb_plus(struct ptm *p, uint64_t ip)
{
	ptm_group(p);

	p->byte_cnt = 0;
	p->psb_forced = false;
	ptm_psb(p);

	/* A decoder that starts here does not know these. */
	p->last_ip = 0;
	p->ip_full = true;
	p->ret_n = 0;
	p->mode_sent = -1;

	ptm_time_start(p);
	if (p->context_en && (p->ctl & CTL_OS))
		ptm_pip(p);
	ptm_cbr(p);
	if (p->packet_en) {
		ptm_mode_exec(p);
		ptm_fup(p, ip);
	} else if (ptm_mode_without_branches(p)) {
		ptm_mode_exec(p);
	}
	ptm_psbend(p);
}

/*
 * SDM, Intel PT, "Internal Buffer Overflow": OVF, then a FUP if PacketEn is set;
 * otherwise a TIP.PGE follows when it becomes set. A PSB+ replaces a lost PIP,
 * MODE.Exec or PSB; TSC and TMA replace lost timing packets.
 */
void ptm_overflow_end(struct ptm *p, uint64_t ip)
{
	p->overflow = false;
	p->knob[PTM_KNOB_DROP] = 0;
	p->tnt = 0;
	p->tnt_n = 0;
	p->ret_n = 0;
	p->ip_full = true;

	if (p->ctl & CTL_CYC_EN)
		ptm_cyc_upto(p, ptm_now(p));
	ptm_ovf(p);
	if (p->packet_en)
		ptm_fup(p, ip);
	else
		p->mode_sent = -1;

	if (p->psb_forced)
		ptm_psb_plus(p, ip);
	else
		ptm_time_start(p);
}
