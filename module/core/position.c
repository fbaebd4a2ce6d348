// SPDX-License-Identifier: GPL-2.0
/* Positions in the AUX area of one channel. */

#include <linux/kernel.h>
#include <linux/kprobes.h>
#include "core/position.h"

/**
 * auxt_position_init() - an empty ring
 * @ring: to be set up
 * @size: see struct auxt_position
 * @cycle: see struct auxt_position
 * @watermark: see struct auxt_position
 * @overwrite: see struct auxt_position
 */
void auxt_position_init(struct auxt_position *ring, u64 size, u64 cycle, u64 watermark,
		    bool overwrite)
{
	*ring = (struct auxt_position) {
		.size = size,
		.cycle = cycle,
		.watermark = watermark,
		.margin = AUXT_REGION_SIZE,
		.overwrite = overwrite,
	};
	auxt_position_plan(ring);
}

static bool is_valid(const struct auxt_position *ring, u64 tail)
{
	return tail >= ring->consumed && tail <= ring->produced;
}

/**
 * auxt_position_is_new_tail() - is this tail worth a look?
 * @ring: a full-trace ring
 * @tail: what stands in the user page
 *
 * Return: false if it is the one taken last, or one refused before and still bad.
 */
bool auxt_position_is_new_tail(const struct auxt_position *ring, u64 tail)
{
	if (is_valid(ring, tail))
		return tail != ring->consumed;
	return !ring->bad_tails || tail != ring->last_bad;
}
NOKPROBE_SYMBOL(auxt_position_is_new_tail);

/**
 * auxt_position_take_tail() - the reader says how far it is
 * @ring: a full-trace ring
 * @tail: what stands in the user page
 *
 * A tail that goes back or is ahead of the data is ignored, and counted once.
 *
 * Return: true if the ring was consumed further.
 */
bool auxt_position_take_tail(struct auxt_position *ring, u64 tail)
{
	if (!auxt_position_is_new_tail(ring, tail))
		return false;
	if (!is_valid(ring, tail)) {
		ring->bad_tails++;
		ring->last_bad = tail;
		return false;
	}
	ring->consumed = tail;
	return true;
}
NOKPROBE_SYMBOL(auxt_position_take_tail);

/**
 * auxt_position_oldest_in_memory() - where what has not been written over begins
 * @ring: the ring, with the hardware off
 *
 * Full trace: what the reader has read stays until the hardware comes round.
 *
 * Return: the position.
 */
u64 auxt_position_oldest_in_memory(const struct auxt_position *ring)
{
	if (ring->overwrite)
		return auxt_position_oldest(ring);
	return ring->produced > ring->size ? ring->produced - ring->size : 0;
}
NOKPROBE_SYMBOL(auxt_position_oldest_in_memory);

/**
 * auxt_position_available() - bytes that a reader finds
 * @ring: the ring
 *
 * Return: their number.
 */
u64 auxt_position_available(const struct auxt_position *ring)
{
	return ring->produced - auxt_position_oldest(ring);
}
NOKPROBE_SYMBOL(auxt_position_available);

/**
 * auxt_position_retain() - go on in another slot; what this one holds is the reader's
 * @ring: an overwrite ring
 */
void auxt_position_retain(struct auxt_position *ring)
{
	u64 oldest = auxt_position_oldest(ring);

	ring->consumed += ring->produced - oldest;
	ring->replaced += oldest - ring->begin;
	ring->begin = ring->produced;
}
NOKPROBE_SYMBOL(auxt_position_retain);
