// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "lib/perf_trailer.h"
#include "lib/tool.h"
#include "perf_newest.h"

/* No record is longer: it has one path, or one name. */
#define LONGEST		8192
/* sample_id at the end of a record is TID, TIME, CPU, IDENTIFIER, 8 bytes each. */
#define ID_SIZE		32
#define TIME_AT		8

/* A copy of a ring, and the records in it, the newest one first. */
struct newest {
	struct perf_ring copy;
	uint8_t *data;
	size_t count;
	struct newest_record {
		uint64_t at, time;
		size_t size;
	} *record;
};

/* perf counts the records that come while its output is paused, and tells in a LOST record. */
static uint64_t copy_ring(const struct perf_ring *ring, uint8_t *to)
{
	uint64_t head;

	ioctl(ring->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 1);
	head = perf_ring_head(ring);
	/* The head began at 0 and goes down. */
	if (-head < ring->size)
		memcpy(to + (ring->size + head), ring->data + (ring->size + head), -head);
	else
		memcpy(to, ring->data, ring->size);
	ioctl(ring->fd, PERF_EVENT_IOC_PAUSE_OUTPUT, 0);
	return head;
}

static void add_record(struct newest *n, uint64_t at, size_t size)
{
	struct newest_record record = { .at = at, .size = size };
	union {
		struct perf_event_header header;
		uint8_t bytes[LONGEST];
	} copy;
	size_t trailer = size - ID_SIZE;

	if (size <= LONGEST) {
		perf_ring_copy(&n->copy, at, &copy, size);
		trailer = perf_trailer_at(&copy.header, ID_SIZE);
	}
	perf_ring_copy(&n->copy, at + trailer + TIME_AT, &record.time, sizeof(record.time));
	list_grow(n->record, n->count);
	n->record[n->count++] = record;
}

/* A record that perf was writing when the copy was made has overwritten some of the oldest: these are left out. */
static void find_newest(struct newest *n, const struct perf_ring *ring)
{
	uint64_t written, left = ring->size - LONGEST, at;

	*n = (struct newest){ .copy = *ring, .data = xrealloc(NULL, ring->size) };
	n->copy.data = n->data;
	at = copy_ring(ring, n->data);
	written = -at;
	if (written < left)
		left = written;
	while (left >= sizeof(struct perf_event_header)) {
		struct perf_event_header header;

		perf_ring_copy(&n->copy, at, &header, sizeof(header));
		/* The oldest record, of which newer ones have overwritten a part. */
		if (header.size < sizeof(header) + ID_SIZE || header.size > left)
			break;
		add_record(n, at, header.size);
		at += header.size;
		left -= header.size;
	}
}

/* The one with the oldest record that is not yet written; NULL: all are. */
static struct newest *oldest_of(struct newest *newest, unsigned int count)
{
	struct newest *oldest = NULL;

	for (struct newest *n = newest; n < newest + count; n++)
		if (n->count && (!oldest || n->record[n->count - 1].time < oldest->record[oldest->count - 1].time))
			oldest = n;
	return oldest;
}

bool perf_newest_write(const struct perf_ring *ring, unsigned int count, FILE *f)
{
	struct newest *newest = xcalloc(count, sizeof(*newest)), *n;
	bool ok = true;

	for (unsigned int i = 0; i < count; i++)
		find_newest(&newest[i], &ring[i]);
	while (ok && (n = oldest_of(newest, count))) {
		n->count--;
		ok = perf_ring_write(&n->copy, n->record[n->count].at, n->record[n->count].size, f);
	}
	for (unsigned int i = 0; i < count; i++) {
		free(newest[i].record);
		free(newest[i].data);
	}
	free(newest);
	return ok;
}
