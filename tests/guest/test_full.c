// SPDX-License-Identifier: GPL-2.0-only
/*
 * Full trace: nothing is overwritten. A reader that keeps up gets every byte, through any
 * number of wraps. For a reader that does not, the hardware stops at its tail, the gap is
 * counted, and tracing continues after the reader has moved the tail.
 */
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "machine.h"
#include "msr.h"
#include "pmu.h"
#include "trace.h"
#include "uapi.h"
#include "waiter.h"

#define BOTH		(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL)
#define PAGES		16
#define MANY_BYTES	(8u * PAGES * 4096)	/* several wraps */

static void open_area(struct session *s, uint32_t flags, unsigned int pages, uint64_t watermark)
{
	session_prepare(s, one_cpu, flags, pages * page_size);
	s->setup.aux_watermark = watermark;
	session_setup(s);
}

static void poll_before_setup_gives_POLLERR(void **state)
{
	int fd = at_open();

	assert_int_equal(poll_events(fd, 0) & (POLLERR | POLLIN), POLLERR);
}

static void poll_waits_for_the_watermark(void **state)
{
	struct auxtrace_status_page st;
	struct session s;
	short events;

	open_area(&s, AUXTRACE_SETUP_USER, PAGES, 4 * page_size);
	assert_int_equal(poll_events(s.fd, 0), 0);
	ok_start(s.fd);
	/* A paused session does not reach it. */
	ok_pause(&s, 0, NULL);
	load_start(first_cpu);
	assert_int_equal(poll_events(s.fd, 50) & POLLIN, 0);
	ok_resume(&s, 0, NULL);

	events = poll_events(s.fd, WAIT_MS);
	assert_int_equal(events, POLLIN);
	st = channel_status(s.channel);
	assert_true(st.produced >= 4 * page_size);
	assert_true(st.pmis > 0);
	ok_pause(&s, 0, NULL);
	/* POLLRDNORM is reported with POLLIN. */
	struct pollfd p = { .fd = s.fd, .events = POLLIN | POLLRDNORM };

	assert_int_equal(poll(&p, 1, 0), 1);
	assert_int_equal(p.revents, POLLIN | POLLRDNORM);
	channel_set_tail(s.channel, channel_status(s.channel).produced);
	assert_int_equal(poll_events(s.fd, 0), 0);
	assert_int_equal(channel_available(s.channel), 0);
	ok_stop(s.fd);
	check_accounting(&s);
}

/* As the ABI says: it reads up to what it finds after the event, stores its tail and asks STATUS. */
static void an_edge_triggered_reader_is_woken_again_and_again(void **state)
{
	struct epoll_event event = { .events = EPOLLIN | EPOLLET };
	struct auxtrace_status status;
	uint64_t tail = 0, events = 0;
	struct session s;
	int fd;

	open_area(&s, AUXTRACE_SETUP_USER, PAGES, 4 * page_size);
	fd = epoll_create1(EPOLL_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(epoll_ctl(fd, EPOLL_CTL_ADD, s.fd, &event), 0);
	ok_start(s.fd);
	load_start(first_cpu);
	while (tail < MANY_BYTES) {
		assert_int_equal(epoll_wait(fd, &event, 1, WAIT_MS), 1);
		assert_int_equal(event.events, EPOLLIN);
		events++;
		tail = channel_status(s.channel).produced;
		/* It takes its time: sometimes the area fills. */
		usleep(1000 * (events % 4));
		channel_set_tail(s.channel, tail);
		ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
	}
	ok_stop(s.fd);
	print_message("%llu bytes, %llu events, %llu gaps\n", (unsigned long long)tail,
		      (unsigned long long)events, channel_status(s.channel).gaps);
	close(fd);
	check_accounting(&s);
}

static void reaching_the_watermark_wakes_the_reader(void **state)
{
	struct session s;
	struct waiter w;

	open_area(&s, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_PAUSED, PAGES, 4 * page_size);
	ok_start(s.fd);
	load_start(first_cpu);
	waiter_start(&w, s.fd);
	ok_resume(&s, 0, NULL);
	waiter_join(&w);
	assert_true(channel_available(s.channel) >= 4 * page_size);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void reaching_the_tail_wakes_the_reader(void **state)
{
	struct auxtrace_status_page st;
	struct session s;
	struct waiter w;

	/* A tail within the first page keeps the trace from reaching this watermark. */
	open_area(&s, AUXTRACE_SETUP_USER, PAGES, (PAGES - 1) * page_size);
	cpu_pin(first_cpu);
	ok_start(s.fd);
	load_run(100);
	ok_pause(&s, 0, NULL);
	cpu_unpin();
	channel_set_tail(s.channel, 100);
	waiter_start(&w, s.fd);
	load_start(first_cpu);
	ok_resume(&s, 0, NULL);
	waiter_join(&w);
	st = channel_status(s.channel);
	assert_int_equal(st.inhibit, AUXTRACE_INHIBIT_FULL);
	assert_true(st.produced - st.consumed < (PAGES - 1) * page_size);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void a_stop_wakes_the_reader_for_the_rest(void **state)
{
	struct session s;
	struct waiter w;

	open_area(&s, AUXTRACE_SETUP_USER, PAGES, 0);
	cpu_pin(first_cpu);
	ok_start(s.fd);
	load_run(100);
	ok_pause(&s, 0, NULL);
	waiter_start(&w, s.fd);
	ok_stop(s.fd);
	waiter_join(&w);
	assert_true(channel_available(s.channel) > 0);
	check_accounting(&s);
}

static void the_default_watermark_is_half_the_area(void **state)
{
	struct session s;

	open_area(&s, AUXTRACE_SETUP_USER, PAGES, 0);
	cpu_pin(first_cpu);
	ok_start(s.fd);
	while (channel_available(s.channel) < PAGES / 4 * page_size) {
		struct auxtrace_status status;

		load_run(200);
		ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
	}
	ok_pause(&s, 0, NULL);
	assert_true(channel_available(s.channel) < PAGES / 2 * page_size);
	assert_int_equal(poll_events(s.fd, 0), 0);
	ok_resume(&s, 0, NULL);
	while (!poll_events(s.fd, 0))
		load_run(200);
	assert_true(channel_available(s.channel) >= PAGES / 2 * page_size);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void a_stopped_session_is_readable_until_all_is_read(void **state)
{
	struct auxtrace_status_page st;
	struct session s;

	open_area(&s, AUXTRACE_SETUP_USER, PAGES, 0);
	cpu_pin(first_cpu);
	ok_start(s.fd);
	load_run(100);
	assert_int_equal(poll_events(s.fd, 0), 0);
	ok_stop(s.fd);
	assert_int_equal(poll_events(s.fd, 0), POLLIN);
	st = channel_status(s.channel);
	channel_set_tail(s.channel, st.produced - 1);
	assert_int_equal(poll_events(s.fd, 0), POLLIN);
	channel_set_tail(s.channel, st.produced);
	assert_int_equal(poll_events(s.fd, 0), 0);
	check_accounting(&s);
}

/* A reader's copy of the trace, and where windows began in it. */
struct copy {
	uint8_t bytes[2 * MANY_BYTES];
	uint64_t len;
	unsigned int windows;		/* seen so far */
	uint64_t begin[4096];		/* of window n + 1 */
};

/* Copy at most @step new bytes, and move the tail. */
static void take(const struct session *s, struct copy *copy, uint64_t step)
{
	struct auxtrace_status_page st = channel_status(s->channel);
	uint64_t len = st.produced - copy->len;

	assert_true(st.consumed <= copy->len && copy->len <= st.produced);
	/* A window begins only after the tail has moved, so none can be missed. */
	assert_true(st.windows <= copy->windows + 1);
	assert_true(st.windows < sizeof(copy->begin) / sizeof(copy->begin[0]));
	if (st.windows > copy->windows)
		copy->begin[copy->windows++] = st.window_begin;

	if (len > step)
		len = step;
	assert_true(copy->len + len <= sizeof(copy->bytes));
	channel_copy(s->channel, copy->len, copy->bytes + copy->len, len);
	copy->len += len;
	channel_set_tail(s->channel, copy->len);
}

/*
 * Each window is whole packets from its PSB+ to its end. Where the hardware reached the tail,
 * the last packet may be cut off.
 */
static void check_copy(const struct copy *copy, uint64_t gaps_full)
{
	unsigned int cut = 0;

	for (unsigned int i = 0; i < copy->windows; i++) {
		uint64_t begin = copy->begin[i];
		uint64_t end = i + 1 < copy->windows ? copy->begin[i + 1] : copy->len;
		struct walk walk = { 0 };

		trace_walk(&walk, copy->bytes + begin, end - begin, false);
		if (walk.error)
			fail_msg("window %u: bad packet at %llu of [%llu, %llu)", i + 1,
				 (unsigned long long)(begin + walk.end),
				 (unsigned long long)begin, (unsigned long long)end);
		assert_true(walk.begins_window || begin == end);
		/* A BTS record is written whole or not at all. */
		assert_true(!under_bts() || walk.end == end - begin);
		cut += walk.end != end - begin;
		assert_true(end - begin - walk.end < 16);
		assert_int_equal(walk.overflows, 0);
	}
	if (cut > gaps_full)
		fail_msg("%u windows are cut off at their end, the area was full %llu times", cut,
			 (unsigned long long)gaps_full);
}

static void read_around_the_area(uint32_t flags, uint64_t step)
{
	static struct copy copy;
	struct auxtrace_status_page st;
	struct session s;
	uint64_t bytes = 0, begun = 0;
	bool counted;

	memset(&copy, 0, sizeof(copy));
	open_area(&s, flags, PAGES, 2 * page_size);
	load_start(first_cpu);
	counted = emulator_bytes_plain(first_cpu, &begun);
	ok_start(s.fd);
	while (copy.len < MANY_BYTES) {
		wait_readable(s.fd);
		take(&s, &copy, step);
		channel_available(s.channel);
	}
	ok_stop(s.fd);
	while (copy.len < channel_status(s.channel).produced)
		take(&s, &copy, UINT64_MAX);
	assert_int_equal(poll_events(s.fd, 0), 0);

	st = channel_status(s.channel);
	assert_int_equal(st.produced, copy.len);
	assert_int_equal(st.consumed, copy.len);
	assert_int_equal(st.bad_tails, 0);
	assert_int_equal(st.windows, copy.windows);
	/*
	 * One for each lap. With BTS the threshold lies a quarter of the area before the end,
	 * and each poll(2) of the reader moves it on, so fewer may come.
	 */
	assert_true(st.pmis >= (under_bts() ? 1 : MANY_BYTES / (PAGES * page_size)));
	/* Each gap ended a window and began the next, unless STOP came before that. */
	assert_in_range(st.gaps_full, st.windows - 1, st.windows);
	assert_int_equal(st.gaps, st.gaps_full);
	if (counted) {
		/* What the hardware wrote is what was produced, to the byte. */
		bytes = emulator_bytes(first_cpu) - begun;
		check_written(st.produced, bytes);
	}
	check_copy(&copy, st.gaps_full);
	check_accounting(&s);
}

static void a_reader_gets_every_byte_through_many_wraps(void **state)
{
	read_around_the_area(AUXTRACE_SETUP_USER, UINT64_MAX);
}

static void a_reader_gets_every_byte_of_the_kernel_too(void **state)
{
	read_around_the_area(BOTH, UINT64_MAX);
}

static void a_reader_may_consume_any_number_of_bytes(void **state)
{
	read_around_the_area(AUXTRACE_SETUP_USER, 12347);
}

/* Trace until the area is full; the status page then. */
static struct auxtrace_status_page fill(const struct session *s)
{
	struct auxtrace_status_page st;

	for (int i = 0; i < 10000; i++) {
		load_run(100);
		st = channel_status(s->channel);
		if (st.inhibit)
			break;
	}
	assert_int_equal(st.inhibit, AUXTRACE_INHIBIT_FULL);
	assert_int_equal(st.running, 0);
	assert_false(msr_tracing(first_cpu));
	return st;
}

static void reaching_the_tail_stops_the_hardware_and_counts_a_gap(void **state)
{
	struct auxtrace_status_page st, later;
	uint8_t before[PAGES * 4096];
	struct walk walk = { 0 };
	struct session s;

	open_area(&s, AUXTRACE_SETUP_USER, PAGES, 0);
	cpu_pin(first_cpu);
	ok_start(s.fd);
	st = fill(&s);
	assert_int_equal(st.gaps_full, 1);
	assert_int_equal(st.gaps, 1);
	assert_int_equal(st.windows, 1);
	assert_int_equal(st.window_end, st.produced);
	/* PT stops in the page before the tail; BTS in the quarter of a small area. */
	assert_true(st.produced >= (under_bts() ? PAGES * 3 / 4 - 1 : PAGES - 2) * page_size);
	assert_true(st.produced <= PAGES * page_size);
	assert_int_equal(poll_events(s.fd, 0), POLLIN);

	/* Unread trace stays, however much runs. */
	memcpy(before, s.channel->aux, sizeof(before));
	load_run(20000);
	later = channel_status(s.channel);
	assert_memory_equal(before, s.channel->aux, sizeof(before));
	assert_int_equal(later.produced, st.produced);
	assert_int_equal(later.gaps, 1);
	trace_walk(&walk, before, st.produced, false);
	assert_null(walk.error);
	assert_true(walk.begins_window);
	ok_stop(s.fd);
	check_accounting(&s);
}

enum restart { BY_POLL, BY_STATUS, BY_RESUME };

/* The tail moves, and the call @by takes it and starts the channel. */
static void continues_after_the_tail_has_moved(enum restart by)
{
	struct auxtrace_status_page full, st;
	struct auxtrace_status status;
	struct session s;

	open_area(&s, AUXTRACE_SETUP_USER, PAGES, 0);
	cpu_pin(first_cpu);
	ok_start(s.fd);
	for (uint64_t window = 1; window <= 5; window++) {
		struct walk walk = { 0 };
		uint8_t trace[PAGES * 4096];

		full = fill(&s);
		assert_int_equal(full.windows, window);
		assert_int_equal(full.gaps_full, window);
		channel_copy(s.channel, full.window_begin, trace,
			     full.window_end - full.window_begin);
		trace_walk(&walk, trace, full.window_end - full.window_begin, false);
		assert_null(walk.error);
		assert_true(walk.begins_window);

		channel_set_tail(s.channel, full.produced);
		switch (by) {
		case BY_POLL:
			/* All was read: not readable, but tracing again. */
			assert_int_equal(poll_events(s.fd, 0), 0);
			break;
		case BY_STATUS:
			ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
			break;
		case BY_RESUME:
			ok_resume(&s, 0, NULL);
			break;
		}
		st = channel_status(s.channel);
		assert_int_equal(st.consumed, full.produced);
		assert_int_equal(st.inhibit, 0);
		assert_int_equal(st.windows, window + 1);
		assert_int_equal(st.window_begin, full.produced);
		assert_true(st.window_begin_time > full.window_end_time);
		assert_true(msr_tracing(first_cpu));
	}
	ok_stop(s.fd);
	check_accounting(&s);
}

static void a_full_channel_continues_at_poll(void **state)
{
	continues_after_the_tail_has_moved(BY_POLL);
}

static void a_full_channel_continues_at_status_with_sync(void **state)
{
	continues_after_the_tail_has_moved(BY_STATUS);
}

static void a_full_channel_continues_at_resume(void **state)
{
	continues_after_the_tail_has_moved(BY_RESUME);
}

static void a_full_channel_stays_off_while_the_tail_stays(void **state)
{
	struct auxtrace_effect effect;
	struct auxtrace_status status;
	struct session s;

	open_area(&s, AUXTRACE_SETUP_USER, PAGES, 0);
	cpu_pin(first_cpu);
	ok_start(s.fd);
	fill(&s);
	for (int i = 0; i < 3; i++) {
		ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
		assert_int_equal(poll_events(s.fd, 0), POLLIN);
		ok_resume(&s, 0, &effect);
		assert_int_equal(effect.flags, 0);
		assert_int_equal(effect.inhibit, AUXTRACE_INHIBIT_FULL);
	}
	assert_int_equal(status.out_gaps, 1);
	assert_int_equal(channel_status(s.channel).windows, 1);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void a_full_and_paused_channel_needs_both_a_tail_and_a_resume(void **state)
{
	struct auxtrace_status_page st;
	struct auxtrace_effect effect;
	struct auxtrace_status status;
	struct session s;

	open_area(&s, AUXTRACE_SETUP_USER, PAGES, 0);
	cpu_pin(first_cpu);
	ok_start(s.fd);
	st = fill(&s);
	ok_pause(&s, 0, &effect);
	assert_int_equal(effect.flags, 0);
	assert_int_equal(effect.inhibit, AUXTRACE_INHIBIT_USER | AUXTRACE_INHIBIT_FULL);
	assert_int_equal(effect.window, 1);
	channel_set_tail(s.channel, st.produced);
	ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
	st = channel_status(s.channel);
	assert_int_equal(st.inhibit, AUXTRACE_INHIBIT_USER);
	assert_int_equal(st.pauses_asked, 1);
	assert_int_equal(st.pauses_done, 0);
	ok_resume(&s, 0, &effect);
	assert_int_equal(effect.flags, AUXTRACE_EFFECT_CHANGED);
	assert_int_equal(effect.window, 2);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void an_area_of_two_pages_works_too(void **state)
{
	struct auxtrace_status_page st;
	struct session s;
	uint64_t windows = 0;

	open_area(&s, AUXTRACE_SETUP_USER, 2, page_size);
	load_start(first_cpu);
	ok_start(s.fd);
	for (int i = 0; i < 40; i++) {
		wait_readable(s.fd);
		st = channel_status(s.channel);
		assert_true(st.produced > st.consumed);
		assert_true(st.windows >= windows);
		windows = st.windows;
		channel_set_tail(s.channel, st.produced);
	}
	ok_stop(s.fd);
	st = channel_status(s.channel);
	assert_true(st.produced > 20 * page_size);
	check_accounting(&s);
}

static void restarting_a_full_session_needs_the_tail_moved(void **state)
{
	struct auxtrace_status_page st;
	struct session s;

	open_area(&s, AUXTRACE_SETUP_USER, PAGES, 0);
	cpu_pin(first_cpu);
	ok_start(s.fd);
	st = fill(&s);
	ok_stop(s.fd);
	channel_set_tail(s.channel, st.produced);
	ok_start(s.fd);
	st = channel_status(s.channel);
	assert_int_equal(st.inhibit, 0);
	assert_int_equal(st.windows, 2);
	ok_stop(s.fd);
	check_accounting(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(poll_before_setup_gives_POLLERR),
		vm_test(poll_waits_for_the_watermark),
		vm_test(an_edge_triggered_reader_is_woken_again_and_again),
		vm_test(reaching_the_watermark_wakes_the_reader),
		vm_test(reaching_the_tail_wakes_the_reader),
		vm_test(a_stop_wakes_the_reader_for_the_rest),
		vm_test(the_default_watermark_is_half_the_area),
		vm_test(a_stopped_session_is_readable_until_all_is_read),
		vm_test(a_reader_gets_every_byte_through_many_wraps),
		vm_test(a_reader_gets_every_byte_of_the_kernel_too),
		vm_test(a_reader_may_consume_any_number_of_bytes),
		vm_test(reaching_the_tail_stops_the_hardware_and_counts_a_gap),
		vm_test(a_full_channel_continues_at_poll),
		vm_test(a_full_channel_continues_at_status_with_sync),
		vm_test(a_full_channel_continues_at_resume),
		vm_test(a_full_channel_stays_off_while_the_tail_stays),
		vm_test(a_full_and_paused_channel_needs_both_a_tail_and_a_resume),
		vm_test(an_area_of_two_pages_works_too),
		vm_test(restarting_a_full_session_needs_the_tail_moved),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
