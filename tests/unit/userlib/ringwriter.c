// SPDX-License-Identifier: GPL-2.0-only
#include "ringwriter.h"

#include <string.h>

#define SECRET	0x9e3779b97f4a7c15ull

uint64_t record_size(uint64_t n)
{
	/* LOST, or a kind that nobody knows, of up to 25 words. */
	return n % 3 ? sizeof(struct auxtrace_record_lost) : 32 + n * 7 % 22 * 8;
}

static void make_record(uint64_t n, uint64_t *words)
{
	uint64_t size = record_size(n);
	struct auxtrace_record_header header = {
		.type = n % 3 ? AUXTRACE_RECORD_LOST : 0x12345, .size = size,
	};
	struct auxtrace_record_end end = { .time = n * SECRET, .tid = n, .size = size };

	memcpy(words, &header, sizeof(header));
	words[1] = n;
	for (uint64_t i = 2; i < size / 8 - 2; i++)
		words[i] = n * SECRET + i;
	memcpy(words + size / 8 - 2, &end, sizeof(end));
}

void check_record(const union auxtrace_record *record, uint64_t n)
{
	uint64_t expected[32];

	make_record(n, expected);
	assert_int_equal(record->header.size, record_size(n));
	assert_memory_equal(record, expected, record_size(n));
}

uint64_t record_number(const union auxtrace_record *record)
{
	uint64_t n = record->lost.id;

	check_record(record, n);
	return n;
}

/* The address of the byte at a position, in the order of @backward's addresses. */
static uint8_t *byte_of(unsigned int cpu, uint64_t begin, uint64_t size, uint64_t i)
{
	struct fake_channel *ch = &fake.channel[cpu];
	bool slots = fake.setup.flags & AUXTRACE_SETUP_DATA_OVERWRITE && fake.setup.slots > 1;
	uint64_t part = fake.setup.data_size / (slots ? fake.setup.slots : 1);
	uint64_t at = fake.setup.flags & AUXTRACE_SETUP_DATA_BACKWARD ? i - (begin + size) : begin + i;

	return ch->data + (slots ? ch->status->data_reserved >> 56 : 0) * part + at % part;
}

void write_bytes(unsigned int cpu, const void *record, uint64_t size)
{
	struct auxtrace_status_page *page = fake.channel[cpu].status;
	uint64_t begin = page->data_head;

	page->data_reserved += size;
	for (uint64_t i = 0; i < size; i++)
		*byte_of(cpu, begin, size, i) = ((const uint8_t *)record)[i];
	page->data_head = begin + size;
	page->data_records++;
}

void write_record(unsigned int cpu, uint64_t n)
{
	uint64_t words[32];

	make_record(n, words);
	write_bytes(cpu, words, record_size(n));
}

void write_window(unsigned int cpu, uint64_t window, uint64_t begin, uint64_t end,
		  uint32_t begin_cause, uint32_t end_cause)
{
	const struct auxtrace_record_window record = {
		.header = { .type = AUXTRACE_RECORD_WINDOW, .size = sizeof(record) },
		.window = window, .begin = begin, .end_position = end,
		.begin_cause = begin_cause, .end_cause = end_cause,
		.end = { .size = sizeof(record) },
	};

	write_bytes(cpu, &record, sizeof(record));
}

void switch_slot(unsigned int cpu, uint32_t slot, struct auxtrace_cut *cut)
{
	struct auxtrace_status_page *page = fake.channel[cpu].status;
	uint64_t part = fake.setup.data_size / fake.setup.slots;

	*cut = (struct auxtrace_cut){
		.cpu = cpu, .slot = page->slot, .data_end = page->data_head,
		.data_begin = page->data_slot_begin,
		.aux_begin = page->slot_begin, .aux_end = page->produced, .window = page->windows,
	};
	if (cut->data_end - cut->data_begin > part)
		cut->data_begin = cut->data_end - part;
	part = fake.setup.aux_size / fake.setup.slots;
	if (cut->aux_end - cut->aux_begin > part)
		cut->aux_begin = cut->aux_end - part;
	page->slot = slot;
	page->slot_begin = page->produced;
	page->consumed += cut->aux_end - cut->aux_begin;
	page->snapshots++;
	page->data_slot_begin = page->data_head;
	page->data_reserved = (uint64_t)slot << 56 | page->data_head;
}
