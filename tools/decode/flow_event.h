/* SPDX-License-Identifier: GPL-2.0 */
/* What a decoder says to a flow's view, with the state and the sums that go with it. */
#ifndef FLOW_EVENT_H
#define FLOW_EVENT_H

#include "flow.h"

/* Unless a stretch is open already. @resumed: it goes on where the last one ended. */
void flow_emit_enable(struct flow *f, uint64_t ip, bool resumed);
/* If one is open. @known: control went to @ip. */
void flow_emit_disable(struct flow *f, uint64_t ip, bool known);
/* User code at @ip is not in the recording. */
void flow_emit_skip(struct flow *f, uint64_t ip);
/* @offset: in the file, of what cannot be decoded. */
void flow_emit_error(struct flow *f, uint64_t offset, uint64_t ip, const char *message);

#endif
