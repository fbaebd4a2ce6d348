/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a trace's packets say by themselves, by libipt's packet decoder: numbers
 * that the definitions of PSBFreq, MTCFreq, CycThresh and TNT put bounds to.
 */
#ifndef ORACLE_PACKETS_H
#define ORACLE_PACKETS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include <intel-pt.h>

#define PACKET_KINDS 13

/* What MTC and TMA are made of: CTC is TSC * @art / @tsc, MTC its bits from @freq up. */
struct ctc {
	unsigned int freq;
	uint64_t tsc, art;	/* CPUID.15H; 0 if not known: the clock is not judged */
};

struct packets {
	uint64_t count[PACKET_KINDS];
	uint64_t bytes;
	uint64_t tnt_bits;
	uint64_t psb_farthest;	/* bytes from a PSB to the next or the end, the most */
	uint64_t cyc_least;	/* cycles that a CYC told, the fewest */
	uint64_t off_clock;	/* TMA and MTC that no CTC would have sent, or did not */
};

void packets_begin(struct packets *p);

/* Adds one queue's; what is cut at its end is no packet, errors are the flow's to tell. */
void packets_add(struct packets *p, const struct pt_config *config, const struct ctc *ctc);

/* One line: "packets", then pairs of a name and a number. */
void packets_print(const struct packets *p, FILE *out);

#endif
