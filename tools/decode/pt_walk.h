/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The code that ran, by a trace of Intel PT: libipt reads the packets, and this walks over the code from packet
 * to packet, block by block (code_blocks.h). It goes on from one event to the next as libipt's decoder of
 * instructions does, which would read each instruction each time.
 */
#ifndef PT_WALK_H
#define PT_WALK_H

#include <intel-pt.h>

#include "code_blocks.h"

struct pt_walk;

/*
 * What ran: @before instructions of whole blocks, and behind them the first @count instructions of another one.
 * @before > 0 implies that @count is all of @block's instructions.
 */
struct walked {
	const struct code_block *block;
	unsigned int before, count;
	uint64_t ip;		/* of the first, or of what could not be read. Unchanged where packets are disabled */
	enum code_result why;	/* for -pte_nomap */
};

/* @config and @blocks must outlive it. NULL: out of memory. */
struct pt_walk *pt_walk_open(const struct pt_config *config, struct code_blocks *blocks);
void pt_walk_close(struct pt_walk *w);

/*
 * These return libipt's status flags: pts_event_pending, pts_eos and pts_ip_suppressed; or a negative libipt error.
 * While an event is pending, pt_walk_event() comes next.
 */
int pt_walk_sync(struct pt_walk *w, uint64_t offset);
int pt_walk_event(struct pt_walk *w, struct pt_event *event);
/* How far one call of pt_walk_next() goes. */
enum walk_reach {
	WALK_BLOCK,		/* one block */
	WALK_FUNCTION,		/* up to the first block whose last instruction branches otherwise than by a condition */
	WALK_ALL,		/* as far as the two limits below let */
};
/*
 * On an error @walked has the instructions before it. @tsc: of the code that runs now. Several blocks are walked over
 * only at one time and up to an event, and no other one follows when there are @limit instructions.
 */
int pt_walk_next(struct pt_walk *w, uint64_t tsc, enum walk_reach reach, unsigned int limit, struct walked *walked);

/*
 * The offset up to which packets have happened to the flow: libipt reads ahead from one branch or event to the next,
 * and from 2.1 on one more.
 */
uint64_t pt_walk_happened(const struct pt_walk *w);
/* Of packets before this offset, libipt tells of no event any more. */
uint64_t pt_walk_passed(const struct pt_walk *w);

/* As pt_qry_get_offset() and pt_qry_time(). */
int pt_walk_offset(const struct pt_walk *w, uint64_t *offset);
int pt_walk_time(const struct pt_walk *w, uint64_t *tsc);
/* CODE_NO_CR3: not known. */
uint64_t pt_walk_cr3(const struct pt_walk *w);

#endif
