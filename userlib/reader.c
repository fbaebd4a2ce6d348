// SPDX-License-Identifier: LGPL-2.1-or-later
/*
 * Reads the AUX area of one channel; records.c reads its data ring.
 *
 * The memory is shared without locks: the module writes the status page, the hardware
 * writes the AUX area, and the reader writes the tail in the user page.
 */
#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <string.h>
#include <time.h>

#include "internal.h"

/*
 * An update by the module is some 20 stores with interrupts off. But a hypervisor may
 * stop the CPU in the middle of it for a while.
 */
#define SNAPSHOT_SECONDS	2
#define SNAPSHOT_SPINS		64

AUXTRACE_API struct auxtrace_reader *auxtrace_reader(struct auxtrace_session *s, unsigned int cpu)
{
	if (!s->setup.size) {
		fail(EBADFD, "a reader needs a session that is set up");
		return NULL;
	}
	for (unsigned int i = 0; i < s->nr_readers; i++)
		if (s->readers[i].cpu == cpu)
			return &s->readers[i];
	fail(ENODEV, "CPU %u is not the session's", cpu);
	return NULL;
}

/*
 * Copy the page in 8-byte words, each read exactly once.
 */
static void copy_page(struct auxtrace_status_page *to, const struct auxtrace_status_page *from)
{
	uint64_t *t = (uint64_t *)to;
	const uint64_t *f = (const uint64_t *)from;

	_Static_assert(sizeof(*to) % sizeof(*t) == 0, "whole words");
	for (size_t i = 0; i < sizeof(*to) / sizeof(*t); i++)
		t[i] = __atomic_load_n(&f[i], __ATOMIC_RELAXED);
}

static time_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

AUXTRACE_API int auxtrace_reader_status(struct auxtrace_reader *r,
					struct auxtrace_status_page *status)
{
	time_t end = 0;

	for (unsigned int i = 1;; i++) {
		/*
		 * Acquire: the reads below are not older than this read of seq. Partner:
		 * the module's write barrier before it makes seq even again.
		 */
		uint32_t seq = __atomic_load_n(&r->status->seq, __ATOMIC_ACQUIRE);

		if (!(seq & 1)) {
			copy_page(status, r->status);
			/*
			 * The reads above are not newer than the read of seq below.
			 * Partner: the module's write barrier after it made seq odd.
			 */
			__atomic_thread_fence(__ATOMIC_ACQUIRE);
			if (__atomic_load_n(&r->status->seq, __ATOMIC_RELAXED) == seq)
				return 0;
		}
		if (i % SNAPSHOT_SPINS)
			continue;
		if (!end)
			end = now() + SNAPSHOT_SECONDS;
		else if (now() > end)
			break;
		sched_yield();
	}
	return fail(EAGAIN, "the status page of CPU %u stays inconsistent: the module stopped in the middle of an update",
		    r->cpu);
}

static bool overwrites(const struct auxtrace_reader *r)
{
	return r->session->setup.flags & AUXTRACE_SETUP_OVERWRITE;
}

void make_spans(const struct auxtrace_reader *r, uint32_t slot, uint64_t begin, uint64_t end,
		       struct auxtrace_spans *spans)
{
	uint64_t size = r->session->setup.aux_size / session_slots(r->session);
	const uint8_t *base = r->aux + slot * size;
	uint64_t offset = begin % size;
	size_t len = end - begin;
	size_t first = len < size - offset ? len : size - offset;

	memset(spans, 0, sizeof(*spans));
	spans->position = begin;
	spans->len = len;
	if (!len)
		return;
	spans->iov[spans->count++] = (struct iovec){ (void *)(base + offset), first };
	if (len > first)
		spans->iov[spans->count++] = (struct iovec){ (void *)base, len - first };
}

/* The position of the oldest byte that can be read. */
static uint64_t oldest(const struct auxtrace_reader *r, const struct auxtrace_status_page *page)
{
	uint64_t size = r->session->setup.aux_size / session_slots(r->session);

	if (!overwrites(r))
		return r->tail;
	if (page->produced > size && page->produced - size > page->slot_begin)
		return page->produced - size;
	return page->slot_begin;
}

/* Check the module's values: wrong ones would make us read outside of the mapping. */
static int check_page(const struct auxtrace_reader *r, const struct auxtrace_status_page *page)
{
	uint64_t from = overwrites(r) ? page->slot_begin : r->tail;

	if (page->slot >= session_slots(r->session))
		return fail(EBADE, "the module reports that CPU %u traces into slot %u of %u", r->cpu,
			    page->slot, session_slots(r->session));
	if (page->produced < from || (!overwrites(r) && page->produced - from > r->session->setup.aux_size))
		return fail(EBADE, "the module reports that CPU %u produced %" PRIu64 " bytes, but %" PRIu64 " were read",
			    r->cpu, (uint64_t)page->produced, from);
	return 0;
}

AUXTRACE_API int auxtrace_reader_peek(struct auxtrace_reader *r, struct auxtrace_spans *spans)
{
	struct auxtrace_status_page page;

	/* The acquire in it also orders the reads of the data after that of produced. */
	if (auxtrace_reader_status(r, &page))
		return -1;
	if (overwrites(r) && page.running)
		return fail(EBUSY, "CPU %u traces and may overwrite what is read: pause it, or take a copy",
			    r->cpu);
	if (check_page(r, &page))
		return -1;
	make_spans(r, page.slot, oldest(r, &page), page.produced, spans);
	return 0;
}

AUXTRACE_API int auxtrace_reader_peek_cut(struct auxtrace_reader *r, const struct auxtrace_cut *cut,
					  struct auxtrace_spans *spans)
{
	uint64_t size = r->session->setup.aux_size / session_slots(r->session);
	struct auxtrace_status_page page;

	if (cut->cpu != r->cpu)
		return fail(EINVAL, "a cut of CPU %u is not read by the reader of CPU %u", cut->cpu, r->cpu);
	if (!overwrites(r))
		return fail(EINVAL, "a full trace is read at its tail, not by a cut");
	if (cut->slot >= session_slots(r->session) || cut->aux_end < cut->aux_begin ||
	    cut->aux_end - cut->aux_begin > size)
		return fail(EINVAL, "invalid cut: slot %u, bytes %" PRIu64 " to %" PRIu64, cut->slot,
			    (uint64_t)cut->aux_begin, (uint64_t)cut->aux_end);
	if (auxtrace_reader_status(r, &page))
		return -1;
	/* The slot is traced into: it was not retained, or it was released and taken again. */
	if (page.running && page.slot == cut->slot)
		return fail(EBUSY, "CPU %u traces where the cut is: pause it, or take snapshots by slots", r->cpu);
	make_spans(r, cut->slot, cut->aux_begin, cut->aux_end, spans);
	return 0;
}

AUXTRACE_API int auxtrace_reader_peek_sample(struct auxtrace_reader *r,
					     const union auxtrace_record *record,
					     struct auxtrace_spans *spans)
{
	const struct auxtrace_record_sample *s = &record->sample;
	uint32_t slots = session_slots(r->session);

	if (record->header.type != AUXTRACE_RECORD_SAMPLE || auxtrace_sample_data(record))
		return fail(EINVAL, "this record has no sample in a slot");
	if (s->sample_slot >= slots || s->length > r->session->setup.aux_size / slots ||
	    s->length > s->aux_end)
		return fail(EINVAL, "invalid sample of CPU %u: slot %u, %" PRIu64 " bytes before %" PRIu64,
			    r->cpu, s->sample_slot, (uint64_t)s->length, (uint64_t)s->aux_end);
	make_spans(r, s->sample_slot, s->aux_end - s->length, s->aux_end, spans);
	return 0;
}

AUXTRACE_API int auxtrace_reader_consume(struct auxtrace_reader *r, size_t len)
{
	struct auxtrace_status_page page;

	if (overwrites(r))
		return fail(EINVAL, "an overwrite session is not consumed: the newest data wins");
	if (auxtrace_reader_status(r, &page))
		return -1;
	if (len > page.produced - r->tail)
		return fail(EINVAL, "%zu bytes cannot be consumed on CPU %u: it has %" PRIu64, len, r->cpu,
			    (uint64_t)page.produced - r->tail);
	r->tail += len;
	/*
	 * Release: all reads of the data come before this store, after which the hardware
	 * may overwrite them. Partner: the module's acquire load of the tail, before it
	 * moves the STOP mark.
	 */
	__atomic_store_n(&r->user->aux_tail, r->tail, __ATOMIC_RELEASE);
	return 0;
}

static int sync_page(struct auxtrace_reader *r, struct auxtrace_status_page *page)
{
	struct auxtrace_status status;

	if (auxtrace_status(r->session, AUXTRACE_STATUS_SYNC, &status) ||
	    auxtrace_reader_status(r, page))
		return -1;
	return check_page(r, page);
}

AUXTRACE_API int auxtrace_reader_copy(struct auxtrace_reader *r, void *buf, size_t size,
				      struct auxtrace_copy *copy)
{
	struct auxtrace_status_page before, after;
	struct auxtrace_spans spans;
	uint64_t begin, intact;
	size_t cut = 0;

	if (sync_page(r, &before))
		return -1;
	for (;; before = after) {
		begin = oldest(r, &before);
		if (before.produced - begin > size)
			begin = before.produced - size;
		make_spans(r, before.slot, begin, before.produced, &spans);
		for (size_t i = 0, at = 0; i < (size_t)spans.count; at += spans.iov[i++].iov_len)
			memcpy((uint8_t *)buf + at, spans.iov[i].iov_base, spans.iov[i].iov_len);
		if (!overwrites(r))
			break;
		if (sync_page(r, &after))
			return -1;
		/* A snapshot switched slots meanwhile: how much of ours was overwritten is unknown. */
		if (after.slot != before.slot || after.slot_begin != before.slot_begin)
			continue;
		/* @after is newer than the copy: all that was written during it is below produced. */
		intact = oldest(r, &after);
		if (intact > begin)
			cut = intact - begin < spans.len ? intact - begin : spans.len;
		memmove(buf, (uint8_t *)buf + cut, spans.len - cut);
		break;
	}
	copy->position = begin + cut;
	copy->len = spans.len - cut;
	copy->cut = cut;
	return 0;
}
