// SPDX-License-Identifier: LGPL-2.1-or-later
#include <stdlib.h>

#include "runs.h"
#include "userlib/search.h"

static void add(struct runs *r, uint64_t tsc, uint32_t pid, uint32_t tid)
{
	list_grow(r->run, r->count);
	r->run[r->count++] = (struct run){ .tsc = tsc, .pid = pid, .tid = tid };
}

#define EXITED	UINT32_MAX	/* perf's number of a thread that has exited, and now leaves the CPU for good */

/* At @tsc thread @tid left the CPU to thread @next. */
static void add_switch(struct runs *r, uint64_t tsc, uint32_t pid, uint32_t tid, uint32_t next_pid,
		       uint32_t next)
{
	struct run *last;

	if (!r->count)
		add(r, 0, pid, tid);
	last = &r->run[r->count - 1];
	/* If it is not the one that came last, records are missing between these, whether that was told or not. */
	last->lost |= tid == EXITED ? last->tid == EXITED : last->tid != tid;
	add(r, tsc, next_pid, next);
}

/* Records are missing behind one of the last @behind. */
static void add_loss(struct runs *r, size_t behind)
{
	for (size_t i = 1; i <= behind && i <= r->count; i++)
		r->run[r->count - i].lost = true;
}

/* A SWITCH record does not have the process of the thread that leaves. */
static uint32_t pid_of_first(const struct records *records, uint32_t tid)
{
	const union auxtrace_record *start = records->start;

	return start && start->itrace_start.tid == tid ? start->itrace_start.pid : 0;
}

static void take_records(struct runs *r, const struct records *records)
{
	for (size_t i = 0; i < records->nr_switches; i++) {
		const struct auxtrace_record_end *end = auxtrace_record_end(records->switches[i]);
		const struct auxtrace_record_switch *s = &records->switches[i]->context_switch;

		if (s->header.type == AUXTRACE_RECORD_LOST) {
			add_loss(r, 1);
			continue;
		}
		add_switch(r, end->time, pid_of_first(records, end->tid), end->tid, s->next_prev_pid,
			   s->next_prev_tid);
	}
}

/* perf writes two records a switch, of the thread that leaves and of the one that comes. */
static void take_side(struct runs *r, const struct side *side, unsigned int cpu)
{
	for (size_t i = 0; i < side->count; i++) {
		const struct side_record *record = &side->record[i];
		const struct {
			struct perf_event_header header;
			uint32_t next_pid, next_tid;
		} *s = (const void *)record->header;

		if (record->cpu != cpu)
			continue;
		/* perf writes it together with the first record behind the loss, and takes its time later. */
		if (s->header.type == PERF_RECORD_LOST)
			add_loss(r, 2);
		else if (s->header.type == PERF_RECORD_SWITCH_CPU_WIDE &&
			 s->header.misc & PERF_RECORD_MISC_SWITCH_OUT && record->size >= sizeof(*s))
			add_switch(r, record->tsc, record->pid, record->tid, s->next_pid, s->next_tid);
	}
}

/* Whoever was traced is the only thread of the scope. It may never have left the CPU. */
static void take_only(struct runs *r, const struct records *records)
{
	if (records->start)
		add(r, 0, records->start->itrace_start.pid, records->start->itrace_start.tid);
	else if (records->nr_windows)
		add(r, 0, records->window[0]->begin_pid, records->window[0]->begin_tid);
}

void runs_find(struct runs *r, const struct records *records, const struct side *side, unsigned int cpu, uint32_t flags)
{
	*r = (struct runs){ 0 };
	take_records(r, records);
	if (!r->count)
		take_side(r, side, cpu);
	if (!r->count && flags & AUXTRACE_SETUP_THREAD && !(flags & AUXTRACE_SETUP_DESCENDANTS))
		take_only(r, records);
}

void runs_free(struct runs *r)
{
	free(r->run);
	*r = (struct runs){ 0 };
}

size_t runs_at(const struct runs *r, uint64_t tsc)
{
	size_t i;

	if (!tsc)
		return r->count;
	find_first(i, r->count, r->run[i].tsc > tsc);
	return i ? i - 1 : r->count;
}

size_t runs_after_switch(const struct runs *r, size_t run, bool switched, uint64_t after, uint64_t before)
{
	size_t now = runs_at(r, after);

	if (run >= r->count || (now < r->count && now > run))
		return now;
	/* Where records are missing it may be one of theirs. */
	if (!switched || run + 1 >= r->count || r->run[run].lost || r->run[run + 1].tsc > before)
		return run;
	return run + 1;
}
