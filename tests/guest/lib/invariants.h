/* SPDX-License-Identifier: GPL-2.0-only */
/* Invariants of every session, whatever was done to it. */
#ifndef VM_INVARIANTS_H
#define VM_INVARIANTS_H

#include "uapi.h"

/*
 * For each channel: the byte counts of its AUX area and its data ring add up, so do its gaps,
 * and no more requests are done than were asked. Prints the first broken invariant of
 * each and returns their number. For any thread, and teardown.
 */
unsigned int invariants_broken(const struct session *s);

/*
 * For teardown: the same, and the hardware of a CPU is on exactly if a status page says so.
 * Then each session that can be started gets a PAUSE, a RESUME and a STOP, and the hardware
 * must follow each.
 */
unsigned int invariants_at_end(const struct session *sessions, unsigned int count);

/* Bytes that a reader finds in the area or slot; fails the test if an invariant is broken. */
uint64_t channel_available(const struct channel *ch);

/*
 * Fails the test if invariants_broken(), or if STATUS does not report the sums of the status
 * pages: for hardware at rest.
 */
void check_accounting(struct session *s);

#endif
