/* SPDX-License-Identifier: GPL-2.0-only */
/* Which slots of one channel's AUX area are in use. */
#ifndef AUXT_SLOTS_H
#define AUXT_SLOTS_H

#include <linux/atomic.h>
#include <linux/types.h>

/**
 * struct auxt_slots - slots of one channel, one bit each
 * @all: the slots that exist
 * @held: the slot that is traced into, those retained by SNAPSHOT, and those in @sampled. The
 *	code that changes a bit from 0 to 1 owns the slot: the SNAPSHOT ioctl on any CPU, or a
 *	SAMPLE trigger on the channel's CPU, also in an NMI
 * @sampled: slots that hold a SAMPLE
 */
struct auxt_slots {
	u64 all;
	atomic64_t held;
	atomic64_t sampled;
};

void auxt_slots_init(struct auxt_slots *slots, u32 nr);

/* Any CPU, any context. */
bool auxt_slots_claim(struct auxt_slots *slots, u32 slot);
void auxt_slots_release(struct auxt_slots *slots, u32 slot);
int auxt_slots_claim_any(struct auxt_slots *slots);
void auxt_slots_fill(struct auxt_slots *slots, u32 slot);
bool auxt_slots_release_sample(struct auxt_slots *slots, u32 slot);

#endif /* AUXT_SLOTS_H */
