/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Where the sample_id is at the end of a record of perf. */
#ifndef PERF_TRAILER_H
#define PERF_TRAILER_H

#include <linux/perf_event.h>
#include <stddef.h>

/*
 * The offset of the sample_id, of @size bytes, in the record @header, which is at least that long.
 *
 * It ends the record. But if several events of a CPU get the same KSYMBOL, BPF_EVENT or TEXT_POKE, the kernel writes
 * too large a size for all but the first, and there are bytes without a meaning behind the sample_id (Linux's
 * kernel/events/core.c, perf_event_ksymbol_output() and its like). Also if the other event is somebody else's.
 */
size_t perf_trailer_at(const struct perf_event_header *header, size_t size);

#endif
