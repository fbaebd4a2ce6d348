// SPDX-License-Identifier: GPL-2.0-only
/* Which slots of one channel's AUX area are in use. */

#include <linux/bits.h>
#include <linux/errno.h>
#include <linux/kprobes.h>
#include "core/slots.h"

/**
 * auxt_slots_init() - set up: tracing holds slot 0, the others are free
 * @slots: slots of a new channel
 * @nr: number of slots, 1 to 64
 */
void auxt_slots_init(struct auxt_slots *slots, u32 nr)
{
	slots->all = ~0ull >> (64 - nr);
	atomic64_set(&slots->held, 1);
	atomic64_set(&slots->sampled, 0);
}
NOKPROBE_SYMBOL(auxt_slots_init);

/**
 * auxt_slots_claim() - claim a given slot
 * @slots: slots of a channel
 * @slot: number of the slot
 *
 * Return: false if it is held already.
 */
bool auxt_slots_claim(struct auxt_slots *slots, u32 slot)
{
	return !(atomic64_fetch_or(BIT_ULL(slot), &slots->held) & BIT_ULL(slot));
}
NOKPROBE_SYMBOL(auxt_slots_claim);

/**
 * auxt_slots_release() - release a slot that was claimed
 * @slots: slots of a channel
 * @slot: number of the slot
 */
void auxt_slots_release(struct auxt_slots *slots, u32 slot)
{
	atomic64_andnot(BIT_ULL(slot), &slots->held);
}
NOKPROBE_SYMBOL(auxt_slots_release);

/**
 * auxt_slots_claim_any() - claim the lowest free slot
 * @slots: slots of a channel
 *
 * Return: number of the slot, or -ENOSPC if none is free.
 */
int auxt_slots_claim_any(struct auxt_slots *slots)
{
	u64 held = atomic64_read(&slots->held);
	u64 found, bit;

	for (;; held = found) {
		if (held == slots->all)
			return -ENOSPC;
		/* The lowest clear bit. */
		bit = ~held & (held + 1);
		found = atomic64_cmpxchg(&slots->held, held, held | bit);
		if (found == held)
			return __builtin_ctzll(bit);
	}
}
NOKPROBE_SYMBOL(auxt_slots_claim_any);

/**
 * auxt_slots_fill() - note that a claimed slot holds a SAMPLE
 * @slots: slots of a channel
 * @slot: number of the slot
 */
void auxt_slots_fill(struct auxt_slots *slots, u32 slot)
{
	atomic64_or(BIT_ULL(slot), &slots->sampled);
}
NOKPROBE_SYMBOL(auxt_slots_fill);

/**
 * auxt_slots_release_sample() - release a slot whose SAMPLE has been read
 * @slots: slots of a channel
 * @slot: number of the slot
 *
 * Return: false if the slot holds no SAMPLE.
 */
bool auxt_slots_release_sample(struct auxt_slots *slots, u32 slot)
{
	if (!(atomic64_fetch_andnot(BIT_ULL(slot), &slots->sampled) & BIT_ULL(slot)))
		return false;
	auxt_slots_release(slots, slot);
	return true;
}
NOKPROBE_SYMBOL(auxt_slots_release_sample);
