// SPDX-License-Identifier: GPL-2.0-only
/*
 * The data ring of one channel.
 *
 * DOC: writers
 *
 * Writers run on the channel's CPU with interrupts off, so that only NMIs (and what may interrupt
 * those) nest in a writer; or in place of that CPU: see channel.c. A nested writer finishes before
 * the interrupted one continues. So shared data is changed by single instructions without a lock
 * prefix, and the barriers between writers are compiler barriers.
 *
 * A writer increments @nest, advances @data_reserved by the size of its record, fills the record
 * in and decrements @nest. The outermost writer finishes last and publishes @data_head: only then
 * are all records below @data_reserved complete. A writer that nests after the outermost writer's
 * last read of @data_reserved, but before it clears @nest, leaves the publishing to it. Therefore
 * the outermost writer reads @data_reserved once more after it has cleared @nest.
 *
 * DOC: readers
 *
 * Readers run on other CPUs at any time.
 *
 * @data_head is stored with release semantics after the records below it and after
 * @data_overwritten. This pairs with the acquire load that the ABI asks of readers. So a reader
 * that loads @data_head, then the sums, then @data_reserved, and finds the same position in
 * both, has the sums of that position.
 *
 * @data_reserved is advanced before the first byte of the reserved space is changed. This pairs
 * with the read barrier between a reader's copy and its read of @data_reserved, which tells it
 * which part of the copy is valid.
 *
 * The reader's tail is loaded with acquire semantics before the bytes below it are overwritten.
 * This pairs with the reader's release store.
 */

#include <linux/build_bug.h>
#include <linux/kprobes.h>
#include "core/data_ring.h"

#define LOST_SIZE	((u32)sizeof(struct auxtrace_record_lost))

static_assert(LOST_SIZE % 8 == 0);

/* ---- space -------------------------------------------------------------- */

static bool data_is_valid_tail(const struct auxt_data_ring *ring, u64 tail, u64 consumed)
{
	return tail >= consumed && tail <= READ_ONCE(ring->page->data_head);
}
NOKPROBE_SYMBOL(data_is_valid_tail);

/*
 * Takes the reader's tail if it is valid; else counts it as bad, once. If a nested writer takes a
 * later tail meanwhile, the one read here is neither new nor bad.
 */
static void data_take_tail(struct auxt_data_ring *ring)
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
		if (!data_is_valid_tail(ring, tail, was)) {
			if (tail != last && cmpxchg_local(&ring->last_tail, last, tail) == last)
				auxt_data_add(&ring->page->data_bad_tails, 1);
			return;
		}
		if (tail == was)
			return;
	} while (cmpxchg_local(consumed, was, tail) != was);
	WRITE_ONCE(ring->last_tail, tail);
	WRITE_ONCE(ring->refused_before_tail, refused);
}
NOKPROBE_SYMBOL(data_take_tail);

/*
 * Reserves @size bytes, after a LOST record if one is due. Without space for both, returns 0 and
 * puts the count of lost records back. (A nested writer that finds the count taken may write its
 * record before the LOST record. No record is counted twice or not at all.)
 */
static u64 data_reserve_after_lost(struct auxt_data_ring *ring, u32 size, u64 tsc, u32 tid)
{
	struct auxtrace_record_lost *record;
	u64 word, lost;

	data_take_tail(ring);
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
NOKPROBE_SYMBOL(data_reserve_after_lost);

/**
 * auxt_data_reserve_slow() - reserve space after losses, or when the reader's tail is needed
 * @ring: the ring, of which the caller is a writer
 * @size: bytes
 * @tsc: time-stamp counter
 * @tid: thread that runs on the CPU
 *
 * Return: value of data_reserved at the end of the reserved space; 0 if the record was dropped,
 * which is counted.
 */
u64 auxt_data_reserve_slow(struct auxt_data_ring *ring, u32 size, u64 tsc, u32 tid)
{
	bool paused = READ_ONCE(ring->page->data_paused);
	u64 word = paused ? 0 : data_reserve_after_lost(ring, size, tsc, tid);

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
 * @tid: thread that runs on the CPU
 */
void auxt_data_report_lost(struct auxt_data_ring *ring, u64 tsc, u32 tid)
{
	auxt_data_get(ring);
	if (READ_ONCE(ring->page->data_paused))
		data_take_tail(ring);
	else
		data_reserve_after_lost(ring, 0, tsc, tid);
	auxt_data_end(ring);
}
NOKPROBE_SYMBOL(auxt_data_report_lost);

/**
 * auxt_data_pause() - set or clear a reason to drop (and count) all records
 * @ring: the ring
 * @reason: AUXTRACE_DATA_*: records are written while none is set
 * @pause: set the reason; else clear it
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
 * auxt_data_oldest() - range of the records that a reader finds
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
NOKPROBE_SYMBOL(auxt_data_oldest);

/**
 * auxt_data_switch() - retain the present slot and continue in another
 * @ring: an overwritable ring with slots
 * @slot: the other slot
 * @begin: position of the oldest byte in the retained slot
 * @end: position after its newest record
 *
 * Each record lies completely in one of the two slots. This function counts as a writer, so
 * writers that nest in it do not publish while it adjusts the sums.
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
		 * Written before data_reserved names the other slot, so that a reader does not
		 * take old contents of that slot for records. Pairs with the reader's barrier
		 * after it reads data_reserved.
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
NOKPROBE_SYMBOL(auxt_data_switch);

/* ---- readers ------------------------------------------------------------ */

/**
 * auxt_data_has_new_tail() - has the reader changed its tail?
 * @ring: the ring
 *
 * Return: true if the tail in the user page has been neither taken nor found bad.
 */
bool auxt_data_has_new_tail(const struct auxt_data_ring *ring)
{
	u64 consumed = READ_ONCE(ring->page->data_consumed);
	u64 tail = READ_ONCE(ring->user->data_tail);

	if (ring->overwrite)
		return false;
	if (data_is_valid_tail(ring, tail, consumed))
		return tail != consumed;
	return tail != READ_ONCE(ring->last_tail);
}
NOKPROBE_SYMBOL(auxt_data_has_new_tail);

/* ---- life --------------------------------------------------------------- */

/**
 * auxt_data_init() - set up an empty ring
 * @ring: the ring, all zero
 * @setup: setup of the session, checked, with a data ring
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
NOKPROBE_SYMBOL(auxt_data_init);
