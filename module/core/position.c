// SPDX-License-Identifier: GPL-2.0
/* Positions in the AUX area of one channel. */

#include <linux/kernel.h>
#include <linux/kprobes.h>
#include "core/position.h"

/**
 * auxt_ring_init() - an empty ring
 * @ring: to be set up
 * @size: see struct auxt_ring
 * @cycle: see struct auxt_ring
 * @watermark: see struct auxt_ring
 * @overwrite: see struct auxt_ring
 */
void auxt_ring_init(struct auxt_ring *ring, u64 size, u64 cycle, u64 watermark,
		    bool overwrite)
{
	*ring = (struct auxt_ring) {
		.size = size,
		.cycle = cycle,
		.watermark = watermark,
		.margin = AUXT_REGION_SIZE,
		.overwrite = overwrite,
	};
	auxt_ring_plan(ring);
}

static bool is_valid(const struct auxt_ring *ring, u64 tail)
{
	return tail >= ring->consumed && tail <= ring->produced;
}

/**
 * auxt_ring_is_news() - is this tail worth a look?
 * @ring: a full-trace ring
 * @tail: what stands in the user page
 *
 * Return: false if it is the one taken last, or one refused before and still bad.
 */
bool auxt_ring_is_news(const struct auxt_ring *ring, u64 tail)
{
	if (is_valid(ring, tail))
		return tail != ring->consumed;
	return !ring->bad_tails || tail != ring->last_bad;
}
NOKPROBE_SYMBOL(auxt_ring_is_news);

/**
 * auxt_ring_take_tail() - the reader says how far it is
 * @ring: a full-trace ring
 * @tail: what stands in the user page
 *
 * A tail that goes back or is ahead of the data is ignored, and counted once.
 *
 * Return: true if the ring was consumed further.
 */
bool auxt_ring_take_tail(struct auxt_ring *ring, u64 tail)
{
	if (!auxt_ring_is_news(ring, tail))
		return false;
	if (!is_valid(ring, tail)) {
		ring->bad_tails++;
		ring->last_bad = tail;
		return false;
	}
	ring->consumed = tail;
	return true;
}
NOKPROBE_SYMBOL(auxt_ring_take_tail);

/**
 * auxt_ring_oldest_in_memory() - where what has not been written over begins
 * @ring: the ring, with the hardware off
 *
 * Full trace: what the reader has read stays until the hardware comes round.
 *
 * Return: the position.
 */
u64 auxt_ring_oldest_in_memory(const struct auxt_ring *ring)
{
	if (ring->overwrite)
		return auxt_ring_oldest(ring);
	return ring->produced > ring->size ? ring->produced - ring->size : 0;
}
NOKPROBE_SYMBOL(auxt_ring_oldest_in_memory);

/**
 * auxt_ring_available() - bytes that a reader finds
 * @ring: the ring
 *
 * Return: their number.
 */
u64 auxt_ring_available(const struct auxt_ring *ring)
{
	return ring->produced - auxt_ring_oldest(ring);
}
NOKPROBE_SYMBOL(auxt_ring_available);

/**
 * auxt_ring_put_aside() - go on in another slot; what this one holds is the reader's
 * @ring: an overwrite ring
 */
void auxt_ring_put_aside(struct auxt_ring *ring)
{
	u64 oldest = auxt_ring_oldest(ring);

	ring->consumed += ring->produced - oldest;
	ring->replaced += oldest - ring->begin;
	ring->begin = ring->produced;
}
NOKPROBE_SYMBOL(auxt_ring_put_aside);
