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

/* Decode @cpu's file of @dir; only window number @window unless that is 0. */
void bts_decode(struct flow *f, const char *dir, const struct meta_cpu *cpu, uint64_t window);
/* Decode the samples of @cpu instead, each on its own. */
void bts_decode_samples(struct flow *f, const char *dir, const struct meta_cpu *cpu);

#endif
