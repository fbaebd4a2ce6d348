// SPDX-License-Identifier: GPL-2.0-or-later
/* Advances the PMU's counters by the instructions and branches that are reported. */
#include "state.h"

static void advance(struct ptm *p, uint64_t counters, uint64_t n)
{
	struct pmu *u = &p->pmu;
	bool pmi = false;

	for (; counters; counters &= counters - 1) {
		unsigned int bit = __builtin_ctzll(counters);
		uint64_t *c = &u->count[bit];

		if (n <= PMU_WIDTH_MASK - *c) {
			*c += n;
			continue;
		}
		*c = (*c + n) & PMU_WIDTH_MASK;
		u->global_status |= 1ULL << bit;
		ptm_count(p, PTM_N_OVERFLOW);
		pmi |= pmu_interrupts(u, bit);
	}
	if (pmi)
		ptm_pmi(p);
}

void ptm_retire(struct ptm *p, uint64_t instructions, unsigned int cpl)
{
	advance(p, p->pmu.by_insn[cpl != 0], instructions);
}

void pmu_branch(struct ptm *p)
{
	advance(p, p->pmu.by_branch[ring(p)], 1);
}

bool ptm_counting(const struct ptm *p)
{
	return p->pmu.by_insn[0] | p->pmu.by_insn[1];
}

uint64_t ptm_retire_horizon(const struct ptm *p)
{
	uint64_t counters = p->pmu.by_insn[0] | p->pmu.by_insn[1], horizon = UINT64_MAX;

	for (; counters; counters &= counters - 1) {
		uint64_t left = PMU_WIDTH_MASK + 1 - p->pmu.count[__builtin_ctzll(counters)];

		if (left < horizon)
			horizon = left;
	}
	return horizon;
}
