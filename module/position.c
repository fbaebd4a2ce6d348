// SPDX-License-Identifier: GPL-2.0
/* Positions in the AUX area of one channel. */

#include <linux/kprobes.h>
#include "position.h"

static u64 page_down(u64 position)
{
	return position & ~(AUXT_REGION_SIZE - 1);
}

static u64 page_up(u64 position)
{
	return page_down(position + AUXT_REGION_SIZE - 1);
}

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
		.overwrite = overwrite,
	};
	auxt_ring_plan(ring);
}

/**
 * auxt_ring_position() - where the hardware is
 * @ring: the ring
 * @offset: its pointer, in bytes from the begin of the cycle (at most the cycle)
 *
 * The pointer moves forward only, and by less than a cycle between two looks.
 *
 * Return: the position.
 */
u64 auxt_ring_position(const struct auxt_ring *ring, u64 offset)
{
	u64 was = ring->produced % ring->cycle;
	u64 is = offset % ring->cycle;

	return ring->produced + (is >= was ? is - was : ring->cycle - was + is);
}
NOKPROBE_SYMBOL(auxt_ring_position);

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
 * auxt_ring_plan() - where the hardware shall stop and call next
 * @ring: the ring
 *
 * Full trace: the hardware must not touch the page that holds the first unread
 * byte, one size further on. It calls when the watermark is reached, and at the
 * latest with one page to go: then software stops it in good order, between
 * packets, and the STOP mark, which cuts a packet short, is only the last resort
 * against a call that comes more than a page late.
 *
 * Overwrite: it calls at the end of each lap.
 */
void auxt_ring_plan(struct auxt_ring *ring)
{
	u64 wake, last;

	if (ring->overwrite) {
		ring->call = ring->produced - ring->produced % ring->size + ring->size;
		return;
	}
	ring->limit = page_down(ring->consumed + ring->size);
	last = ring->limit - AUXT_REGION_SIZE;
	wake = page_up(ring->consumed + ring->watermark);
	ring->call = wake > ring->produced && wake < last ? wake : last;
}
NOKPROBE_SYMBOL(auxt_ring_plan);

/**
 * auxt_ring_full() - must the hardware wait for the reader?
 * @ring: the ring, planned since its positions changed
 *
 * Return: true if there is no room beyond the page kept for late calls. It never
 * is once the reader has read everything, because a ring has two pages or more.
 */
bool auxt_ring_full(const struct auxt_ring *ring)
{
	return !ring->overwrite && ring->produced + AUXT_REGION_SIZE >= ring->limit;
}
NOKPROBE_SYMBOL(auxt_ring_full);

/**
 * auxt_ring_overwritten() - bytes that newer ones have replaced
 * @ring: the ring
 *
 * Return: their number; 0 in full trace.
 */
u64 auxt_ring_overwritten(const struct auxt_ring *ring)
{
	return ring->overwrite && ring->produced > ring->size ?
	       ring->produced - ring->size : 0;
}
NOKPROBE_SYMBOL(auxt_ring_overwritten);

/**
 * auxt_ring_available() - bytes that a reader finds
 * @ring: the ring
 *
 * Return: their number.
 */
u64 auxt_ring_available(const struct auxt_ring *ring)
{
	return ring->produced - ring->consumed - auxt_ring_overwritten(ring);
}
NOKPROBE_SYMBOL(auxt_ring_available);
