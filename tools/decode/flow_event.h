/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* How decoders emit the events of a flow to its view. Keeps struct flow's state, and the sums. */
#ifndef FLOW_EVENT_H
#define FLOW_EVENT_H

#include "flow.h"

/* From here on the run with index @run in f->runs runs; f->runs.count: it is not known which one. */
void flow_emit_run(struct flow *f, size_t run);

/* Begin a run unless one is open. @resumed: it continues where the last one ended. */
void flow_emit_enable(struct flow *f, uint64_t ip, bool resumed);
/* End the run if one is open. @known: control went to @ip. */
void flow_emit_disable(struct flow *f, uint64_t ip, bool known);
/* The first @count instructions of @block run. */
void flow_emit_block(const struct flow *f, const struct code_block *block, unsigned int count);
/* Code at @ip is not in the recording: count it, and end the run. */
void flow_emit_skip(struct flow *f, uint64_t ip);
/* What of that counts, with f->cr3 and f->in_probes. */
void flow_note_skip(struct flow *f, uint64_t ip);
/* End the run by an error. @offset: in the file, of what cannot be decoded. */
void flow_emit_error(struct flow *f, uint64_t offset, uint64_t ip, const char *message);

#endif
