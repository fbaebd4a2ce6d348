/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The trace PMU that the tests use: Intel PT, or BTS with AUXTRACE_TEST_SOURCE=bts.
 * What is the same of both is written once; this, trace.h and msr.h know the difference.
 */
#ifndef VM_PMU_H
#define VM_PMU_H

#include <stdbool.h>
#include <stdint.h>

/* Ends the program, with a message, if the environment names neither. */
bool under_bts(void);

/* Skips the running test under BTS, saying that it is about @what. */
void pt_required(const char *what);
/* And the other way round. */
void bts_required(void);

/*
 * BTS writes 24 bytes for a branch, for which PT has a bit of a TNT or, where it is
 * indirect, a TIP of 3 bytes or so. A power of two, as areas are.
 */
#define BTS_DENSITY	16u

/*
 * What is traced where interrupts of trace would be in the way: both levels, but BTS's user
 * code alone under page-table isolation, where the kernel fills its buffer all the time.
 */
uint32_t quiet_level(void);

/* An area that holds what runs in a time in which PT writes @pt_bytes. */
static inline uint64_t room_for(uint64_t pt_bytes)
{
	return under_bts() ? pt_bytes * BTS_DENSITY : pt_bytes;
}

#endif
