/* SPDX-License-Identifier: GPL-2.0 */
/* Trace of either PMU: packets (libipt's packet decoder judges them) or branch records. */
#ifndef VM_TRACE_H
#define VM_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct walk {
	/* To look for: PIP packets with this CR3 under this mask. */
	uint64_t want_cr3, cr3_mask;

	const char *error;	/* why it cannot be what hardware wrote, or NULL */
	size_t end;		/* where the last whole packet or record ended, or the bad one begins */
	bool begins_window;	/* as a window does: with PSB; with a whole record */
	uint64_t count;		/* packets, records */
	uint64_t starts;	/* of these, where one can begin to read: PSBs, all records */
	uint64_t into_user, into_kernel; /* TIP.PGEs by IP; records that change the level */
	/*
	 * User code alone was traced. Where it went on first, and where it was left last (PT:
	 * the instruction itself; BTS: one from which no branch leads to it); 0: not seen.
	 */
	uint64_t first_user, last_user;

	/* PT alone. */
	uint64_t overflows, cr3_hits;
	/* BTS alone: records that do not go on where the one before went. */
	uint64_t breaks, last_to;
	uint64_t kernel_addresses;
};

/*
 * Walk @len bytes at @data. From the first byte, or, if @sync, from where one can begin:
 * from the first PSB; BTS: so that the last record ends at @len.
 * Without an error and with @end at @len each byte belongs to a packet or record.
 */
void trace_walk(struct walk *w, const void *data, size_t len, bool sync);

/* Fails the running test unless @len bytes are whole as a window is. */
void trace_check_window(struct walk *w, const void *data, size_t len, const char *what);

/* As many of @bytes as can be whole: of records those that fit, of packets each byte. */
uint64_t whole_trace(uint64_t bytes);

/* The least number of packets or records in @len bytes of the load (load.h). */
uint64_t trace_least(size_t len);

/* May code that was left at @last go on at @first with nothing traced between? */
bool trace_goes_on(uint64_t last, uint64_t first);

/* trace_walk() of Intel PT's (packets.c). */
void packets_walk(struct walk *w, const void *data, size_t len, bool sync);

#endif
