/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The flow of one CPU from its BTS records.
 *
 * A record is a taken branch. From its target to the source of the next branch control
 * runs straight code: decoding the instructions from the one must arrive exactly at the other.
 */
#ifndef BTS_FLOW_H
#define BTS_FLOW_H

#include "flow.h"

/* As struct source says. */
void bts_begin(struct flow *f);
bool bts_step(struct flow *f);
void bts_end(struct flow *f);

#endif
