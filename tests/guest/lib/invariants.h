/* SPDX-License-Identifier: GPL-2.0 */
/* What holds of every session at every moment, whatever was done to it. */
#ifndef VM_INVARIANTS_H
#define VM_INVARIANTS_H

#include "uapi.h"

/*
 * Of each channel: the accounts of its AUX area and of its data ring, the sum of
 * its gaps, done is no more than asked. Prints what is broken and returns its
 * number. Any thread, and teardown.
 */
unsigned int invariants_broken(const struct session *s);

/*
 * Teardown's: the same, and the hardware of each CPU is on exactly if a status page
 * says so; after a PAUSE, a RESUME and a STOP of each session that can be started also
 * as was asked last.
 */
unsigned int invariants_at_end(const struct session *sessions, unsigned int count);

/* Bytes that a reader finds in the area or slot; fails the test unless all holds. */
uint64_t channel_available(const struct channel *ch);

/*
 * Fails the test unless all of the first holds and STATUS says the pages' sums: for
 * hardware at rest.
 */
void check_accounting(struct session *s);

#endif
