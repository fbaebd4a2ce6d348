// SPDX-License-Identifier: GPL-2.0-only
/* How far Branch Trace Store may write. */

#include <linux/kernel.h>
#include <linux/kprobes.h>
#include <linux/minmax.h>
#include "hw/bts_plan.h"

/*
 * An NMI handler that is running delays our interrupt. This is the space for the records of the
 * branches that it takes meanwhile. Most handlers take some hundred branches, a handler that prints
 * takes many more.
 */
#define BTS_SLACK	(256ull << 10)

/*
 * Overwrite mode: least distance between interrupts, which is several laps of a small area.
 * With less, the branches of one interrupt could raise the next.
 */
#define BTS_MIN_INTERVAL	(64ull << 10)

/**
 * auxt_bts_margin() - space to keep behind the last interrupt in full trace
 * @size: bytes of the area
 *
 * Return: bytes, for auxt_position.margin: BTS_SLACK, or less in a small area.
 */
u64 auxt_bts_margin(u64 size)
{
	return clamp(size / 4, AUXT_PAGE_SIZE, BTS_SLACK);
}
NOKPROBE_SYMBOL(auxt_bts_margin);

/**
 * auxt_bts_laps() - how often to map an area (or slot) in a row
 * @size: bytes of it
 * @overwrite: overwrite mode
 *
 * The hardware runs from the end of one copy into the next. In full trace it passes one end
 * at most. In overwrite mode it goes on until the interrupt is taken.
 *
 * Return: number of copies.
 */
u64 auxt_bts_laps(u64 size, bool overwrite)
{
	return overwrite ? 2 + (BTS_MIN_INTERVAL + BTS_SLACK + size - 1) / size : 2;
}
NOKPROBE_SYMBOL(auxt_bts_laps);

/**
 * auxt_bts_plan() - how far BTS may write in the mapped area
 * @aux: positions after auxt_position_plan(), in an area that is not full
 * @laps: auxt_bts_laps()
 *
 * Return: the plan.
 */
struct auxt_bts_plan auxt_bts_plan(const struct auxt_position *aux, u64 laps)
{
	u64 threshold = aux->int_mark - aux->produced;
	u64 space = aux->stop_mark - aux->produced;

	if (aux->overwrite) {
		space = laps * aux->size - aux->produced % aux->size;
		threshold = aux->size - aux->produced % aux->size;
		if (threshold < BTS_MIN_INTERVAL)
			threshold += (BTS_MIN_INTERVAL - threshold + aux->size - 1) &
				     ~(aux->size - 1);
		/* Only the interrupt of the deadline itself may come sooner. */
		if (aux->deadline > aux->produced)
			threshold = min(threshold, auxt_page_up(aux->deadline) - aux->produced);
	}
	return (struct auxt_bts_plan) {
		.threshold = roundup(threshold, BTS_RECORD),
		.space = space - space % BTS_RECORD,
	};
}
NOKPROBE_SYMBOL(auxt_bts_plan);

/**
 * auxt_bts_plan_buffered() - how far BTS may write in the buffer
 * @plan: the plan for the area to which the buffer is copied
 * @size: bytes of the buffer
 * @kernel: the kernel is traced: the branches of an NMI handler that delays the interrupt
 *	need space, too
 *
 * Return: the plan.
 */
struct auxt_bts_plan auxt_bts_plan_buffered(struct auxt_bts_plan plan, u64 size, bool kernel)
{
	u64 threshold = (kernel ? size / 4 : size - AUXT_PAGE_SIZE) / BTS_RECORD * BTS_RECORD;

	return (struct auxt_bts_plan) {
		.threshold = min(plan.threshold, threshold),
		.space = min(plan.space, size / BTS_RECORD * BTS_RECORD),
	};
}
NOKPROBE_SYMBOL(auxt_bts_plan_buffered);
