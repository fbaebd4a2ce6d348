// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>

#include "lib/tool.h"
#include "queue.h"

/* Large enough that the lock is taken seldom, small enough for a core's cache. */
#define CHUNK_MAX	(64u << 10)
#define CHUNK_MIN	MESSAGE_MAX

struct chunk {
	struct chunk *next;
	size_t used;
	uint64_t bytes[];	/* aligned for messages */
};

void queues_init(struct queues *all, unsigned int count, unsigned int places)
{
	size_t share = QUEUES_BYTES / count;

	*all = (struct queues){ .places = places };
	pthread_mutex_init(&all->lock, NULL);
	pthread_cond_init(&all->place, NULL);
	/* At least two, so that one is written while the other is read. */
	all->chunk_bytes = share / 2 < CHUNK_MAX ? share / 2 : CHUNK_MAX;
	if (all->chunk_bytes < CHUNK_MIN)
		all->chunk_bytes = CHUNK_MIN;
	all->max_chunks = share / all->chunk_bytes ?: 1;
}

void queues_destroy(struct queues *all)
{
	pthread_cond_destroy(&all->place);
	pthread_mutex_destroy(&all->lock);
}

void queue_init(struct queue *q, struct queues *all)
{
	*q = (struct queue){ .all = all };
	pthread_cond_init(&q->written, NULL);
	pthread_cond_init(&q->read, NULL);
}

static void free_chunks(struct chunk *c)
{
	while (c) {
		struct chunk *next = c->next;

		free(c);
		c = next;
	}
}

void queue_destroy(struct queue *q)
{
	free_chunks(q->first);
	free_chunks(q->unused);
	free(q->writing);
	free(q->reading);
	pthread_cond_destroy(&q->written);
	pthread_cond_destroy(&q->read);
}

/* ---- the writer ------------------------------------------------------------------ */

static void take_place(struct queues *all)
{
	while (!all->places)
		pthread_cond_wait(&all->place, &all->lock);
	all->places--;
}

static void leave_place(struct queues *all)
{
	all->places++;
	pthread_cond_signal(&all->place);
}

static void hand_over(struct queue *q)
{
	struct chunk *c = q->writing;

	if (!c || !c->used)
		return;
	q->writing = NULL;
	c->next = NULL;
	if (q->first)
		q->last->next = c;
	else
		q->first = c;
	q->last = c;
	pthread_cond_signal(&q->written);
}

/* Wait, if need be, until the queue may have another chunk. */
static void wait_for_space(struct queue *q)
{
	if (q->unused || q->nr_chunks < q->all->max_chunks || q->closed)
		return;
	leave_place(q->all);
	while (!q->unused && !q->closed)
		pthread_cond_wait(&q->read, &q->all->lock);
	take_place(q->all);
}

/* A chunk to write to; NULL: a new one is needed. */
static struct chunk *next_chunk(struct queue *q)
{
	struct chunk *c = NULL;

	pthread_mutex_lock(&q->all->lock);
	q->stop = q->closed;
	if (q->stop) {
		/* Nobody reads it. */
		c = q->writing;
	} else {
		hand_over(q);
		wait_for_space(q);
		q->stop = q->closed;
	}
	if (!c && q->unused) {
		c = q->unused;
		q->unused = c->next;
	} else if (!c) {
		q->nr_chunks++;
	}
	pthread_mutex_unlock(&q->all->lock);
	return c;
}

void queue_begin(struct queue *q)
{
	pthread_mutex_lock(&q->all->lock);
	take_place(q->all);
	pthread_mutex_unlock(&q->all->lock);
}

void *queue_write(struct queue *q, uint8_t what, size_t size)
{
	struct message *m;

	size = (size + 7) & ~7ul;
	if (!q->writing || q->all->chunk_bytes - q->writing->used < size) {
		q->writing = next_chunk(q);
		if (!q->writing)
			q->writing = xrealloc(NULL, sizeof(*q->writing) + q->all->chunk_bytes);
		q->writing->used = 0;
	}
	m = (void *)((uint8_t *)q->writing->bytes + q->writing->used);
	q->writing->used += size;
	m->size = size;
	m->what = what;
	return m;
}

void queue_flush(struct queue *q)
{
	pthread_mutex_lock(&q->all->lock);
	hand_over(q);
	pthread_mutex_unlock(&q->all->lock);
}

void queue_look(struct queue *q)
{
	pthread_mutex_lock(&q->all->lock);
	q->stop = q->closed;
	if (!q->first)
		hand_over(q);
	pthread_mutex_unlock(&q->all->lock);
}

void queue_end(struct queue *q)
{
	pthread_mutex_lock(&q->all->lock);
	hand_over(q);
	q->ended = true;
	pthread_cond_signal(&q->written);
	leave_place(q->all);
	pthread_mutex_unlock(&q->all->lock);
}

/* ---- the reader ------------------------------------------------------------------ */

/* Give back the chunk that was read, and take the next one. False: there is none any more. */
static bool read_on(struct queue *q)
{
	pthread_mutex_lock(&q->all->lock);
	if (q->reading) {
		q->reading->next = q->unused;
		q->unused = q->reading;
		pthread_cond_signal(&q->read);
	}
	while (!q->first && !q->ended)
		pthread_cond_wait(&q->written, &q->all->lock);
	q->reading = q->first;
	if (q->reading)
		q->first = q->reading->next;
	pthread_mutex_unlock(&q->all->lock);
	q->at = 0;
	return q->reading;
}

const struct message *queue_read(struct queue *q)
{
	const struct message *m;

	if ((!q->reading || q->at == q->reading->used) && !read_on(q))
		return NULL;
	m = (const void *)((uint8_t *)q->reading->bytes + q->at);
	q->at += m->size;
	return m;
}

void queue_close(struct queue *q)
{
	pthread_mutex_lock(&q->all->lock);
	q->closed = true;
	pthread_cond_signal(&q->read);
	pthread_mutex_unlock(&q->all->lock);
}
