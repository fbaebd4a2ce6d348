// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Turns changes of flow into packets (SDM, Intel PT, "Packet Generation under
 * Different Enable Conditions").
 */
#include "state.h"

static void trace_stop(struct ptm *p)
{
	/* An output error within this event's packets takes precedence. */
	if (!p->trigger_en)
		return;

	if (p->overflow)
		ptm_overflow_end(p, 0);
	ptm_stop(p);
	ptm_output_flush(p);
	if (!p->trigger_en)
		return;
	p->stopped = true;
	ptm_trigger_off(p);
}

static void pge(struct ptm *p, uint64_t ip)
{
	p->ret_n = 0;
	ptm_mode_exec_if_changed(p);
	ptm_pge(p, ip);
}

/* Ends an overflow or inserts a PSB+ between two groups, before the instruction at @ip. */
static void boundary(struct ptm *p, uint64_t ip)
{
	if (p->overflow) {
		if (p->knob[PTM_KNOB_DROP])
			return;
		ptm_overflow_end(p, ip);
	}
	if (p->byte_cnt >= p->psb_period && p->trigger_en) {
		/* A due MTC must precede the TSC of the PSB+. */
		ptm_time_check(p);
		ptm_psb_plus(p, ip);
	}
}

/* "RET Compression": a RET to the latest CALL's return address becomes a TNT bit. */
static void ret_push(struct ptm *p, uint64_t address)
{
	p->ret_top = (p->ret_top + 1) % RET_STACK_DEPTH;
	p->ret_stack[p->ret_top] = address;
	if (p->ret_n < RET_STACK_DEPTH)
		p->ret_n++;
}

static bool ret_compressed(struct ptm *p, uint64_t target)
{
	if ((p->ctl & CTL_DIS_RETC) || !p->ret_n)
		return false;

	if (p->ret_stack[p->ret_top] == target) {
		p->ret_top = (p->ret_top + RET_STACK_DEPTH - 1) % RET_STACK_DEPTH;
		p->ret_n--;
		return true;
	}

	/*
	 * Decoders differ in whether a RET with a TIP pops an entry. The model
	 * uses no older entry from here on, so both kinds decode correctly.
	 */
	p->ret_n = 0;
	return false;
}

/* A near branch with PacketEn set before and after it. */
static inline void near_packet(struct ptm *p, enum ptm_branch_kind kind,
			       uint64_t next, uint64_t to)
{
	switch (kind) {
	case PTM_JCC_NOT_TAKEN:
		ptm_tnt(p, false);
		break;
	case PTM_JCC_TAKEN:
		ptm_tnt(p, true);
		break;
	case PTM_CALL:
		/* Code uses a CALL to the next instruction to read its IP. */
		if (to != next)
			ret_push(p, next);
		break;
	case PTM_RET:
		if (ret_compressed(p, to)) {
			ptm_tnt(p, true);
			break;
		}
		ptm_group(p);
		ptm_tip(p, to);
		break;
	case PTM_CALL_INDIRECT:
		ret_push(p, next);
		ptm_group(p);
		ptm_tip(p, to);
		break;
	case PTM_JMP_INDIRECT:
		ptm_group(p);
		ptm_tip(p, to);
		break;
	default:
		break;
	}
}

/* A near branch while IP ranges are in use: its target may change FilterEn. */
static void near_ranged(struct ptm *p, enum ptm_branch_kind kind, uint64_t next,
			uint64_t to)
{
	bool was = p->packet_en, stop;

	if (kind == PTM_JCC_NOT_TAKEN) {
		/* Sequential flow does not change the enables. */
		if (was)
			near_packet(p, kind, next, to);
		return;
	}

	stop = ptm_stops_at(p, to);
	ptm_update_enables(p, to);
	if (stop)
		p->packet_en = false;

	if (was && p->packet_en) {
		near_packet(p, kind, next, to);
	} else if (was) {
		ptm_group(p);
		if (kind == PTM_JCC_TAKEN)
			ptm_pgd_no_ip(p);
		else
			ptm_pgd(p, to);
	} else if (p->packet_en) {
		ptm_group(p);
		pge(p, to);
	}
	if (stop)
		trace_stop(p);
}

static bool events(const struct ptm *p)
{
	return p->trigger_en && (p->ctl & CTL_EVENT_EN);
}

/* What changes the context: a far transfer, an event or a CR3 load. */
struct change {
	enum { FAR, IRET, EVENT, CR3_LOAD } what;
	const struct ptm_interrupt *interrupt;	/* of an EVENT; NULL: an SMI */
	uint64_t from, to;
};

static bool has_cfe(const struct ptm *p, const struct change *c)
{
	return events(p) && (c->what == IRET || c->interrupt);
}

/*
 * "Event Trace": no event depends on FilterEn or BranchEn. An interrupt's CFE shares the FUP
 * of its branch. Where there is none, as of an IRET, CFE has one of its own, if the context
 * that is left was traced.
 */
static void event_packets(struct ptm *p, const struct change *c, bool context, bool packet)
{
	bool fup = context && (c->what == IRET || !packet);

	if (c->what == IRET) {
		ptm_cfe(p, CFE_IRET, 0, fup);
	} else {
		if (c->interrupt->page_fault)
			ptm_evd(p, EVD_CR2, c->interrupt->cr2);
		ptm_cfe(p, CFE_INTR, c->interrupt->vector, fup);
	}
	if (fup)
		ptm_fup(p, c->from);
}

/* MODE.Exec that no TIP follows has a FUP. */
static void mode_and_fup(struct ptm *p, uint64_t ip)
{
	if (!ptm_mode_changed(p))
		return;
	ptm_group(p);
	ptm_mode_exec(p);
	ptm_fup(p, ip);
}

/* Far transfers, events and CR3 loads may change ContextEn. */
static void context_change(struct ptm *p, const struct ptm_context *ctx, const struct change *c)
{
	bool cr3_load = c->what == CR3_LOAD, was, context, pip, stop, cfe;
	uint64_t to = c->to;

	p->now = 0;
	ptm_time_check(p);
	if (!p->trigger_en) {
		p->ctx = *ctx;
		return;
	}
	was = p->packet_en;
	context = p->context_en;

	pip = cr3_load || ctx->cr3 != p->ctx.cr3;
	p->ctx = *ctx;
	ptm_update_enables(p, to);
	pip = pip && p->context_en && (p->ctl & CTL_OS);
	stop = ptm_stops_at(p, to);
	if (stop)
		p->packet_en = false;

	cfe = has_cfe(p, c) && (context || p->context_en);
	if (was || p->packet_en || pip || cfe)
		ptm_group(p);
	if (cfe)
		event_packets(p, c, context, was);
	if (was && c->what == EVENT)
		ptm_fup(p, c->from);
	if (pip)
		ptm_pip(p);

	if (was && p->packet_en) {
		if (!cr3_load) {
			ptm_mode_exec_if_changed(p);
			ptm_tip(p, to);
		}
	} else if (was) {
		if (p->context_en)
			ptm_pgd(p, to);
		else
			ptm_pgd_no_ip(p);
	} else if (p->packet_en) {
		pge(p, to);
	} else if (ptm_mode_without_branches(p)) {
		mode_and_fup(p, to);
	}
	if (stop)
		trace_stop(p);

	boundary(p, to);
}

static void near_branch(struct ptm *p, enum ptm_branch_kind kind, uint64_t next, uint64_t to)
{
	if (!p->context_en)
		return;

	p->now = 0;
	if (!--p->stride_left) {
		p->stride_left = p->profile->clock_stride;
		ptm_time_check(p);
	}

	if (p->n_filter || p->n_stop)
		near_ranged(p, kind, next, to);
	else if (p->packet_en)
		near_packet(p, kind, next, to);

	if (p->overflow || p->byte_cnt >= p->psb_period)
		boundary(p, to);
}

static void far_branch(struct ptm *p, const struct ptm_context *ctx, const struct change *c)
{
	if (p->pmi_in)
		pmi_branch(p);
	/* An interrupt is not an instruction; a branch retires at the CPL before it. */
	if (p->pmu.by_branch[ring(p)] && c->what != EVENT)
		pmu_branch(p);

	context_change(p, ctx, c);

	if (p->bts.records[ring(p)])
		bts_record(p, c->from, c->to);
}

void ptm_branch(struct ptm *p, enum ptm_branch_kind kind, const struct ptm_context *ctx,
		uint64_t from, uint64_t next, uint64_t to)
{
	if (kind >= PTM_FAR) {
		const struct change c = {
			.what = kind == PTM_EVENT ? EVENT : kind == PTM_IRET ? IRET : FAR,
			.from = from,
			.to = to,
		};

		far_branch(p, ctx, &c);
		return;
	}

	if (p->pmi_in)
		pmi_branch(p);
	if (p->pmu.by_branch[ring(p)])
		pmu_branch(p);

	near_branch(p, kind, next, to);

	if (p->bts.records[ring(p)] && kind != PTM_JCC_NOT_TAKEN)
		bts_record(p, from, to);
}

void ptm_interrupt(struct ptm *p, const struct ptm_interrupt *interrupt,
		   const struct ptm_context *ctx, uint64_t from, uint64_t to)
{
	const struct change c = {
		.what = EVENT, .interrupt = interrupt, .from = from, .to = to,
	};

	far_branch(p, ctx, &c);
}

void ptm_cr3_write(struct ptm *p, const struct ptm_context *ctx, uint64_t nlip)
{
	const struct change c = { .what = CR3_LOAD, .from = nlip, .to = nlip };

	context_change(p, ctx, &c);
}

/*
 * The FUP has the address of the instruction, to which perf's decoder binds the change; libipt
 * takes any. While packets are disabled, TIP.PGE's MODE.Exec will tell. A PSB+ that is due comes
 * behind the next branch: a decoder has not passed the instruction at that address.
 */
void ptm_iflag(struct ptm *p, bool iflag, uint64_t ip)
{
	p->ctx.iflag = iflag;
	if (!p->packet_en && !ptm_mode_without_branches(p))
		return;
	if (!ptm_mode_changed(p))
		return;

	p->now = 0;
	ptm_time_check(p);
	mode_and_fup(p, ip);
}

/* "PTWRITE": needs ContextEn and FilterEn at its own address, but not BranchEn. */
void ptm_ptwrite(struct ptm *p, uint64_t value, bool is64, uint64_t ip, uint64_t nlip)
{
	bool fup = p->ctl & CTL_FUP_ON_PTW;

	if (!p->context_en || !p->filter_en || !(p->ctl & CTL_PTW_EN))
		return;

	p->now = 0;
	ptm_time_check(p);
	ptm_group(p);
	ptm_ptw(p, value, is64, fup);
	if (fup)
		ptm_fup(p, ip);
	boundary(p, nlip);
}

static bool power_events(const struct ptm *p)
{
	return p->trigger_en && (p->ctl & CTL_PWR_EVT_EN);
}

/*
 * "Power Event Tracing": no event depends on FilterEn or BranchEn, and of them only MWAIT
 * and EXSTOP's FUP on ContextEn. "The oldest instruction that has not yet completed", whose
 * address the FUP has, is the HLT or the MWAIT. A PSB+ does not separate them from PWRX.
 */
void ptm_sleep(struct ptm *p, const struct ptm_mwait *mwait, uint64_t ip)
{
	p->asleep = true;
	if (!power_events(p))
		return;

	p->now = 0;
	ptm_time_check(p);
	ptm_group(p);
	if (mwait && p->context_en)
		ptm_mwait_packet(p, mwait->hints, mwait->extensions);
	ptm_pwre(p, C1);
	ptm_exstop(p, p->context_en);
	if (p->context_en)
		ptm_fup(p, ip);
}

/* The packets before PWRX have the time of the wake. */
void ptm_wake(struct ptm *p, uint64_t ip)
{
	bool slept = p->asleep;

	p->asleep = false;
	if (!slept || !power_events(p))
		return;

	p->now = 0;
	if (!(p->ctl & CTL_TSC_EN))
		ptm_time_check(p);
	ptm_group(p);
	if (p->ctl & CTL_TSC_EN)
		ptm_time_start(p);
	ptm_cbr(p);
	ptm_pwrx(p, C1);
	boundary(p, ip);
}

/* TraceEn 0 -> 1; the MSRs already hold the new values. */
void ptm_enable(struct ptm *p, const struct ptm_context *ctx, uint64_t nlip)
{
	p->ctx = *ctx;
	ptm_ranges_load(p);
	p->psb_period = 2048ULL << (p->ctl >> CTL_PSB_FREQ & CTL_FIELD);
	ptm_trigger_off(p);
	if (p->error || p->stopped)
		return;

	p->trigger_en = true;
	ptm_output_start(p);
	if (!p->trigger_en)
		return;

	/* The packets of this window must decode without those before it. */
	p->last_ip = 0;
	p->ip_full = true;
	p->mode_sent = -1;
	p->psb_forced = false;
	p->overflow = p->knob[PTM_KNOB_DROP] != 0;
	p->stride_left = p->profile->clock_stride;
	p->cyc_from = p->ctl & CTL_CYC_EN ? ptm_now(p) : 0;

	/* Emit the PSB+ as if PacketEn were 0; the TIP.PGE below turns it on. */
	ptm_update_enables(p, nlip);
	p->packet_en = false;
	if (p->byte_cnt == 0) {
		ptm_psb_plus(p, nlip);
	} else {
		ptm_group(p);
		ptm_time_start(p);
		ptm_cbr(p);
	}

	if (!p->trigger_en)
		return;
	if (ptm_stops_at(p, nlip)) {
		trace_stop(p);
		return;
	}
	ptm_update_enables(p, nlip);
	if (p->packet_en)
		pge(p, nlip);
	else if (ptm_mode_without_branches(p))
		mode_and_fup(p, nlip);
}

/* TraceEn 1 -> 0; the CTL MSR still holds the old value. */
void ptm_disable(struct ptm *p, uint64_t clip)
{
	if (p->packet_en) {
		ptm_group(p);
		ptm_fup(p, clip);
		ptm_pgd_no_ip(p);
	}
	p->packet_en = false;
	/* OVF reports a loss even if no packet follows it. */
	if (p->overflow)
		ptm_overflow_end(p, clip);
	ptm_warm_stop(p);
}

void ptm_warm_stop(struct ptm *p)
{
	ptm_output_flush(p);
	ptm_trigger_off(p);
	ptm_output_forget(p);
	p->ctl &= ~CTL_TRACE_EN;
}
