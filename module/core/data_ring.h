/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The data ring of one channel: records that the module writes and a reader
 * finds whole. No hardware: also compiled in user space by the tests.
 */
#ifndef AUXT_DATA_RING_H
#define AUXT_DATA_RING_H

#include <linux/atomic.h>
#include <linux/auxtrace.h>
#include <linux/compiler.h>
#include <linux/kernel.h>
#include <linux/types.h>
#include <asm/barrier.h>

/**
 * struct auxt_data_ring - how to write to a data ring
 * @page: the counters, for users to read. Nobody but us can write to it, so it is
 *	relied on: there is no second copy. See struct auxtrace_status_page
 * @user: the reader's tail, not to be relied on
 * @base: the ring, each slot mapped twice in a row: a record that wraps in the
 *	slot is in one piece here
 * @size: bytes of a slot, a power of two
 * @mask: @size - 1
 * @shift: its logarithm
 * @backward: the newest record is the first
 * @overwrite: newest records win
 * @watermark: not overwritable: readable bytes that wake the reader
 * @keep: bytes from this position on must not be touched: the reader's, or, as he has
 *	none in an overwritable ring, those of the writers that we have interrupted
 * @nest: writers that are under way: each has interrupted the one before
 * @pending: records dropped that no LOST record tells of yet
 * @last_tail: what the reader's tail was when it was last taken or found bad
 * @refused: records dropped for want of room
 * @forgiven: those of them that were dropped before the tail moved
 * @overwritten: what earlier slots have lost
 */
struct auxt_data_ring {
	struct auxtrace_status_page *page;
	const struct auxtrace_user_page *user;
	char *base;
	u64 size;
	u64 mask;
	unsigned int shift;
	bool backward;
	bool overwrite;
	u64 watermark;
	const u64 *keep;
	unsigned int nest;
	u64 pending;
	u64 last_tail;
	u64 refused;
	u64 forgiven;
	u64 overwritten;
};

void auxt_data_init(struct auxt_data_ring *ring, const struct auxtrace_setup *setup, void *base,
		    struct auxtrace_status_page *page, const struct auxtrace_user_page *user);

/* On the channel's CPU, or in its place: task with interrupts off, interrupt, NMI. */
u64 auxt_data_reserve_slow(struct auxt_data_ring *ring, u32 size, u64 tsc, u32 tid);

/* auxtrace_status_page.data_paused */
#define AUXTRACE_DATA_PAUSED	(1u << 0)
#define AUXTRACE_DATA_FROZEN	(1u << 1)
void auxt_data_pause(struct auxt_data_ring *ring, u32 reason, bool pause);
void auxt_data_report_lost(struct auxt_data_ring *ring, u64 tsc, u32 tid);

/* As above, but not in an NMI. */
void auxt_data_oldest(const struct auxt_data_ring *ring, u64 *begin, u64 *end);
void auxt_data_switch(struct auxt_data_ring *ring, u32 slot, u64 *begin, u64 *end);

/* From any CPU: may be out of date at once. */
bool auxt_data_has_new_tail(const struct auxt_data_ring *ring);

/**
 * auxt_data_is_readable() - is it worth a reader's while?
 * @ring: the ring
 * @stopped: the session is stopped
 *
 * From any CPU: may be out of date at once.
 *
 * Return: as the ABI says at poll.
 */
static __always_inline bool auxt_data_is_readable(const struct auxt_data_ring *ring, bool stopped)
{
	u64 available;

	if (ring->overwrite)
		return false;
	available = READ_ONCE(ring->page->data_head) - READ_ONCE(ring->page->data_consumed);
	return available >= ring->watermark ||
	       (available && (stopped || READ_ONCE(ring->refused) != READ_ONCE(ring->forgiven)));
}

/* Slots into which the data ring of a session is divided. */
static inline u32 auxt_data_slots(const struct auxtrace_setup *setup)
{
	return setup->flags & AUXTRACE_SETUP_DATA_OVERWRITE && setup->slots ? setup->slots : 1;
}

/*
 * Writing a record, inline because it is a short way that each record goes. How
 * writers nest and what readers rely on stands at the head of data_ring.c.
 */
#define AUXT_DATA_SLOT_SHIFT	56

/* In one instruction: an NMI comes before or after it. */
static __always_inline void auxt_data_add(u64 *counter, u64 n)
{
	asm volatile("addq %1, %0" : "+m" (*counter) : "er" (n));
}

/* The record of @size bytes that ends where @word, a value of data_reserved, says. */
static __always_inline void *auxt_data_record_at(const struct auxt_data_ring *ring, u64 word,
						 u32 size)
{
	u64 first = ring->backward ? -word : word - size;

	return ring->base + (word >> AUXT_DATA_SLOT_SHIFT << ring->shift << 1) +
	       (first & ring->mask);
}

static __always_inline void auxt_data_stamp(void *record, u32 type, u32 size, u64 tsc, u32 tid)
{
	struct auxtrace_record_header *header = record;
	struct auxtrace_record_end *end = record + size - sizeof(*end);

	*header = (struct auxtrace_record_header) { .type = type, .size = size };
	*end = (struct auxtrace_record_end) { .tsc = tsc, .tid = tid, .size = size };
}

static __always_inline void auxt_data_get(struct auxt_data_ring *ring)
{
	WRITE_ONCE(ring->nest, READ_ONCE(ring->nest) + 1);
	barrier();
}

static __always_inline void auxt_data_publish(struct auxt_data_ring *ring, u64 head)
{
	struct auxtrace_status_page *page = ring->page;
	u64 used;

	smp_store_release(&page->data_head, head);
	if (!ring->overwrite)
		return;
	used = head - page->data_slot_begin;
	if (used > ring->size)
		WRITE_ONCE(page->data_overwritten, ring->overwritten + used - ring->size);
}

/**
 * auxt_data_end() - the record is whole
 * @ring: where auxt_data_begin() has given one
 */
static __always_inline void auxt_data_end(struct auxt_data_ring *ring)
{
	unsigned int others = READ_ONCE(ring->nest) - 1;
	u64 word;

	barrier();
	if (others) {
		WRITE_ONCE(ring->nest, others);
		return;
	}
	for (;;) {
		word = READ_ONCE(ring->page->data_reserved);
		auxt_data_publish(ring, AUXTRACE_DATA_POSITION(word));
		barrier();
		WRITE_ONCE(ring->nest, 0);
		barrier();
		if (likely(word == READ_ONCE(ring->page->data_reserved)))
			return;
		WRITE_ONCE(ring->nest, 1);
		barrier();
	}
}

/* @word: data_reserved as it is at the end of what was reserved. False: no room. */
static __always_inline bool auxt_data_reserve(struct auxt_data_ring *ring, u32 size, u64 *word)
{
	u64 *reserved = &ring->page->data_reserved;
	u64 from, found = READ_ONCE(*reserved);

	do {
		from = found;
		if (unlikely(AUXTRACE_DATA_POSITION(from) + size - READ_ONCE(*ring->keep) >
			     ring->size))
			return false;
		found = cmpxchg_local(reserved, from, from + size);
	} while (unlikely(found != from));
	*word = from + size;
	return true;
}

/**
 * auxt_data_begin() - room for a record
 * @ring: the ring
 * @type: AUXTRACE_RECORD_*
 * @size: bytes, with header and end, which are filled in; a multiple of 8, less than
 *	64 KiB and not more than a slot. What is between them is the caller's to fill in, all of it
 * @tsc: time-stamp counter
 * @tid: thread that the CPU runs
 *
 * Return: the record, to be followed by auxt_data_end(); or NULL if it was dropped,
 * which is counted.
 */
static __always_inline void *auxt_data_begin(struct auxt_data_ring *ring, u32 type, u32 size,
					     u64 tsc, u32 tid)
{
	void *record;
	u64 word;

	auxt_data_get(ring);
	if (unlikely(READ_ONCE(ring->pending) || READ_ONCE(ring->page->data_paused) ||
		     !auxt_data_reserve(ring, size, &word))) {
		word = auxt_data_reserve_slow(ring, size, tsc, tid);
		if (!word) {
			auxt_data_end(ring);
			return NULL;
		}
	}
	record = auxt_data_record_at(ring, word, size);
	auxt_data_stamp(record, type, size, tsc, tid);
	auxt_data_add(&ring->page->data_records, 1);
	return record;
}

#endif /* AUXT_DATA_RING_H */
