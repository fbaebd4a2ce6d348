/* SPDX-License-Identifier: GPL-2.0 */
/* The flow of one CPU from Intel PT packets, by libipt's instruction decoder. */
#ifndef PT_FLOW_H
#define PT_FLOW_H

#include "flow.h"

/* As struct source says. */
void pt_begin(struct flow *f);
bool pt_step(struct flow *f);
void pt_end(struct flow *f);

#endif
