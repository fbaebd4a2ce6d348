/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What holds of each session at any time, as <linux/auxtrace.h> says it of the members of its structs. The programs of tests/guest, which
 * do without the library, use it as well.
 */
#ifndef SELFTEST_INVARIANTS_H
#define SELFTEST_INVARIANTS_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/auxtrace.h>

/*
 * The first condition that the status page @page of a session with @setup breaks, as C; NULL: it breaks none. @late: its interrupts may
 * come when the hardware has no more space, as those of BTS and of tables of one entry. No record is being written.
 */
const char *invariants_of_page(const struct auxtrace_setup *setup, const struct auxtrace_status_page *page, bool late);
/* The same of what a trigger has counted */
const char *invariants_of_trigger(const struct auxtrace_trigger_state *state);
/* The same of a STATUS, and the sums of the @n status pages of its session, whose hardware is off */
const char *invariants_of_status(const struct auxtrace_status *status, const struct auxtrace_status_page *pages, unsigned int n);

/* Bytes that a reader finds in the area, or in the slot */
uint64_t invariants_unread(const struct auxtrace_setup *setup, const struct auxtrace_status_page *page);

#endif
