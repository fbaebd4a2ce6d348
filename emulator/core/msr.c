// SPDX-License-Identifier: GPL-2.0-or-later
/* The IA32_RTIT_* MSRs and when they raise #GP (SDM, Intel PT, "Configuration MSRs"). */
#include "state.h"

static unsigned int ranges(const struct ptm *p)
{
	unsigned int n = p->profile->leaf14_1_eax & 7;

	if (!(p->profile->leaf14_0_ebx & CAP_IP_FILTER))
		return 0;
	return n < MAX_RANGES ? n : MAX_RANGES;
}

/* True if CPUID enumerates @msr. */
static bool present(const struct ptm *p, const struct msr_bank *bank, uint32_t msr)
{
	switch (bank->first) {
	case MSR_RTIT_OUTPUT_BASE:
	case MSR_RTIT_OUTPUT_MASK:
		return p->profile->leaf14_0_ecx & (OUT_TOPA | OUT_SINGLE);
	case MSR_RTIT_CR3_MATCH:
		return p->profile->leaf14_0_ebx & CAP_CR3_FILTER;
	case MSR_RTIT_CTL:
	case MSR_RTIT_STATUS:
		return true;
	default:
		return msr - MSR_RTIT_ADDR < 2 * ranges(p);
	}
}

static uint64_t status_read(const struct ptm *p)
{
	uint64_t cnt = p->byte_cnt, v = 0;

	if (p->filter_en)
		v |= STATUS_FILTER_EN;
	if (p->context_en)
		v |= STATUS_CONTEXT_EN;
	if (p->trigger_en)
		v |= STATUS_TRIGGER_EN;
	if (p->error)
		v |= STATUS_ERROR;
	if (p->stopped)
		v |= STATUS_STOPPED;
	if (p->profile->leaf14_0_ebx & CAP_PSB_CYC)
		v |= (cnt < STATUS_BYTE_CNT_MAX ? cnt : STATUS_BYTE_CNT_MAX) << STATUS_BYTE_CNT;
	return v;
}

bool rtit_read(struct ptm *p, const struct msr_bank *bank, uint32_t msr, uint64_t *value)
{
	if (!present(p, bank, msr)) {
		ptm_count(p, PTM_N_FAULTS);
		return false;
	}

	switch (msr) {
	case MSR_RTIT_OUTPUT_BASE:
		ptm_output_flush(p);
		*value = p->out_base;
		break;
	case MSR_RTIT_OUTPUT_MASK:
		ptm_output_flush(p);
		*value = p->region_off << 32 | p->out_mask;
		break;
	case MSR_RTIT_CTL:
		*value = p->ctl;
		break;
	case MSR_RTIT_STATUS:
		*value = status_read(p);
		break;
	case MSR_RTIT_CR3_MATCH:
		*value = p->cr3_match;
		break;
	default:
		*value = p->addr[msr - MSR_RTIT_ADDR];
		break;
	}
	return true;
}

/* The bits of IA32_RTIT_CTL that are not reserved on this CPU. */
static uint64_t ctl_bits(const struct ptm *p)
{
	const struct ptm_profile *c = p->profile;
	uint64_t bits = CTL_TRACE_EN | CTL_OS | CTL_USER | CTL_TSC_EN | CTL_DIS_RETC |
			CTL_BRANCH_EN;

	if (c->leaf14_0_ebx & CAP_CR3_FILTER)
		bits |= CTL_CR3_FILTER;
	if (c->leaf14_0_ebx & CAP_PSB_CYC)
		bits |= CTL_CYC_EN | CTL_FIELD << CTL_CYC_THRESH | CTL_FIELD << CTL_PSB_FREQ;
	if (c->leaf14_0_ebx & CAP_MTC)
		bits |= CTL_MTC_EN | CTL_FIELD << CTL_MTC_FREQ;
	if (c->leaf14_0_ebx & CAP_PTWRITE)
		bits |= CTL_PTW_EN | CTL_FUP_ON_PTW;
	if (c->leaf14_0_ebx & CAP_POWER)
		bits |= CTL_PWR_EVT_EN;
	if (c->leaf14_0_ebx & CAP_EVENT)
		bits |= CTL_EVENT_EN;
	if (c->leaf14_0_ebx & CAP_DIS_TNT)
		bits |= CTL_DIS_TNT;
	if (c->leaf14_0_ecx & OUT_TOPA)
		bits |= CTL_TOPA;
	for (unsigned int i = 0; i < ranges(p); i++)
		bits |= CTL_FIELD << CTL_ADDR_CFG(i);
	return bits;
}

/* Checks the fields whose valid encodings CPUID.(14H,1) lists as bit maps. */
static bool ctl_encodings_ok(const struct ptm *p, uint64_t v)
{
	const struct ptm_profile *c = p->profile;

	if ((c->leaf14_0_ebx & CAP_MTC) &&
	    !(c->leaf14_1_eax >> 16 >> (v >> CTL_MTC_FREQ & CTL_FIELD) & 1))
		return false;
	if (c->leaf14_0_ebx & CAP_PSB_CYC) {
		if (!(c->leaf14_1_ebx >> (v >> CTL_CYC_THRESH & CTL_FIELD) & 1))
			return false;
		if (!(c->leaf14_1_ebx >> 16 >> (v >> CTL_PSB_FREQ & CTL_FIELD) & 1))
			return false;
	}
	for (unsigned int i = 0; i < ranges(p); i++)
		if ((v >> CTL_ADDR_CFG(i) & CTL_FIELD) > 2)
			return false;
	return true;
}

static bool ctl_write(struct ptm *p, uint64_t v, const struct ptm_context *ctx,
		      uint64_t clip, uint64_t nlip)
{
	if ((v & ~ctl_bits(p)) || !ctl_encodings_ok(p, v))
		return false;

	if (v & CTL_TRACE_EN) {
		/* While TraceEn is set, only the current value may be written. */
		if (p->ctl & CTL_TRACE_EN)
			return v == p->ctl;
		if (!(v & CTL_TOPA) && !(p->profile->leaf14_0_ecx & OUT_SINGLE))
			return false;
		if (!(v & CTL_BRANCH_EN) && p->profile->branch_en_required)
			return false;
		p->ctl = v;
		ptm_enable(p, ctx, nlip);
		return true;
	}

	if (p->ctl & CTL_TRACE_EN)
		ptm_disable(p, clip);
	p->ctl = v;
	return true;
}

static bool status_write(struct ptm *p, uint64_t v)
{
	uint64_t bits = STATUS_FILTER_EN | STATUS_CONTEXT_EN | STATUS_TRIGGER_EN |
			STATUS_ERROR | STATUS_STOPPED;

	if (p->profile->leaf14_0_ebx & CAP_PSB_CYC)
		bits |= STATUS_BYTE_CNT_MAX << STATUS_BYTE_CNT;
	if (v & ~bits)
		return false;

	p->error = v & STATUS_ERROR;
	p->stopped = v & STATUS_STOPPED;
	/* Without PacketByteCnt any write of STATUS makes the next enable start with a PSB. */
	p->byte_cnt = v >> STATUS_BYTE_CNT;
	return true;
}

static bool carry_out(struct ptm *p, const struct msr_bank *bank, uint32_t msr, uint64_t v,
		      const struct ptm_context *ctx, uint64_t clip, uint64_t nlip)
{
	if (!present(p, bank, msr))
		return false;
	if (msr == MSR_RTIT_CTL)
		return ctl_write(p, v, ctx, clip, nlip);
	if (p->ctl & CTL_TRACE_EN)
		return false;

	switch (msr) {
	case MSR_RTIT_OUTPUT_BASE:
		if ((v & 0x7f) || v >> p->profile->maxphyaddr)
			return false;
		p->out_base = v;
		return true;
	case MSR_RTIT_OUTPUT_MASK:
		p->out_mask = v | 0x7f;	/* the low bits read as ones */
		p->region_off = v >> 32;
		return true;
	case MSR_RTIT_STATUS:
		return status_write(p, v);
	case MSR_RTIT_CR3_MATCH:
		if (v & 0x1f)
			return false;
		p->cr3_match = v;
		return true;
	default:
		if (!canonical(v))
			return false;
		p->addr[msr - MSR_RTIT_ADDR] = v;
		return true;
	}
}

bool rtit_write(struct ptm *p, const struct msr_bank *bank, uint32_t msr, uint64_t v,
		const struct ptm_context *ctx, uint64_t clip, uint64_t nlip)
{
	p->now = 0;
	if (!carry_out(p, bank, msr, v, ctx, clip, nlip)) {
		ptm_count(p, PTM_N_FAULTS);
		return false;
	}

	ptm_count(p, PTM_N_WRMSR);
	if (msr == MSR_RTIT_CTL)
		ptm_count(p, PTM_N_WRMSR_CTL);
	else if (msr == MSR_RTIT_STATUS)
		ptm_count(p, PTM_N_WRMSR_STATUS);
	else if (msr == MSR_RTIT_OUTPUT_BASE)
		ptm_count(p, PTM_N_WRMSR_BASE);
	else if (msr == MSR_RTIT_OUTPUT_MASK)
		ptm_count(p, PTM_N_WRMSR_MASK);
	return true;
}
