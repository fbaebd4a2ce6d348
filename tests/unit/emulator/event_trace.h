/* SPDX-License-Identifier: GPL-2.0-only */
/* The packets of event trace in a stream: libipt before 2.1 does not know them. */
#ifndef EVENT_TRACE_H
#define EVENT_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event_packet {
	enum { EVENT_CFE, EVENT_EVD, EVENT_IFLAG } what;
	uint8_t type;		/* of CFE and EVD */
	bool ip;		/* CFE: a FUP of its own follows */
	uint64_t value;		/* CFE: the vector; EVD: its payload; IFLAG: RFLAGS.IF, which has changed */
};

struct event_packets {
	struct event_packet *at;
	size_t n, room;
	int iflag;		/* the last one; -1: none was told */
};

void event_packets_init(struct event_packets *list);
void event_packets_add(struct event_packets *list, const struct event_packet *packet);
/* Adds an IFLAG unless the last one says the same. */
void event_packets_iflag(struct event_packets *list, bool iflag);
void event_packets_free(struct event_packets *list);

/*
 * Adds the packets in @len bytes at @stream, which begin with a PSB, and writes PADs in place of them. What
 * has a FUP of its own, a CFE or a MODE.Exec, becomes an EXSTOP: libipt reports that with the FUP's address.
 */
void event_packets_take(struct event_packets *list, uint8_t *stream, size_t len);

#endif
