// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>

#include "insns.h"
#include "pmu.h"
#include "trace.h"
#include "uapi.h"

/* No code runs further than this without a taken branch. */
#define STRAIGHT	65536u

/* ---- records of BTS --------------------------------------------------------- */

static bool canonical(uint64_t address)
{
	return (uint64_t)((int64_t)(address << 16) >> 16) == address;
}

static const char *wrong(const struct auxtrace_branch *b)
{
	if (b->flags & ~(1ULL << 4))
		return "a record with undefined flags";
	if (!b->from && !b->to)
		return "a record that was not written";
	if (!b->to)
		return "a branch to nowhere";
	if (!canonical(b->from) || !canonical(b->to))
		return "a branch that is not canonical";
	return NULL;
}

/*
 * The module turns BTS off in bts_stop() and on again in bts_start(), wherever the compiler has
 * put the two. What it does in between is not traced.
 */
static bool module_was_off(uint64_t last, uint64_t next)
{
	return !strcmp(function_at(last), "bts_stop") && !strcmp(function_at(next), "bts_start");
}

static void note_branch(struct walk *w, const struct auxtrace_branch *b)
{
	/* The address of kernel code that the session may not see is 0. */
	bool from_kernel = !b->from || b->from >> 63, to_kernel = b->to >> 63;

	w->into_user += from_kernel && !to_kernel;
	w->into_kernel += !from_kernel && to_kernel;
	w->kernel_addresses += (b->from >> 63) + to_kernel;
	/*
	 * Code between two taken branches is straight. Unless the branch before went to another
	 * level than this one comes from: then the code between was not traced.
	 */
	if (w->count && b->from && w->last_to >> 63 == b->from >> 63 &&
	    b->from - w->last_to >= STRAIGHT && !module_was_off(w->last_to, b->from))
		w->breaks++;
	if (!w->count)
		w->first_user = from_kernel && !to_kernel ? b->to : 0;
	w->last_to = b->to;
	w->last_user = to_kernel ? 0 : b->to;
	w->count++;
	w->starts++;
}

static void records_walk(struct walk *w, const void *data, size_t len, bool sync)
{
	const size_t size = sizeof(struct auxtrace_branch);
	size_t at = sync ? len % size : 0;

	w->begins_window = !sync && len >= size;
	for (; len - at >= size; at += size) {
		struct auxtrace_branch b;

		memcpy(&b, (const uint8_t *)data + at, size);
		w->error = wrong(&b);
		if (w->error)
			break;
		note_branch(w, &b);
		if (w->want_ip && b.to == w->want_ip) {
			w->ip_hits++;
			w->last_hit = at;
		}
	}
	w->end = at;
}

/* ---- either ----------------------------------------------------------------- */

void trace_walk(struct walk *w, const void *data, size_t len, bool sync)
{
	struct walk wanted = {
		.want_cr3 = w->want_cr3,
		.cr3_mask = w->cr3_mask,
		.want_ip = w->want_ip,
	};

	*w = wanted;
	if (!len)
		return;
	if (under_bts())
		records_walk(w, data, len, sync);
	else
		packets_walk(w, data, len, sync);
}

void trace_check_window(struct walk *w, const void *data, size_t len, const char *what)
{
	trace_walk(w, data, len, false);
	if (w->error)
		fail_msg("%s: byte %zu of %zu: %s", what, w->end, len, w->error);
	if (w->end != len)
		fail_msg("%s: the last one, at byte %zu of %zu, is incomplete", what, w->end, len);
	if (!w->begins_window && !(under_bts() && !len))
		fail_msg("%s: %zu bytes do not begin as a window does", what, len);
	if (w->breaks)
		fail_msg("%s: %llu of %llu records do not follow from the one before", what,
			 (unsigned long long)w->breaks, (unsigned long long)w->count);
}

struct walk channel_check_window(const struct channel *ch, uint64_t begin, uint64_t end,
				 const char *what)
{
	struct walk walk = { 0 };
	uint8_t *trace = test_malloc(end - begin + 1);

	channel_copy(ch, begin, trace, end - begin);
	trace_check_window(&walk, trace, end - begin, what);
	test_free(trace);
	return walk;
}

uint64_t whole_trace(uint64_t bytes)
{
	return under_bts() ? bytes - bytes % sizeof(struct auxtrace_branch) : bytes;
}

uint64_t trace_least(size_t len)
{
	return under_bts() ? len / sizeof(struct auxtrace_branch) : len / 16;
}

bool trace_goes_on(uint64_t last, uint64_t first)
{
	return under_bts() ? first - last < STRAIGHT : first == last;
}
