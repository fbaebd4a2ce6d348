// SPDX-License-Identifier: GPL-2.0-or-later
/* One model for one logical CPU: life, CPUID, and which part has which MSR. */
#include <stdlib.h>
#include <string.h>

#include "state.h"

#define MSR_PLATFORM_INFO	0x0ce

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
	bool bench = p->bench;

	if (p->ctl & CTL_TRACE_EN)
		ptm_warm_stop(p);

	if (warm && (profile->leaf14_0_ebx & CAP_IP_FILTER))
		return;

	if (warm) {
		/* No preservation: the trace MSRs go, the PMU's stay. */
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

	memset(p, 0, sizeof(*p));
	p->profile = profile;
	p->ops = ops;
	p->opaque = opaque;
	p->bench = bench;
	p->out_mask = 0x7f;
	p->mode_sent = -1;
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
		/* ECX 0: the crystal's frequency is not enumerated. */
		regs[0] = c->art_den;
		regs[1] = c->art_num;
		return true;
	default:
		return false;
	}
}

bool ptm_owns_msr(const struct ptm *p, uint32_t msr)
{
	return rtit_owns(p, msr) || pmu_owns(msr) || (p->bench && bench_owns(msr));
}

bool ptm_rdmsr(struct ptm *p, uint32_t msr, uint64_t *value)
{
	if (rtit_owns(p, msr))
		return rtit_read(p, msr, value);
	if (msr == MSR_PLATFORM_INFO) {
		*value = (uint64_t)p->profile->core_ratio << 8;
		return true;
	}
	if (pmu_owns(msr))
		return pmu_read(&p->pmu, msr, value);
	return p->bench && bench_owns(msr) && bench_read(p, msr, value);
}

bool ptm_wrmsr(struct ptm *p, uint32_t msr, uint64_t value,
	       const struct ptm_context *ctx, uint64_t clip, uint64_t nlip)
{
	if (rtit_owns(p, msr))
		return rtit_write(p, msr, value, ctx, clip, nlip);
	if (pmu_owns(msr))
		return pmu_write(&p->pmu, msr, value);
	return p->bench && bench_owns(msr) && bench_write(p, msr, value);
}

bool ptm_rdpmc(struct ptm *p, uint32_t ecx, uint64_t *value)
{
	return pmu_rdpmc(&p->pmu, ecx, value);
}

bool ptm_tracing(const struct ptm *p)
{
	return p->context_en;
}

bool ptm_enabled(const struct ptm *p)
{
	return p->ctl & CTL_TRACE_EN;
}
