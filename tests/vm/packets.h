/* SPDX-License-Identifier: GPL-2.0 */
/* Trace as packets, judged by libipt's packet decoder. */
#ifndef VM_PACKETS_H
#define VM_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct packets {
	/* To look for: PIP packets with this CR3 under this mask. */
	uint64_t want_cr3, cr3_mask;

	int error;		/* libipt's, or 0 */
	size_t end;		/* where the last whole packet ended, or the bad one begins */
	bool begins_with_psb;
	uint64_t first_enable;	/* IP of the first TIP.PGE; 0: none */
	uint64_t last_fup;	/* of the last FUP that is not PSB+'s */
	uint64_t count, psbs, overflows, enables_user, enables_kernel, cr3_hits;
};

/*
 * Walk @len bytes at @data. From the first byte, or, if @sync, from the first
 * PSB. Without an error and with @end at @len each byte belongs to a packet.
 */
void packets_walk(struct packets *p, const void *data, size_t len, bool sync);

/* Fails the running test unless @len bytes are whole packets that begin with PSB. */
void packets_check_window(struct packets *p, const void *data, size_t len, const char *what);

#endif
