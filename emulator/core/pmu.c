// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The architectural performance-monitoring unit, version 2 (SDM, "Architectural
 * Performance Monitoring").
 *
 * Cycles are counted in instructions: each instruction takes one core cycle and
 * one reference cycle, and no cycle passes while the CPU halts. So a count depends
 * on what the guest ran and not on the host. Branches are counted from the reported
 * changes of flow: all but interrupts and exceptions, at the CPL of the branch
 * instruction.
 *
 * Software may write any event select, as on a CPU. The events that leaf 0AH
 * enumerates count. All other events, branch misses among them, never do; nor
 * does a counter with Edge, INV or a counter mask, which select what happens
 * within a cycle.
 */
#include "state.h"

#define GP_BITS		((1ULL << PMU_GP) - 1)
#define COUNTER_BITS	(GP_BITS | ((1ULL << PMU_FIXED) - 1) << PMU_FIXED_0)
#define GLOBAL_OVF_BUF	(1ULL << 62)
#define GLOBAL_COND_CHGD (1ULL << 63)

/* IA32_PERFEVTSELx: bits 31:0 without AnyThread, which version 3 introduced. */
#define EVTSEL_BITS	(0xffffffffULL & ~(1ULL << 21))
#define EVTSEL_EVENT	0xffffULL	/* unit mask and event */
#define EVTSEL_USR	(1ULL << 16)
#define EVTSEL_OS	(1ULL << 17)
#define EVTSEL_INT	(1ULL << 20)
#define EVTSEL_EN	(1ULL << 22)
#define EVTSEL_FINE	(1ULL << 18 | 1ULL << 23 | 0xffULL << 24)	/* Edge, INV, CMASK */

/* IA32_FIXED_CTR_CTRL: four bits a counter, without AnyThread (bit 2). */
#define FIXED_CTRL_BITS	0xbbbULL
#define FIXED_OS	1
#define FIXED_USR	2
#define FIXED_PMI	8

/* The events that have a bit in leaf 0AH:EBX, which is set if the event is missing. */
static const struct {
	uint16_t event;		/* unit mask, event */
	enum { BY_INSTRUCTION, BY_BRANCH, NEVER } counts;
} events[] = {
	{ 0x003c, BY_INSTRUCTION },	/* core cycles */
	{ 0x00c0, BY_INSTRUCTION },	/* instructions retired */
	{ 0x013c, BY_INSTRUCTION },	/* reference cycles */
	{ 0x4f2e, NEVER },		/* last-level cache references */
	{ 0x412e, NEVER },		/* last-level cache misses */
	{ 0x00c4, BY_BRANCH },		/* branches retired */
	{ 0x00c5, NEVER },		/* branch misses retired */
};
#define EVENTS	(sizeof(events) / sizeof(events[0]))

void pmu_power_up(struct pmu *u)
{
	u->global_ctrl = GP_BITS;
}

static void add_where(uint64_t rings[2], uint64_t bit, bool os, bool usr)
{
	if (os)
		rings[0] |= bit;
	if (usr)
		rings[1] |= bit;
}

/* Derives from the registers which counters an instruction and a branch advance. */
static void derive(struct pmu *u)
{
	for (unsigned int above = 0; above < 2; above++) {
		u->by_insn[above] = 0;
		u->by_branch[above] = 0;
	}

	for (unsigned int i = 0; i < PMU_GP; i++) {
		uint64_t sel = u->evtsel[i], bit = u->global_ctrl & 1ULL << i;

		if (!(sel & EVTSEL_EN) || (sel & EVTSEL_FINE))
			continue;
		for (unsigned int e = 0; e < EVENTS; e++)
			if (events[e].event == (sel & EVTSEL_EVENT) && events[e].counts != NEVER)
				add_where(events[e].counts == BY_BRANCH ? u->by_branch : u->by_insn,
					  bit, sel & EVTSEL_OS, sel & EVTSEL_USR);
	}
	for (unsigned int i = 0; i < PMU_FIXED; i++) {
		uint64_t how = u->fixed_ctrl >> 4 * i;

		add_where(u->by_insn, u->global_ctrl & 1ULL << (PMU_FIXED_0 + i), how & FIXED_OS,
			  how & FIXED_USR);
	}
}

bool pmu_interrupts(const struct pmu *u, unsigned int bit)
{
	if (bit < PMU_FIXED_0)
		return u->evtsel[bit] & EVTSEL_INT;
	return u->fixed_ctrl >> 4 * (bit - PMU_FIXED_0) & FIXED_PMI;
}

void pmu_freeze(struct pmu *u)
{
	u->global_ctrl = 0;
	derive(u);
}

bool pmu_read(const struct ptm *p, const struct msr_bank *bank, uint32_t msr, uint64_t *value)
{
	const struct pmu *u = &p->pmu;
	unsigned int i = msr - bank->first;

	switch (bank->first) {
	case MSR_A_PMC:
		if (!(p->profile->perf_capabilities & PTM_FW_WRITE))
			return false;
		*value = u->count[i];
		return true;
	case MSR_PMC:
		*value = u->count[i];
		return true;
	case MSR_PERFEVTSEL:
		*value = u->evtsel[i];
		return true;
	case MSR_FIXED_CTR:
		*value = u->count[PMU_FIXED_0 + i];
		return true;
	case MSR_FIXED_CTR_CTRL:
		*value = u->fixed_ctrl;
		return true;
	case MSR_GLOBAL_STATUS:
		*value = u->global_status;
		return true;
	case MSR_GLOBAL_CTRL:
		*value = u->global_ctrl;
		return true;
	case MSR_PERF_CAPABILITIES:
		*value = p->profile->perf_capabilities;
		return true;
	case MSR_PLATFORM_INFO:
		*value = (uint64_t)p->profile->core_ratio << 8;
		return true;
	default:	/* GLOBAL_OVF_CTRL */
		*value = 0;
		return true;
	}
}

/* The bits that software may set in the bank's registers. */
static uint64_t writable(const struct ptm *p, const struct msr_bank *bank)
{
	switch (bank->first) {
	case MSR_PMC:
		return ~0ULL;
	case MSR_A_PMC:
	case MSR_FIXED_CTR:
		return PMU_WIDTH_MASK;
	case MSR_PERFEVTSEL:
		return EVTSEL_BITS;
	case MSR_FIXED_CTR_CTRL:
		return FIXED_CTRL_BITS;
	case MSR_GLOBAL_CTRL:
		return COUNTER_BITS;
	default:	/* GLOBAL_OVF_CTRL */
		return COUNTER_BITS | GLOBAL_OVF_BUF | GLOBAL_COND_CHGD |
		       (p->profile->leaf14_0_ecx & OUT_TOPA ? GLOBAL_TOPA_PMI : 0);
	}
}

static bool read_only(const struct ptm *p, const struct msr_bank *bank)
{
	return bank->first == MSR_GLOBAL_STATUS || bank->first == MSR_PERF_CAPABILITIES ||
	       bank->first == MSR_PLATFORM_INFO ||
	       (bank->first == MSR_A_PMC && !(p->profile->perf_capabilities & PTM_FW_WRITE));
}

bool pmu_write(struct ptm *p, const struct msr_bank *bank, uint32_t msr, uint64_t v)
{
	struct pmu *u = &p->pmu;
	unsigned int i = msr - bank->first;

	if (read_only(p, bank) || (v & ~writable(p, bank)))
		return false;

	switch (bank->first) {
	case MSR_PMC:	/* 31:0, sign-extended */
		u->count[i] = (uint64_t)(int64_t)(int32_t)v & PMU_WIDTH_MASK;
		break;
	case MSR_A_PMC:
		u->count[i] = v;
		break;
	case MSR_PERFEVTSEL:
		u->evtsel[i] = v;
		break;
	case MSR_FIXED_CTR:
		u->count[PMU_FIXED_0 + i] = v;
		break;
	case MSR_FIXED_CTR_CTRL:
		u->fixed_ctrl = v;
		break;
	case MSR_GLOBAL_CTRL:
		u->global_ctrl = v;
		break;
	default:	/* GLOBAL_OVF_CTRL */
		u->global_status &= ~v;
		break;
	}
	derive(u);
	return true;
}

bool ptm_rdpmc(struct ptm *p, uint32_t ecx, uint64_t *value)
{
	uint32_t index = ecx & ~(1U << 30);
	bool fixed = ecx >> 30 & 1;

	if (index >= (fixed ? PMU_FIXED : PMU_GP))
		return false;
	*value = p->pmu.count[fixed ? PMU_FIXED_0 + index : index];
	return true;
}

void pmu_cpuid(uint32_t regs[4])
{
	regs[0] = 2 | PMU_GP << 8 | PMU_WIDTH << 16 | EVENTS << 24;
	for (unsigned int e = 0; e < EVENTS; e++)
		if (events[e].counts == NEVER)
			regs[1] |= 1U << e;
	regs[3] = PMU_FIXED | PMU_WIDTH << 5;
}
