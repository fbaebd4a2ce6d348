/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Queues of messages, each from a thread of its own (the writer) to the one that reads them all.
 *
 * Memory. A queue holds a fixed part of QUEUES_BYTES: if it is full, its writer waits until the reader has read. So a
 * writer that runs ahead takes nothing from the one for which the reader waits.
 *
 * Places. Of all writers a given number runs at a time. One that waits for its reader leaves its place to another.
 * So neither the memory nor the places let reader and writers wait for each other: a writer waits for a place only while
 * others run, and these come to their end or to a full queue.
 */
#ifndef QUEUE_H
#define QUEUE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QUEUES_BYTES	(64u << 20)	/* of all queues */

/* What each message begins with. */
struct message {
	uint16_t size;		/* of all of it, a multiple of 8; queue_write() sets it */
	uint8_t what;		/* the writer's, */
	uint8_t more;		/* and that, too */
};

/* No message is larger. */
#define MESSAGE_MAX	8192

struct chunk;

struct queues {
	pthread_mutex_t lock;
	pthread_cond_t place;	/* there is one */
	unsigned int places;	/* that are free */
	size_t chunk_bytes;
	unsigned int max_chunks; /* of each */
};

struct queue {
	struct queues *all;
	/* With the lock: */
	pthread_cond_t written, read;
	struct chunk *first, *last;	/* written, and not read yet */
	struct chunk *unused;
	unsigned int nr_chunks;	/* that there are */
	bool ended, closed;
	/* The writer's: */
	struct chunk *writing;
	bool stop;		/* the reader has closed it, as far as the writer knows: see queue_look() */
	/* The reader's: */
	struct chunk *reading;
	size_t at;		/* in @reading */
};

/* @count queues, of whose writers @places run at a time. */
void queues_init(struct queues *all, unsigned int count, unsigned int places);
void queues_destroy(struct queues *all);

void queue_init(struct queue *q, struct queues *all);
/* Behind the writer's end. */
void queue_destroy(struct queue *q);

/* For the writer, which begins and ends with these. */
void queue_begin(struct queue *q);
void queue_end(struct queue *q);
/* Space for a message of @size bytes, up to MESSAGE_MAX, which the writer fills in before it writes the next one. */
void *queue_write(struct queue *q, uint8_t what, size_t size);
/* Let the reader have what was written so far. */
void queue_flush(struct queue *q);
/*
 * Set q->stop if the reader has closed it, as queue_write() does now and then; and if the reader has nothing to read, let it have
 * what was written.
 */
void queue_look(struct queue *q);

/* For the reader: the next message, valid until the next call; NULL: the writer has ended. */
const struct message *queue_read(struct queue *q);
/* Nothing is read any more: the writer does not wait, and is to end. */
void queue_close(struct queue *q);

#endif
