// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <string.h>

#include "pmu.h"
#include "records.h"
#include "trace.h"

/* The size of the shortest record: header and end. */
#define LEAST	(sizeof(struct auxtrace_record_header) + sizeof(struct auxtrace_record_end))

/* Copy [begin, end) in the mapping's order: the oldest first, or in a backward ring the newest. */
static void copy_bytes(uint8_t *to, const struct channel *ch, uint32_t slot, uint64_t begin,
		       uint64_t end)
{
	uint64_t size = ch->data_overwrite ? ch->data_size / ch->slots : ch->data_size;
	const uint8_t *ring = ch->data + (ch->data_overwrite ? slot * size : 0);
	uint64_t at = (ch->data_backward ? -end : begin) % size;
	uint64_t len = end - begin, first = size - at < len ? size - at : len;

	if (len > size)
		fail_msg("CPU %d: [%llu, %llu) of a ring of %llu bytes", ch->cpu,
			 (unsigned long long)begin, (unsigned long long)end,
			 (unsigned long long)size);
	memcpy(to, ring + at, first);
	memcpy(to + first, ring, len - first);
}

static void bad_record(const struct channel *ch, uint64_t position, const char *why,
		       const union any_record *rec)
{
	const uint64_t *words = (const uint64_t *)rec;

	fail_msg("CPU %d: record that ends at %llu: %s (%#llx %#llx %#llx)", ch->cpu,
		 (unsigned long long)position, why, (unsigned long long)words[0],
		 (unsigned long long)words[1], (unsigned long long)words[2]);
}

static const struct auxtrace_record_end *end_of(const union any_record *rec)
{
	return (const void *)((const uint8_t *)rec + rec->header.size - sizeof(rec->lost.end));
}

void records_read(struct records *r, const struct channel *ch, uint32_t slot, uint64_t begin,
		  uint64_t end)
{
	uint64_t len = end - begin, done = 0;

	memset(r, 0, sizeof(*r));
	r->end = r->begin = end;
	r->bytes = malloc(len + 1);
	r->at = calloc(len / LEAST + 1, sizeof(*r->at));
	assert_non_null(r->bytes);
	assert_non_null(r->at);
	copy_bytes(r->bytes, ch, slot, begin, end);

	while (len - done >= LEAST) {
		const struct auxtrace_record_end *tail;
		const union any_record *rec;
		uint32_t size;

		/* A record has its size at both ends: one finds it, the other confirms it. */
		if (ch->data_backward) {
			rec = (const void *)(r->bytes + done);
			size = rec->header.size;
		} else {
			tail = (const void *)(r->bytes + len - done - sizeof(*tail));
			size = tail->size;
		}
		if (size > len - done)
			break;
		if (!ch->data_backward)
			rec = (const void *)(r->bytes + len - done - size);
		if (size < LEAST || size % 8 || rec->header.size != size ||
		    end_of(rec)->size != size)
			bad_record(ch, end - done, "its sizes do not agree", rec);
		done += size;
		r->at[r->count++] = rec;
	}
	r->begin = end - done;
	for (unsigned int i = 0; i < r->count / 2; i++) {
		const union any_record *swap = r->at[i];

		r->at[i] = r->at[r->count - 1 - i];
		r->at[r->count - 1 - i] = swap;
	}
}

void records_read_all(struct records *r, const struct channel *ch)
{
	struct auxtrace_status_page st = channel_status(ch);
	uint64_t oldest = st.data_consumed;

	if (ch->data_overwrite) {
		uint64_t size = ch->data_size / ch->slots;

		oldest = st.data_slot_begin;
		if (st.data_head - oldest > size)
			oldest = st.data_head - size;
	}
	records_read(r, ch, st.slot, oldest, st.data_head);
	/* Only in an overwritable ring may the oldest record be partial. */
	if (oldest == st.data_slot_begin || !ch->data_overwrite)
		assert_int_equal(r->begin, oldest);
}

void records_free(struct records *r)
{
	free(r->at);
	free(r->bytes);
	memset(r, 0, sizeof(*r));
}

const union any_record *records_newest(const struct records *r, uint32_t type)
{
	for (unsigned int i = r->count; i--;)
		if (r->at[i]->header.type == type)
			return r->at[i];
	return NULL;
}

/* ---- rules ------------------------------------------------------------------ */

void follower_init(struct follower *f, const struct channel *ch)
{
	memset(f, 0, sizeof(*f));
	f->ch = ch;
}

#define rule(cond) \
	do { \
		if (!(cond)) \
			bad_record(f->ch, position, "broken rule: " #cond, rec); \
	} while (0)

/*
 * @missing records are lost. If this record is an NMI's, the LOST record that reports them may
 * come after it, as the ABI says.
 */
static void note_missing(struct follower *f, uint64_t missing)
{
	if (missing > f->unreported)
		f->unreported = missing;
}

static void follow_lost(struct follower *f, const union any_record *rec, uint64_t position)
{
	const struct auxtrace_record_lost *lost = &rec->lost;

	rule(lost->header.size == sizeof(*lost));
	rule(lost->id == 0);
	rule(lost->lost > 0);
	rule(lost->lost >= f->unreported);
	f->unreported = 0;
	f->lost += lost->lost;
	f->missed_aux += lost->lost;
	f->missed_windows += lost->lost;
	f->running_known = false;
}

static void follow_aux(struct follower *f, const union any_record *rec, uint64_t position)
{
	const struct auxtrace_record_aux *aux = &rec->aux;
	const uint64_t known = AUXTRACE_AUX_TRUNCATED | AUXTRACE_AUX_OVERWRITE |
			       AUXTRACE_AUX_PARTIAL;

	rule(aux->header.size == sizeof(*aux));
	rule(!(aux->flags & ~known));
	rule(!!(aux->flags & AUXTRACE_AUX_OVERWRITE) == f->ch->overwrite);
	/* In overwrite mode only BTS, whose interrupt may come too late. */
	rule(!(aux->flags & AUXTRACE_AUX_TRUNCATED) || !f->ch->overwrite || under_bts());
	rule(aux->length || aux->flags & ~(uint64_t)AUXTRACE_AUX_OVERWRITE);
	rule(aux->offset >= f->aux_next);
	if (!f->missed_aux && aux->offset != f->aux_next)
		note_missing(f, 1);
	f->aux_next = aux->offset + aux->length;
	/* It covers all windows that ended before it. */
	rule(f->aux_next >= f->newest.end_position);
	f->aux_bytes += aux->length;
	f->missed_aux = 0;
	f->truncated += !!(aux->flags & AUXTRACE_AUX_TRUNCATED);
	f->partial += !!(aux->flags & AUXTRACE_AUX_PARTIAL);
}

static void follow_window(struct follower *f, const union any_record *rec, uint64_t position)
{
	const struct auxtrace_record_window *w = &rec->window;
	uint64_t skipped = w->window - f->newest.window - 1;

	rule(w->header.size == sizeof(*w));
	rule(w->reserved == 0);
	rule(w->slot < f->ch->slots);
	rule(w->begin_cause >= AUXTRACE_CAUSE_ERROR && w->begin_cause <= AUXTRACE_CAUSE_TASK);
	rule(w->end_cause >= AUXTRACE_CAUSE_ERROR && w->end_cause <= AUXTRACE_CAUSE_TASK);
	rule(!w->begin_trigger == (w->begin_cause != AUXTRACE_CAUSE_TRIGGER));
	rule(!w->end_trigger == (w->end_cause != AUXTRACE_CAUSE_TRIGGER));
	rule(w->begin <= w->end_position);
	rule(w->begin_time && w->begin_time <= w->end_time && w->end_time <= w->end.time);
	rule(w->window > f->newest.window);
	f->running_known = false;
	if (skipped > f->missed_windows)
		note_missing(f, skipped - f->missed_windows);
	rule(w->begin >= f->newest.end_position);
	rule(w->begin_time >= f->newest.end_time);
	/* Nothing is traced between windows. */
	rule(skipped || w->begin == f->newest.end_position);
	f->newest = *w;
	f->missed_windows = 0;
	f->windows++;
	f->begun_by[w->begin_cause]++;
	f->ended_by[w->end_cause]++;
}

static void follow_switch(struct follower *f, const union any_record *rec, uint64_t position)
{
	const struct auxtrace_record_switch *s = &rec->context_switch;

	rule(s->header.size == sizeof(*s));
	rule((s->header.misc & ~AUXTRACE_SWITCH_OUT_PREEMPT) == AUXTRACE_SWITCH_OUT);
	/* The idle task of each CPU is thread 0 of process 0. */
	rule(!s->next_prev_pid == !s->next_prev_tid);
	rule(s->next_prev_tid != s->end.tid);
	/* Each switch leaves the thread that the switch before it named. */
	rule(!f->running_known || f->running == s->end.tid);
	f->running = s->next_prev_tid;
	f->running_known = true;
	f->switches++;
}

static void follow_trigger(struct follower *f, const union any_record *rec, uint64_t position)
{
	const struct auxtrace_record_trigger *t = &rec->trigger;

	rule(t->header.size == sizeof(*t));
	rule(t->trigger);
	rule(t->action == AUXTRACE_ACTION_PAUSE || t->action == AUXTRACE_ACTION_RESUME ||
	     t->action == AUXTRACE_ACTION_FREEZE);
	f->triggers++;
}

static void follow_sample(struct follower *f, const union any_record *rec, uint64_t position)
{
	const struct auxtrace_record_sample *s = &rec->sample;
	uint64_t inside = s->flags & AUXTRACE_SAMPLE_IN_SLOT ? 0 : (s->length + 7) & ~7ULL;

	rule(s->header.size == sizeof(*s) + inside + sizeof(struct auxtrace_record_end));
	rule(s->trigger);
	rule(s->data_offset == (s->flags & AUXTRACE_SAMPLE_IN_SLOT ? 0 : sizeof(*s)));
	rule(!(s->flags & ~(AUXTRACE_SAMPLE_IN_SLOT | AUXTRACE_SAMPLE_CUT)));
	rule(s->length <= s->wanted && s->length <= s->aux_end);
	/* BTS: only whole records; the wanted size need not be a multiple of them. */
	rule(!!(s->flags & AUXTRACE_SAMPLE_CUT) == (s->length < whole_trace(s->wanted)));
	f->samples++;
}

void follow(struct follower *f, const struct records *r, bool resync)
{
	uint64_t position = r->begin;

	if (resync) {
		f->missed_aux = f->missed_windows = UINT64_MAX / 2;
		f->running_known = false;
	}
	for (unsigned int i = 0; i < r->count; i++) {
		const union any_record *rec = r->at[i];

		position += rec->header.size;
		rule(rec->header.misc == 0 || rec->header.type == AUXTRACE_RECORD_SWITCH);
		/*
		 * TRIGGER, SWITCH and LOST records get their TSC outside of the settle loop, so an
		 * NMI's record may come before them with a later one.
		 */
		rule(end_of(rec)->time >= f->tsc || rec->header.type == AUXTRACE_RECORD_TRIGGER ||
		     rec->header.type == AUXTRACE_RECORD_SWITCH ||
		     rec->header.type == AUXTRACE_RECORD_LOST);
		switch (rec->header.type) {
		case AUXTRACE_RECORD_LOST:
			follow_lost(f, rec, position);
			break;
		case AUXTRACE_RECORD_AUX:
			follow_aux(f, rec, position);
			break;
		case AUXTRACE_RECORD_ITRACE_START:
			rule(rec->header.size == sizeof(rec->itrace));
			f->itrace_starts++;
			break;
		case AUXTRACE_RECORD_SWITCH:
			follow_switch(f, rec, position);
			break;
		case AUXTRACE_RECORD_WINDOW:
			follow_window(f, rec, position);
			break;
		case AUXTRACE_RECORD_TRIGGER:
			follow_trigger(f, rec, position);
			break;
		case AUXTRACE_RECORD_SAMPLE:
			follow_sample(f, rec, position);
			break;
		default:
			rule(!"a type that the header has");
		}
		if (end_of(rec)->time > f->tsc && rec->header.type != AUXTRACE_RECORD_TRIGGER)
			f->tsc = end_of(rec)->time;
		f->records++;
		f->bytes += rec->header.size;
	}
}

unsigned int follow_and_take(struct follower *f)
{
	struct records r;
	unsigned int count;
	uint64_t head = __atomic_load_n(&f->ch->status->data_head, __ATOMIC_ACQUIRE);

	assert_false(f->ch->data_overwrite);
	records_read(&r, f->ch, 0, f->bytes, head);
	assert_int_equal(r.begin, f->bytes);
	follow(f, &r, false);
	count = r.count;
	records_free(&r);
	channel_set_data_tail(f->ch, head);
	return count;
}

void follower_agrees(const struct follower *f)
{
	struct auxtrace_status_page st = channel_status(f->ch);
	uint64_t ended = st.windows - st.running;

	assert_int_equal(f->bytes, st.data_head);
	assert_int_equal(f->records, st.data_records);
	/* Losses that no record reports yet came after the newest record. */
	assert_true(f->lost + f->unreported <= st.data_lost);
	if (f->lost == st.data_lost && !f->missed_windows)
		assert_int_equal(f->newest.window, ended);
	if (st.data_lost)
		return;

	assert_int_equal(f->windows, ended);
	assert_int_equal(f->newest.end_position, st.window_end);
	assert_int_equal(f->newest.end_time, st.window_end_time);
	assert_int_equal(f->aux_bytes, st.produced);
	assert_int_equal(f->aux_next, st.produced);
	assert_int_equal(f->truncated, st.gaps_full);
	/* A window that finds no space when it is to begin is none. */
	assert_true(f->ended_by[AUXTRACE_CAUSE_FULL] <= st.gaps_full);
	/* Errors come before a request in the list of causes. */
	assert_true(f->ended_by[AUXTRACE_CAUSE_USER] <= st.pauses_done);
	if (!st.gaps_error)
		assert_int_equal(f->ended_by[AUXTRACE_CAUSE_USER], st.pauses_done);
}
