// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "histogram.h"
#include "lib/tool.h"

#define SUB_BITS	5
#define SUB		(1u << SUB_BITS)
/* Values below SUB have a bucket each; each higher power of two has SUB. */

static unsigned int bucket_of(uint64_t value)
{
	unsigned int shift;

	if (value < SUB)
		return value;
	shift = 63 - __builtin_clzll(value) - SUB_BITS;
	return (shift + 1) * SUB + ((value >> shift) & (SUB - 1));
}

/* The largest value of a bucket. */
static uint64_t bucket_max(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < SUB)
		return bucket;
	shift = bucket / SUB - 1;
	return (((uint64_t)(SUB + bucket % SUB) + 1) << shift) - 1;
}

/* The bucket @number, which may be the first of its power of two. */
static uint32_t *place(struct histogram *h, unsigned int number)
{
	unsigned int first = number / SUB * SUB, end = first + SUB;
	uint32_t *more;

	if (h->bucket && number >= h->first && number < h->first + h->buckets)
		return &h->bucket[number - h->first];
	if (h->bucket) {
		first = first < h->first ? first : h->first;
		end = end > h->first + h->buckets ? end : h->first + h->buckets;
	}
	more = xcalloc(end - first, sizeof(*more));
	if (h->bucket)
		memcpy(more + (h->first - first), h->bucket, h->buckets * sizeof(*more));
	free(h->bucket);
	h->bucket = more;
	h->first = first;
	h->buckets = end - first;
	return &more[number - first];
}

void histogram_add(struct histogram *h, uint64_t value)
{
	uint32_t *bucket = place(h, bucket_of(value));

	if (*bucket < UINT32_MAX)
		++*bucket;
	h->count++;
	if (value > h->max)
		h->max = value;
}

uint64_t histogram_percentile(const struct histogram *h, unsigned int percent)
{
	uint64_t wanted = ((unsigned __int128)h->count * percent + 99) / 100, seen = 0;

	for (unsigned int i = 0; i < h->buckets; i++) {
		uint64_t max = bucket_max(h->first + i);

		seen += h->bucket[i];
		if (seen >= wanted && seen)
			return max < h->max ? max : h->max;
	}
	return h->max;
}

void histogram_free(struct histogram *h)
{
	free(h->bucket);
	*h = (struct histogram){ 0 };
}
