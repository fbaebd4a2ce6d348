/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The module's own writer (module/core/data_ring.c) in a thread at full speed: a writer
 * and two kinds of signals that land in it and in each other, as NMIs do.
 */
#ifndef STRESS_WRITER_H
#define STRESS_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include <linux/auxtrace.h>

#define LEVELS	3		/* the writer, a signal in it, another signal in that */
#define TYPE	0x7000u		/* of a record of level 0; the others follow */

/* A record is this, up to 15 words more, and its end; all follows from level and number. */
struct stress_record {
	struct auxtrace_record_header header;
	uint64_t number;
};

static inline uint64_t stress_word(unsigned int level, uint64_t number, unsigned int i)
{
	uint64_t x = (number * LEVELS + level) * 0x9e3779b97f4a7c15ull + i * 0xff51afd7ed558ccdull;

	return x ^ x >> 31;
}

static inline uint32_t stress_size(unsigned int level, uint64_t number)
{
	return sizeof(struct stress_record) + stress_word(level, number, 77) % 16 * 8 +
	       sizeof(struct auxtrace_record_end);
}

/*
 * Begin to write to the ring of @setup, whose memory is @data_fd, until stress_stop().
 * To the caller it is another CPU.
 */
void stress_start(const struct auxtrace_setup *setup, int data_fd,
		  struct auxtrace_status_page *page, struct auxtrace_user_page *user);
void stress_stop(void);

/* From stress_start() on the writer goes on in the next slot now and then; 0: it does not. */
extern unsigned int stress_rotation;

/* The writer puts its slot aside between two records and goes on in @slot. */
void stress_switch(uint32_t slot, struct auxtrace_cut *cut);

/* After stress_stop(): records that each level tried to write, and that were dropped. */
struct stress_count {
	uint64_t tried, dropped;
};
extern struct stress_count stress_count[LEVELS];

/* How often a writer found that it had interrupted one. */
extern uint64_t stress_nested;

#endif
