/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How far Branch Trace Store may go before it calls, and before it stops. Pure
 * arithmetic: also compiled in user space by the tests.
 */
#ifndef AUXT_BTS_PLAN_H
#define AUXT_BTS_PLAN_H

#include <linux/auxtrace.h>
#include "core/position.h"

#define BTS_RECORD	((u64)sizeof(struct auxtrace_branch))

/**
 * struct auxt_bts_plan - where it shall go, in bytes from where it is
 * @call: the interrupt, at a record's end
 * @room: what it may fill: whole records
 */
struct auxt_bts_plan {
	u64 call;
	u64 room;
};

u64 auxt_bts_margin(u64 size);
u64 auxt_bts_laps(u64 size, bool overwrite);
struct auxt_bts_plan auxt_bts_plan(const struct auxt_position *ring, u64 laps);
struct auxt_bts_plan auxt_bts_plan_buffered(struct auxt_bts_plan plan, u64 size, bool kernel);

#endif /* AUXT_BTS_PLAN_H */
