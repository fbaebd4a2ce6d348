// SPDX-License-Identifier: GPL-2.0-only
/*
 * The library's readers against the module's writer, which runs at full speed on
 * another CPU with writers nested in it: no torn record is ever handed out, and none
 * is missing that is not counted.
 *
 * STRESS_READS in the environment: copies for each test, if the default is too many.
 */
#include "fakedev.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <auxtrace.h>

#include "stress_writer.h"

#define SIZE	PAGE

static struct auxtrace_session *session;
static struct auxtrace_reader *reader;
static struct fake_channel *channel;
static uint64_t reads = 250000;

static void begin(uint32_t flags, uint32_t slots)
{
	struct auxtrace_options o = {
		.size = sizeof(o), .cpus = "3", .config = "", .aux_size = 16 * PAGE, .flags = flags,
		.data_size = slots ? slots * SIZE : SIZE, .slots = slots,
	};

	fake_new(NULL);
	session = auxtrace_open(NULL);
	assert_non_null(session);
	assert_int_equal(auxtrace_setup(session, &o), 0);
	reader = auxtrace_reader(session, 3);
	channel = &fake.channel[3];
	stress_start(&fake.setup, channel->fd[3], channel->status, channel->user);
}

static void end(void)
{
	auxtrace_close(session);
	fake_end(NULL);
}

/* What is known of the records that were handed out: the next number of each level. */
struct seen {
	uint64_t next[LEVELS];
	uint64_t records;
};

/* Every word of it, and its place behind the one before. */
static void check(const union auxtrace_record *record, struct seen *seen, bool in_a_row)
{
	unsigned int level = record->header.type - TYPE;
	const uint64_t *words = (const uint64_t *)record;
	const struct auxtrace_record_end *tail = auxtrace_record_end(record);
	uint64_t number;

	/* assert_*() are slow in millions. */
	if (level >= LEVELS)
		fail_msg("a record of type %#x", record->header.type);
	number = words[1];
	if (record->header.size != stress_size(level, number) || record->header.misc ||
	    tail->time != number || tail->tid != level)
		fail_msg("a torn record: level %u, number %lu", level, number);
	for (unsigned int i = 2; i < record->header.size / 8u - 2; i++)
		if (words[i] != stress_word(level, number, i))
			fail_msg("a torn record: level %u, number %lu, word %u", level, number, i);
	if (number < seen->next[level] || (in_a_row && seen->next[level] && number != seen->next[level]))
		fail_msg("level %u: number %lu, not %lu", level, number, seen->next[level]);
	seen->next[level] = number + 1;
	seen->records++;
}

static void check_all(const void *buf, const struct auxtrace_copy *copy, struct seen *seen)
{
	const union auxtrace_record *record;
	struct seen here = { 0 };
	size_t at = 0;

	while ((record = auxtrace_record_next(buf, copy->len, &at)))
		check(record, &here, true);
	assert_int_equal(at, copy->len);
	/* Time does not go back from one copy to the next. */
	for (unsigned int level = 0; level < LEVELS; level++) {
		if (!here.next[level])
			continue;
		assert_true(here.next[level] >= seen->next[level]);
		seen->next[level] = here.next[level];
	}
	seen->records += here.records;
}

/* A slow host (valgrind on a loaded one) may not have let each level write yet. */
static void wait_for_each_level(void)
{
	const struct timespec nap = { .tv_nsec = 1000000 };

	for (unsigned int level = 0; level < LEVELS; level++)
		for (unsigned int i = 0; i < 60000; i++) {
			if (__atomic_load_n(&stress_count[level].tried, __ATOMIC_RELAXED))
				break;
			nanosleep(&nap, NULL);
		}
}

static void check_end(const struct seen *seen)
{
	wait_for_each_level();
	stress_stop();
	for (unsigned int level = 0; level < LEVELS; level++) {
		assert_true(stress_count[level].tried > 0);
		assert_true(seen->next[level] <= stress_count[level].tried);
	}
	print_message("%lu records read; %lu, %lu, %lu written, %lu of them in another\n", seen->records,
		      stress_count[0].tried, stress_count[1].tried, stress_count[2].tried, stress_nested);
}

/* Seconds that a busy host has to let reader and writer meet at work so often. */
#define PATIENCE	120
#define MEETINGS	100

static time_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

/*
 * Read number @i is due: or, behind the last, reader and writer have not met at work
 * often enough: on a busy host they seldom run at once.
 */
static bool is_due(uint64_t i, bool met)
{
	static time_t end;

	if (i < reads)
		end = 0;
	else if (!end)
		end = now() + PATIENCE;
	return i < reads || (!met && now() < end);
}

static uint64_t written(void)
{
	return __atomic_load_n(&channel->status->data_reserved, __ATOMIC_ACQUIRE);
}

static void copy_at_full_speed(uint32_t direction)
{
	static uint64_t buf[SIZE / 8];
	uint64_t met = 0, cut = 0, empty = 0;
	struct seen seen = { { 0 }, 0 };

	begin(AUXTRACE_SETUP_DATA_OVERWRITE | direction, 0);
	for (uint64_t i = 0; is_due(i, met > MEETINGS && seen.records > reads / 2); i++) {
		/* A few records, many, all. */
		static const size_t sizes[] = { 256, 1024, SIZE };
		uint64_t before = written();
		struct auxtrace_copy copy;

		if (auxtrace_reader_copy_records(reader, NULL, buf, sizes[i % 3], &copy))
			fail_msg("%s", auxtrace_error());
		/* A cut alone says nothing: what is left of a record is cut at rest, too. */
		met += written() != before;
		check_all(buf, &copy, &seen);
		cut += copy.cut > 0;
		empty += !copy.len;
	}
	check_end(&seen);
	/* The writer was met at work. */
	assert_true(met > MEETINGS);
	assert_true(seen.records > reads / 2);
	print_message("%lu of %lu copies met the writer, %lu were cut, %lu empty\n", met, reads, cut,
		      empty);
	/* And at rest, all that fits is there. */
	struct auxtrace_copy copy;

	assert_int_equal(auxtrace_reader_copy_records(reader, NULL, buf, SIZE, &copy), 0);
	check_all(buf, &copy, &seen);
	for (unsigned int level = 0; level < LEVELS; level++)
		assert_int_equal(stress_count[level].dropped, 0);
	assert_int_equal(seen.next[0], stress_count[0].tried);
	end();
}

static void no_torn_record_of_a_forward_ring(void **state)
{
	(void)state;
	copy_at_full_speed(0);
}

static void no_torn_record_of_a_backward_ring(void **state)
{
	(void)state;
	copy_at_full_speed(AUXTRACE_SETUP_DATA_BACKWARD);
}

/* Cuts are whole while the writer goes on; copies of the present slot are never torn. */
static void slots_are_put_aside_at_full_speed(void **state)
{
	static uint64_t buf[SIZE / 8];

	(void)state;
	for (unsigned int d = 0; d < 2; d++) {
		struct seen seen = { { 0 }, 0 };
		uint64_t last = 0, account = 0;

		begin(AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_DATA_OVERWRITE |
		      (d ? AUXTRACE_SETUP_DATA_BACKWARD : 0), 4);
		for (uint64_t i = 1; i <= reads / 20; i++) {
			struct auxtrace_cut cut = { .cpu = 3, .slot = (i - 1) % 4 };
			struct auxtrace_copy copy;

			stress_switch(i % 4, &cut);
			assert_int_equal(channel->status->data_reserved >> 56, i % 4);
			assert_true(cut.data_begin >= last && cut.data_end >= cut.data_begin);
			account += cut.data_end - cut.data_begin;
			last = cut.data_end;
			if (auxtrace_reader_copy_records(reader, &cut, buf, sizeof(buf), &copy))
				fail_msg("%s", auxtrace_error());
			check_all(buf, &copy, &seen);
			/* All of it but what is left of one record. */
			assert_int_equal(copy.position + copy.len, cut.data_end);
			assert_true(copy.cut < stress_size(0, 0) + 16 * 8);
			if (auxtrace_reader_copy_records(reader, NULL, buf, sizeof(buf), &copy))
				fail_msg("%s", auxtrace_error());
			check_all(buf, &copy, &seen);
			/* Again: it has stayed as it was. */
			if (auxtrace_reader_copy_records(reader, &cut, buf, sizeof(buf), &copy))
				fail_msg("%s", auxtrace_error());
			assert_true(copy.cut < stress_size(0, 0) + 16 * 8);
		}
		check_end(&seen);
		assert_int_equal(channel->status->data_consumed, account);
		end();
	}
}

/*
 * Slots go while they are copied, and come back with what an earlier use has left in
 * them: well-formed records, which are not to be taken for new ones.
 */
static void a_slot_that_is_taken_away_is_never_mixed_with_another(void **state)
{
	static uint64_t buf[SIZE / 8];

	(void)state;
	for (unsigned int d = 0; d < 2; d++) {
		struct seen seen = { { 0 }, 0 };
		uint64_t again = 0;

		stress_rotation = 5;
		begin(AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_DATA_OVERWRITE |
		      (d ? AUXTRACE_SETUP_DATA_BACKWARD : 0), 4);
		for (uint64_t i = 0; is_due(i, seen.records > reads / 2); i++) {
			struct auxtrace_copy copy;

			if (!auxtrace_reader_copy_records(reader, NULL, buf, i & 1 ? 512 : SIZE, &copy)) {
				check_all(buf, &copy, &seen);
				continue;
			}
			if (errno != EAGAIN)
				fail_msg("%s", auxtrace_error());
			again++;
		}
		stress_rotation = 0;
		check_end(&seen);
		assert_true(seen.records > reads / 2);
		print_message("%lu of %lu copies met too many slots\n", again, reads);
		end();
	}
}

/* All that was written is read, or told by LOST, to the record. */
static void a_queue_loses_nothing_silently(void **state)
{
	(void)state;
	for (unsigned int d = 0; d < 2; d++) {
		struct seen seen = { { 0 }, 0 };
		const union auxtrace_record *record;
		uint64_t tried = 0, told = 0;
		int got;

		begin(d ? AUXTRACE_SETUP_DATA_BACKWARD : 0, 0);
		for (bool last = false;; last = seen.records >= 4 * reads) {
			if (last)
				stress_stop();
			while ((got = auxtrace_reader_next_record(reader, &record)) > 0) {
				if (record->header.type == AUXTRACE_RECORD_LOST)
					told += record->lost.lost;
				else
					check(record, &seen, false);
			}
			if (got < 0)
				fail_msg("%s", auxtrace_error());
			auxtrace_reader_consume_records(reader);
			if (last)
				break;
		}
		for (unsigned int level = 0; level < LEVELS; level++)
			tried += stress_count[level].tried;
		assert_int_equal(seen.records + channel->status->data_lost, tried);
		/* What is pending at the end has not been told yet. */
		assert_true(told <= channel->status->data_lost);
		assert_int_equal(channel->status->data_bad_tails, 0);
		print_message("%lu records read, %lu lost, %lu of them told\n", seen.records,
			      (uint64_t)channel->status->data_lost, told);
		end();
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_torn_record_of_a_forward_ring),
		cmocka_unit_test(no_torn_record_of_a_backward_ring),
		cmocka_unit_test(slots_are_put_aside_at_full_speed),
		cmocka_unit_test(a_slot_that_is_taken_away_is_never_mixed_with_another),
		cmocka_unit_test(a_queue_loses_nothing_silently),
	};
	const char *fewer = getenv("STRESS_READS");

	if (fewer)
		reads = strtoull(fewer, NULL, 0);
	return cmocka_run_group_tests_name("userlib stress", tests, NULL, NULL);
}
