/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The MSRs of the model: their numbers, their names and the part of the model
 * that has them. A bank is a run of consecutive MSRs of one kind.
 */
#ifndef PTM_REGISTERS_H
#define PTM_REGISTERS_H

#include <stdint.h>

#define PMU_GP		4
#define PMU_FIXED	3
#define MAX_RANGES	4

enum part { PART_PT, PART_PMU, PART_BTS };

#define MSR_BANKS(X) \
	X(PMC, 0x0c1, PMU_GP, PART_PMU) \
	X(PLATFORM_INFO, 0x0ce, 1, PART_PMU) \
	X(PERFEVTSEL, 0x186, PMU_GP, PART_PMU) \
	X(DEBUGCTL, 0x1d9, 1, PART_BTS) \
	X(FIXED_CTR, 0x309, PMU_FIXED, PART_PMU) \
	X(PERF_CAPABILITIES, 0x345, 1, PART_PMU) \
	X(FIXED_CTR_CTRL, 0x38d, 1, PART_PMU) \
	X(GLOBAL_STATUS, 0x38e, 1, PART_PMU) \
	X(GLOBAL_CTRL, 0x38f, 1, PART_PMU) \
	X(GLOBAL_OVF_CTRL, 0x390, 1, PART_PMU) \
	X(A_PMC, 0x4c1, PMU_GP, PART_PMU) \
	X(RTIT_OUTPUT_BASE, 0x560, 1, PART_PT) \
	X(RTIT_OUTPUT_MASK, 0x561, 1, PART_PT) \
	X(RTIT_CTL, 0x570, 1, PART_PT) \
	X(RTIT_STATUS, 0x571, 1, PART_PT) \
	X(RTIT_CR3_MATCH, 0x572, 1, PART_PT) \
	X(RTIT_ADDR, 0x580, 2 * MAX_RANGES, PART_PT) \
	X(DS_AREA, 0x600, 1, PART_BTS)

/* MSR_PMC and so on: the first MSR of each bank. */
enum {
#define X(name, first, n, part) MSR_##name = (first),
	MSR_BANKS(X)
#undef X
};

/* SLOT_PMC and so on: index of the bank's first MSR in an array of all MSRs. */
enum {
#define X(name, first, n, part) SLOT_##name, SLOT_##name##_LAST = SLOT_##name + (n) - 1,
	MSR_BANKS(X)
#undef X
	MSR_SLOTS
};

struct msr_bank {
	uint32_t first;
	unsigned int n, slot;
	enum part part;
	const char *name;
};

/* NULL: @msr is not one of the model's. */
const struct msr_bank *msr_bank(uint32_t msr);
/* The banks in the order of their numbers; NULL after the last. */
const struct msr_bank *msr_bank_at(unsigned int index);

#endif /* PTM_REGISTERS_H */
