// SPDX-License-Identifier: GPL-2.0-only
#include "failure.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <auxtrace.h>

#define SIZE	(2 * PAGE)

static struct auxtrace_session *session;
static struct auxtrace_reader *reader;
static struct fake_channel *channel;

static void begin(uint32_t flags)
{
	struct auxtrace_options o = {
		.size = sizeof(o), .cpus = "3", .config = "", .aux_size = SIZE, .flags = flags,
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

/* The byte that the hardware writes at a position. */
static uint8_t byte_at(uint64_t position)
{
	return position * 7 + position / SIZE * 13;
}

/* The hardware writes up to @position. */
static void produce(uint64_t position)
{
	uint64_t at = channel->status->produced;

	for (; at < position; at++)
		channel->aux[at % SIZE] = byte_at(at);
	channel->status->produced = at;
	channel->status->overwritten = at > SIZE ? at - SIZE : 0;
}

static void check_spans(const struct auxtrace_spans *s, uint64_t position, size_t len, int count)
{
	uint64_t at = position;
	size_t sum = 0;

	assert_int_equal(s->position, position);
	assert_int_equal(s->len, len);
	assert_int_equal(s->count, count);
	for (int i = 0; i < s->count; i++) {
		const uint8_t *p = s->iov[i].iov_base;

		assert_true(s->iov[i].iov_len > 0);
		for (size_t k = 0; k < s->iov[i].iov_len; k++)
			assert_int_equal(p[k], byte_at(at++));
		sum += s->iov[i].iov_len;
	}
	assert_int_equal(sum, len);
}

static void a_full_trace_is_read_from_the_tail_to_produced(void **state)
{
	struct auxtrace_spans s;

	(void)state;
	begin(0);
	assert_int_equal(auxtrace_reader_peek(reader, &s), 0);
	check_spans(&s, 0, 0, 0);
	produce(100);
	assert_int_equal(auxtrace_reader_peek(reader, &s), 0);
	check_spans(&s, 0, 100, 1);
	assert_int_equal(channel->user->aux_tail, 0);
	assert_int_equal(auxtrace_reader_consume(reader, 60), 0);
	assert_int_equal(channel->user->aux_tail, 60);
	assert_int_equal(auxtrace_reader_peek(reader, &s), 0);
	check_spans(&s, 60, 40, 1);
	assert_int_equal(auxtrace_reader_consume(reader, 40), 0);
	assert_int_equal(auxtrace_reader_peek(reader, &s), 0);
	check_spans(&s, 100, 0, 0);
}

static void a_stretch_over_the_end_has_two_parts(void **state)
{
	struct auxtrace_spans s;

	(void)state;
	begin(0);
	produce(SIZE - 10);
	assert_int_equal(auxtrace_reader_consume(reader, SIZE - 10), 0);
	produce(SIZE + 30);
	assert_int_equal(auxtrace_reader_peek(reader, &s), 0);
	check_spans(&s, SIZE - 10, 40, 2);
	assert_int_equal(s.iov[0].iov_len, 10);
	assert_int_equal(auxtrace_reader_consume(reader, 10), 0);
	assert_int_equal(auxtrace_reader_peek(reader, &s), 0);
	check_spans(&s, SIZE, 30, 1);
	/* A full area that begins in its middle. */
	assert_int_equal(auxtrace_reader_consume(reader, 30), 0);
	produce(2 * SIZE + 30);
	assert_int_equal(auxtrace_reader_peek(reader, &s), 0);
	check_spans(&s, SIZE + 30, SIZE, 2);
	/* One that begins at its begin. */
	assert_int_equal(auxtrace_reader_consume(reader, SIZE - 30), 0);
	produce(3 * SIZE);
	assert_int_equal(auxtrace_reader_peek(reader, &s), 0);
	check_spans(&s, 2 * SIZE, SIZE, 1);
}

static void more_than_there_is_cannot_be_consumed(void **state)
{
	(void)state;
	begin(0);
	produce(50);
	fails(EINVAL, auxtrace_reader_consume(reader, 51));
	says("51 bytes cannot be consumed on CPU 3: it has 50");
	assert_int_equal(channel->user->aux_tail, 0);
	assert_int_equal(auxtrace_reader_consume(reader, 20), 0);
	fails(EINVAL, auxtrace_reader_consume(reader, 31));
	says("31 bytes cannot be consumed on CPU 3: it has 30");
	assert_int_equal(channel->user->aux_tail, 20);
}

static void a_produced_that_cannot_be_is_not_believed(void **state)
{
	struct auxtrace_spans s;

	(void)state;
	begin(0);
	channel->status->produced = SIZE + 1;
	fails(EBADE, auxtrace_reader_peek(reader, &s));
	channel->status->produced = 100;
	assert_int_equal(auxtrace_reader_consume(reader, 100), 0);
	channel->status->produced = 99;
	fails(EBADE, auxtrace_reader_peek(reader, &s));
}

static void an_overwrite_area_gives_the_newest_bytes_in_order(void **state)
{
	static const uint64_t positions[] = { 0, 1, SIZE - 1, SIZE, SIZE + 1, 3 * SIZE, 3 * SIZE + 5 };
	struct auxtrace_spans s;

	(void)state;
	begin(AUXTRACE_SETUP_OVERWRITE);
	for (unsigned int i = 0; i < sizeof(positions) / sizeof(positions[0]); i++) {
		uint64_t p = positions[i], from = p > SIZE ? p - SIZE : 0;

		produce(p);
		assert_int_equal(auxtrace_reader_peek(reader, &s), 0);
		check_spans(&s, from, p - from, !p ? 0 : p <= SIZE || p % SIZE == 0 ? 1 : 2);
		/* The account of the ABI. */
		assert_int_equal(channel->status->overwritten + s.len, p);
	}
	fails(EINVAL, auxtrace_reader_consume(reader, 1));
}

static void an_overwrite_area_that_runs_is_not_peeked_into(void **state)
{
	struct auxtrace_spans s;

	(void)state;
	begin(AUXTRACE_SETUP_OVERWRITE);
	produce(10);
	channel->status->running = 1;
	fails(EBUSY, auxtrace_reader_peek(reader, &s));
	says("pause it");
}

static unsigned int syncs;
static uint64_t at_second_sync;

static void run_on(void)
{
	if (++syncs == 2)
		produce(at_second_sync);
}

static void check_copy(const uint8_t *buf, const struct auxtrace_copy *c, uint64_t position,
		       size_t len, size_t cut)
{
	assert_int_equal(c->position, position);
	assert_int_equal(c->len, len);
	assert_int_equal(c->cut, cut);
	for (size_t i = 0; i < len; i++)
		assert_int_equal(buf[i], byte_at(position + i));
}

static void a_copy_without_a_race_is_the_newest_bytes(void **state)
{
	uint8_t buf[SIZE];
	struct auxtrace_copy c;

	(void)state;
	begin(AUXTRACE_SETUP_OVERWRITE);
	produce(SIZE + 100);
	channel->status->running = 1;
	assert_int_equal(auxtrace_reader_copy(reader, buf, sizeof(buf), &c), 0);
	check_copy(buf, &c, 100, SIZE, 0);
	assert_int_equal(auxtrace_reader_copy(reader, buf, 64, &c), 0);
	check_copy(buf, &c, SIZE + 36, 64, 0);
}

/*
 * The fake hardware writes at the second SYNC, after the copy was taken, so that
 * what is in the buffer is what was; the library must cut what might not be.
 */
static void what_was_overwritten_during_the_copy_is_cut_off(void **state)
{
	uint8_t buf[SIZE];
	struct auxtrace_copy c;

	(void)state;
	begin(AUXTRACE_SETUP_OVERWRITE);
	produce(2 * SIZE + 10);
	channel->status->running = 1;
	fake.on_status = run_on;
	at_second_sync = 2 * SIZE + 310;
	syncs = 0;
	assert_int_equal(auxtrace_reader_copy(reader, buf, sizeof(buf), &c), 0);
	check_copy(buf, &c, SIZE + 310, SIZE - 300, 300);
	/* A short copy is far from the front: nothing is lost. */
	at_second_sync += 100;
	syncs = 0;
	assert_int_equal(auxtrace_reader_copy(reader, buf, 1000, &c), 0);
	assert_int_equal(c.cut, 0);
	assert_int_equal(c.len, 1000);
	/* All of it is gone. */
	at_second_sync += 5 * SIZE;
	syncs = 0;
	assert_int_equal(auxtrace_reader_copy(reader, buf, sizeof(buf), &c), 0);
	assert_int_equal(c.len, 0);
	assert_int_equal(c.cut, SIZE);
}

static void a_copy_of_a_full_trace_does_not_move_the_tail(void **state)
{
	uint8_t buf[SIZE];
	struct auxtrace_copy c;

	(void)state;
	begin(0);
	produce(500);
	assert_int_equal(auxtrace_reader_consume(reader, 100), 0);
	assert_int_equal(auxtrace_reader_copy(reader, buf, sizeof(buf), &c), 0);
	check_copy(buf, &c, 100, 400, 0);
	assert_int_equal(channel->user->aux_tail, 100);
}

static void a_page_that_stays_inconsistent_is_told(void **state)
{
	struct auxtrace_status_page page;

	(void)state;
	begin(0);
	fake.clock_step = 1;
	channel->status->seq = 7;
	fails(EAGAIN, auxtrace_reader_status(reader, &page));
	says("status page of CPU 3 stays inconsistent");
	channel->status->seq = 8;
	assert_int_equal(auxtrace_reader_status(reader, &page), 0);
	assert_int_equal(page.seq, 8);
}

static unsigned int clock_reads;

static void update_ends_at_third_look(void)
{
	if (++clock_reads == 3)
		channel->status->seq = 8;
}

/* The fake clock goes on by a second whenever the reader looks at it. */
static void an_update_is_waited_for_two_seconds(void **state)
{
	struct auxtrace_status_page page;

	(void)state;
	begin(0);
	channel->status->size = 4711;
	channel->status->seq = 7;
	fake.clock_step = 1;
	fake.on_clock = update_ends_at_third_look;
	clock_reads = 0;
	assert_int_equal(auxtrace_reader_status(reader, &page), 0);
	assert_int_equal(page.seq, 8);
	assert_int_equal(page.size, 4711);
	channel->status->seq = 7;
	clock_reads = 10;
	fails(EAGAIN, auxtrace_reader_status(reader, &page));
	assert_int_equal(clock_reads, 10 + 4);
}

/* What the page might say is not used. */
static void with_a_page_that_stays_inconsistent_nothing_is_read(void **state)
{
	const struct auxtrace_cut cut = { .cpu = 3, .aux_end = 500 };
	struct auxtrace_copy c;
	struct auxtrace_spans s;
	uint8_t buf[SIZE];

	fake.clock_step = 1;
	begin(0);
	produce(500);
	channel->status->seq = 7;
	fails(EAGAIN, auxtrace_reader_peek(reader, &s));
	fails(EAGAIN, auxtrace_reader_consume(reader, 100));
	fails(EAGAIN, auxtrace_reader_copy(reader, buf, sizeof(buf), &c));
	assert_int_equal(channel->user->aux_tail, 0);
	end(state);
	fake_new(state);
	fake.clock_step = 1;
	begin(AUXTRACE_SETUP_OVERWRITE);
	produce(500);
	channel->status->seq = 7;
	fails(EAGAIN, auxtrace_reader_peek_cut(reader, &cut, &s));
}

static volatile bool stop;

/*
 * The module's side of the protocol, as the ABI has it. Most of the time it is not in an
 * update, as the module: a busy host that stops it would else stop it in one each time,
 * until the reader gives up. A reader's copy takes about as long as from one to the next.
 */
static void *writer(void *arg)
{
	struct auxtrace_status_page *p = arg;

	for (uint64_t n = 1; !stop; n++) {
		for (unsigned int i = 0; i < 32; i++)
			__builtin_ia32_pause();
		__atomic_store_n(&p->seq, p->seq + 1, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_RELEASE);
		__atomic_store_n(&p->produced, n, __ATOMIC_RELAXED);
		__atomic_store_n(&p->windows, n, __ATOMIC_RELAXED);
		__atomic_store_n(&p->pmis, n, __ATOMIC_RELAXED);
		__atomic_store_n(&p->bad_tails, n, __ATOMIC_RELAXED);
		__atomic_store_n(&p->seq, p->seq + 1, __ATOMIC_RELEASE);
	}
	return NULL;
}

/* A busy host may run reader and writer in turns only, each for many milliseconds. */
#define CHANGES		100
#define PATIENCE	120	/* seconds */

static time_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

static void a_snapshot_is_never_torn(void **state)
{
	struct auxtrace_status_page page;
	uint64_t last = 0, changes = 0;
	time_t end = now() + PATIENCE;
	pthread_t thread;

	(void)state;
	begin(0);
	stop = false;
	assert_int_equal(pthread_create(&thread, NULL, writer, channel->status), 0);
	for (unsigned int i = 0; i < 200000 || (changes < CHANGES && now() < end); i++) {
		assert_int_equal(auxtrace_reader_status(reader, &page), 0);
		assert_int_equal(page.windows, page.produced);
		assert_int_equal(page.pmis, page.produced);
		assert_int_equal(page.bad_tails, page.produced);
		assert_true(page.produced >= last);
		changes += page.produced != last;
		last = page.produced;
	}
	stop = true;
	pthread_join(thread, NULL);
	assert_true(changes >= CHANGES);
}

/* ---- slots -------------------------------------------------------------- */

static void begin_slots(void)
{
	struct auxtrace_options o = {
		.size = sizeof(o), .cpus = "3", .config = "", .aux_size = 4 * SIZE, .slots = 4,
		.flags = AUXTRACE_SETUP_OVERWRITE,
	};

	session = auxtrace_open(NULL);
	assert_non_null(session);
	assert_int_equal(auxtrace_setup(session, &o), 0);
	reader = auxtrace_reader(session, 3);
	channel = &fake.channel[3];
}

static void produce_in_slot(uint64_t position)
{
	for (uint64_t at = channel->status->produced; at < position; at++)
		channel->aux[channel->status->slot * SIZE + at % SIZE] = byte_at(at);
	channel->status->produced = position;
}

static void go_on_in(uint32_t slot)
{
	channel->status->slot = slot;
	channel->status->slot_begin = channel->status->produced;
}

static void a_slot_is_read_from_where_its_use_began(void **state)
{
	struct auxtrace_spans s;

	(void)state;
	begin_slots();
	produce_in_slot(100);
	go_on_in(2);
	assert_int_equal(auxtrace_reader_peek(reader, &s), 0);
	check_spans(&s, 100, 0, 0);
	produce_in_slot(150);
	assert_int_equal(auxtrace_reader_peek(reader, &s), 0);
	check_spans(&s, 100, 50, 1);
	produce_in_slot(SIZE + 90);
	assert_int_equal(auxtrace_reader_peek(reader, &s), 0);
	check_spans(&s, 100, SIZE - 10, 2);
	produce_in_slot(3 * SIZE + 90);
	assert_int_equal(auxtrace_reader_peek(reader, &s), 0);
	check_spans(&s, 2 * SIZE + 90, SIZE, 2);
	channel->status->slot = 4;
	fails(EBADE, auxtrace_reader_peek(reader, &s));
}

static void a_cut_is_read_where_it_was_put_aside(void **state)
{
	struct auxtrace_cut cut = { .cpu = 3, .slot = 1, .aux_begin = 300, .aux_end = SIZE + 200 };
	struct auxtrace_spans s;

	(void)state;
	begin_slots();
	channel->status->produced = 300;
	go_on_in(1);
	produce_in_slot(SIZE + 200);
	channel->status->running = 1;
	fails(EBUSY, auxtrace_reader_peek_cut(reader, &cut, &s));
	says("take snapshots by slots");
	go_on_in(0);
	produce_in_slot(9 * SIZE);
	assert_int_equal(auxtrace_reader_peek_cut(reader, &cut, &s), 0);
	check_spans(&s, 300, SIZE - 100, 2);
	/* Where it stays paused, it is read in place. */
	cut.slot = 0;
	cut.aux_begin = 8 * SIZE;
	cut.aux_end = 9 * SIZE;
	channel->status->running = 0;
	assert_int_equal(auxtrace_reader_peek_cut(reader, &cut, &s), 0);
	check_spans(&s, 8 * SIZE, SIZE, 1);
}

static void a_full_trace_has_no_cuts(void **state)
{
	struct auxtrace_cut cut = { .cpu = 3 };
	struct auxtrace_spans s;

	(void)state;
	begin(0);
	fails(EINVAL, auxtrace_reader_peek_cut(reader, &cut, &s));
}

static uint32_t new_slot;	/* lose_slot() switches to it */

/* At the second SYNC the slot is gone: the copy is made again, of the new one. */
static void lose_slot(void)
{
	if (++syncs == 2) {
		go_on_in(new_slot);
		produce_in_slot(at_second_sync);
	}
}

static void a_copy_whose_slot_is_put_aside_is_made_again(void **state)
{
	uint8_t buf[SIZE];
	struct auxtrace_copy c;

	/* Also if that is the same slot, which was put aside and released meanwhile. */
	for (new_slot = 0; new_slot < 2; new_slot++, end(state), fake_new(state)) {
		begin_slots();
		produce_in_slot(700);
		channel->status->running = 1;
		fake.on_status = lose_slot;
		at_second_sync = 1000;
		syncs = 0;
		assert_int_equal(auxtrace_reader_copy(reader, buf, sizeof(buf), &c), 0);
		assert_int_equal(syncs, 3);
		check_copy(buf, &c, 700, 300, 0);
	}
}

static void fail_second_sync(void)
{
	fake.fail.err = EIO;
}

static void a_sync_that_fails_is_told(void **state)
{
	uint8_t buf[SIZE];
	struct auxtrace_copy c;

	(void)state;
	begin(AUXTRACE_SETUP_OVERWRITE);
	fake.fail.nr = AUXTRACE_IOC_STATUS;
	fake.fail.err = EIO;
	fails(EIO, auxtrace_reader_copy(reader, buf, sizeof(buf), &c));
	fake.fail.err = 0;
	fake.on_status = fail_second_sync;
	fails(EIO, auxtrace_reader_copy(reader, buf, sizeof(buf), &c));
}

/* ---- samples in slots ------------------------------------------------------ */

static void a_sample_that_no_slot_can_hold_is_refused(void **state)
{
	/* A slot has SIZE bytes, and there are four. */
	static const struct {
		uint32_t type, flags, slot;
		uint64_t end, length;
		bool valid;
	} cases[] = {
		{ AUXTRACE_RECORD_SAMPLE, AUXTRACE_SAMPLE_IN_SLOT, 0, SIZE, SIZE, true },
		{ AUXTRACE_RECORD_SAMPLE, AUXTRACE_SAMPLE_IN_SLOT, 1, 100, 100, true },
		{ AUXTRACE_RECORD_SAMPLE, AUXTRACE_SAMPLE_IN_SLOT, 3, SIZE + 9, SIZE, true },
		{ AUXTRACE_RECORD_SAMPLE, AUXTRACE_SAMPLE_IN_SLOT, 1, 100, 0, true },
		{ AUXTRACE_RECORD_SAMPLE, AUXTRACE_SAMPLE_IN_SLOT, 4, SIZE, SIZE, false },
		{ AUXTRACE_RECORD_SAMPLE, AUXTRACE_SAMPLE_IN_SLOT, 0, 2 * SIZE, SIZE + 1, false },
		{ AUXTRACE_RECORD_SAMPLE, AUXTRACE_SAMPLE_IN_SLOT, 0, 100, 101, false },
		{ AUXTRACE_RECORD_SAMPLE, 0, 0, SIZE, SIZE, false },
		{ AUXTRACE_RECORD_TRIGGER, AUXTRACE_SAMPLE_IN_SLOT, 0, SIZE, SIZE, false },
	};

	(void)state;
	begin_slots();
	for (unsigned int i = 0; i < 4 * SIZE; i++)
		channel->aux[i] = i * 31 + i / 256;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t at = cases[i].end - cases[i].length;
		const union auxtrace_record record = { .sample = {
			.header = { .type = cases[i].type, .size = sizeof(record.sample) },
			.sample_slot = cases[i].slot, .aux_end = cases[i].end,
			.length = cases[i].length, .flags = cases[i].flags,
		} };
		struct auxtrace_spans spans = { .len = 0 };

		if (!cases[i].valid) {
			fails(EINVAL, auxtrace_reader_peek_sample(reader, &record, &spans));
			continue;
		}
		assert_int_equal(auxtrace_reader_peek_sample(reader, &record, &spans), 0);
		assert_int_equal(spans.len, cases[i].length);
		for (int k = 0; k < spans.count; k++)
			for (size_t b = 0; b < spans.iov[k].iov_len; b++, at++)
				assert_int_equal(((uint8_t *)spans.iov[k].iov_base)[b],
						 channel->aux[cases[i].slot * SIZE + at % SIZE]);
		assert_int_equal(at, cases[i].end);
	}
}

#define t(f) cmocka_unit_test_setup_teardown(f, fake_new, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		t(a_full_trace_is_read_from_the_tail_to_produced),
		t(a_stretch_over_the_end_has_two_parts),
		t(more_than_there_is_cannot_be_consumed),
		t(a_produced_that_cannot_be_is_not_believed),
		t(an_overwrite_area_gives_the_newest_bytes_in_order),
		t(an_overwrite_area_that_runs_is_not_peeked_into),
		t(a_copy_without_a_race_is_the_newest_bytes),
		t(what_was_overwritten_during_the_copy_is_cut_off),
		t(a_copy_of_a_full_trace_does_not_move_the_tail),
		t(a_page_that_stays_inconsistent_is_told),
		t(an_update_is_waited_for_two_seconds),
		t(with_a_page_that_stays_inconsistent_nothing_is_read),
		t(a_snapshot_is_never_torn),
		t(a_slot_is_read_from_where_its_use_began),
		t(a_cut_is_read_where_it_was_put_aside),
		t(a_full_trace_has_no_cuts),
		t(a_copy_whose_slot_is_put_aside_is_made_again),
		t(a_sync_that_fails_is_told),
		t(a_sample_that_no_slot_can_hold_is_refused),
	};

	return cmocka_run_group_tests_name("userlib reader", tests, NULL, NULL);
}
