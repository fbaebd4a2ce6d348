// SPDX-License-Identifier: GPL-2.0
/* How far Branch Trace Store may go. */

#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include "hw/bts_plan.h"

/*
 * Branches of the kernel that an NMI under way may take before a call gets through, in
 * bytes of records. Most take some hundreds; one that has to print more.
 */
#define BTS_SLACK	(256ull << 10)

/*
 * Overwrite mode: a call is not due before that, in a small area after several laps of
 * it: else the branches of one call could bring the next about.
 */
#define BTS_STRETCH	(64ull << 10)

/**
 * auxt_bts_margin() - what shall be free behind the last call in full trace
 * @size: of the area
 *
 * Return: bytes, for struct auxt_position: as much as shall be, of areas that have it.
 */
u64 auxt_bts_margin(u64 size)
{
	return clamp(size / 4, AUXT_REGION_SIZE, BTS_SLACK);
}

/**
 * auxt_bts_laps() - how often an area (or slot) is to be mapped in a row
 * @size: of it
 * @overwrite: mode
 *
 * The hardware goes from the end of one to the begin of the next without a wrap. Full
 * trace passes one end at most. In overwrite mode it goes on until a call gets through.
 *
 * Return: the number.
 */
u64 auxt_bts_laps(u64 size, bool overwrite)
{
	return overwrite ? 2 + (BTS_STRETCH + BTS_SLACK + size - 1) / size : 2;
}

/**
 * auxt_bts_plan() - see struct auxt_bts_plan
 * @ring: planned, and not full
 * @laps: auxt_bts_laps()
 *
 * Return: it.
 */
struct auxt_bts_plan auxt_bts_plan(const struct auxt_position *ring, u64 laps)
{
	u64 call = ring->int_mark - ring->produced;
	u64 room = ring->stop_mark - ring->produced;

	if (ring->overwrite) {
		room = laps * ring->size - ring->produced % ring->size;
		if (ring->deadline <= ring->produced && call < BTS_STRETCH)
			call += (BTS_STRETCH - call + ring->size - 1) & ~(ring->size - 1);
	}
	return (struct auxt_bts_plan) {
		.call = roundup(call, BTS_RECORD),
		.room = room - room % BTS_RECORD,
	};
}
NOKPROBE_SYMBOL(auxt_bts_plan);

/**
 * auxt_bts_plan_buffered() - the same, through a buffer
 * @plan: how it would be without
 * @size: of the buffer
 * @kernel: the kernel is traced, and what a call waits for with it
 *
 * Return: it.
 */
struct auxt_bts_plan auxt_bts_plan_buffered(struct auxt_bts_plan plan, u64 size, bool kernel)
{
	u64 call = (kernel ? size / 4 : size - AUXT_REGION_SIZE) / BTS_RECORD * BTS_RECORD;

	return (struct auxt_bts_plan) {
		.call = min(plan.call, call),
		.room = min(plan.room, size / BTS_RECORD * BTS_RECORD),
	};
}
NOKPROBE_SYMBOL(auxt_bts_plan_buffered);
