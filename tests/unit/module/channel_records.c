// SPDX-License-Identifier: GPL-2.0-only
/* The records of the played channel, against what the played hardware has done. */
#include "channel_case.h"

struct reported reported;

/* The word that the hardware writes at a position of the AUX area. */
static u64 word_at(u64 position)
{
	return position / 8 * 0x9e3779b97f4a7c15ull;
}

void write_area(void)
{
	u64 from = hw.position > SIZE ? hw.position - SIZE : 0;

	for (u64 p = from & ~7ull; p < hw.position; p += 8)
		area.word[(channel->now.slot * SIZE + p % SIZE) / 8] = word_at(p);
}

void read_sample(const struct auxtrace_record_sample *r)
{
	const char *bytes = (const char *)r + r->data_offset;
	u64 begin = r->aux_end - r->length;

	assert_true(r->length <= r->wanted);
	assert_int_equal(r->data_offset, r->flags & AUXTRACE_SAMPLE_IN_SLOT ? 0 : sizeof(*r));
	assert_int_equal(r->length % fake.granule, 0);
	assert_int_equal(!!(r->flags & AUXTRACE_SAMPLE_CUT),
			 r->length < r->wanted - r->wanted % fake.granule);
	reported.samples++;
	reported.sample = *r;
	for (u64 p = begin; p < r->aux_end; p++) {
		u64 word = word_at(p);
		char is = r->flags & AUXTRACE_SAMPLE_IN_SLOT ?
			  area.byte[r->sample_slot * SIZE + p % SIZE] : bytes[p - begin];

		assert_int_equal(is, ((const char *)&word)[p % 8]);
	}
}

static void read_aux(const struct auxtrace_record_aux *r)
{
	assert_int_equal(r->offset, reported.aux);
	reported.aux += r->length;
	reported.auxes++;
	reported.truncated += !!(r->flags & AUXTRACE_AUX_TRUNCATED);
	reported.partial += !!(r->flags & AUXTRACE_AUX_PARTIAL);
	assert_int_equal(!!(r->flags & AUXTRACE_AUX_OVERWRITE), channel->aux.overwrite);
	assert_true(r->length || r->flags & ~(u64)AUXTRACE_AUX_OVERWRITE);
	reported.last_aux = *r;
}

static void read_window(const struct auxtrace_record_window *r)
{
	assert_int_equal(r->window, ++reported.windows);
	assert_int_equal(r->begin, hw.log[r->window % LOG].begin);
	assert_int_equal(r->end_position, hw.log[r->window % LOG].end);
	assert_true(r->begin_time < r->end_time);
	assert_int_equal(r->end.time, r->end_time);
	assert_int_equal(r->end.tid, r->tid);
	assert_int_equal(r->slot, hw.log[r->window % LOG].slot);
	assert_int_equal(r->reserved, 0);
	if (status_page.slots == 1) {
		assert_int_not_equal(r->begin_cause, AUXTRACE_CAUSE_SNAPSHOT);
		assert_int_not_equal(r->end_cause, AUXTRACE_CAUSE_SNAPSHOT);
	}
	reported.window = *r;
	reported.newest[r->window % 8] = *r;
}

void read_records(void)
{
	while (reported.tail < status_page.data_head) {
		const char *at = data + reported.tail % DATA_SIZE;
		const struct auxtrace_record_header *header = (const void *)at;
		const struct auxtrace_record_end *end =
			(const void *)(at + header->size - sizeof(*end));

		assert_int_equal(end->size, header->size);
		assert_true(!header->misc || header->type == AUXTRACE_RECORD_SWITCH);
		switch (header->type) {
		case AUXTRACE_RECORD_AUX:
			read_aux((const void *)at);
			break;
		case AUXTRACE_RECORD_WINDOW:
			read_window((const void *)at);
			break;
		case AUXTRACE_RECORD_ITRACE_START:
			reported.starts++;
			reported.start = *(const struct auxtrace_record_itrace_start *)at;
			break;
		case AUXTRACE_RECORD_LOST:
			reported.lost += ((const struct auxtrace_record_lost *)at)->lost;
			reported.lost_tid = end->tid;
			break;
		case AUXTRACE_RECORD_TRIGGER:
			reported.triggers++;
			reported.trigger = *(const struct auxtrace_record_trigger *)at;
			assert_int_equal(end->tid, reported.trigger.tid);
			break;
		case AUXTRACE_RECORD_SWITCH:
			reported.switches++;
			reported.context_switch = *(const struct auxtrace_record_switch *)at;
			break;
		case AUXTRACE_RECORD_SAMPLE:
			read_sample((const void *)at);
			break;
		default:
			fail_msg("a record of type %u", header->type);
		}
		reported.tail += header->size;
	}
	assert_int_equal(reported.tail, status_page.data_head);
	user_page.data_tail = reported.tail;
}

void window_was(u64 number, u32 begin_cause, u32 end_cause)
{
	check();
	assert_int_equal(reported.window.window, number);
	assert_int_equal(reported.window.begin_cause, begin_cause);
	assert_int_equal(reported.window.end_cause, end_cause);
}
