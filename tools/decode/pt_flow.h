/* SPDX-License-Identifier: GPL-2.0 */
/* The flow of one CPU from Intel PT packets, by libipt's instruction decoder. */
#ifndef PT_FLOW_H
#define PT_FLOW_H

#include "flow.h"

/* Decode @cpu's file of @dir; only window number @window unless that is 0. */
void pt_decode(struct flow *f, const char *dir, const struct meta_cpu *cpu, uint64_t window);
/* Decode the samples of @cpu instead, each on its own. */
void pt_decode_samples(struct flow *f, const char *dir, const struct meta_cpu *cpu);

#endif
