/* SPDX-License-Identifier: GPL-2.0-only */
/* The records of rings that perf overwrites (perf_ring.h), from the oldest one that is whole. */
#ifndef PERF_NEWEST_H
#define PERF_NEWEST_H

#include <stdbool.h>
#include <stdio.h>

#include "perf_ring.h"

/*
 * Write the records that are in the @count rings @ring to @f, all in the order of time. Each record ends
 * with sample_id of TID, TIME, CPU and IDENTIFIER. perf goes on to write: it counts records that come while a ring is
 * copied, and tells in a LOST record. Returns false with errno if @f cannot be written to.
 */
bool perf_newest_write(const struct perf_ring *ring, unsigned int count, FILE *f);

#endif
