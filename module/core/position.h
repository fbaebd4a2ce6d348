/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Positions in the AUX area of one channel: monotonic byte counts up to where the hardware has
 * written and the reader has read, and where the hardware must stop or raise the PMI. Pure
 * arithmetic: the tests also compile it in user space.
 */
#ifndef AUXT_POSITION_H
#define AUXT_POSITION_H

#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/types.h>

/* The hardware stops or raises the PMI only at the end of a region: a page, or 2^n pages. */
#define AUXT_PAGE_SHIFT		12
#define AUXT_PAGE_SIZE		(1ull << AUXT_PAGE_SHIFT)

/**
 * struct auxt_position - the positions of one AUX area
 * @size: size in bytes, a power of two; in a session with slots, size of one slot
 * @cycle: bytes after which the hardware's own pointer wraps, a multiple of @size. In
 *	overwrite mode it covers the area several times, so that the number of laps is known even
 *	if an interrupt comes late
 * @region: bytes of a region, a power of two
 * @watermark: full trace: readable bytes at which the reader is woken
 * @margin: full trace: free bytes between the last INT mark and @stop_mark, whole regions
 * @overwrite: overwrite mode: newest data wins; else full trace
 * @produced: position up to which the hardware has written
 * @consumed: full trace: newest valid tail; overwrite: bytes retained in slots
 * @begin: position at which the present slot began
 * @lap_end: overwrite: position from which on bytes of the present slot are overwritten; full trace:
 *	never
 * @replaced: overwrite: bytes of earlier slots that were overwritten
 * @stop_mark: full trace: position at which the hardware stops, a multiple of @region
 * @int_mark: position at which the hardware raises the next PMI, a multiple of @region
 * @deadline: overwrite: position at which a deferred request is due; 0: none
 * @bad_tails: number of tails refused
 * @last_bad: the newest of them; it is counted once, however long the user page holds it
 */
struct auxt_position {
	u64 size;
	u64 cycle;
	u64 region;
	u64 watermark;
	u64 margin;
	bool overwrite;
	u64 produced;
	u64 consumed;
	u64 begin;
	u64 lap_end;
	u64 replaced;
	u64 stop_mark;
	u64 int_mark;
	u64 deadline;
	u64 bad_tails;
	u64 last_bad;
};

void auxt_position_init(struct auxt_position *pos, u64 size, u64 cycle, u64 watermark,
			bool overwrite);
bool auxt_position_is_new_tail(const struct auxt_position *pos, u64 tail);
bool auxt_position_take_tail(struct auxt_position *pos, u64 tail);
u64 auxt_position_available(const struct auxt_position *pos);
u64 auxt_position_oldest_in_memory(const struct auxt_position *pos);
void auxt_position_retain(struct auxt_position *pos);

/* The rest is inline: it runs at each request, partly while tracing is stopped for it. */

static __always_inline u64 auxt_page_down(u64 position)
{
	return position & ~(AUXT_PAGE_SIZE - 1);
}

static __always_inline u64 auxt_page_up(u64 position)
{
	return auxt_page_down(position + AUXT_PAGE_SIZE - 1);
}

static __always_inline u64 auxt_region_down(const struct auxt_position *pos, u64 position)
{
	return position & ~(pos->region - 1);
}

static __always_inline u64 auxt_region_up(const struct auxt_position *pos, u64 position)
{
	return auxt_region_down(pos, position + pos->region - 1);
}

/**
 * auxt_position_at() - position of the hardware's pointer
 * @pos: the positions
 * @offset: the hardware's pointer, in bytes from the begin of the cycle (at most the cycle)
 *
 * The pointer only moves forward, and by less than a cycle between two calls that update
 * @pos->produced.
 *
 * Return: the position.
 */
static __always_inline u64 auxt_position_at(const struct auxt_position *pos, u64 offset)
{
	u64 was = pos->produced % pos->cycle;
	u64 is = offset % pos->cycle;

	return pos->produced + (is >= was ? is - was : pos->cycle - was + is);
}

/**
 * auxt_position_plan() - place the next STOP mark and INT mark
 * @pos: the positions
 *
 * Full trace: the hardware must not write the region that holds the first unread byte, one @size
 * further on. It raises the PMI when the watermark is reached, and at the latest a margin before
 * the STOP mark. Then software stops it between packets. The STOP mark cuts a packet short; it is
 * the last resort for a PMI that comes later than that.
 *
 * Overwrite: it raises the PMI at the end of each lap, and at the end of the deadline's region.
 */
static __always_inline void auxt_position_plan(struct auxt_position *pos)
{
	u64 wake, last;

	if (pos->overwrite) {
		pos->int_mark = (pos->produced | (pos->size - 1)) + 1;
		/* A deadline that has passed has been handled. */
		if (pos->deadline > pos->produced)
			pos->int_mark = min(pos->int_mark, auxt_region_up(pos, pos->deadline));
		return;
	}
	pos->stop_mark = auxt_region_down(pos, pos->consumed + pos->size);
	last = pos->stop_mark - pos->margin;
	wake = auxt_region_up(pos, pos->consumed + pos->watermark);
	pos->int_mark = wake > pos->produced && wake < last ? wake : last;
}

/**
 * auxt_position_full() - must the hardware wait for the reader?
 * @pos: the positions; auxt_position_plan() was called since they changed
 *
 * Return: true if there is no space beyond the margin, which is kept for late PMIs. It is
 * false once the reader has read everything: an area has at least two regions, and at least four
 * times the margin if that is more than a region.
 */
static __always_inline bool auxt_position_full(const struct auxt_position *pos)
{
	return !pos->overwrite && pos->produced + pos->margin >= pos->stop_mark;
}

/* Have bytes of the present slot been overwritten? */
static __always_inline bool auxt_position_has_wrapped(const struct auxt_position *pos)
{
	return pos->produced > pos->lap_end;
}

/**
 * auxt_position_oldest() - position of the oldest byte that a reader finds
 * @pos: the positions
 *
 * Return: the position.
 */
static __always_inline u64 auxt_position_oldest(const struct auxt_position *pos)
{
	if (!pos->overwrite)
		return pos->consumed;
	return auxt_position_has_wrapped(pos) ? pos->produced - pos->size : pos->begin;
}

/**
 * auxt_position_overwritten() - number of bytes that were overwritten unread
 * @pos: the positions
 *
 * It changes only if the present slot has wrapped, or by auxt_position_retain().
 *
 * Return: the number; 0 in full trace.
 */
static __always_inline u64 auxt_position_overwritten(const struct auxt_position *pos)
{
	return pos->replaced + (auxt_position_has_wrapped(pos) ? pos->produced - pos->lap_end : 0);
}

#endif /* AUXT_POSITION_H */
