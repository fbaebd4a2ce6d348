/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Positions in the AUX area of one channel: monotonic byte counts that say how
 * far the hardware has written and the reader has read, and where the hardware
 * must stop or call. Pure arithmetic: also compiled in user space by the tests.
 */
#ifndef AUXT_POSITION_H
#define AUXT_POSITION_H

#include <linux/types.h>

/* The hardware stops and calls at the end of a region only: of one page here. */
#define AUXT_REGION_SHIFT	12
#define AUXT_REGION_SIZE	(1ull << AUXT_REGION_SHIFT)

/**
 * struct auxt_ring - the positions of one AUX area
 * @size: bytes, a power of two
 * @cycle: bytes after which the hardware's own pointer comes round again, a
 *	multiple of @size. It covers the area several times in overwrite mode, so
 *	that laps can be told apart even if an interrupt comes late
 * @watermark: full trace: readable bytes that wake the reader
 * @overwrite: newest data wins; else full trace
 * @produced: position up to which the hardware has written
 * @consumed: full trace: newest valid tail
 * @limit: full trace: the hardware stops here, a page boundary
 * @call: position at which the hardware's next interrupt is due, a page boundary
 * @bad_tails: tails refused
 * @last_bad: the newest of them, counted once while the reader leaves it there
 */
struct auxt_ring {
	u64 size;
	u64 cycle;
	u64 watermark;
	bool overwrite;
	u64 produced;
	u64 consumed;
	u64 limit;
	u64 call;
	u64 bad_tails;
	u64 last_bad;
};

void auxt_ring_init(struct auxt_ring *ring, u64 size, u64 cycle, u64 watermark,
		    bool overwrite);
u64 auxt_ring_position(const struct auxt_ring *ring, u64 offset);
bool auxt_ring_is_news(const struct auxt_ring *ring, u64 tail);
bool auxt_ring_take_tail(struct auxt_ring *ring, u64 tail);
void auxt_ring_plan(struct auxt_ring *ring);
bool auxt_ring_full(const struct auxt_ring *ring);
u64 auxt_ring_available(const struct auxt_ring *ring);
u64 auxt_ring_overwritten(const struct auxt_ring *ring);

#endif /* AUXT_POSITION_H */
