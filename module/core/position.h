/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Positions in the AUX area of one channel: monotonic byte counts that say how
 * far the hardware has written and the reader has read, and where the hardware
 * must stop or call. Pure arithmetic: also compiled in user space by the tests.
 */
#ifndef AUXT_POSITION_H
#define AUXT_POSITION_H

#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/types.h>

/* The hardware stops and calls at the end of a region only: of one page here. */
#define AUXT_REGION_SHIFT	12
#define AUXT_REGION_SIZE	(1ull << AUXT_REGION_SHIFT)

/**
 * struct auxt_position - the positions of one AUX area
 * @size: bytes, a power of two; in a session with slots, those of one slot
 * @cycle: bytes after which the hardware's own pointer comes round again, a
 *	multiple of @size. It covers the area several times in overwrite mode, so
 *	that laps can be told apart even if an interrupt comes late
 * @watermark: full trace: readable bytes that wake the reader
 * @margin: full trace: bytes that shall be free behind the last call, whole regions
 * @overwrite: newest data wins; else full trace
 * @produced: position up to which the hardware has written
 * @consumed: full trace: newest valid tail; overwrite: bytes put aside in slots
 * @begin: position at which the present slot began
 * @replaced: overwrite: bytes that newer ones have replaced in earlier slots
 * @stop_mark: full trace: the hardware stops here, a page boundary
 * @int_mark: position at which the hardware's next interrupt is due, a page boundary
 * @deadline: overwrite: position from which on a look is wanted; 0: none
 * @bad_tails: tails refused
 * @last_bad: the newest of them, counted once while the reader leaves it there
 */
struct auxt_position {
	u64 size;
	u64 cycle;
	u64 watermark;
	u64 margin;
	bool overwrite;
	u64 produced;
	u64 consumed;
	u64 begin;
	u64 replaced;
	u64 stop_mark;
	u64 int_mark;
	u64 deadline;
	u64 bad_tails;
	u64 last_bad;
};

void auxt_position_init(struct auxt_position *ring, u64 size, u64 cycle, u64 watermark,
		    bool overwrite);
bool auxt_position_is_new_tail(const struct auxt_position *ring, u64 tail);
bool auxt_position_take_tail(struct auxt_position *ring, u64 tail);
u64 auxt_position_available(const struct auxt_position *ring);
u64 auxt_position_oldest_in_memory(const struct auxt_position *ring);
void auxt_position_retain(struct auxt_position *ring);

/* The rest is inline: it runs at each request, some of it while tracing should be on. */

static __always_inline u64 auxt_page_down(u64 position)
{
	return position & ~(AUXT_REGION_SIZE - 1);
}

static __always_inline u64 auxt_page_up(u64 position)
{
	return auxt_page_down(position + AUXT_REGION_SIZE - 1);
}

/**
 * auxt_position_at() - where the hardware is
 * @ring: the ring
 * @offset: its pointer, in bytes from the begin of the cycle (at most the cycle)
 *
 * The pointer moves forward only, and by less than a cycle between two looks.
 *
 * Return: the position.
 */
static __always_inline u64 auxt_position_at(const struct auxt_position *ring, u64 offset)
{
	u64 was = ring->produced % ring->cycle;
	u64 is = offset % ring->cycle;

	return ring->produced + (is >= was ? is - was : ring->cycle - was + is);
}

/**
 * auxt_position_plan() - where the hardware shall stop and call next
 * @ring: the ring
 *
 * Full trace: the hardware must not touch the page that holds the first unread
 * byte, one size further on. It calls when the watermark is reached, and at the
 * latest with the margin to go: then software stops it in good order, between
 * packets, and the STOP mark, which cuts a packet short, is only the last resort
 * against a call that comes later than that.
 *
 * Overwrite: it calls at the end of each lap, and where the deadline's page ends.
 */
static __always_inline void auxt_position_plan(struct auxt_position *ring)
{
	u64 wake, last;

	if (ring->overwrite) {
		ring->int_mark = (ring->produced | (ring->size - 1)) + 1;
		/* One that has passed has been looked at. */
		if (ring->deadline > ring->produced)
			ring->int_mark = min(ring->int_mark, auxt_page_up(ring->deadline));
		return;
	}
	ring->stop_mark = auxt_page_down(ring->consumed + ring->size);
	last = ring->stop_mark - ring->margin;
	wake = auxt_page_up(ring->consumed + ring->watermark);
	ring->int_mark = wake > ring->produced && wake < last ? wake : last;
}

/**
 * auxt_position_full() - must the hardware wait for the reader?
 * @ring: the ring, planned since its positions changed
 *
 * Return: true if there is no room beyond the margin kept for late calls. It never
 * is once the reader has read everything, because a ring has two pages or more, and
 * four times any margin beyond one page.
 */
static __always_inline bool auxt_position_full(const struct auxt_position *ring)
{
	return !ring->overwrite && ring->produced + ring->margin >= ring->stop_mark;
}

/**
 * auxt_position_oldest() - where what a reader finds begins
 * @ring: the ring
 *
 * Return: the position.
 */
static __always_inline u64 auxt_position_oldest(const struct auxt_position *ring)
{
	if (!ring->overwrite)
		return ring->consumed;
	return ring->produced - ring->begin > ring->size ? ring->produced - ring->size :
							   ring->begin;
}

/**
 * auxt_position_overwritten() - bytes that newer ones have replaced
 * @ring: the ring
 *
 * Return: their number; 0 in full trace.
 */
static __always_inline u64 auxt_position_overwritten(const struct auxt_position *ring)
{
	return ring->overwrite ? ring->replaced + auxt_position_oldest(ring) - ring->begin : 0;
}

#endif /* AUXT_POSITION_H */
