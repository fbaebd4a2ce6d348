// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "branches.h"
#include "invariants.h"

#define SIZE	sizeof(struct auxtrace_branch)

struct branches branches_copy(const struct channel *ch, uint64_t begin, uint64_t end)
{
	struct branches b = { .count = (end - begin) / SIZE };

	assert_int_equal(begin % SIZE, 0);
	assert_int_equal(end % SIZE, 0);
	b.at = malloc(end - begin + 1);
	assert_non_null(b.at);
	channel_copy(ch, begin, b.at, end - begin);
	return b;
}

struct branches branches_available(const struct channel *ch)
{
	uint64_t end, len;

	/* Both from one moment: while it traces, an interrupt may come between the two reads. */
	do {
		end = channel_status(ch).produced;
		len = channel_available(ch);
	} while (channel_status(ch).produced != end);
	return branches_copy(ch, end - len + len % SIZE, end);
}

struct branches branches_of_insns(const struct insns *in)
{
	struct branches b = { .at = calloc(in->count + 1, SIZE) };

	assert_non_null(b.at);
	for (size_t i = 0; i + 1 < in->count; i++) {
		if (in->ip[i] + in->size[i] == in->ip[i + 1])
			continue;
		b.at[b.count].from = in->ip[i];
		b.at[b.count++].to = in->ip[i + 1];
	}
	return b;
}

/* ---- the program ------------------------------------------------------------ */

static volatile uint32_t sink;

static __attribute__((noinline)) void begin_of_run(void)
{
	sink++;
}

static __attribute__((noinline)) void end_of_run(void)
{
	sink--;
}

static __attribute__((noinline)) uint32_t depth(uint32_t n)
{
	return n ? depth(n - 1) + sink : n;
}

static __attribute__((noinline)) uint32_t step(uint32_t x)
{
	if (x & 4)
		x ^= x << 5;
	while (x & 64)
		x = x >> 1 ^ 0x1234;
	return x * 5 + 1;
}

void branches_make(unsigned int rounds)
{
	uint32_t x = 1;

	sink = 0;
	begin_of_run();
	while (rounds--) {
		for (int i = 0; i < 200; i++)
			x = step(x);
		x += depth(100);
	}
	end_of_run();
	sink = x;
}

static bool is_user(uint64_t address)
{
	return address && !(address >> 63);
}

void branches_of_run(struct branches *b, bool *whole)
{
	size_t begin = 0, end = b->count, kept = 0;

	while (end && b->at[end - 1].to != (uintptr_t)end_of_run)
		end--;
	begin = end;
	while (begin && b->at[begin - 1].to != (uintptr_t)begin_of_run)
		begin--;
	*whole = begin;
	for (size_t i = begin; i < end; i++)
		if (is_user(b->at[i].from) && is_user(b->at[i].to))
			b->at[kept++] = b->at[i];
	b->count = kept;
}
