// SPDX-License-Identifier: GPL-2.0-or-later
/* The model of one logical CPU: creation, reset, CPUID, MSR dispatch, what to report. */
#include <stdlib.h>
#include <string.h>

#include "state.h"

struct ptm *ptm_new(const struct ptm_profile *profile, const struct ptm_ops *ops,
		    void *opaque)
{
	struct ptm *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->profile = profile;
	p->ops = ops;
	p->opaque = opaque;
	ptm_reset(p, false);
	return p;
}

void ptm_free(struct ptm *p)
{
	free(p);
}

void ptm_reset(struct ptm *p, bool warm)
{
	const struct ptm_profile *profile = p->profile;
	const struct ptm_ops *ops = p->ops;
	void *opaque = p->opaque;
	uint64_t knobs[PTM_KNOBS];
	bool synthetic = p->synthetic;

	if (p->ctl & CTL_TRACE_EN)
		ptm_warm_stop(p);

	/* The CPU is in real mode, BTS is off; INIT keeps DS_AREA and the PMU's MSRs. */
	p->ctx = (struct ptm_context){ 0 };
	p->asleep = false;
	bts_write(p, MSR_DEBUGCTL, 0);
	if (warm && (profile->leaf14_0_ebx & CAP_IP_FILTER))
		return;

	if (warm) {
		/* This CPU does not preserve the trace MSRs; the PMU's are kept. */
		p->ctl = 0;
		p->out_base = 0;
		p->out_mask = 0x7f;
		p->region_off = 0;
		p->cr3_match = 0;
		p->error = false;
		p->stopped = false;
		p->byte_cnt = 0;
		memset(p->addr, 0, sizeof(p->addr));
		return;
	}

	memcpy(knobs, p->knob_power_up, sizeof(knobs));
	memset(p, 0, sizeof(*p));
	memcpy(p->knob_power_up, knobs, sizeof(knobs));
	memcpy(p->knob, knobs, sizeof(knobs));
	p->profile = profile;
	p->ops = ops;
	p->opaque = opaque;
	p->synthetic = synthetic;
	p->out_mask = 0x7f;
	p->mode_sent = -1;
	pmu_power_up(&p->pmu);
}

bool ptm_cpuid(const struct ptm *p, uint32_t leaf, uint32_t subleaf, uint32_t regs[4])
{
	const struct ptm_profile *c = p->profile;

	memset(regs, 0, 4 * sizeof(regs[0]));
	switch (leaf) {
	case 0x0a:
		pmu_cpuid(regs);
		return true;
	case 0x14:
		if (subleaf == 0) {
			regs[0] = c->leaf14_1_eax || c->leaf14_1_ebx;
			regs[1] = c->leaf14_0_ebx;
			regs[2] = c->leaf14_0_ecx;
		} else if (subleaf == 1) {
			regs[0] = c->leaf14_1_eax;
			regs[1] = c->leaf14_1_ebx;
		}
		return true;
	case 0x15:
		/* ECX 0: the frequency of the crystal is not enumerated. */
		regs[0] = c->art_den;
		regs[1] = c->art_num;
		return true;
	default:
		return false;
	}
}

bool ptm_owns_msr(const struct ptm *p, uint32_t msr)
{
	return msr_bank(msr) || (p->synthetic && synthetic_owns(msr));
}

static bool bank_read(struct ptm *p, const struct msr_bank *bank, uint32_t msr, uint64_t *value)
{
	switch (bank->part) {
	case PART_PT:
		return rtit_read(p, bank, msr, value);
	case PART_PMU:
		return pmu_read(p, bank, msr, value);
	default:
		return bts_read(p, msr, value);
	}
}

bool ptm_rdmsr(struct ptm *p, uint32_t msr, uint64_t *value)
{
	const struct msr_bank *bank = msr_bank(msr);
	bool done;

	if (!bank)
		return p->synthetic && synthetic_owns(msr) && synthetic_read(p, msr, value);

	*value = 0;
	done = bank_read(p, bank, msr, value);
	log_access(p, bank, msr, false, *value, !done);
	return done;
}

static bool bank_write(struct ptm *p, const struct msr_bank *bank, uint32_t msr, uint64_t value,
		       const struct ptm_context *ctx, uint64_t clip, uint64_t nlip)
{
	switch (bank->part) {
	case PART_PT:
		return rtit_write(p, bank, msr, value, ctx, clip, nlip);
	case PART_PMU:
		return pmu_write(p, bank, msr, value);
	default:
		if (!bts_write(p, msr, value))
			return false;
		ptm_count(p, msr == MSR_DEBUGCTL ? PTM_N_WRMSR_DEBUGCTL : PTM_N_WRMSR_DS_AREA);
		return true;
	}
}

bool ptm_wrmsr(struct ptm *p, uint32_t msr, uint64_t value,
	       const struct ptm_context *ctx, uint64_t clip, uint64_t nlip)
{
	const struct msr_bank *bank = msr_bank(msr);
	bool done = false;

	if (!bank)
		return p->synthetic && synthetic_owns(msr) && synthetic_write(p, msr, value);

	/* Context changes were not reported while ptm_far_wanted() was false. */
	if (!ptm_far_wanted(p))
		p->ctx = *ctx;
	if (!knob_refuses_wrmsr(p, bank, msr, value))
		done = bank_write(p, bank, msr, value, ctx, clip, nlip);
	else if (bank->part == PART_PT)
		ptm_count(p, PTM_N_FAULTS);
	log_access(p, bank, msr, true, value, !done);
	return done;
}

bool ptm_tracing(const struct ptm *p)
{
	return p->context_en;
}

bool ptm_enabled(const struct ptm *p)
{
	return p->ctl & CTL_TRACE_EN;
}

bool ptm_near_wanted(const struct ptm *p)
{
	return p->context_en || ptm_bts_active(p) || p->pmu.by_branch[ring(p)] || p->pmi_in;
}

bool ptm_far_wanted(const struct ptm *p)
{
	return (p->ctl & CTL_TRACE_EN) || p->bts.records[0] || p->bts.records[1] ||
	       ptm_counting(p) || p->pmu.by_branch[0] || p->pmu.by_branch[1] ||
	       p->pmi_in;
}
