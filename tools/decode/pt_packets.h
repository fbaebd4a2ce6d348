/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * What Intel PT packets say without the code: where windows begin, and where control
 * returns from code that is not in the recording.
 */
#ifndef PT_PACKETS_H
#define PT_PACKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <intel-pt.h>

#include "lib/meta.h"

struct records;

struct window {
	uint64_t seq;		/* as the kernel counts; 0: not known */
	uint64_t begin;		/* offset of its first PSB in the file */
	size_t enables;		/* TIP.PGE packets before it */
};

struct windows {
	struct window *window;
	size_t count;
	bool exact;		/* the numbers of all are known */
	uint64_t *enable;	/* offsets of all TIP.PGE packets */
	size_t nr_enables;
};

/*
 * A window begins with a PSB while packets are disabled. The first PSB of the trace begins a
 * window, or what is left of one. In a trace of some code only (@all_code is false), as of user code,
 * a PSB while other code runs looks the same; WINDOW records tell which PSBs begin windows. Without
 * them @exact is false, and only windows whose begin the recording contains have a number.
 */
void windows_find(struct windows *w, const struct pt_config *config, const struct meta_cpu *cpu,
		  const struct records *records, bool all_code);
/* TIP.PGE packets before @offset. */
size_t windows_enables(const struct windows *w, uint64_t offset);
void windows_free(struct windows *w);

struct return_point {
	uint64_t offset;	/* behind the packet by which control returns */
	uint64_t ip;		/* to this address */
	uint64_t cr3;		/* of the address space, by the newest PIP */
	uint64_t tsc;		/* of the newest TSC packet before it; 0: none */
	bool overflow;		/* an OVF came first, so there is no return point */
};

/* Go to the address that @ip says. Returns false if it has none. */
bool packets_update_ip(uint64_t *last, const struct pt_packet_ip *ip);

#define PSB_SIZE	16

/* Is there a PSB at @at, which has @left bytes? */
bool packets_is_psb(const uint8_t *at, size_t left);
/* The last PSB that begins before @offset, or a negative libipt error. */
int64_t packets_last_psb(const struct pt_config *config, uint64_t offset);
/* The first PSB that begins at @offset or behind it, and that no other one follows at once; or -pte_eos. */
int64_t packets_next_psb(const struct pt_config *config, uint64_t offset);
/*
 * Returns where to search for a PSB after libipt failed at @offset; @psb is the last one that it read. The end of a full
 * area may cut a packet, and libipt takes the begin of the PSB that follows for the rest of that packet.
 */
uint64_t packets_resync(uint64_t offset, uint64_t psb);

/*
 * A decoder at @offset cannot read the user code that runs there. Find where that code ends:
 * at the next entry to the kernel, or where packets are enabled again after they were
 * disabled. Returns false if the trace ends before.
 */
bool packets_find_return(const struct pt_config *config, uint64_t offset, uint64_t cr3,
			 struct return_point *point);

/*
 * Overwrite packets before @point with a PSB+ that has the state of @point, so that a decoder
 * can synchronize there. Returns the PSB's offset, -pte_nomem if there is no space before
 * @point, or another libipt error.
 */
int64_t packets_write_psb(const struct pt_config *config, const struct return_point *point);

#endif
