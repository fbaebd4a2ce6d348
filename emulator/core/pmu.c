// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The architectural performance-monitoring unit, version 2 (SDM, "Architectural
 * Performance Monitoring"): its registers keep what is written to them. The
 * counters do not count: a driver that comes up on it never sees an overflow
 * of theirs, only the ToPA PMI.
 */
#include "state.h"

#define WIDTH		48
#define WIDTH_MASK	((1ULL << WIDTH) - 1)

#define MSR_PMC0		0x0c1
#define MSR_PLATFORM_INFO	0x0ce
#define MSR_PERFEVTSEL0		0x186
#define MSR_FIXED_CTR0		0x309
#define MSR_PERF_CAPABILITIES	0x345
#define MSR_FIXED_CTR_CTRL	0x38d
#define MSR_GLOBAL_STATUS	0x38e
#define MSR_GLOBAL_CTRL		0x38f
#define MSR_GLOBAL_OVF_CTRL	0x390

#define COUNTER_BITS	(((1ULL << PMU_GP) - 1) | ((1ULL << PMU_FIXED) - 1) << 32)
#define GLOBAL_TOPA_PMI	(1ULL << 55)
#define GLOBAL_OVF_BUF	(1ULL << 62)
#define GLOBAL_COND_CHGD (1ULL << 63)

/* 31:0 without AnyThread, which came with version 3. */
#define EVTSEL_BITS	(0xffffffffULL & ~(1ULL << 21))
/* Each counter: 1:0 where it counts, 3 PMI; AnyThread (2) as above. */
#define FIXED_CTRL_BITS	0xbbbULL

void ptm_topa_pmi(struct ptm *p)
{
	p->pmu.global_status |= GLOBAL_TOPA_PMI;
	ptm_count(p, PTM_N_PMI);
	p->ops->pmi(p->opaque);
}

static bool in_bank(uint32_t msr, uint32_t first, unsigned int n)
{
	return msr >= first && msr - first < n;
}

bool pmu_owns(uint32_t msr)
{
	return in_bank(msr, MSR_PMC0, PMU_GP) || in_bank(msr, MSR_PERFEVTSEL0, PMU_GP) ||
	       in_bank(msr, MSR_FIXED_CTR0, PMU_FIXED) || msr == MSR_PLATFORM_INFO ||
	       msr == MSR_PERF_CAPABILITIES ||
	       (msr >= MSR_FIXED_CTR_CTRL && msr <= MSR_GLOBAL_OVF_CTRL);
}

bool pmu_read(const struct pmu *u, uint32_t msr, uint64_t *value)
{
	if (in_bank(msr, MSR_PMC0, PMU_GP))
		*value = u->gp[msr - MSR_PMC0];
	else if (in_bank(msr, MSR_PERFEVTSEL0, PMU_GP))
		*value = u->evtsel[msr - MSR_PERFEVTSEL0];
	else if (in_bank(msr, MSR_FIXED_CTR0, PMU_FIXED))
		*value = u->fixed[msr - MSR_FIXED_CTR0];
	else if (msr == MSR_FIXED_CTR_CTRL)
		*value = u->fixed_ctrl;
	else if (msr == MSR_GLOBAL_STATUS)
		*value = u->global_status;
	else if (msr == MSR_GLOBAL_CTRL)
		*value = u->global_ctrl;
	else	/* OVF_CTRL reads as 0; PERF_CAPABILITIES has none */
		*value = 0;
	return true;
}

bool pmu_write(struct pmu *u, uint32_t msr, uint64_t v)
{
	if (in_bank(msr, MSR_PMC0, PMU_GP)) {
		/* Without full-width writes: 31:0, sign-extended. */
		u->gp[msr - MSR_PMC0] = (uint64_t)(int64_t)(int32_t)v & WIDTH_MASK;
		return true;
	}
	if (in_bank(msr, MSR_PERFEVTSEL0, PMU_GP)) {
		if (v & ~EVTSEL_BITS)
			return false;
		u->evtsel[msr - MSR_PERFEVTSEL0] = v;
		return true;
	}
	if (in_bank(msr, MSR_FIXED_CTR0, PMU_FIXED)) {
		if (v & ~WIDTH_MASK)
			return false;
		u->fixed[msr - MSR_FIXED_CTR0] = v;
		return true;
	}

	switch (msr) {
	case MSR_FIXED_CTR_CTRL:
		if (v & ~FIXED_CTRL_BITS)
			return false;
		u->fixed_ctrl = v;
		return true;
	case MSR_GLOBAL_CTRL:
		if (v & ~COUNTER_BITS)
			return false;
		u->global_ctrl = v;
		return true;
	case MSR_GLOBAL_OVF_CTRL:
		if (v & ~(COUNTER_BITS | GLOBAL_TOPA_PMI | GLOBAL_OVF_BUF | GLOBAL_COND_CHGD))
			return false;
		u->global_status &= ~v;
		return true;
	default:	/* GLOBAL_STATUS, PERF_CAPABILITIES, PLATFORM_INFO: read-only */
		return false;
	}
}

bool pmu_rdpmc(const struct pmu *u, uint32_t ecx, uint64_t *value)
{
	uint32_t index = ecx & ~(1U << 30);
	bool fixed = ecx >> 30 & 1;

	if (index >= (fixed ? PMU_FIXED : PMU_GP))
		return false;
	*value = fixed ? u->fixed[index] : u->gp[index];
	return true;
}

/* Leaf 0AH: of the seven events, core cycles and instructions are there. */
void pmu_cpuid(uint32_t regs[4])
{
	regs[0] = 2 | PMU_GP << 8 | WIDTH << 16 | 7 << 24;
	regs[1] = 0x7c;
	regs[2] = 0;
	regs[3] = PMU_FIXED | WIDTH << 5;
}
