// SPDX-License-Identifier: GPL-2.0-only
/* Positions in the AUX area of one channel. */

#include <linux/kernel.h>
#include <linux/kprobes.h>
#include "core/position.h"

/**
 * auxt_position_init() - set up the positions of an empty area, with regions of a page
 * @pos: the positions
 * @size: see struct auxt_position
 * @cycle: see struct auxt_position
 * @watermark: see struct auxt_position
 * @overwrite: see struct auxt_position
 */
void auxt_position_init(struct auxt_position *pos, u64 size, u64 cycle, u64 watermark,
			bool overwrite)
{
	*pos = (struct auxt_position) {
		.size = size,
		.cycle = cycle,
		.region = AUXT_PAGE_SIZE,
		.watermark = watermark,
		.margin = AUXT_PAGE_SIZE,
		.overwrite = overwrite,
		.lap_end = overwrite ? size : ~0ull,
	};
	auxt_position_plan(pos);
}
NOKPROBE_SYMBOL(auxt_position_init);

static bool position_is_valid(const struct auxt_position *pos, u64 consumed, u64 tail)
{
	return tail >= consumed && tail <= READ_ONCE(pos->produced);
}
NOKPROBE_SYMBOL(position_is_valid);

/**
 * auxt_position_is_new_tail() - has the reader changed its tail?
 * @pos: positions of full trace
 * @tail: the tail in the user page
 *
 * poll(2) calls this on any CPU, while the channel's CPU may take the tail or advance. A tail that
 * was just taken may then look new, which costs the caller an IPI.
 *
 * Return: false if the tail is the one taken last, or one refused before that is still invalid.
 */
bool auxt_position_is_new_tail(const struct auxt_position *pos, u64 tail)
{
	u64 consumed = READ_ONCE(pos->consumed);

	if (position_is_valid(pos, consumed, tail))
		return tail != consumed;
	return !READ_ONCE(pos->bad_tails) || tail != READ_ONCE(pos->last_bad);
}
NOKPROBE_SYMBOL(auxt_position_is_new_tail);

/**
 * auxt_position_take_tail() - take the reader's tail
 * @pos: positions of full trace
 * @tail: the tail in the user page
 *
 * A tail that goes back or is ahead of the data is ignored, and counted once.
 *
 * Return: true if @pos->consumed has advanced.
 */
bool auxt_position_take_tail(struct auxt_position *pos, u64 tail)
{
	if (!auxt_position_is_new_tail(pos, tail))
		return false;
	if (!position_is_valid(pos, pos->consumed, tail)) {
		pos->bad_tails++;
		pos->last_bad = tail;
		return false;
	}
	pos->consumed = tail;
	return true;
}
NOKPROBE_SYMBOL(auxt_position_take_tail);

/**
 * auxt_position_oldest_in_memory() - position of the oldest byte that is still in memory
 * @pos: the positions, with the hardware off
 *
 * Full trace: bytes that the reader has read stay until the hardware writes over them.
 *
 * Return: the position.
 */
u64 auxt_position_oldest_in_memory(const struct auxt_position *pos)
{
	if (pos->overwrite)
		return auxt_position_oldest(pos);
	return pos->produced > pos->size ? pos->produced - pos->size : 0;
}
NOKPROBE_SYMBOL(auxt_position_oldest_in_memory);

/**
 * auxt_position_available() - number of bytes that a reader finds
 * @pos: the positions
 *
 * Return: the number.
 */
u64 auxt_position_available(const struct auxt_position *pos)
{
	return pos->produced - auxt_position_oldest(pos);
}
NOKPROBE_SYMBOL(auxt_position_available);

/**
 * auxt_position_retain() - retain the present slot for the reader and continue in another
 * @pos: positions of overwrite mode
 */
void auxt_position_retain(struct auxt_position *pos)
{
	u64 oldest = auxt_position_oldest(pos);

	pos->consumed += pos->produced - oldest;
	pos->replaced += oldest - pos->begin;
	pos->begin = pos->produced;
	pos->lap_end = pos->begin + pos->size;
}
NOKPROBE_SYMBOL(auxt_position_retain);
