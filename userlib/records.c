// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads the data ring of one channel.
 *
 * DOC: writers and the order of their stores
 *
 * The writers are contexts of the channel's CPU that interrupt each other. The reader
 * runs on any CPU. Two words of the status page tell it which bytes are valid:
 *
 *  data_head	 All records before it are complete. A writer has a barrier between
 *		 the record and this word; its partner is the reader's acquire load.
 *  data_reserved A writer advances it before it stores the first byte of a record, with
 *		 a barrier after it. The partner is the reader's acquire fence between
 *		 the copy and the second load of this word: if a byte of the copy came
 *		 from a newer record, the second load sees that record's reservation.
 *		 So each byte within one ring's size of the second value is unchanged.
 *
 * The copy races with the writers on purpose. Each access to shared memory is one
 * relaxed load of an aligned word, and the reader drops what was overwritten
 * afterwards. A thread sanitizer has nothing to check here.
 *
 * The slot is in the same word as the position. A writer stores data_slot_begin before
 * this word names the new slot, so a reader that sees the slot also sees its begin.
 *
 * DOC: positions and addresses
 *
 * The lowest address of positions [begin, end) is, modulo the size, begin in a forward
 * ring and -end in a backward one, where the newest record comes first.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define HEADER		sizeof(struct auxtrace_record_header)
#define END		sizeof(struct auxtrace_record_end)
#define MIN_RECORD	(HEADER + END)
#define MAX_RECORD	(UINT16_MAX & ~7u)

/* How many snapshots in a row may retain the slot that is being copied. */
#define MAX_SWITCHES	16

/* The ring is copied in words and read as structs. */
typedef uint64_t __attribute__((may_alias)) word_t;

/* ---- a ring, or the slot of one ----------------------------------------- */

struct ring {
	const uint8_t *base;
	uint64_t size;
	bool backward;
};

static bool overwritable(const struct auxtrace_reader *r)
{
	return r->session->setup.flags & AUXTRACE_SETUP_DATA_OVERWRITE;
}

static struct ring ring_of(const struct auxtrace_reader *r, uint32_t slot)
{
	const struct auxtrace_setup *setup = &r->session->setup;
	uint64_t size = setup->data_size;

	if (overwritable(r))
		size /= session_slots(r->session);
	return (struct ring){
		.base = r->data + (overwritable(r) ? slot * size : 0),
		.size = size,
		.backward = setup->flags & AUXTRACE_SETUP_DATA_BACKWARD,
	};
}

/* The offset of the lowest address of positions [begin, end). */
static uint64_t offset_of(const struct ring *ring, uint64_t begin, uint64_t end)
{
	return (ring->backward ? -end : begin) % ring->size;
}

/* Copy positions [begin, end) in the order of their addresses; each word is loaded once. */
static void copy_out(const struct ring *ring, uint64_t begin, uint64_t end, void *buf)
{
	uint64_t offset = offset_of(ring, begin, end);
	word_t *to = buf;

	for (uint64_t left = end - begin; left; left -= sizeof(*to)) {
		*to++ = __atomic_load_n((const word_t *)(ring->base + offset), __ATOMIC_RELAXED);
		offset += sizeof(*to);
		if (offset == ring->size)
			offset = 0;
	}
}

static bool is_size(uint64_t size, uint64_t space)
{
	return size >= MIN_RECORD && size % 8 == 0 && size <= space;
}

/* Is there a record of @size bytes, whose header and end agree on that size? */
static bool is_record(const void *p, uint64_t size)
{
	const union auxtrace_record *record = p;
	static const struct { uint32_t type; size_t size; } known[] = {
		{ AUXTRACE_RECORD_LOST, sizeof(record->lost) },
		{ AUXTRACE_RECORD_AUX, sizeof(record->aux) },
		{ AUXTRACE_RECORD_ITRACE_START, sizeof(record->itrace_start) },
		{ AUXTRACE_RECORD_SWITCH, sizeof(record->context_switch) },
		{ AUXTRACE_RECORD_WINDOW, sizeof(record->window) },
		{ AUXTRACE_RECORD_TRIGGER, sizeof(record->trigger) },
		{ AUXTRACE_RECORD_SAMPLE, sizeof(record->sample) + END },
	};

	if (record->header.size != size || auxtrace_record_end(record)->size != size)
		return false;
	for (unsigned int i = 0; i < ARRAY_SIZE(known); i++)
		if (record->header.type == known[i].type && size < known[i].size)
			return false;
	/* The bytes of a sample must be between what is known of its record and the end of it. */
	return record->header.type != AUXTRACE_RECORD_SAMPLE || !auxtrace_sample_data(record) ||
	       (record->sample.data_offset >= sizeof(record->sample) &&
		record->sample.data_offset <= size - END &&
		record->sample.length <= size - END - record->sample.data_offset);
}

static int no_record(const struct auxtrace_reader *r, uint64_t position)
{
	return fail(EBADE, "there is no record at position %" PRIu64 " of the data ring of CPU %u",
		    position, r->cpu);
}

AUXTRACE_API const union auxtrace_record *auxtrace_record_next(const void *buf, size_t len, size_t *at)
{
	const union auxtrace_record *record;
	size_t left = len - *at;

	if (left < MIN_RECORD)
		return NULL;
	record = (const void *)((const uint8_t *)buf + *at);
	if (!is_size(record->header.size, left) || !is_record(record, record->header.size))
		return NULL;
	*at += record->header.size;
	return record;
}

/* ---- a queue ------------------------------------------------------------ */

/* The size of the record at position @begin of a ring that is not overwritable. */
static uint64_t size_at(const struct ring *ring, uint64_t begin)
{
	union {
		struct auxtrace_record_header header;
		struct auxtrace_record_end end;
	} u;

	if (!ring->backward) {
		copy_out(ring, begin, begin + HEADER, &u.header);
		return u.header.size;
	}
	/* The end of this record has its highest addresses, next to the older record. */
	copy_out(ring, begin, begin + END, &u.end);
	return u.end.size;
}

static int need_data(const struct auxtrace_reader *r)
{
	return r->data ? 0 : fail(EINVAL, "the session has no data ring: set data_size");
}

/* The next record: in the ring, or a copy if it wraps at the ring's end. NULL: no memory. */
static const void *one_piece(struct auxtrace_reader *r, const struct ring *ring, uint64_t size)
{
	uint64_t end = r->data_next + size, offset = offset_of(ring, r->data_next, end);

	if (offset + size <= ring->size)
		return ring->base + offset;
	if (!r->record)
		r->record = malloc(MAX_RECORD);
	if (r->record)
		copy_out(ring, r->data_next, end, r->record);
	else
		fail(ENOMEM, "no memory for a record");
	return r->record;
}

AUXTRACE_API int auxtrace_reader_next_record(struct auxtrace_reader *r,
					     const union auxtrace_record **record)
{
	struct ring ring = ring_of(r, 0);
	uint64_t head, size;
	const void *p;

	if (need_data(r))
		return -1;
	if (overwritable(r))
		return fail(EINVAL, "an overwritable data ring is no queue: copy its records");
	/* Acquire: all records before it are complete. Partner: the writer's barrier before its store. */
	head = __atomic_load_n(&r->status->data_head, __ATOMIC_ACQUIRE);
	if (head == r->data_next)
		return 0;
	if (head - r->data_next > ring.size)
		return no_record(r, r->data_next);
	size = size_at(&ring, r->data_next);
	if (!is_size(size, head - r->data_next))
		return no_record(r, r->data_next);
	p = one_piece(r, &ring, size);
	if (!p)
		return -1;
	if (!is_record(p, size))
		return no_record(r, r->data_next);
	*record = p;
	r->data_next += size;
	return 1;
}

AUXTRACE_API void auxtrace_reader_consume_records(struct auxtrace_reader *r)
{
	/*
	 * Release: all reads of the records come before this store, after which writers
	 * may overwrite them. Partner: the writer's acquire load of the tail, before it
	 * stores a record.
	 */
	__atomic_store_n(&r->user->data_tail, r->data_next, __ATOMIC_RELEASE);
}

/* ---- copy and verify ---------------------------------------------------- */

/* Positions in a slot, to be copied. */
struct span {
	uint32_t slot;
	uint64_t begin, end;
};

/* All that can be read now. @word: the value of data_reserved. */
static void current_span(const struct auxtrace_reader *r, uint64_t word, struct span *s)
{
	s->slot = overwritable(r) ? AUXTRACE_DATA_SLOT(word) : 0;
	s->begin = overwritable(r) ? __atomic_load_n(&r->status->data_slot_begin, __ATOMIC_ACQUIRE) :
		   r->data_next;
	s->end = __atomic_load_n(&r->status->data_head, __ATOMIC_ACQUIRE);
}

static uint64_t load_reserved(const struct auxtrace_reader *r)
{
	/* Acquire: pairs with the writer's barrier between data_slot_begin and this word. */
	return __atomic_load_n(&r->status->data_reserved, __ATOMIC_ACQUIRE);
}

/* After the copy: the position of the first byte of it that no writer has overwritten. */
static uint64_t intact_from(const struct auxtrace_reader *r, const struct ring *ring,
			    uint32_t slot, uint64_t word)
{
	uint64_t reserved = AUXTRACE_DATA_POSITION(word);

	/* No writer touches a retained slot, or bytes of a queue that were not read. */
	if (!overwritable(r) || AUXTRACE_DATA_SLOT(word) != slot || reserved < ring->size)
		return 0;
	return reserved - ring->size;
}

/*
 * @buf holds positions [begin, end) in the order of addresses. Walk back from the newest
 * record while records lie completely behind @intact. Returns the bytes of these records,
 * or -1 if a record is malformed.
 */
static int64_t whole_records(const struct ring *ring, const uint8_t *buf, uint64_t begin,
			     uint64_t end, uint64_t intact)
{
	uint64_t len = end - begin, got = 0;

	if (intact < begin)
		intact = begin;
	while (end - got > intact) {
		uint64_t space = end - got - intact, size;
		const uint8_t *p;

		/* The size is in the record's last bytes, which must be intact to be read. */
		if (space < END)
			break;
		if (ring->backward) {
			p = buf + got;
			size = ((const struct auxtrace_record_header *)p)->size;
		} else {
			p = buf + len - got;
			size = ((const struct auxtrace_record_end *)p - 1)->size;
			p -= size;
		}
		if (size > space && is_size(size, MAX_RECORD))
			break;	/* it begins before @intact */
		if (!is_size(size, space) || !is_record(p, size))
			return -1;
		got += size;
	}
	return got;
}

static void reverse_words(word_t *words, size_t count)
{
	for (size_t i = 0; i < count / 2; i++) {
		word_t word = words[i];

		words[i] = words[count - 1 - i];
		words[count - 1 - i] = word;
	}
}

/* Reverse the order of records: first all words, then again those of each record. */
static void oldest_first(word_t *words, size_t len)
{
	size_t count = len / 8;

	reverse_words(words, count);
	for (size_t at = 0; at < count;) {
		/* The record's last word, tid and size, is now its first. */
		size_t size = (words[at] >> 32) / 8;

		reverse_words(words + at, size);
		at += size;
	}
}

static int check_cut(const struct auxtrace_reader *r, const struct auxtrace_cut *cut)
{
	if (cut->cpu != r->cpu)
		return fail(EINVAL, "a cut of CPU %u is not read by the reader of CPU %u", cut->cpu, r->cpu);
	if (cut->slot >= session_slots(r->session) || cut->data_end < cut->data_begin)
		return fail(EINVAL, "invalid cut: slot %u, records %" PRIu64 " to %" PRIu64,
			    cut->slot, (uint64_t)cut->data_begin, (uint64_t)cut->data_end);
	return 0;
}

/*
 * Copy the records of @cut, or the current ones, to @buf. @s: which positions were copied.
 * @word: data_reserved after the copy. 0, or -1 with errno and the message.
 */
static int copy_span(struct auxtrace_reader *r, const struct auxtrace_cut *cut, void *buf,
			size_t size, struct span *s, uint64_t *word)
{
	for (unsigned int i = 0; i < MAX_SWITCHES; i++) {
		struct span after;
		struct ring ring;

		*word = load_reserved(r);
		current_span(r, *word, s);
		if (cut) {
			s->slot = cut->slot;
			s->begin = overwritable(r) || cut->data_begin > r->data_next ?
				   cut->data_begin : r->data_next;
			s->end = cut->data_end > s->begin ? cut->data_end : s->begin;
		}
		if (s->slot >= session_slots(r->session) || (s->begin | s->end) % 8)
			return no_record(r, s->end);
		if (s->end < s->begin)
			continue;	/* a snapshot is switching slots right now */
		ring = ring_of(r, s->slot);
		if (s->end - s->begin > ring.size)
			s->begin = s->end - ring.size;
		if (s->end - s->begin > size)
			s->begin = s->end - size;
		copy_out(&ring, s->begin, s->end, buf);
		/* See "writers and the order of their stores" above. */
		__atomic_thread_fence(__ATOMIC_ACQUIRE);
		*word = load_reserved(r);
		if (cut || !overwritable(r))
			return 0;
		current_span(r, *word, &after);
		/* Otherwise a snapshot switched slots, and this one may have been reused. */
		if (after.slot == s->slot && after.begin <= s->begin)
			return 0;
	}
	return fail(EAGAIN, "snapshots switch slots of CPU %u faster than one is copied", r->cpu);
}

AUXTRACE_API int auxtrace_reader_copy_records(struct auxtrace_reader *r, const struct auxtrace_cut *cut,
					      void *buf, size_t size, struct auxtrace_copy *copy)
{
	struct span s;
	struct ring ring;
	uint64_t word, len;
	int64_t whole;

	if (need_data(r) || (cut && check_cut(r, cut)) ||
	    copy_span(r, cut, buf, size & ~7ul, &s, &word))
		return -1;
	ring = ring_of(r, s.slot);
	len = s.end - s.begin;
	whole = whole_records(&ring, buf, s.begin, s.end, intact_from(r, &ring, s.slot, word));
	if (whole < 0)
		return no_record(r, s.end);
	if (ring.backward)
		oldest_first(buf, whole);
	else
		memmove(buf, (uint8_t *)buf + len - whole, whole);
	copy->position = s.end - whole;
	copy->len = whole;
	copy->cut = len - whole;
	return 0;
}

/* ---- windows ------------------------------------------------------------ */

AUXTRACE_API enum auxtrace_part auxtrace_window_part(const struct auxtrace_record_window *w,
						     uint64_t begin, uint64_t end)
{
	if (w->begin >= begin && w->end_position <= end)
		return AUXTRACE_PART_WHOLE;
	if (w->end_position <= begin || w->begin >= end)
		return AUXTRACE_PART_NONE;
	return AUXTRACE_PART_SOME;
}
