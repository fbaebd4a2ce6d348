/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The data ring of one channel: the module writes records, and readers see complete records only.
 * No hardware: the tests also compile it in user space.
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
 * @page: the status page with the counters, which users read. Only the module can write to it,
 *	so its values are trusted and there is no second copy. See struct auxtrace_status_page
 * @user: the user page with the reader's tail, which is not trusted
 * @base: the ring, each slot mapped twice in a row, so that a record that wraps in its slot is
 *	contiguous here
 * @size: bytes of a slot, a power of two
 * @mask: @size - 1
 * @shift: log2 of @size
 * @backward: records grow downwards: the newest has the lowest address
 * @overwrite: overwritable: the newest records replace the oldest
 * @watermark: not overwritable: readable bytes at which the reader is woken
 * @keep: bytes from this position on must not be overwritten: bytes that the reader has not
 *	read, or, in an overwritable ring, those of the writers that this one has interrupted
 * @nest: number of active writers; each has interrupted the one before
 * @pending: dropped records that no LOST record has reported
 * @last_tail: the reader's tail when it was last taken or found bad
 * @refused: records dropped for lack of space
 * @refused_before_tail: value of @refused when the tail last advanced
 * @overwritten: bytes that were overwritten in earlier slots
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
	u64 refused_before_tail;
	u64 overwritten;
};

void auxt_data_init(struct auxt_data_ring *ring, const struct auxtrace_setup *setup, void *base,
		    struct auxtrace_status_page *page, const struct auxtrace_user_page *user);

/*
 * On the channel's CPU: task with interrupts off, interrupt or NMI; or in its place, see
 * channel.c.
 */
u64 auxt_data_reserve_slow(struct auxt_data_ring *ring, u32 size, u64 tsc, u32 tid);

/* Reasons in auxtrace_status_page.data_paused. */
#define AUXTRACE_DATA_PAUSED	(1u << 0)
#define AUXTRACE_DATA_FROZEN	(1u << 1)
void auxt_data_pause(struct auxt_data_ring *ring, u32 reason, bool pause);
void auxt_data_report_lost(struct auxt_data_ring *ring, u64 tsc, u32 tid);

/* As above, but not in an NMI. */
void auxt_data_oldest(const struct auxt_data_ring *ring, u64 *begin, u64 *end);
void auxt_data_switch(struct auxt_data_ring *ring, u32 slot, u64 *begin, u64 *end);

/* From any CPU: the answer may be out of date at once. */
bool auxt_data_has_new_tail(const struct auxt_data_ring *ring);

/**
 * auxt_data_is_readable() - would poll(2) say POLLIN for the data ring?
 * @ring: a ring that is not overwritable
 * @stopped: the session is stopped
 *
 * From any CPU: the answer may be out of date at once.
 *
 * Return: true under the conditions that the ABI gives for poll(2).
 */
static __always_inline bool auxt_data_is_readable(const struct auxt_data_ring *ring, bool stopped)
{
	u64 available;

	available = READ_ONCE(ring->page->data_head) - READ_ONCE(ring->page->data_consumed);
	return available >= ring->watermark ||
	       ((stopped || READ_ONCE(ring->refused) != READ_ONCE(ring->refused_before_tail)) &&
		available);
}

/* Number of slots into which the data rings of a session are divided. */
static inline u32 auxt_data_slots(const struct auxtrace_setup *setup)
{
	return setup->flags & AUXTRACE_SETUP_DATA_OVERWRITE && setup->slots ? setup->slots : 1;
}

/*
 * Writing a record. Inline: it is a short path that each record takes. See "writers" and "readers"
 * in data_ring.c.
 */
#define AUXT_DATA_SLOT_SHIFT	56

/* One instruction: an NMI comes before or after it. */
static __always_inline void auxt_data_add(u64 *counter, u64 n)
{
	asm volatile("addq %1, %0" : "+m" (*counter) : "er" (n));
}

/* The record of @size bytes that ends at the position in @word, a value of data_reserved. */
static __always_inline void *auxt_data_record_at(const struct auxt_data_ring *ring, u64 word,
						 u32 size)
{
	u64 first = ring->backward ? -word : word - size;
	u64 slot = word >> AUXT_DATA_SLOT_SHIFT;
	char *base = ring->base;

	/* Most rings have one. */
	if (unlikely(slot))
		base += slot << ring->shift << 1;
	return base + (first & ring->mask);
}

static __always_inline void auxt_data_stamp(void *record, u32 type, u32 size, u64 tsc, u32 tid)
{
	struct auxtrace_record_header *header = record;
	struct auxtrace_record_end *end = record + size - sizeof(*end);

	*header = (struct auxtrace_record_header) { .type = type, .size = size };
	*end = (struct auxtrace_record_end) { .time = tsc, .tid = tid, .size = size };
}

static __always_inline void auxt_data_get(struct auxt_data_ring *ring)
{
	/* A nested writer leaves @nest as it has found it. */
	ring->nest++;
	barrier();
}

static __always_inline void auxt_data_publish(const struct auxt_data_ring *ring,
					      struct auxtrace_status_page *page, u64 head)
{
	u64 used;

	if (ring->overwrite) {
		used = head - page->data_slot_begin;
		if (used > ring->size)
			WRITE_ONCE(page->data_overwritten, ring->overwritten + used - ring->size);
	}
	/* After the records and the sums: see "readers" in data_ring.c. */
	smp_store_release(&page->data_head, head);
}

/**
 * auxt_data_end() - finish one or more records
 * @ring: a ring for which auxt_data_get() was called; auxt_data_begin() calls it
 *
 * The outermost writer publishes its records and those of the writers nested in it.
 */
static __always_inline void auxt_data_end(struct auxt_data_ring *ring)
{
	struct auxtrace_status_page *page = ring->page;
	u64 word;

	barrier();
	if (unlikely(ring->nest != 1)) {
		ring->nest--;
		return;
	}
	for (;;) {
		word = READ_ONCE(page->data_reserved);
		auxt_data_publish(ring, page, AUXTRACE_DATA_POSITION(word));
		barrier();
		WRITE_ONCE(ring->nest, 0);
		barrier();
		if (likely(word == READ_ONCE(page->data_reserved)))
			return;
		WRITE_ONCE(ring->nest, 1);
		barrier();
	}
}

/* @word: value of data_reserved at the end of the reserved space. False: no space. */
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

/*
 * Between auxt_data_get() and auxt_data_end(): reserves space for one or more records, if nothing but
 * an addition is needed for that. Sets @word to the value of data_reserved at the end of that space.
 * If it returns false, auxt_data_reserve_slow() must be called.
 */
static __always_inline bool auxt_data_reserve_fast(struct auxt_data_ring *ring, u32 size, u64 *word)
{
	return likely(!(READ_ONCE(ring->pending) | READ_ONCE(ring->page->data_paused))) &&
	       auxt_data_reserve(ring, size, word);
}

/* The record that ends at @word, with its header and end. */
static __always_inline void *auxt_data_new(struct auxt_data_ring *ring, u64 word, u32 type,
					   u32 size, u64 tsc, u32 tid)
{
	void *record = auxt_data_record_at(ring, word, size);

	auxt_data_stamp(record, type, size, tsc, tid);
	auxt_data_add(&ring->page->data_records, 1);
	return record;
}

/**
 * auxt_data_begin() - reserve space for a record
 * @ring: the ring
 * @type: AUXTRACE_RECORD_*
 * @size: bytes of the record with its header and end, a multiple of 8, less than 64 KiB and at
 *	most a slot
 * @tsc: time-stamp counter
 * @tid: thread that runs on the CPU
 *
 * Header and end are filled in; the caller fills in all bytes between them and then calls
 * auxt_data_end().
 *
 * Return: the record, or NULL if it was dropped, which is counted.
 */
static __always_inline void *auxt_data_begin(struct auxt_data_ring *ring, u32 type, u32 size,
					     u64 tsc, u32 tid)
{
	u64 word;

	auxt_data_get(ring);
	if (unlikely(!auxt_data_reserve_fast(ring, size, &word)))
		word = auxt_data_reserve_slow(ring, size, tsc, tid);
	if (likely(word))
		return auxt_data_new(ring, word, type, size, tsc, tid);
	auxt_data_end(ring);
	return NULL;
}

#endif /* AUXT_DATA_RING_H */
