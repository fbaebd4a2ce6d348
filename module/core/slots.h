/* SPDX-License-Identifier: GPL-2.0 */
/* The slots of one channel's AUX area: which of them may be written to. */
#ifndef AUXT_SLOTS_H
#define AUXT_SLOTS_H

#include <linux/atomic.h>
#include <linux/types.h>

/**
 * struct auxt_slots - slots of one channel, a bit each
 * @all: those that there are
 * @held: the one traced into, those put aside by SNAPSHOT, and @sampled. A bit is
 *	set by whoever found it clear: the SNAPSHOT ioctl from anywhere, SAMPLE
 *	triggers on the channel's CPU, also in NMIs
 * @sampled: those that hold a SAMPLE
 */
struct auxt_slots {
	u64 all;
	atomic64_t held;
	atomic64_t sampled;
};

void auxt_slots_init(struct auxt_slots *slots, u32 nr);

/* Any CPU, any context. */
bool auxt_slots_claim(struct auxt_slots *slots, u32 slot);
void auxt_slots_give(struct auxt_slots *slots, u32 slot);
int auxt_slots_claim_any(struct auxt_slots *slots);
void auxt_slots_fill(struct auxt_slots *slots, u32 slot);
bool auxt_slots_release_sample(struct auxt_slots *slots, u32 slot);

#endif /* AUXT_SLOTS_H */
