// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/perf_trailer.h"
#include "lib/tool.h"
#include "perf_record.h"
#include "perf_sideband.h"
#include "userlib/search.h"

#define FIRST_TOOL_TYPE	64	/* of perf's tools: they mean something to perf's reader only */

/* SWITCH_CPU_WIDE, behind the header */
struct switch_body {
	uint32_t next_prev_pid, next_prev_tid;
};

/* ---- cpuN.side ---------------------------------------------------------- */

/* The record at @at, which then is behind it. NULL: there is none. */
static const struct perf_event_header *next_side(const struct mapped *side, size_t *at)
{
	const struct perf_event_header *h;
	size_t left = side->size - *at;

	if (left < sizeof(*h))
		return NULL;
	h = (const void *)(side->data + *at);
	if (h->size % 8 || h->size < sizeof(*h) + sizeof(struct perf_trailer) ||
	    h->size > left || h->type >= FIRST_TOOL_TYPE)
		return NULL;
	if (h->type == PERF_RECORD_SWITCH_CPU_WIDE &&
	    h->size < sizeof(*h) + sizeof(struct switch_body) + sizeof(struct perf_trailer))
		return NULL;
	*at += h->size;
	return h;
}

static const struct perf_trailer *trailer_of_side(const struct perf_event_header *h)
{
	return (const void *)((const char *)h + perf_trailer_at(h, sizeof(struct perf_trailer)));
}

static void read_side(struct perf_sideband *s, const char *dir)
{
	const struct perf_event_header *h;
	char path[4200];
	size_t at = 0;
	int err;

	snprintf(path, sizeof(path), "%s/cpu%u.side", dir, s->cpu);
	err = map_file(path, false, &s->side);
	if (err && err != -ENOENT)
		die(1, "cannot read %s: %s", path, strerror(-err));
	while ((h = next_side(&s->side, &at)))
		if (h->type == PERF_RECORD_SWITCH_CPU_WIDE)
			s->switches = PERF_SWITCHES_OF_SIDE;
	if (at != s->side.size)
		say("%s: there is no record at offset %zu: the rest is not exported", path, at);
	s->side.size = at;
}

/* The record itself, with the ID of the file's event in place of that of the event that wrote it. */
static void write_side(const struct perf_event_header *h, struct perf_data *data)
{
	struct perf_trailer own = *trailer_of_side(h);
	const uint8_t *body = (const uint8_t *)(h + 1);
	const uint64_t id = PERF_ID_SIDEBAND;
	struct perf_record r;

	own.id = id;
	perf_record_begin(&r, h->type, h->misc);
	perf_record_add(&r, body, perf_trailer_at(h, sizeof(own)) - sizeof(*h));
	if (h->type == PERF_RECORD_LOST && h->size >= sizeof(*h) + sizeof(id) + sizeof(own))
		memcpy(r.bytes, &id, sizeof(id));
	perf_record_end(&r, data, &own);
}

/* ---- cpuN.data ---------------------------------------------------------- */

static const union auxtrace_record *next_of_ring(const struct perf_sideband *s, size_t *at)
{
	return s->records ? auxtrace_record_next(s->records->file.data, s->records->file.size, at) : NULL;
}

static struct perf_trailer trailer_of(const struct perf_sideband *s, const struct perf_tasks *tasks,
				      const union auxtrace_record *record, uint64_t id)
{
	const struct auxtrace_record_end *end = auxtrace_record_end(record);

	return (struct perf_trailer){
		.pid = perf_tasks_process_of(tasks, end->tid), .tid = end->tid,
		.time = perf_time(s->meta, end->time), .cpu = s->cpu, .id = id,
	};
}

/* A record with perf's type and body. @fill: an ID that stands first in it. */
static void write_same(const union auxtrace_record *record, size_t body, const uint64_t *fill,
		       const struct perf_trailer *trailer, struct perf_data *data)
{
	struct perf_record r;

	perf_record_begin(&r, record->header.type, record->header.misc);
	perf_record_add(&r, (const uint8_t *)&record->header + sizeof(record->header), body);
	if (fill)
		memcpy(r.bytes, fill, sizeof(*fill));
	perf_record_end(&r, data, trailer);
}

/* ITRACE_START: from here the CPU runs that thread. */
static void write_start(const struct perf_sideband *s, uint32_t pid, uint32_t tid, uint64_t time,
			struct perf_data *data)
{
	const struct perf_trailer trailer = {
		.pid = pid, .tid = tid, .time = time, .cpu = s->cpu, .id = PERF_ID_TRACE,
	};
	const uint32_t who[2] = { pid, tid };
	struct perf_record r;

	perf_record_begin(&r, PERF_RECORD_ITRACE_START, 0);
	perf_record_add(&r, who, sizeof(who));
	perf_record_end(&r, data, &trailer);
}

/*
 * Does the record say which thread the CPU ran? Where a window begins because the CPU comes to a member of
 * the session, it has yet to switch to that thread: a record of the switch says when.
 */
static bool says_who(const struct perf_sideband *s, const union auxtrace_record *record,
		     enum perf_switches switches)
{
	const bool scoped = s->meta->flags & (AUXTRACE_SETUP_THREAD | AUXTRACE_SETUP_PROCESS);

	if (record->header.type == AUXTRACE_RECORD_ITRACE_START)
		return !switches || !scoped;
	return record->header.type == AUXTRACE_RECORD_WINDOW &&
	       (!switches || record->window.begin_cause != AUXTRACE_CAUSE_TASK);
}

/* The bodies, which are perf's: what is between the header and the end. */
#define BODY(member) (sizeof(((union auxtrace_record *)0)->member) - sizeof(struct auxtrace_record_header) - \
		      sizeof(struct auxtrace_record_end))

static void write_ring(const struct perf_sideband *s, const struct perf_tasks *tasks,
		       const union auxtrace_record *record, enum perf_switches switches,
		       struct perf_data *data)
{
	struct perf_trailer trailer = trailer_of(s, tasks, record, PERF_ID_TRACE);
	const uint64_t trace = PERF_ID_TRACE;

	switch (record->header.type) {
	case AUXTRACE_RECORD_LOST:
		write_same(record, BODY(lost), &trace, &trailer, data);
		break;
	case AUXTRACE_RECORD_AUX:
		write_same(record, BODY(aux), NULL, &trailer, data);
		break;
	case AUXTRACE_RECORD_ITRACE_START:
		if (says_who(s, record, switches))
			write_same(record, BODY(itrace_start), NULL, &trailer, data);
		break;
	case AUXTRACE_RECORD_SWITCH:
		if (switches == PERF_SWITCHES_OF_SIDE)
			break;
		trailer.id = PERF_ID_SIDEBAND;
		write_same(record, BODY(context_switch), NULL, &trailer, data);
		break;
	case AUXTRACE_RECORD_WINDOW:
		/* perf has no windows. What it needs to know of one is whose trace begins. */
		if (says_who(s, record, switches))
			write_start(s, record->window.begin_pid, record->window.begin_tid,
				    perf_time(s->meta, record->window.begin_time), data);
		break;
	}
}

struct first {			/* the thread that a CPU ran first, as far as is known */
	uint64_t time;
	uint32_t pid, tid;
};

static void note_first(struct first *first, uint64_t time, uint32_t pid, uint32_t tid)
{
	if (time < first->time)
		*first = (struct first){ time, pid, tid };
}

static void find_first_thread(const struct perf_sideband *s, const struct perf_tasks *tasks,
			      enum perf_switches switches, struct first *first)
{
	const union auxtrace_record *record;
	const struct perf_event_header *h;
	size_t at = 0;

	while ((record = next_of_ring(s, &at))) {
		const struct auxtrace_record_end *end = auxtrace_record_end(record);

		if (record->header.type == AUXTRACE_RECORD_SWITCH)
			note_first(first, perf_time(s->meta, end->time), perf_tasks_process_of(tasks, end->tid), end->tid);
		else if (!says_who(s, record, switches))
			continue;
		else if (record->header.type == AUXTRACE_RECORD_ITRACE_START)
			note_first(first, perf_time(s->meta, end->time), record->itrace_start.pid,
				   record->itrace_start.tid);
		else
			note_first(first, perf_time(s->meta, record->window.begin_time), record->window.begin_pid,
				   record->window.begin_tid);
	}
	at = 0;
	while ((h = next_side(&s->side, &at))) {
		const struct perf_trailer *t = trailer_of_side(h);

		if (h->type == PERF_RECORD_SWITCH_CPU_WIDE)
			note_first(first, t->time, t->pid, t->tid);
	}
}

/*
 * A time before all others, but for 0, which is that of records that perf does not sort. Where the clock of the kernel was
 * ahead of the TSC from the beginning, no TSC has its first times: perf takes these for times in a far future.
 */
static uint64_t earliest(const struct meta *meta)
{
	return (int64_t)meta->time_zero > 0 ? meta->time_zero + 1 : 1;
}

/*
 * perf takes the time of the trace from its packets, and that of the first ones may be before that of the
 * first record. Nor need the oldest records be as old as the trace.
 */
static void write_first(const struct perf_sideband *s, const struct perf_tasks *tasks,
			enum perf_switches switches, struct perf_data *data)
{
	struct first first = { .time = UINT64_MAX };

	find_first_thread(s, tasks, switches, &first);
	if (first.time != UINT64_MAX)
		write_start(s, first.pid, first.tid, earliest(s->meta), data);
}

static void add_threads(const union auxtrace_record *record, struct perf_tasks *tasks)
{
	switch (record->header.type) {
	case AUXTRACE_RECORD_ITRACE_START:
		perf_tasks_add_thread(tasks, record->itrace_start.pid, record->itrace_start.tid);
		break;
	case AUXTRACE_RECORD_SWITCH:
		perf_tasks_add_thread(tasks, record->context_switch.next_prev_pid,
				      record->context_switch.next_prev_tid);
		break;
	case AUXTRACE_RECORD_WINDOW:
		perf_tasks_add_thread(tasks, record->window.begin_pid, record->window.begin_tid);
		perf_tasks_add_thread(tasks, record->window.pid, record->window.tid);
		break;
	}
}

/* ---- context switches --------------------------------------------------- */

static void add_switch(struct perf_sideband *s, uint64_t time, uint32_t from, uint32_t to)
{
	list_grow(s->switched, s->nr_switched);
	s->switched[s->nr_switched++] = (struct perf_switch){ time, from, to };
}

static int by_time(const void *a, const void *b)
{
	const struct perf_switch *x = a, *y = b;

	return x->time < y->time ? -1 : x->time > y->time;
}

void perf_sideband_find_switches(struct perf_sideband *s)
{
	const union auxtrace_record *record;
	const struct perf_event_header *h;
	size_t at = 0;

	while ((h = next_side(&s->side, &at))) {
		const struct perf_trailer *t = trailer_of_side(h);
		const struct switch_body *body = (const void *)(h + 1);

		if (h->type == PERF_RECORD_SWITCH_CPU_WIDE && h->misc & PERF_RECORD_MISC_SWITCH_OUT)
			add_switch(s, t->time, t->tid, body->next_prev_tid);
	}
	at = 0;
	while (s->switches == PERF_SWITCHES_OF_RING && (record = next_of_ring(s, &at)))
		if (record->header.type == AUXTRACE_RECORD_SWITCH)
			add_switch(s, perf_time(s->meta, auxtrace_record_end(record)->time),
				   auxtrace_record_end(record)->tid, record->context_switch.next_prev_tid);
	if (s->nr_switched)
		qsort(s->switched, s->nr_switched, sizeof(*s->switched), by_time);
}

bool perf_sideband_ran_alone(const struct perf_sideband *s, uint32_t tid, uint64_t begin, uint64_t end)
{
	size_t first, last;

	find_first(first, s->nr_switched, s->switched[first].time >= begin);
	find_first(last, s->nr_switched, s->switched[last].time > end);
	if (first < last && s->switched[first].to == tid)
		first++;
	if (first < last && s->switched[last - 1].from == tid)
		last--;
	return s->nr_switched && first == last;
}

/* ---- interface ---------------------------------------------------------- */

void perf_sideband_read(struct perf_sideband *s, const char *dir, uint32_t cpu, const struct meta *meta,
			const struct records *records)
{
	const union auxtrace_record *record;
	size_t at = 0;

	*s = (struct perf_sideband){ .cpu = cpu, .meta = meta, .records = records };
	read_side(s, dir);
	while (s->switches == PERF_NO_SWITCHES && (record = next_of_ring(s, &at)))
		if (record->header.type == AUXTRACE_RECORD_SWITCH)
			s->switches = PERF_SWITCHES_OF_RING;
}

void perf_sideband_free(struct perf_sideband *s)
{
	unmap_file(&s->side);
	free(s->switched);
}

void perf_sideband_add_threads(const struct perf_sideband *s, struct perf_tasks *tasks)
{
	const union auxtrace_record *record;
	size_t at = 0;

	while ((record = next_of_ring(s, &at)))
		add_threads(record, tasks);
}

void perf_sideband_write(const struct perf_sideband *s, const struct perf_tasks *tasks,
			 const struct perf_generated *generated, enum perf_switches switches, struct perf_data *data)
{
	const union auxtrace_record *record;
	const struct perf_event_header *h;
	size_t at = 0;

	write_first(s, tasks, switches, data);
	while ((record = next_of_ring(s, &at)))
		write_ring(s, tasks, record, switches, data);
	at = 0;
	while ((h = next_side(&s->side, &at)))
		if (!perf_generated_replaces(generated, h, (const char *)trailer_of_side(h) - (const char *)(h + 1)))
			write_side(h, data);
}
