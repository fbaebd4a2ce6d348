// SPDX-License-Identifier: GPL-2.0
/*
 * The data ring of one channel.
 *
 * DOC: writers
 *
 * Writers run on one CPU: with interrupts off, so that only NMIs (and what may
 * interrupt those) nest in one; or in place of a CPU where none runs. Each nested
 * one has come and gone before the interrupted one goes on. So what they share
 * is changed by single instructions without a lock prefix, and the barriers
 * between them are compiler barriers.
 *
 * A writer moves @data_reserved on by the size of its record, fills the record
 * in and leaves. The last to leave, which was the first to come, publishes
 * @data_head: only then is everything below @data_reserved whole. One that comes
 * between its last look at @data_reserved and its leaving leaves the publishing
 * to it, so it looks once more after it has left.
 *
 * DOC: readers
 *
 * On other CPUs, at any time. @data_head is stored with release semantics after
 * the records below it: pairs with the acquire load that the ABI asks of readers.
 * @data_reserved moves before the first byte that it gives to a new record is
 * changed: pairs with the read barrier between a reader's copy and the look at
 * @data_reserved that judges it. The reader's tail is loaded with acquire semantics
 * before its bytes are written to: pairs with his release store.
 */

#include <linux/build_bug.h>
#include <linux/kprobes.h>
#include "core/data_ring.h"

#define LOST_SIZE	((u32)sizeof(struct auxtrace_record_lost))

static_assert(LOST_SIZE % 8 == 0);

/* ---- room --------------------------------------------------------------- */

static bool is_valid(const struct auxt_data_ring *ring, u64 tail, u64 consumed)
{
	return tail >= consumed && tail <= READ_ONCE(ring->page->data_head);
}
NOKPROBE_SYMBOL(is_valid);

/* A nested writer may take a later tail meanwhile: then ours is neither news nor bad. */
static void take_tail(struct auxt_data_ring *ring)
{
	u64 *consumed = &ring->page->data_consumed;
	u64 was, tail, last, refused;

	if (ring->overwrite)
		return;
	do {
		last = READ_ONCE(ring->last_tail);
		refused = READ_ONCE(ring->refused);
		was = READ_ONCE(*consumed);
		tail = smp_load_acquire(&ring->user->data_tail);
		if (!is_valid(ring, tail, was)) {
			if (tail != last && cmpxchg_local(&ring->last_tail, last, tail) == last)
				auxt_data_add(&ring->page->data_bad_tails, 1);
			return;
		}
		if (tail == was)
			return;
	} while (cmpxchg_local(consumed, was, tail) != was);
	WRITE_ONCE(ring->last_tail, tail);
	WRITE_ONCE(ring->forgiven, refused);
}
NOKPROBE_SYMBOL(take_tail);

/*
 * Reserves @size bytes behind a LOST record if one is due, else without. Counts taken
 * here to be told are put back if there is no room: returns 0. (The record of a nested writer
 * that finds them gone may come before the LOST record; the sums are right.)
 */
static u64 reserve_behind_lost(struct auxt_data_ring *ring, u32 size, u64 tsc, u32 tid)
{
	struct auxtrace_record_lost *record;
	u64 word, lost;

	take_tail(ring);
	lost = xchg(&ring->pending, 0);
	if (!lost)
		return size && auxt_data_reserve(ring, size, &word) ? word : 0;
	if (!auxt_data_reserve(ring, size + LOST_SIZE, &word)) {
		auxt_data_add(&ring->pending, lost);
		return 0;
	}
	record = auxt_data_record_at(ring, word - size, LOST_SIZE);
	record->id = 0;
	record->lost = lost;
	auxt_data_stamp(record, AUXTRACE_RECORD_LOST, LOST_SIZE, tsc, tid);
	auxt_data_add(&ring->page->data_records, 1);
	return word;
}
NOKPROBE_SYMBOL(reserve_behind_lost);

/**
 * auxt_data_reserve_slow() - something was lost, or the reader must be asked for room
 * @ring: the ring, of which the caller is a writer
 * @size: bytes
 * @tsc: time-stamp counter
 * @tid: thread that the CPU runs
 *
 * Return: data_reserved as it is at the end of what was reserved; 0: it was not, which
 * is counted.
 */
u64 auxt_data_reserve_slow(struct auxt_data_ring *ring, u32 size, u64 tsc, u32 tid)
{
	bool paused = READ_ONCE(ring->page->data_paused);
	u64 word = paused ? 0 : reserve_behind_lost(ring, size, tsc, tid);

	if (word)
		return word;
	auxt_data_add(&ring->page->data_lost, 1);
	auxt_data_add(&ring->pending, 1);
	if (!paused)
		auxt_data_add(&ring->refused, 1);
	return 0;
}
NOKPROBE_SYMBOL(auxt_data_reserve_slow);

/**
 * auxt_data_report_lost() - take the reader's tail; write a LOST record if one is due
 * @ring: the ring
 * @tsc: time-stamp counter
 * @tid: thread that the CPU runs
 */
void auxt_data_report_lost(struct auxt_data_ring *ring, u64 tsc, u32 tid)
{
	auxt_data_get(ring);
	if (READ_ONCE(ring->page->data_paused))
		take_tail(ring);
	else
		reserve_behind_lost(ring, 0, tsc, tid);
	auxt_data_end(ring);
}
NOKPROBE_SYMBOL(auxt_data_report_lost);

/**
 * auxt_data_pause() - drop and count all records from now on, or no more
 * @ring: the ring
 * @reason: AUXTRACE_DATA_*: records are written when there is none
 * @pause: drop
 */
void auxt_data_pause(struct auxt_data_ring *ring, u32 reason, bool pause)
{
	u64 *paused = &ring->page->data_paused;
	u64 was, found = READ_ONCE(*paused);

	do {
		was = found;
		found = cmpxchg_local(paused, was, pause ? was | reason : was & ~(u64)reason);
	} while (found != was);
}
NOKPROBE_SYMBOL(auxt_data_pause);

/* ---- slots -------------------------------------------------------------- */

/**
 * auxt_data_oldest() - what a reader finds
 * @ring: the ring
 * @begin: position of the oldest byte, in the present slot
 * @end: position after the newest record
 */
void auxt_data_oldest(const struct auxt_data_ring *ring, u64 *begin, u64 *end)
{
	const struct auxtrace_status_page *page = ring->page;
	u64 from = ring->overwrite ? page->data_slot_begin : READ_ONCE(page->data_consumed);

	*end = READ_ONCE(page->data_head);
	*begin = *end - min(*end - from, ring->size);
}

/**
 * auxt_data_switch() - put the present slot aside and go on in another
 * @ring: an overwritable ring with slots
 * @slot: the other
 * @begin: position of the oldest byte in the one put aside
 * @end: position after its newest record
 *
 * Each record lies wholly on one side. Who writes while we adjust the sums does not
 * publish, as nested in a writer: that is what we are.
 */
void auxt_data_switch(struct auxt_data_ring *ring, u32 slot, u64 *begin, u64 *end)
{
	struct auxtrace_status_page *page = ring->page;
	u64 slot_begin = page->data_slot_begin;
	u64 word, found = READ_ONCE(page->data_reserved);
	u64 kept;

	auxt_data_get(ring);
	do {
		word = found;
		*end = AUXTRACE_DATA_POSITION(word);
		/*
		 * First, lest a reader look in the other slot for what its earlier use
		 * left there: pairs with his barrier after data_reserved.
		 */
		WRITE_ONCE(page->data_slot_begin, *end);
		smp_wmb();
		found = cmpxchg_local(&page->data_reserved, word,
				      (u64)slot << AUXT_DATA_SLOT_SHIFT | *end);
	} while (found != word);
	kept = min(*end - slot_begin, ring->size);
	*begin = *end - kept;
	ring->overwritten += *begin - slot_begin;
	WRITE_ONCE(page->data_consumed, page->data_consumed + kept);
	WRITE_ONCE(page->data_overwritten, ring->overwritten);
	auxt_data_end(ring);
}

/* ---- readers ------------------------------------------------------------ */

/**
 * auxt_data_has_new_tail() - did the reader move on?
 * @ring: the ring
 *
 * Return: true if the user page holds a tail that has not been looked at.
 */
bool auxt_data_has_new_tail(const struct auxt_data_ring *ring)
{
	u64 consumed = READ_ONCE(ring->page->data_consumed);
	u64 tail = READ_ONCE(ring->user->data_tail);

	if (ring->overwrite)
		return false;
	return tail != (is_valid(ring, tail, consumed) ? consumed : READ_ONCE(ring->last_tail));
}

/* ---- life --------------------------------------------------------------- */

/**
 * auxt_data_init() - an empty ring
 * @ring: to be set up, all zero
 * @setup: of the session, checked, with a data ring
 * @base: see struct auxt_data_ring
 * @page: status page, all zero
 * @user: user page
 */
void auxt_data_init(struct auxt_data_ring *ring, const struct auxtrace_setup *setup, void *base,
		    struct auxtrace_status_page *page, const struct auxtrace_user_page *user)
{
	ring->page = page;
	ring->user = user;
	ring->base = base;
	ring->size = setup->data_size / auxt_data_slots(setup);
	ring->mask = ring->size - 1;
	ring->shift = __builtin_ctzll(ring->size);
	ring->backward = setup->flags & AUXTRACE_SETUP_DATA_BACKWARD;
	ring->overwrite = setup->flags & AUXTRACE_SETUP_DATA_OVERWRITE;
	if (!ring->overwrite)
		ring->watermark = setup->data_watermark ?: ring->size / 2;
	ring->keep = ring->overwrite ? &page->data_head : &page->data_consumed;
}
