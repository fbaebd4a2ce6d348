// SPDX-License-Identifier: LGPL-2.1-or-later
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "records.h"
#include "userlib/search.h"

static void keep(const union auxtrace_record ***list, size_t *count, const union auxtrace_record *record)
{
	list_grow(*list, *count);
	(*list)[(*count)++] = record;
}

/* cpuN.samples has the bytes from slots in the order of their records. */
static void take_sample(struct records *r, const union auxtrace_record *record)
{
	const uint8_t *bytes = auxtrace_sample_data(record);
	uint64_t length = record->sample.length;

	if (!bytes && length <= r->slots.size - r->slots_used) {
		bytes = r->slots.data + r->slots_used;
		r->slots_used += length;
	}
	list_grow(r->bytes, r->nr_samples);
	r->bytes[r->nr_samples] = bytes;
	keep(&r->sample, &r->nr_samples, record);
}

static void add_anchor(struct records *r, uint64_t position, uint64_t tsc)
{
	list_grow(r->anchor, r->nr_anchors);
	r->anchor[r->nr_anchors++] = (struct anchor){ position, tsc };
}

static int by_time(const void *a, const void *b)
{
	const struct anchor *x = a, *y = b;

	if (x->tsc != y->tsc)
		return x->tsc < y->tsc ? -1 : 1;
	return x->position < y->position ? -1 : x->position > y->position;
}

/* All are in one file: of two at a position the older one comes first there. */
static int by_position(const void *a, const void *b)
{
	const union auxtrace_record *x = *(const union auxtrace_record *const *)a;
	const union auxtrace_record *y = *(const union auxtrace_record *const *)b;

	if (x->trigger.position != y->trigger.position)
		return x->trigger.position < y->trigger.position ? -1 : 1;
	return x < y ? -1 : x > y;
}

static void take(struct records *r, const union auxtrace_record *record)
{
	switch (record->header.type) {
	case AUXTRACE_RECORD_LOST:
		r->lost += record->lost.lost;
		keep(&r->switches, &r->nr_switches, record);
		break;
	case AUXTRACE_RECORD_AUX:
		add_anchor(r, record->aux.offset + record->aux.length, auxtrace_record_end(record)->time);
		break;
	case AUXTRACE_RECORD_WINDOW:
		add_anchor(r, record->window.begin, record->window.begin_time);
		add_anchor(r, record->window.end_position, record->window.end_time);
		list_grow(r->window, r->nr_windows);
		r->window[r->nr_windows++] = &record->window;
		break;
	case AUXTRACE_RECORD_SAMPLE:
		take_sample(r, record);
		break;
	case AUXTRACE_RECORD_ITRACE_START:
		r->start = r->start ?: record;
		break;
	case AUXTRACE_RECORD_SWITCH:
		keep(&r->switches, &r->nr_switches, record);
		break;
	case AUXTRACE_RECORD_TRIGGER:
		keep(&r->trigger, &r->nr_triggers, record);
		break;
	}
}

bool records_read(struct records *r, const char *dir, const struct meta_cpu *cpu)
{
	const union auxtrace_record *record;
	char path[4200];
	size_t at = 0;
	int err;

	*r = (struct records){ .cpu = cpu };
	snprintf(path, sizeof(path), "%s/cpu%u.data", dir, cpu->cpu);
	err = map_file(path, false, &r->file);
	if (err && err != -ENOENT)
		return wrong("cannot read %s: %s", path, strerror(-err));
	if (r->file.size != cpu->data_read)
		say("%s has %zu bytes, meta says %" PRIu64 ": the recording is damaged", path,
		    r->file.size, cpu->data_read);
	snprintf(path, sizeof(path), "%s/cpu%u.samples", dir, cpu->cpu);
	err = map_file(path, false, &r->slots);
	if (err && err != -ENOENT) {
		records_free(r);
		return wrong("cannot read %s: %s", path, strerror(-err));
	}
	while ((record = auxtrace_record_next(r->file.data, r->file.size, &at)))
		take(r, record);
	if (r->nr_anchors)
		qsort(r->anchor, r->nr_anchors, sizeof(*r->anchor), by_time);
	if (r->nr_triggers)
		qsort(r->trigger, r->nr_triggers, sizeof(*r->trigger), by_position);
	if (at != r->file.size)
		say("%s/cpu%u.data: there is no record at offset %zu: the rest is not read", dir, cpu->cpu, at);
	return true;
}

void records_free(struct records *r)
{
	free(r->window);
	free(r->sample);
	free(r->bytes);
	free(r->anchor);
	unmap_file(&r->slots);
	free(r->trigger);
	free(r->switches);
	unmap_file(&r->file);
	*r = (struct records){ 0 };
}

const struct auxtrace_record_window *records_window(const struct records *r, uint64_t seq)
{
	for (size_t i = 0; i < r->nr_windows; i++)
		if (r->window[i]->window == seq)
			return r->window[i];
	return NULL;
}

const struct auxtrace_record_window *records_begin(const struct records *r, uint64_t position)
{
	const struct auxtrace_record_window *w = records_within(r, position);

	return w && w->begin == position ? w : NULL;
}

const struct auxtrace_record_window *records_within(const struct records *r, uint64_t position)
{
	size_t i;

	find_first(i, r->nr_windows, r->window[i]->end_position > position);
	return i < r->nr_windows && r->window[i]->begin <= position ? r->window[i] : NULL;
}

const struct auxtrace_record_trigger *records_trigger(const struct records *r, uint32_t id, uint64_t position, uint64_t tsc)
{
	size_t i;

	find_first(i, r->nr_triggers, r->trigger[i]->trigger.position >= position);
	for (; i < r->nr_triggers && r->trigger[i]->trigger.position == position; i++)
		if (r->trigger[i]->trigger.trigger == id && auxtrace_record_end(r->trigger[i])->time >= tsc)
			return &r->trigger[i]->trigger;
	return NULL;
}

/* The first anchor at or behind @position; @behind: behind it only. */
static size_t first_anchor(const struct records *r, uint64_t position, bool behind)
{
	size_t i;

	find_first(i, r->nr_anchors, r->anchor[i].position > position ||
				     (!behind && r->anchor[i].position == position));
	return i;
}

void records_bounds(const struct records *r, uint64_t begin, uint64_t end, uint64_t *after,
		    uint64_t *before)
{
	size_t i = first_anchor(r, begin, true);

	*after = i ? r->anchor[i - 1].tsc : 0;
	i = first_anchor(r, end, false);
	*before = i < r->nr_anchors ? r->anchor[i].tsc : 0;
}

const char *records_part(const struct records *r, const struct auxtrace_record_window *w)
{
	switch (auxtrace_window_part(w, r->cpu->begin, r->cpu->begin + r->cpu->read)) {
	case AUXTRACE_PART_WHOLE:
		return "whole";
	case AUXTRACE_PART_SOME:
		return "overwritten in part";
	case AUXTRACE_PART_NONE:
		break;
	}
	return "gone";
}

static void print_flags(uint64_t flags)
{
	static const struct {
		uint64_t flag;
		const char *name;
	} names[] = {
		{ AUXTRACE_AUX_TRUNCATED, "truncated" }, { AUXTRACE_AUX_OVERWRITE, "overwrite" },
		{ AUXTRACE_AUX_PARTIAL, "partial" },
	};
	const char *between = "";

	for (unsigned int i = 0; i < ARRAY_SIZE(names); i++)
		if (flags & names[i].flag) {
			printf("%s%s", between, names[i].name);
			between = ",";
			flags &= ~names[i].flag;
		}
	if (flags || !*between)
		printf("%s%#" PRIx64, between, flags);
}

static void print_window(const struct records *r, const struct auxtrace_record_window *w)
{
	printf("window %" PRIu64 " begin=%" PRIu64 " end=%" PRIu64 " cause=%s,%s tsc=%" PRIu64 ",%" PRIu64
	       " pid=%u,%u tid=%u,%u slot=%u: %s", (uint64_t)w->window, (uint64_t)w->begin,
	       (uint64_t)w->end_position, auxtrace_cause_name(w->begin_cause),
	       auxtrace_cause_name(w->end_cause), (uint64_t)w->begin_time, (uint64_t)w->end_time,
	       w->begin_pid, w->pid, w->begin_tid, w->tid, w->slot, records_part(r, w));
	if (w->begin_trigger || w->end_trigger)
		printf(" trigger=%u,%u", w->begin_trigger, w->end_trigger);
}

static void print_switch(const union auxtrace_record *record)
{
	printf("switch tid=%u to pid=%u tid=%u%s", auxtrace_record_end(record)->tid,
	       record->context_switch.next_prev_pid, record->context_switch.next_prev_tid,
	       record->header.misc & AUXTRACE_SWITCH_OUT_PREEMPT ? " preempted" : "");
}

static void print_trigger(const struct auxtrace_record_trigger *t)
{
	printf("trigger %u action=%s value=%" PRIu64 " pid=%u tid=%u position=%" PRIu64, t->trigger,
	       auxtrace_action_name(t->action), (uint64_t)t->value, t->pid, t->tid,
	       (uint64_t)t->position);
}

static void print_sample(const struct auxtrace_record_sample *s)
{
	printf("sample trigger=%u pid=%u tid=%u end=%" PRIu64 " wanted=%" PRIu64 " length=%" PRIu64,
	       s->trigger, s->pid, s->tid, (uint64_t)s->aux_end, (uint64_t)s->wanted,
	       (uint64_t)s->length);
	if (s->flags & AUXTRACE_SAMPLE_IN_SLOT)
		printf(" slot=%u", s->sample_slot);
	if (s->flags & AUXTRACE_SAMPLE_CUT)
		printf(" cut=%" PRIu64, (uint64_t)(s->wanted - s->length));
}

void records_print(const struct records *r)
{
	const union auxtrace_record *record;
	size_t at = 0;

	while ((record = auxtrace_record_next(r->file.data, r->file.size, &at))) {
		const struct auxtrace_record_end *end = auxtrace_record_end(record);

		printf("# %3u %016" PRIx64 " ", r->cpu->cpu, (uint64_t)end->time);
		switch (record->header.type) {
		case AUXTRACE_RECORD_LOST:
			printf("lost %" PRIu64, (uint64_t)record->lost.lost);
			break;
		case AUXTRACE_RECORD_AUX:
			printf("aux offset=%" PRIu64 " length=%" PRIu64 " flags=",
			       (uint64_t)record->aux.offset, (uint64_t)record->aux.length);
			print_flags(record->aux.flags);
			break;
		case AUXTRACE_RECORD_ITRACE_START:
			printf("itrace-start pid=%u tid=%u", record->itrace_start.pid,
			       record->itrace_start.tid);
			break;
		case AUXTRACE_RECORD_SWITCH:
			print_switch(record);
			break;
		case AUXTRACE_RECORD_WINDOW:
			print_window(r, &record->window);
			break;
		case AUXTRACE_RECORD_TRIGGER:
			print_trigger(&record->trigger);
			break;
		case AUXTRACE_RECORD_SAMPLE:
			print_sample(&record->sample);
			break;
		default:
			printf("type %#x, %u bytes", record->header.type, record->header.size);
		}
		putchar('\n');
	}
}
