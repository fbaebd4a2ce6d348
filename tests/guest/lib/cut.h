/* SPDX-License-Identifier: GPL-2.0-only */
/* Sessions for tests of SNAPSHOT, and checks of a cut. */
#ifndef VM_CUT_H
#define VM_CUT_H

#include "trace.h"
#include "uapi.h"

#define OVER		AUXTRACE_SETUP_OVERWRITE
#define NEWEST		AUXTRACE_SETUP_DATA_OVERWRITE
#define BACKWARD	AUXTRACE_SETUP_DATA_BACKWARD
#define PAUSE		AUXTRACE_SNAPSHOT_PAUSE
#define SLOT		AUXTRACE_SNAPSHOT_SLOT
#define SLOTS		4
#define AUX_SLOT	(4 * 4096)
#define AUX_SIZE	(SLOTS * AUX_SLOT)
#define DATA_SLOT	(4 * 4096)
#define DATA_SIZE	(SLOTS * DATA_SLOT)
/* Of a ring that is not overwritable and is read only at the end: holds seconds of a load. */
#define UNREAD_SIZE	(64 * DATA_SIZE)

struct mode {
	uint32_t aux, data;
	uint64_t data_size;
	unsigned int slots;
};

/* User code of @cpus; areas of AUX_SIZE. */
void cut_session(struct session *s, uint64_t cpus, const struct mode *m, uint32_t flags);

/*
 * Fails the test unless a cut's trace is whole packets up to its end: from its begin, where a
 * window begins, or from its first PSB.
 */
struct walk cut_walk(const struct channel *ch, const struct auxtrace_cut *cut, bool from_begin);

/* An entry for a list of tests. */
#define in_mode(f, ...) \
	{ #f " (" #__VA_ARGS__ ")", f, NULL, at_teardown, &(struct mode){ __VA_ARGS__ } }

#endif
