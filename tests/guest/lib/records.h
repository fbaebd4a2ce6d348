/* SPDX-License-Identifier: GPL-2.0-only */
/* Records of a data ring: reading them from any kind of ring, and judging their sequence. */
#ifndef VM_RECORDS_H
#define VM_RECORDS_H

#include "uapi.h"

union any_record {
	struct auxtrace_record_header header;
	struct auxtrace_record_lost lost;
	struct auxtrace_record_aux aux;
	struct auxtrace_record_itrace_start itrace;
	struct auxtrace_record_switch context_switch;
	struct auxtrace_record_window window;
	struct auxtrace_record_trigger trigger;
	struct auxtrace_record_sample sample;
};

struct records {
	unsigned int count;
	const union any_record **at;	/* oldest first */
	uint64_t begin, end;		/* positions: the oldest's first byte, after the newest */
	uint8_t *bytes;
};

/*
 * Copy [@begin, @end) of the ring's @slot and find the records in it, from the newest back. A
 * partial record at @begin is left out. records_free() the result.
 */
void records_read(struct records *r, const struct channel *ch, uint32_t slot, uint64_t begin,
		  uint64_t end);
/* All that a reader finds in the present slot of a channel at rest. */
void records_read_all(struct records *r, const struct channel *ch);
void records_free(struct records *r);
/* The newest record of @type, or NULL. */
const union any_record *records_newest(const struct records *r, uint32_t type);

/*
 * Checks that the records of one channel follow each other as the ABI says. To be fed all of
 * them in order, in any number of pieces; fails the test at a record that breaks a rule.
 */
struct follower {
	const struct channel *ch;
	uint64_t records, bytes;	/* seen */
	uint64_t windows, aux_bytes, itrace_starts;
	uint64_t lost;			/* by LOST records */
	uint64_t truncated, partial;	/* AUX records with that flag */
	uint64_t triggers, samples, switches;
	uint64_t begun_by[AUXTRACE_CAUSE_TASK + 1], ended_by[AUXTRACE_CAUSE_TASK + 1];
	struct auxtrace_record_window newest;

	uint64_t aux_next, tsc;
	uint32_t running;		/* the thread that the newest SWITCH named */
	bool running_known;		/* no record has been lost since, and no window ended */
	uint64_t missed_aux, missed_windows;	/* lost since then: so many may be missing */
	uint64_t unreported;		/* missing, and not yet reported by a LOST record */
};

void follower_init(struct follower *f, const struct channel *ch);
/* @resync: older records were overwritten, so @r may begin anywhere. */
void follow(struct follower *f, const struct records *r, bool resync);
/*
 * Take all records of a ring that is not overwritable, and move the tail; the number of
 * records.
 */
unsigned int follow_and_take(struct follower *f);
/* At rest, with all records fed: fails the test unless the status page agrees with them. */
void follower_agrees(const struct follower *f);

#endif
