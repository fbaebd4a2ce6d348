/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The trace PMU that the tests use: Intel PT, or BTS with AUXTRACE_TEST_SOURCE=bts. Tests that
 * are the same for both are written once; this, trace.h and msr.h know the difference.
 */
#ifndef VM_PMU_H
#define VM_PMU_H

#include <stdbool.h>
#include <stdint.h>

/* Ends the program, with a message, if the environment names another. */
bool under_bts(void);

/* Skips the running test under BTS, with the message that it is about PT's @what. */
void pt_required(const char *what);
/* Skips the running test under PT. */
void bts_required(void);

/* Page tables are isolated, so the kernel's branches go through a buffer of 64 KiB. */
bool bts_is_buffered(void);

/* PT's ToPA tables have one entry: topa_single.h of the module. */
bool pt_has_single_entry(void);

/*
 * @produced is what the hardware has @written, to the byte. With ToPA tables of one entry, zeros of the
 * module's may be between: at most the last 512 bytes of each page.
 */
void check_written(uint64_t produced, uint64_t written);

/*
 * BTS writes 24 bytes for a branch. PT writes a bit of a TNT for it or, if it is indirect, a
 * TIP of about 3 bytes. A power of two, as areas are.
 */
#define BTS_DENSITY	16u

/*
 * The levels for tests in which trace interrupts would be in the way: both. But with BTS and
 * page-table isolation user code only, as the kernel's branches would fill the buffer often.
 */
uint32_t quiet_level(void);

/* The size of an area that holds what PT writes as @pt_bytes. */
static inline uint64_t space_for(uint64_t pt_bytes)
{
	return under_bts() ? pt_bytes * BTS_DENSITY : pt_bytes;
}

#endif
