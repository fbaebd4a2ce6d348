/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Event trace: CFE and EVD packets, and the interrupt flag in MODE.Exec (SDM volume 3, "Event Trace").
 *
 * libipt before 2.1 does not know these packets, and takes the FUP behind one for that of an interrupt. So they are
 * taken out of a private copy of the trace before libipt reads it, and are told to the view by this list. That is the
 * same with any libipt.
 */
#ifndef PT_EVENTS_H
#define PT_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <intel-pt.h>

#include "flow.h"

struct pt_traced_event {
	uint64_t offset;	/* of the packet that it is bound to: the flow has passed that when it happens */
	bool exstop;		/* libipt tells of an EXSTOP there */
	bool real;		/* which the CPU wrote: @event has nothing but the address */
	struct cpu_event event;
};

struct pt_events {
	struct pt_traced_event *event;	/* in the order of @offset */
	size_t count;
};

/*
 * Find them, and write over their packets: PADs, but an EXSTOP where the event has a FUP of its own, which without that
 * would be taken for an interrupt's, and cannot be left out, because later addresses are compressed against it.
 */
void pt_events_find(struct pt_events *events, const struct pt_config *config);
void pt_events_free(struct pt_events *events);

/* The first event that is bound to a packet at @offset or behind it. */
size_t pt_events_first(const struct pt_events *events, uint64_t offset);

#endif
