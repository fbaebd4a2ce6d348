/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A histogram of 64-bit values for percentiles: within each power of two the buckets are equally
 * wide, a 32nd of it. So a percentile is at most 1/32 too large.
 */
#ifndef HISTOGRAM_H
#define HISTOGRAM_H

#include <stdint.h>

struct histogram {
	uint64_t count, max;
	uint32_t *bucket;	/* of the powers of two that have been needed; NULL: empty */
	unsigned int first, buckets; /* the number of its first bucket, and how many it has */
};

void histogram_add(struct histogram *h, uint64_t value);
/* The value that @percent of 100 values do not exceed; at most max. 0 if there are none. */
uint64_t histogram_percentile(const struct histogram *h, unsigned int percent);
void histogram_free(struct histogram *h);

#endif
