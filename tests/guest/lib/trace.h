/* SPDX-License-Identifier: GPL-2.0-only */
/* Trace of either PMU: packets, judged by libipt's packet decoder, or branch records. */
#ifndef VM_TRACE_H
#define VM_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct walk {
	/* Input: PIP packets with this CR3 under this mask are counted. */
	uint64_t want_cr3, cr3_mask;
	/* Input: indirect branches (BTS: all branches) to this address are counted. */
	uint64_t want_ip;

	const char *error;	/* why hardware cannot have written this, or NULL */
	size_t end;		/* where the last whole packet or record ends, or the bad one begins */
	bool begins_window;	/* as a window does: with PSB; with a whole record */
	uint64_t count;		/* packets, records */
	uint64_t starts;	/* of these, where decoding can begin: PSBs, all records */
	uint64_t into_user, into_kernel; /* TIP.PGEs by IP; records that change the level */
	/*
	 * If only user code was traced: where it was entered first, and where it was left last
	 * (PT: that instruction; BTS: the target of the last branch before it); 0: not seen.
	 */
	uint64_t first_user, last_user;

	uint64_t ip_hits;
	size_t last_hit;	/* where the packet or record of the last of these begins */

	/* PT alone. */
	uint64_t overflows, cr3_hits;
	/* BTS alone: records that do not begin behind the target of the one before. */
	uint64_t breaks, last_to;
	uint64_t kernel_addresses;
};

/*
 * Walk @len bytes at @data: from the first byte or, if @sync, from the first place where
 * decoding can begin: the first PSB; BTS: so that the last record ends at @len.
 * Without an error and with @end == @len each byte belongs to a packet or record.
 */
void trace_walk(struct walk *w, const void *data, size_t len, bool sync);

/* Fails the running test unless the @len bytes are a complete window. */
void trace_check_window(struct walk *w, const void *data, size_t len, const char *what);

/* The same for [@begin, @end) of a channel's AUX area. */
struct channel;
struct walk channel_check_window(const struct channel *ch, uint64_t begin, uint64_t end,
				 const char *what);

/* The size of the whole records that fit in @bytes; of packets @bytes itself. */
uint64_t whole_trace(uint64_t bytes);

/* The least number of packets or records in @len bytes of the load (load.h). */
uint64_t trace_least(size_t len);

/* Can code that was left at @last continue at @first with no trace between? */
bool trace_goes_on(uint64_t last, uint64_t first);

/* trace_walk() for Intel PT (packets.c). */
void packets_walk(struct walk *w, const void *data, size_t len, bool sync);

#endif
