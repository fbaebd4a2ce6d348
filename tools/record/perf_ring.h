/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ring into which perf writes the records of one event (<linux/perf_event.h>, "struct
 * perf_event_mmap_page").
 */
#ifndef PERF_RING_H
#define PERF_RING_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct perf_ring {
	int fd;			/* of the event */
	struct perf_event_mmap_page *page;
	const uint8_t *data;
	size_t page_size, size;	/* size: bytes of @data, a power of two */
	int64_t enabled;	/* for so many ns, at the last perf_ring_look() */
};

/*
 * Open an event of all processes on @cpu, with a ring of @pages pages, a power of two. With
 * attr->write_backward perf overwrites the oldest records. 0, or -1 with errno: nothing is left open.
 */
int perf_ring_open(struct perf_ring *r, const struct perf_event_attr *attr, int cpu, unsigned int pages);
void perf_ring_close(struct perf_ring *r);

/*
 * When a CPU goes offline perf drops its events, and does not take them up again when the CPU is back. Call perf_ring_look(),
 * and PERF_RING_WAIT_NS later perf_ring_dropped(). Each interrupts the ring's CPU.
 */
#define PERF_RING_WAIT_NS	2000000l
void perf_ring_look(struct perf_ring *r);
bool perf_ring_dropped(const struct perf_ring *r);

/* Where the next record will be (with write_backward: where the newest one begins). */
static inline uint64_t perf_ring_head(const struct perf_ring *r)
{
	/* Acquire: records below the head are complete. Partner: perf's barrier before its store. */
	return __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
}

/* Let perf write over what is before @tail. Not with write_backward. */
static inline void perf_ring_consume(struct perf_ring *r, uint64_t tail)
{
	/* Release: all reads come before this store. Partner: perf's control dependency on it. */
	__atomic_store_n(&r->page->data_tail, tail, __ATOMIC_RELEASE);
}

/* Copy @size bytes from position @at, which may wrap at the ring's end. */
void perf_ring_copy(const struct perf_ring *r, uint64_t at, void *to, size_t size);

/* The same to @f. Returns false with errno if that cannot be written to. */
bool perf_ring_write(const struct perf_ring *r, uint64_t from, size_t size, FILE *f);

#endif
