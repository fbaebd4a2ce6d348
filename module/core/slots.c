// SPDX-License-Identifier: GPL-2.0
/* The slots of one channel's AUX area. */

#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/kprobes.h>
#include "core/slots.h"

/**
 * auxt_slots_init() - the first is traced into, the others are free
 * @slots: to be set up
 * @nr: their number, from 1 to 64
 */
void auxt_slots_init(struct auxt_slots *slots, u32 nr)
{
	slots->all = ~0ull >> (64 - nr);
	atomic64_set(&slots->held, 1);
	atomic64_set(&slots->sampled, 0);
}

/**
 * auxt_slots_claim() - take a certain slot
 * @slots: of a channel
 * @slot: one of them
 *
 * Return: false if it is held already.
 */
bool auxt_slots_claim(struct auxt_slots *slots, u32 slot)
{
	return !(atomic64_fetch_or(BIT_ULL(slot), &slots->held) & BIT_ULL(slot));
}

/**
 * auxt_slots_give() - a slot that was claimed is free again
 * @slots: of a channel
 * @slot: one of them
 */
void auxt_slots_give(struct auxt_slots *slots, u32 slot)
{
	atomic64_andnot(BIT_ULL(slot), &slots->held);
}
NOKPROBE_SYMBOL(auxt_slots_give);

/**
 * auxt_slots_claim_any() - take a free slot
 * @slots: of a channel
 *
 * Return: the slot, or -ENOSPC.
 */
int auxt_slots_claim_any(struct auxt_slots *slots)
{
	u64 held = atomic64_read(&slots->held);
	u64 found, bit;

	for (;; held = found) {
		if (held == slots->all)
			return -ENOSPC;
		/* The lowest that is clear. */
		bit = ~held & (held + 1);
		found = atomic64_cmpxchg(&slots->held, held, held | bit);
		if (found == held)
			return __builtin_ctzll(bit);
	}
}
NOKPROBE_SYMBOL(auxt_slots_claim_any);

/**
 * auxt_slots_fill() - a slot that was claimed holds a sample
 * @slots: of a channel
 * @slot: one of them
 */
void auxt_slots_fill(struct auxt_slots *slots, u32 slot)
{
	atomic64_or(BIT_ULL(slot), &slots->sampled);
}
NOKPROBE_SYMBOL(auxt_slots_fill);

/**
 * auxt_slots_release_sample() - a sample was read
 * @slots: of a channel
 * @slot: one of them
 *
 * Return: false if it holds none.
 */
bool auxt_slots_release_sample(struct auxt_slots *slots, u32 slot)
{
	if (!(atomic64_fetch_andnot(BIT_ULL(slot), &slots->sampled) & BIT_ULL(slot)))
		return false;
	auxt_slots_give(slots, slot);
	return true;
}
