/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How far Branch Trace Store may write before it raises an interrupt, and before it drops
 * records. Pure arithmetic: the tests compile it in user space.
 */
#ifndef AUXT_BTS_PLAN_H
#define AUXT_BTS_PLAN_H

#include <linux/auxtrace.h>
#include "core/position.h"

#define BTS_RECORD	((u64)sizeof(struct auxtrace_branch))

/**
 * struct auxt_bts_plan - bytes from the hardware's position on
 * @threshold: up to the interrupt, which comes at the end of a record
 * @space: up to where it may write: whole records
 */
struct auxt_bts_plan {
	u64 threshold;
	u64 space;
};

u64 auxt_bts_margin(u64 size);
u64 auxt_bts_laps(u64 size, bool overwrite);
struct auxt_bts_plan auxt_bts_plan(const struct auxt_position *aux, u64 laps);
struct auxt_bts_plan auxt_bts_plan_buffered(struct auxt_bts_plan plan, u64 size, bool kernel);

#endif /* AUXT_BTS_PLAN_H */
