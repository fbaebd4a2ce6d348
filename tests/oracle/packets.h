/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Statistics of a trace's packets, by libipt's packet decoder: numbers that the
 * definitions of PSBFreq, MTCFreq, CycThresh and TNT bound.
 */
#ifndef ORACLE_PACKETS_H
#define ORACLE_PACKETS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <intel-pt.h>

#define PACKET_KINDS 13

/* The source of MTC and TMA: CTC is TSC * @art / @tsc, MTC its bits from @freq up. */
struct ctc {
	unsigned int freq;
	uint64_t tsc, art;	/* CPUID.15H; 0 if unknown: the clock is not checked */
};

struct packets {
	uint64_t count[PACKET_KINDS];
	uint64_t bytes;
	uint64_t tnt_bits;
	uint64_t psb_farthest;	/* the most bytes from a PSB to the next or to the end */
	uint64_t cyc_least;	/* the fewest cycles of a CYC */
	uint64_t off_clock;	/* TMA and MTC that contradict the CTC, and MTC that are missing */
};

void packets_begin(struct packets *p);

/* Adds one queue; ignores a packet cut at its end. The instruction decoder reports errors. */
void packets_add(struct packets *p, const struct pt_config *config, const struct ctc *ctc);

/* One line: "packets", then pairs of a name and a number. */
void packets_print(const struct packets *p, FILE *out);

#endif
