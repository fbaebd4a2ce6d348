// SPDX-License-Identifier: GPL-2.0-only
#include "failure.h"
#include "ringwriter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SIZE	PAGE
#define SLOTS	4

static struct auxtrace_session *session;
static struct auxtrace_reader *reader;
static struct fake_channel *channel;

static void begin(uint32_t flags, uint32_t slots)
{
	struct auxtrace_options o = {
		.size = sizeof(o), .cpus = "3", .config = "", .aux_size = 16 * PAGE, .flags = flags,
		.data_size = slots ? slots * SIZE : SIZE, .slots = slots,
	};

	session = auxtrace_open(NULL);
	assert_non_null(session);
	assert_int_equal(auxtrace_setup(session, &o), 0);
	reader = auxtrace_reader(session, 3);
	assert_non_null(reader);
	channel = &fake.channel[3];
}

static int end(void **state)
{
	auxtrace_close(session);
	session = NULL;
	return fake_end(state);
}

static const uint32_t directions[] = { 0, AUXTRACE_SETUP_DATA_BACKWARD };

/* One test for forward and for backward rings. */
static void again(void **state)
{
	end(state);
	fake_new(state);
}

static void a_queue_is_read_oldest_first_across_many_wraps(void **state)
{
	for (unsigned int d = 0; d < 2; again(state), d++) {
		const union auxtrace_record *record;
		uint64_t written = 0, got = 0;

		begin(directions[d], 0);
		assert_int_equal(auxtrace_reader_next_record(reader, &record), 0);
		while (got < 3000) {
			while (channel->status->data_head - channel->user->data_tail + record_size(written + 1) <= SIZE)
				write_record(3, ++written);
			/* Some of them at a time. */
			for (uint64_t n = got % 17 + 1; n && got < written; n--) {
				assert_int_equal(auxtrace_reader_next_record(reader, &record), 1);
				check_record(record, ++got);
			}
			auxtrace_reader_consume_records(reader);
		}
		while (got < written) {
			assert_int_equal(auxtrace_reader_next_record(reader, &record), 1);
			check_record(record, ++got);
		}
		assert_int_equal(auxtrace_reader_next_record(reader, &record), 0);
		/* The tail moves when it is told to, not before. */
		assert_true(channel->user->data_tail < channel->status->data_head);
		auxtrace_reader_consume_records(reader);
		assert_int_equal(channel->user->data_tail, channel->status->data_head);
		assert_true(channel->status->data_head > 20 * SIZE);
	}
}

static void a_queue_that_holds_no_record_is_not_believed(void **state)
{
	for (unsigned int d = 0; d < 2; again(state), d++) {
		const union auxtrace_record *record;
		struct auxtrace_record_lost lost = {
			.header = { .type = AUXTRACE_RECORD_LOST, .size = sizeof(lost) },
			.end = { .size = sizeof(lost) + 8 },
		};

		begin(directions[d], 0);
		write_bytes(3, &lost, sizeof(lost));
		fails(EBADE, auxtrace_reader_next_record(reader, &record));
		says("no record at position 0 of the data ring of CPU 3");
		memset(channel->data, 0, SIZE);
		fails(EBADE, auxtrace_reader_next_record(reader, &record));
		channel->status->data_head = SIZE + 8;
		fails(EBADE, auxtrace_reader_next_record(reader, &record));
	}
}

static void a_known_kind_that_is_too_short_is_no_record(void **state)
{
	const union auxtrace_record *record;
	struct auxtrace_record_itrace_start start = {
		.header = { .type = AUXTRACE_RECORD_WINDOW, .size = sizeof(start) },
		.end = { .size = sizeof(start) },
	};

	struct auxtrace_record_switch context_switch = {
		.header = { .type = AUXTRACE_RECORD_SWITCH, .size = sizeof(context_switch) - 8 },
		.end = { .size = sizeof(context_switch) },
	};
	size_t at = 0;

	(void)state;
	begin(0, 0);
	write_bytes(3, &start, sizeof(start));
	fails(EBADE, auxtrace_reader_next_record(reader, &record));
	/* Its end is where the header says. */
	memcpy((char *)&context_switch + 8, &(struct auxtrace_record_end){ .size = 24 },
	       sizeof(context_switch.end));
	assert_null(auxtrace_record_next(&context_switch, 24, &at));
	context_switch.header.type = 0x12345;
	assert_non_null(auxtrace_record_next(&context_switch, 24, &at));
}

static void the_smallest_record_has_no_more_than_header_and_end(void **state)
{
	struct {
		struct auxtrace_record_header header;
		struct auxtrace_record_end end;
	} least = { { .type = 0x12345, .size = sizeof(least) }, { .size = sizeof(least) } };
	const union auxtrace_record *record;
	size_t at = 0;

	for (unsigned int d = 0; d < 2; again(state), d++) {
		begin(directions[d], 0);
		write_bytes(3, &least, sizeof(least));
		assert_int_equal(auxtrace_reader_next_record(reader, &record), 1);
		assert_int_equal(record->header.size, 24);
	}
	assert_non_null(auxtrace_record_next(&least, sizeof(least), &at));
	assert_int_equal(at, 24);
	/* Less than that is none, even if its size is said twice. */
	least.header.size = 16;
	at = 0;
	assert_null(auxtrace_record_next(&least, sizeof(least), &at));
}

/* The bytes of a sample lie behind what is known of its record and before its end. */
static void a_sample_whose_bytes_are_not_in_its_record_is_none(void **state)
{
	enum {
		SAMPLE = sizeof(struct auxtrace_record_sample),
		END = sizeof(struct auxtrace_record_end),
		WHOLE = SAMPLE + 24 + END,
	};
	static const struct {
		uint32_t size, flags, offset;
		uint64_t length;
		bool valid;
	} cases[] = {
		{ WHOLE, 0, SAMPLE, 24, true },
		{ WHOLE, 0, SAMPLE, 0, true },
		{ WHOLE, 0, SAMPLE + 16, 8, true },
		{ WHOLE, 0, SAMPLE + 24, 0, true },
		{ WHOLE, 0, SAMPLE, 25, false },
		{ WHOLE, 0, SAMPLE + 16, 9, false },
		{ WHOLE, 0, SAMPLE - 1, 8, false },
		{ WHOLE, 0, SAMPLE + 25, 0, false },
		{ WHOLE, 0, SAMPLE, UINT64_MAX, false },
		{ SAMPLE + END, 0, SAMPLE, 0, true },
		{ SAMPLE + END, AUXTRACE_SAMPLE_IN_SLOT, 0, 4096, true },
		{ SAMPLE + END - 8, AUXTRACE_SAMPLE_IN_SLOT, 0, 4096, false },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const struct auxtrace_record_sample sample = {
			.header = { .type = AUXTRACE_RECORD_SAMPLE, .size = cases[i].size },
			.flags = cases[i].flags, .data_offset = cases[i].offset, .length = cases[i].length,
		};
		/* In a record that is too short, this is where the flags would be. */
		const struct auxtrace_record_end tail = { .time = cases[i].flags, .size = cases[i].size };
		uint64_t buf[WHOLE / 8] = { 0 };
		size_t at = 0;

		memcpy(buf, &sample, sizeof(sample));
		memcpy((uint8_t *)buf + cases[i].size - END, &tail, sizeof(tail));
		if (!auxtrace_record_next(buf, cases[i].size, &at) == cases[i].valid)
			fail_msg("case %u", i);
	}
}

static void without_memory_a_record_that_wraps_stays_in_the_ring(void **state)
{
	const union auxtrace_record *record;
	uint64_t n = 0, wraps;

	(void)state;
	begin(0, 0);
	while (channel->status->data_head + record_size(n + 1) <= SIZE)
		write_record(3, ++n);
	for (wraps = 1; wraps <= n; wraps++)
		assert_int_equal(auxtrace_reader_next_record(reader, &record), 1);
	auxtrace_reader_consume_records(reader);
	assert_true(channel->status->data_head % SIZE);
	write_record(3, wraps);
	fake.fail_alloc = 1;
	fails(ENOMEM, auxtrace_reader_next_record(reader, &record));
	says("no memory");
	assert_int_equal(auxtrace_reader_next_record(reader, &record), 1);
	check_record(record, wraps);
}

static void which_reader_is_for_which_ring_is_told(void **state)
{
	const union auxtrace_record *record;
	struct auxtrace_copy copy;
	uint64_t buf[8];

	begin(AUXTRACE_SETUP_DATA_OVERWRITE, 0);
	fails(EINVAL, auxtrace_reader_next_record(reader, &record));
	says("is no queue");
	again(state);
	begin(0, 0);
	again(state);
	session = auxtrace_open(NULL);
	struct auxtrace_options o = { .size = sizeof(o), .cpus = "3", .config = "" };
	assert_int_equal(auxtrace_setup(session, &o), 0);
	reader = auxtrace_reader(session, 3);
	fails(EINVAL, auxtrace_reader_next_record(reader, &record));
	says("has no data ring");
	fails(EINVAL, auxtrace_reader_copy_records(reader, NULL, buf, sizeof(buf), &copy));
}

/* @copy must have records up to @last, one after another; returns the first's number. */
static uint64_t check_copy(const void *buf, const struct auxtrace_copy *copy, uint64_t last, uint64_t head)
{
	const union auxtrace_record *record;
	uint64_t n = 0, first = 0, sum = 0;
	size_t at = 0;

	assert_int_equal(copy->position + copy->len, head);
	while ((record = auxtrace_record_next(buf, copy->len, &at))) {
		if (!n)
			n = first = record_number(record);
		check_record(record, n++);
		sum += record->header.size;
	}
	assert_int_equal(at, copy->len);
	assert_int_equal(sum, copy->len);
	if (first)
		assert_int_equal(n, last + 1);
	return first;
}

static void an_overwritable_ring_gives_all_that_is_whole(void **state)
{
	static uint64_t buf[SIZE / 8];

	for (unsigned int d = 0; d < 2; again(state), d++) {
		begin(directions[d] | AUXTRACE_SETUP_DATA_OVERWRITE, 0);
		for (uint64_t n = 0; n < 2000; n++) {
			struct auxtrace_copy copy;
			uint64_t whole = 0, first = n + 1;

			if (n)
				write_record(3, n);
			while (first > 1 && whole + record_size(first - 1) <= SIZE)
				whole += record_size(--first);
			assert_int_equal(auxtrace_reader_copy_records(reader, NULL, buf, sizeof(buf), &copy), 0);
			assert_int_equal(copy.len, whole);
			assert_int_equal(check_copy(buf, &copy, n, channel->status->data_head),
					 n ? first : 0);
			assert_true(copy.cut < 256);
			/* With less room: the newest of them. */
			assert_int_equal(auxtrace_reader_copy_records(reader, NULL, buf, 1000, &copy), 0);
			if (whole > 1000)
				assert_true(copy.len > 1000 - 256 && copy.len <= 1000);
			check_copy(buf, &copy, n, channel->status->data_head);
		}
	}
}

/* Of the buffer only whole words are used, and all of these. */
static void a_buffer_of_any_size_gets_the_newest_records_that_fit(void **state)
{
	static uint64_t buf[SIZE / 8];

	for (unsigned int d = 0; d < 2; again(state), d++) {
		begin(directions[d] | AUXTRACE_SETUP_DATA_OVERWRITE, 0);
		for (uint64_t n = 1; n <= 200; n++)
			write_record(3, n);
		for (size_t size = 0; size < 1024; size += 9) {
			size_t words = size / 8, whole = 0;
			struct auxtrace_copy copy;

			for (uint64_t n = 200; whole + record_size(n) <= 8 * words; n--)
				whole += record_size(n);
			buf[words] = 4711;
			assert_int_equal(auxtrace_reader_copy_records(reader, NULL, buf, size, &copy), 0);
			assert_int_equal(copy.len, whole);
			assert_int_equal(copy.cut, 8 * words - whole);
			assert_int_equal(buf[words], 4711);
			check_copy(buf, &copy, 200, channel->status->data_head);
		}
	}
}

/*
 * A writer that has reserved room and not stored yet: the head is where it was, and
 * the oldest records are not to be trusted any more.
 */
static void what_a_writer_has_reserved_is_not_handed_out(void **state)
{
	static uint64_t buf[SIZE / 8];

	for (unsigned int d = 0; d < 2; again(state), d++) {
		struct auxtrace_copy copy, less;

		begin(directions[d] | AUXTRACE_SETUP_DATA_OVERWRITE, 0);
		for (uint64_t n = 1; n <= 200; n++)
			write_record(3, n);
		assert_int_equal(auxtrace_reader_copy_records(reader, NULL, buf, sizeof(buf), &copy), 0);
		channel->status->data_reserved += 1024;
		assert_int_equal(auxtrace_reader_copy_records(reader, NULL, buf, sizeof(buf), &less), 0);
		check_copy(buf, &less, 200, channel->status->data_head);
		assert_true(less.len <= SIZE - 1024 && less.len > SIZE - 1024 - 256);
		assert_int_equal(less.cut + less.len, SIZE);
		/* All of it. */
		channel->status->data_reserved += SIZE;
		assert_int_equal(auxtrace_reader_copy_records(reader, NULL, buf, sizeof(buf), &less), 0);
		assert_int_equal(less.len, 0);
		assert_int_equal(less.cut, SIZE);
	}
}

static void a_queue_can_be_copied_without_consuming_it(void **state)
{
	static uint64_t buf[SIZE / 8];
	const union auxtrace_record *record;
	struct auxtrace_cut cut = { .cpu = 3 };
	struct auxtrace_copy copy;

	for (unsigned int d = 0; d < 2; again(state), d++) {
		begin(directions[d], 0);
		for (uint64_t n = 1; n <= 20; n++)
			write_record(3, n);
		for (uint64_t n = 1; n <= 5; n++)
			assert_int_equal(auxtrace_reader_next_record(reader, &record), 1);
		assert_int_equal(auxtrace_reader_copy_records(reader, NULL, buf, sizeof(buf), &copy), 0);
		assert_int_equal(check_copy(buf, &copy, 20, channel->status->data_head), 6);
		/* The copy of a cut begins behind the records that were consumed before. */
		cut.data_end = channel->status->data_head;
		assert_int_equal(auxtrace_reader_copy_records(reader, &cut, buf, sizeof(buf), &copy), 0);
		assert_int_equal(check_copy(buf, &copy, 20, cut.data_end), 6);
		assert_int_equal(auxtrace_reader_next_record(reader, &record), 1);
		check_record(record, 6);
	}
}

static void a_cut_in_a_slot_stays_while_others_are_written(void **state)
{
	static uint64_t buf[SIZE / 8];

	for (unsigned int d = 0; d < 2; again(state), d++) {
		struct auxtrace_cut cut[SLOTS];
		struct auxtrace_copy copy;
		uint64_t last[SLOTS], n = 0;

		begin(directions[d] | AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_DATA_OVERWRITE, SLOTS);
		/* Little in slot 0, too much for slot 1 to keep, nothing in slot 2. */
		for (uint32_t slot = 0; slot < 3; slot++) {
			for (unsigned int i = 0; i < slot * (2 - slot) * 300 + (slot ? 0 : 9); i++)
				write_record(3, ++n);
			last[slot] = n;
			switch_slot(3, slot + 1, &cut[slot]);
		}
		for (unsigned int i = 0; i < 500; i++)
			write_record(3, ++n);
		assert_int_equal(auxtrace_reader_copy_records(reader, &cut[0], buf, sizeof(buf), &copy), 0);
		assert_int_equal(check_copy(buf, &copy, last[0], cut[0].data_end), 1);
		assert_int_equal(copy.cut, 0);
		assert_int_equal(auxtrace_reader_copy_records(reader, &cut[1], buf, sizeof(buf), &copy), 0);
		assert_true(check_copy(buf, &copy, last[1], cut[1].data_end) > last[0] + 1);
		assert_true(copy.len > SIZE - 256);
		assert_int_equal(auxtrace_reader_copy_records(reader, &cut[2], buf, sizeof(buf), &copy), 0);
		assert_int_equal(copy.len, 0);
		assert_int_equal(auxtrace_reader_copy_records(reader, NULL, buf, sizeof(buf), &copy), 0);
		check_copy(buf, &copy, n, channel->status->data_head);
		assert_true(copy.len > SIZE - 256);
	}
}

/* What an earlier use of a slot has left there looks like records, and is none. */
static void a_slot_begins_anew(void **state)
{
	static uint64_t buf[SIZE / 8];

	for (unsigned int d = 0; d < 2; again(state), d++) {
		struct auxtrace_copy copy;
		struct auxtrace_cut cut;
		uint64_t n = 0, first;

		begin(directions[d] | AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_DATA_OVERWRITE, 2);
		for (unsigned int i = 0; i < 9; i++) {
			for (unsigned int k = 0; k < 100; k++)
				write_record(3, ++n);
			switch_slot(3, !(i & 1), &cut);
		}
		first = n + 1;
		assert_int_equal(auxtrace_reader_copy_records(reader, NULL, buf, sizeof(buf), &copy), 0);
		assert_int_equal(copy.len, 0);
		for (unsigned int k = 0; k < 5; k++)
			write_record(3, ++n);
		assert_int_equal(auxtrace_reader_copy_records(reader, NULL, buf, sizeof(buf), &copy), 0);
		assert_int_equal(check_copy(buf, &copy, n, channel->status->data_head), first);
	}
}

static void a_cut_without_a_slot_is_checked_against_newer_records(void **state)
{
	static uint64_t buf[SIZE / 8];

	for (unsigned int d = 0; d < 2; again(state), d++) {
		struct auxtrace_cut cut = { .cpu = 3 };
		struct auxtrace_copy copy;
		uint64_t n = 0;

		begin(directions[d] | AUXTRACE_SETUP_DATA_OVERWRITE, 0);
		while (n < 300)
			write_record(3, ++n);
		cut.data_end = channel->status->data_head;
		cut.data_begin = cut.data_end - SIZE;
		while (n < 310)
			write_record(3, ++n);
		assert_int_equal(auxtrace_reader_copy_records(reader, &cut, buf, sizeof(buf), &copy), 0);
		assert_true(check_copy(buf, &copy, 300, cut.data_end) > 0);
		assert_true(copy.cut > 0);
		while (n < 600)
			write_record(3, ++n);
		assert_int_equal(auxtrace_reader_copy_records(reader, &cut, buf, sizeof(buf), &copy), 0);
		assert_int_equal(copy.len, 0);
	}
}

/* Of what has been read the writer may have made space. */
static void a_cut_of_a_queue_begins_behind_what_was_read(void **state)
{
	for (unsigned int d = 0; d < 2; again(state), d++) {
		struct auxtrace_cut cut = { .cpu = 3 };
		const union auxtrace_record *record;
		static uint64_t buf[SIZE / 8];
		struct auxtrace_copy copy;

		begin(directions[d] | AUXTRACE_SETUP_OVERWRITE, 0);
		for (uint64_t n = 1; n <= 3; n++)
			write_record(3, n);
		cut.data_end = channel->status->data_head;
		assert_int_equal(auxtrace_reader_next_record(reader, &record), 1);
		assert_int_equal(auxtrace_reader_copy_records(reader, &cut, buf, sizeof(buf), &copy), 0);
		assert_int_equal(copy.position, record_size(1));
		assert_int_equal(check_copy(buf, &copy, 3, cut.data_end), 2);
		cut.data_begin = record_size(1) + record_size(2);
		assert_int_equal(auxtrace_reader_copy_records(reader, &cut, buf, sizeof(buf), &copy), 0);
		assert_int_equal(copy.position, cut.data_begin);
		assert_int_equal(check_copy(buf, &copy, 3, cut.data_end), 3);
	}
}

static void a_cut_that_cannot_be_is_refused(void **state)
{
	struct auxtrace_cut cut = { .cpu = 2 };
	struct auxtrace_spans spans;
	struct auxtrace_copy copy;
	uint64_t buf[8];

	(void)state;
	begin(AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_DATA_OVERWRITE, 2);
	fails(EINVAL, auxtrace_reader_copy_records(reader, &cut, buf, sizeof(buf), &copy));
	says("a cut of CPU 2 is not read by the reader of CPU 3");
	fails(EINVAL, auxtrace_reader_peek_cut(reader, &cut, &spans));
	cut.cpu = 3;
	cut.slot = 2;
	fails(EINVAL, auxtrace_reader_copy_records(reader, &cut, buf, sizeof(buf), &copy));
	fails(EINVAL, auxtrace_reader_peek_cut(reader, &cut, &spans));
	cut.slot = 1;
	cut.data_begin = 1;
	cut.aux_begin = 1;
	fails(EINVAL, auxtrace_reader_copy_records(reader, &cut, buf, sizeof(buf), &copy));
	fails(EINVAL, auxtrace_reader_peek_cut(reader, &cut, &spans));
	cut.aux_end = 8 * PAGE + 2;
	fails(EINVAL, auxtrace_reader_peek_cut(reader, &cut, &spans));
}

static void a_slot_that_cannot_be_is_not_believed(void **state)
{
	struct auxtrace_copy copy;
	uint64_t buf[8];

	(void)state;
	begin(AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_DATA_OVERWRITE, 2);
	channel->status->data_reserved = 7ull << 56;
	fails(EBADE, auxtrace_reader_copy_records(reader, NULL, buf, sizeof(buf), &copy));
}

static void an_overwritable_ring_that_holds_no_record_is_not_believed(void **state)
{
	for (unsigned int d = 0; d < 2; again(state), d++) {
		struct auxtrace_record_lost lost = {
			.header = { .type = AUXTRACE_RECORD_LOST, .size = sizeof(lost) },
			.end = { .size = sizeof(lost) },
		};
		struct auxtrace_copy copy;
		uint64_t buf[64];

		begin(directions[d] | AUXTRACE_SETUP_DATA_OVERWRITE, 0);
		write_record(3, 1);
		/* The walk begins with the size in the end, or, backward, in the header. */
		if (directions[d])
			lost.end.size += 8;
		else
			lost.header.size += 8;
		write_bytes(3, &lost, sizeof(lost));
		fails(EBADE, auxtrace_reader_copy_records(reader, NULL, buf, sizeof(buf), &copy));
	}
}

/* The library reads the size of the newest record first. */
static void a_size_that_no_record_has_is_not_believed(void **state)
{
	static const uint32_t sizes[] = { 0, 8, 16, 28, 44, 65536 };

	for (unsigned int d = 0; d < 2; again(state), d++)
		for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++, again(state)) {
			struct auxtrace_record_lost lost = {
				.header = { .type = AUXTRACE_RECORD_LOST, .size = sizes[i] },
				.end = { .size = sizes[i] },
			};
			struct auxtrace_copy copy;
			uint64_t buf[64];

			begin(directions[d] | AUXTRACE_SETUP_DATA_OVERWRITE, 0);
			write_record(3, 1);
			write_bytes(3, &lost, sizeof(lost));
			fails(EBADE, auxtrace_reader_copy_records(reader, NULL, buf, sizeof(buf), &copy));
		}
}

static void a_slot_that_begins_within_a_word_is_not_believed(void **state)
{
	struct auxtrace_copy copy;
	uint64_t buf[64];

	(void)state;
	begin(AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_DATA_OVERWRITE, 2);
	write_record(3, 1);
	channel->status->data_slot_begin = 4;
	fails(EBADE, auxtrace_reader_copy_records(reader, NULL, buf, sizeof(buf), &copy));
}

/* The page of a writer that goes no further: the new slot has its begin, and the head is still the old one's. */
static void a_slot_that_is_being_switched_is_to_be_copied_later(void **state)
{
	struct auxtrace_copy copy;
	uint64_t buf[64];

	(void)state;
	begin(AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_DATA_OVERWRITE, 2);
	channel->status->data_slot_begin = 8;
	fails(EAGAIN, auxtrace_reader_copy_records(reader, NULL, buf, sizeof(buf), &copy));
	says("snapshots switch slots of CPU 3");
}

static void a_damaged_file_ends_before_what_is_no_record(void **state)
{
	uint64_t buf[64];
	struct auxtrace_copy copy;
	size_t at = 0;

	(void)state;
	begin(AUXTRACE_SETUP_DATA_OVERWRITE, 0);
	write_record(3, 1);
	write_record(3, 2);
	assert_int_equal(auxtrace_reader_copy_records(reader, NULL, buf, sizeof(buf), &copy), 0);
	((union auxtrace_record *)buf)->header.size += 8;
	assert_null(auxtrace_record_next(buf, copy.len, &at));
	assert_int_equal(at, 0);
	((union auxtrace_record *)buf)->header.size -= 8;
	assert_non_null(auxtrace_record_next(buf, copy.len, &at));
	assert_null(auxtrace_record_next(buf, copy.len - 8, &at));
	assert_int_equal(at, record_size(1));
}

static void a_window_is_whole_in_part_or_gone(void **state)
{
	static const struct {
		uint64_t begin, end;
		enum auxtrace_part part;
	} cases[] = {
		{ 100, 200, AUXTRACE_PART_WHOLE }, { 100, 100, AUXTRACE_PART_WHOLE },
		{ 200, 200, AUXTRACE_PART_WHOLE }, { 120, 130, AUXTRACE_PART_WHOLE },
		{ 99, 200, AUXTRACE_PART_SOME }, { 0, 101, AUXTRACE_PART_SOME },
		{ 0, 100, AUXTRACE_PART_NONE }, { 50, 50, AUXTRACE_PART_NONE },
		{ 150, 201, AUXTRACE_PART_SOME }, { 200, 201, AUXTRACE_PART_NONE },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct auxtrace_record_window w = { .begin = cases[i].begin, .end_position = cases[i].end };

		assert_int_equal(auxtrace_window_part(&w, 100, 200), cases[i].part);
	}
	assert_string_equal(auxtrace_cause_name(AUXTRACE_CAUSE_ERROR), "error");
	assert_string_equal(auxtrace_cause_name(AUXTRACE_CAUSE_SNAPSHOT), "snapshot");
	assert_string_equal(auxtrace_cause_name(0), "?");
	assert_string_equal(auxtrace_cause_name(99), "?");
}

#define t(f) cmocka_unit_test_setup_teardown(f, fake_new, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		t(a_queue_is_read_oldest_first_across_many_wraps),
		t(a_queue_that_holds_no_record_is_not_believed),
		t(a_known_kind_that_is_too_short_is_no_record),
		t(the_smallest_record_has_no_more_than_header_and_end),
		t(a_sample_whose_bytes_are_not_in_its_record_is_none),
		t(without_memory_a_record_that_wraps_stays_in_the_ring),
		t(which_reader_is_for_which_ring_is_told),
		t(an_overwritable_ring_gives_all_that_is_whole),
		t(a_buffer_of_any_size_gets_the_newest_records_that_fit),
		t(what_a_writer_has_reserved_is_not_handed_out),
		t(a_queue_can_be_copied_without_consuming_it),
		t(a_cut_in_a_slot_stays_while_others_are_written),
		t(a_slot_begins_anew),
		t(a_cut_without_a_slot_is_checked_against_newer_records),
		t(a_cut_of_a_queue_begins_behind_what_was_read),
		t(a_cut_that_cannot_be_is_refused),
		t(a_slot_that_cannot_be_is_not_believed),
		t(an_overwritable_ring_that_holds_no_record_is_not_believed),
		t(a_size_that_no_record_has_is_not_believed),
		t(a_slot_that_begins_within_a_word_is_not_believed),
		t(a_slot_that_is_being_switched_is_to_be_copied_later),
		t(a_damaged_file_ends_before_what_is_no_record),
		t(a_window_is_whole_in_part_or_gone),
	};

	return cmocka_run_group_tests_name("userlib records", tests, NULL, NULL);
}
