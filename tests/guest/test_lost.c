// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lost records: each record that is dropped while the output is paused, or because the ring
 * has no space, is counted, and a LOST record reports how many.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "machine.h"
#include "records.h"
#include "ring.h"
#include "uapi.h"
#include "waiter.h"

/* ---- PAUSE_OUTPUT ------------------------------------------------------------ */

static void paused_output_counts_dropped_records_and_reports_them_when_it_resumes(void **state)
{
	struct auxtrace_status_page before, after;
	const struct mode *m = *state;
	const union any_record *rec;
	unsigned int dropped = 0;
	struct session s;
	struct records r;
	uint64_t lost;

	ring_open(&s, m, AUXTRACE_SETUP_PAUSED, page_size);
	ok_start(s.fd);
	ring_make_records(&s);
	before = channel_status(s.channel);
	assert_int_equal(before.data_paused, 0);
	ok_output(s.fd, 0, 1);
	assert_int_equal(channel_status(s.channel).data_paused, 1);
	for (int i = 0; i < 3; i++)
		dropped += ring_make_records(&s);
	/* A redundant one changes nothing. */
	ok_output(s.fd, 0, 1);
	after = channel_status(s.channel);
	assert_int_equal(after.data_head, before.data_head);
	assert_int_equal(after.data_reserved, before.data_reserved);
	assert_int_equal(after.data_records, before.data_records);
	/* An interrupt drops one more, unless its record has no bytes to report. */
	lost = after.data_lost;
	assert_in_range(lost, dropped, dropped + after.pmis - before.pmis);
	/* Tracing into the AUX area continued. */
	assert_int_equal(after.windows, before.windows + 3);
	assert_true(after.produced > before.produced);

	ok_output(s.fd, 0, 0);
	after = channel_status(s.channel);
	assert_int_equal(after.data_paused, 0);
	assert_int_equal(after.data_lost, lost);
	assert_int_equal(after.data_head, before.data_head + sizeof(rec->lost));
	records_read_all(&r, s.channel);
	rec = r.at[r.count - 1];
	assert_int_equal(rec->header.type, AUXTRACE_RECORD_LOST);
	assert_int_equal(rec->lost.lost, lost);
	records_free(&r);

	ok_output(s.fd, 0, 0);
	assert_int_equal(channel_status(s.channel).data_head, after.data_head);
	/* With nothing dropped no LOST record is written. */
	ok_output(s.fd, 0, 1);
	ok_output(s.fd, 0, 0);
	assert_int_equal(channel_status(s.channel).data_head, after.data_head);
	ring_make_records(&s);
	assert_true(channel_status(s.channel).data_head > after.data_head);
	assert_int_equal(channel_status(s.channel).data_lost, lost);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void output_can_be_paused_before_start_and_stays_so(void **state)
{
	const struct mode m = { OVER, 0 };
	struct auxtrace_status_page st;
	struct follower f;
	struct session s;

	ring_open(&s, &m, 0, page_size);
	follower_init(&f, s.channel);
	ok_output(s.fd, 0, 1);
	ok_start(s.fd);
	assert_int_equal(channel_status(s.channel).data_paused, 1);
	ok_stop(s.fd);
	st = channel_status(s.channel);
	assert_int_equal(st.data_paused, 1);
	assert_int_equal(st.data_head, 0);
	/* ITRACE_START, AUX, WINDOW. */
	assert_true(st.data_lost >= 3);
	ok_output(s.fd, 0, 0);
	follow_and_take(&f);
	assert_int_equal(f.records, 1);
	assert_int_equal(f.lost, st.data_lost);
	ok_start(s.fd);
	ok_stop(s.fd);
	follow_and_take(&f);
	assert_int_equal(f.itrace_starts, 1);
	assert_int_equal(f.newest.window, 2);
	assert_int_equal(f.newest.begin_cause, AUXTRACE_CAUSE_SESSION);
	assert_int_equal(f.newest.end_cause, AUXTRACE_CAUSE_SESSION);
	check_accounting(&s);
}

static void output_is_paused_on_the_requested_cpus_only(void **state)
{
	struct session s;

	session_prepare(&s, all_cpus, AUXTRACE_SETUP_USER | OVER, RING_AUX_SIZE);
	session_prepare_data(&s, 0, page_size);
	session_setup(&s);
	ok_output(s.fd, one_cpu, 1);
	for (unsigned int i = 0; i < s.count; i++)
		assert_int_equal(channel_status(&s.channel[i]).data_paused,
				 s.channel[i].cpu == first_cpu);
	ok_start(s.fd);
	ok_stop(s.fd);
	for (unsigned int i = 0; i < s.count; i++)
		assert_int_equal(!channel_status(&s.channel[i]).data_records,
				 s.channel[i].cpu == first_cpu);
	ok_output(s.fd, all_cpus, 0);
	for (unsigned int i = 0; i < s.count; i++)
		assert_int_equal(channel_status(&s.channel[i]).data_paused, 0);
	check_accounting(&s);
}

/* PAUSE_OUTPUT of @wrong fails with @err, and a valid one after it succeeds. */
static void output_refuses(int err, struct auxtrace_output *wrong, uint64_t data_size)
{
	struct session s;

	session_prepare(&s, one_cpu, AUXTRACE_SETUP_USER, RING_AUX_SIZE);
	session_prepare_data(&s, 0, data_size);
	session_setup(&s);
	fail_ioctl(err, s.fd, AUXTRACE_IOC_PAUSE_OUTPUT, wrong);
	assert_int_equal(channel_status(s.channel).data_paused, 0);
	if (data_size) {
		ok_output(s.fd, 0, 1);
		assert_int_equal(channel_status(s.channel).data_paused, 1);
	}
	session_close(&s);
}

static void pause_output_without_a_data_ring_gives_EINVAL(void **state)
{
	struct auxtrace_output arg = { .size = sizeof(arg), .pause = 1 };

	output_refuses(EINVAL, &arg, 0);
	arg.pause = 0;
	output_refuses(EINVAL, &arg, 0);
}

static void pause_output_of_neither_0_nor_1_gives_EINVAL(void **state)
{
	const uint32_t values[] = { 2, 3, UINT32_MAX };

	for (int i = 0; i < 3; i++) {
		struct auxtrace_output arg = { .size = sizeof(arg), .pause = values[i] };

		output_refuses(EINVAL, &arg, page_size);
	}
}

static void pause_output_of_an_empty_or_a_foreign_set_gives_EINVAL(void **state)
{
	uint64_t sets[] = { 0, all_cpus, one_cpu | 1ULL << 63 };

	for (int i = 0; i < 3; i++) {
		struct auxtrace_output arg = { .size = sizeof(arg), .pause = 1,
					       .cpus_len = sizeof(sets[i]),
					       .cpus = (uintptr_t)&sets[i] };

		if (sets[i] != one_cpu)
			output_refuses(EINVAL, &arg, page_size);
	}
}

static void pause_output_with_a_bad_cpu_set_pointer_gives_EFAULT(void **state)
{
	struct auxtrace_output arg = { .size = sizeof(arg), .pause = 1, .cpus_len = 8 };

	output_refuses(EFAULT, &arg, page_size);
}

static void pause_output_before_setup_gives_EBADFD(void **state)
{
	int fd = at_open();

	fail_output(EBADFD, fd, 0, 1);
}

/* ---- losses ------------------------------------------------------------------ */

static void a_full_ring_drops_the_newest_and_counts_each(void **state)
{
	struct auxtrace_status_page st;
	const struct mode *m = *state;
	struct follower f;
	struct session s;
	uint64_t head;

	ring_open(&s, m, AUXTRACE_SETUP_PAUSED, page_size);
	follower_init(&f, s.channel);
	ok_start(s.fd);
	do {
		ring_make_records(&s);
		st = channel_status(s.channel);
	} while (st.data_lost < 7);
	/* An ITRACE_START, AUX and WINDOW for each window, an AUX for each interrupt. */
	assert_in_range(st.data_records + st.data_lost, 1 + 2 * st.windows,
			1 + 2 * st.windows + st.pmis);
	head = st.data_head;
	/* The free space is too small for a record of a window. */
	assert_true(head <= page_size && head > page_size - 2 * sizeof(union any_record));
	assert_int_equal(poll_events(s.fd, 0), POLLIN);
	/* Unread records stay; but poll(2) may have found space for a LOST record. */
	head = channel_status(s.channel).data_head;
	ring_make_records(&s);
	st = channel_status(s.channel);
	assert_int_equal(st.data_head, head);
	follow_and_take(&f);
	assert_true(f.lost == 0 || (st.pmis && f.lost < st.data_lost));

	ring_make_records(&s);
	st = channel_status(s.channel);
	assert_int_equal(st.data_consumed, head);
	follow_and_take(&f);
	assert_int_equal(f.lost, st.data_lost);
	assert_int_equal(f.newest.window, st.windows);
	ok_stop(s.fd);
	follow_and_take(&f);
	follower_agrees(&f);
	check_accounting(&s);
}

/* The tail moves anywhere: space for less than a LOST record, for one, for more. */
static void losses_add_up_however_little_space_is_freed(void **state)
{
	struct auxtrace_status_page st;
	const struct mode *m = *state;
	uint64_t tail = 0, x = 12345, read = 0;
	struct follower f;
	struct session s;

	ring_open(&s, m, AUXTRACE_SETUP_PAUSED, page_size);
	follower_init(&f, s.channel);
	ok_start(s.fd);
	for (unsigned int n = 0; n < 200; n++) {
		struct records r;

		ring_make_records(&s);
		st = channel_status(s.channel);
		records_read(&r, s.channel, 0, read, st.data_head);
		assert_int_equal(r.begin, read);
		follow(&f, &r, false);
		records_free(&r);
		read = st.data_head;
		assert_true(f.lost <= st.data_lost);
		x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		/* As a rule less than a window's records need, and not only at records' ends. */
		tail += (x >> 33) % 200;
		if (tail > read)
			tail = read;
		channel_set_data_tail(s.channel, tail);
	}
	assert_true(st.data_lost > 20 && f.lost > 0);
	assert_int_equal(st.data_bad_tails, 0);
	channel_set_data_tail(s.channel, read);
	ring_make_records(&s);
	follow_and_take(&f);
	ok_stop(s.fd);
	follow_and_take(&f);
	st = channel_status(s.channel);
	assert_int_equal(f.lost, st.data_lost);
	follower_agrees(&f);
	check_accounting(&s);
}

static void wrong_data_tails_are_counted_and_ignored(void **state)
{
	const struct mode m = { OVER, 0 };
	struct auxtrace_status_page st;
	struct session s;
	uint64_t good;

	ring_open(&s, &m, AUXTRACE_SETUP_PAUSED, page_size);
	ok_start(s.fd);
	for (int i = 0; i < 10; i++)
		ring_make_records(&s);
	good = channel_status(s.channel).data_head / 2;
	channel_set_data_tail(s.channel, good);
	poll_events(s.fd, 0);
	st = channel_status(s.channel);
	assert_int_equal(st.data_consumed, good);
	assert_int_equal(st.data_bad_tails, 0);

	const uint64_t bad[] = { st.data_head + 1, UINT64_MAX, 1ULL << 63, good - 1, 0,
				 st.data_head + page_size, 1ULL << 56 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		channel_set_data_tail(s.channel, bad[i]);
		poll_events(s.fd, 0);
		st = channel_status(s.channel);
		assert_int_equal(st.data_consumed, good);
		assert_true(st.data_bad_tails > i);
	}
	channel_set_data_tail(s.channel, st.data_head);
	poll_events(s.fd, 0);
	assert_int_equal(channel_status(s.channel).data_consumed, st.data_head);
	ok_stop(s.fd);
	check_accounting(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		in_each_mode(paused_output_counts_dropped_records_and_reports_them_when_it_resumes),
		vm_test(output_can_be_paused_before_start_and_stays_so),
		vm_test(output_is_paused_on_the_requested_cpus_only),
		vm_test(pause_output_without_a_data_ring_gives_EINVAL),
		vm_test(pause_output_of_neither_0_nor_1_gives_EINVAL),
		vm_test(pause_output_of_an_empty_or_a_foreign_set_gives_EINVAL),
		vm_test(pause_output_with_a_bad_cpu_set_pointer_gives_EFAULT),
		vm_test(pause_output_before_setup_gives_EBADFD),
		in_each_mode_that_keeps(a_full_ring_drops_the_newest_and_counts_each),
		in_each_mode_that_keeps(losses_add_up_however_little_space_is_freed),
		vm_test(wrong_data_tails_are_counted_and_ignored),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
