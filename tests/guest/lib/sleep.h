/* SPDX-License-Identifier: GPL-2.0-only */
/* What a session of all CPUs is like after the machine has slept or hibernated. */
#ifndef VM_SLEEP_H
#define VM_SLEEP_H

#include "uapi.h"

/* Each CPU has had one gap, and traces; but @paused, that the user had paused before. -1: none. */
void slept_once(const struct session *s, int paused);

/*
 * Each CPU traces, until trigger @id, an armed kprobe of CALL_FUNCTION, pauses it at one call. What came since the CPU's
 * window began is a whole window, unless it was overwritten in part.
 */
void traces_until_trigger(const struct session *s, uint32_t id);

#endif
