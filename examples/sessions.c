// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program in which one call in a thousand is slow, for `make demo-latency`.
 *
 * It keeps a table of user sessions: a hash table with open addressing. Each request opens a
 * session and closes the oldest one, which leaves a tombstone in its place. Most calls of
 * table_put() look at a few places. A call that finds too many tombstones first moves the
 * whole table to new memory; its caller only sees that it took long.
 *
 *   sessions REQUESTS   prints how long the calls took: the median, the slowest, and how
 *                       many were slow (more than 20 times the median)
 */
#include <err.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PLACES		16384	/* a power of two */
#define LIVE		4000	/* sessions open at the same time */
#define TOMBSTONES	1000	/* with more than these the table is moved */
#define SLOW		20	/* times the median */

#define FREE		0
#define TOMBSTONE	UINT64_MAX

struct session {
	uint64_t key;
	uint64_t opened;	/* number of the request */
	char user[48];
};

static struct session *table;
static unsigned int tombstones;

static uint64_t table_hash(uint64_t key)
{
	key ^= key >> 33;
	key *= 0xff51afd7ed558ccdull;
	key ^= key >> 33;
	return key;
}

/* The place of @key, or if it has none, the first free one. */
static __attribute__((noinline)) struct session *table_probe(struct session *in, uint64_t key)
{
	uint64_t i = table_hash(key) % PLACES;

	while (in[i].key != FREE && in[i].key != key)
		i = (i + 1) % PLACES;
	return &in[i];
}

static __attribute__((noinline)) void table_move(struct session *to, const struct session *session)
{
	*table_probe(to, session->key) = *session;
}

/* Moves the table, without tombstones, to new memory. The current call pays for it. */
static __attribute__((noinline)) void table_rehash(void)
{
	struct session *fresh = calloc(PLACES, sizeof(*fresh));

	if (!fresh)
		err(1, "table");
	for (unsigned int i = 0; i < PLACES; i++)
		if (table[i].key != FREE && table[i].key != TOMBSTONE)
			table_move(fresh, &table[i]);
	free(table);
	table = fresh;
	tombstones = 0;
}

__attribute__((noinline)) void table_put(uint64_t key, uint64_t request)
{
	struct session *session;

	if (tombstones > TOMBSTONES)
		table_rehash();
	session = table_probe(table, key);
	session->key = key;
	session->opened = request;
	snprintf(session->user, sizeof(session->user), "user%u", (unsigned int)(key % 1000));
}

__attribute__((noinline)) void table_remove(uint64_t key)
{
	struct session *session = table_probe(table, key);

	if (session->key != key)
		errx(1, "session %#lx is lost", (unsigned long)key);
	session->key = TOMBSTONE;
	tombstones++;
}

/* A key that is never FREE or TOMBSTONE. */
static uint64_t key_of(uint64_t request)
{
	return (request + 1) * 0x9e3779b97f4a7c15ull >> 1 | 1;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

static int by_size(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	unsigned long requests = argc == 2 ? strtoul(argv[1], NULL, 10) : 0, slow = 0;
	uint64_t *took;

	if (!requests)
		errx(2, "usage: sessions REQUESTS");
	took = calloc(requests, sizeof(*took));
	table = calloc(PLACES, sizeof(*table));
	if (!took || !table)
		err(1, "sessions");
	for (unsigned long i = 0; i < requests; i++) {
		uint64_t begin = now_ns();

		table_put(key_of(i), i);
		took[i] = now_ns() - begin;
		if (i >= LIVE)
			table_remove(key_of(i - LIVE));
	}
	qsort(took, requests, sizeof(*took), by_size);
	while (slow < requests && took[requests - 1 - slow] > SLOW * took[requests / 2])
		slow++;
	printf("requests: %lu\nmedian: %lu ns\nslowest: %lu ns\nslow calls: %lu\n", requests,
	       (unsigned long)took[requests / 2], (unsigned long)took[requests - 1], slow);
	free(took);
	free(table);
	return 0;
}
