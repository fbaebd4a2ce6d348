// SPDX-License-Identifier: GPL-2.0-only
/*
 * Back-pressure of a full-trace area: a channel that reached its reader's tail continues at a
 * call of the reader, by itself (FULL_AUTO), or only at a RESUME (FULL_STOP); and what the
 * records report each time. A load on another CPU than the test's fills the area.
 */
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "machine.h"
#include "msr.h"
#include "pmu.h"
#include "records.h"
#include "trace.h"
#include "uapi.h"
#include "waiter.h"

#define PAGES	16
#define AUTO	AUXTRACE_SETUP_FULL_AUTO
#define STOP	AUXTRACE_SETUP_FULL_STOP

static void open_area(struct session *s, uint32_t flags)
{
	session_prepare(s, 1ULL << last_cpu, AUXTRACE_SETUP_USER | flags, PAGES * page_size);
	session_prepare_data(s, 0, 16 * page_size);
	session_setup(s);
}

static uint64_t milliseconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ULL + now.tv_nsec / 1000000;
}

/* Wait, without a call to the session, until the channel has reached the tail @times times. */
static struct auxtrace_status_page wait_full(const struct session *s, uint64_t times)
{
	uint64_t begun = milliseconds();
	struct auxtrace_status_page st;

	do {
		st = channel_status(s->channel);
		if (st.gaps_full >= times && st.inhibit & AUXTRACE_INHIBIT_FULL)
			return st;
		usleep(500);
	} while (milliseconds() - begun < WAIT_MS);
	fail_msg("reached the tail %llu times of %llu, inhibit %#x", st.gaps_full,
		 (unsigned long long)times, st.inhibit);
	return st;
}

static struct auxtrace_status_page wait_windows(const struct session *s, uint64_t windows)
{
	uint64_t begun = milliseconds();
	struct auxtrace_status_page st;

	do {
		st = channel_status(s->channel);
		if (st.windows >= windows)
			return st;
		usleep(500);
	} while (milliseconds() - begun < WAIT_MS);
	fail_msg("%llu windows of %llu", st.windows, (unsigned long long)windows);
	return st;
}

static short readable(const struct session *s)
{
	struct auxtrace_status status;
	short events = poll_events(s->fd, 0);

	ok_status(s->fd, AUXTRACE_STATUS_SYNC, &status);
	return events;
}

static void a_full_auto_channel_finds_the_moved_tail_by_itself(void **state)
{
	struct auxtrace_status_page st;
	struct follower f;
	struct session s;

	open_area(&s, AUTO);
	follower_init(&f, s.channel);
	load_start(last_cpu);
	ok_start(s.fd);
	for (uint64_t n = 1; n <= 6; n++) {
		/* From here to the next window the session gets no call. */
		st = wait_full(&s, n);
		assert_int_equal(st.gaps_full, n);
		assert_int_equal(st.windows, n);
		channel_set_tail(s.channel, st.produced);
		wait_windows(&s, n + 1);
		st = channel_status(s.channel);
		assert_int_equal(st.consumed, st.window_begin);
	}
	ok_stop(s.fd);
	follow_and_take(&f);
	follower_agrees(&f);
	assert_int_equal(f.begun_by[AUXTRACE_CAUSE_FULL], 6);
	check_accounting(&s);
}

/* As long as the tail does not move, polling it has no effect. */
static void a_full_auto_channel_stays_off_while_the_tail_stays(void **state)
{
	struct auxtrace_status_page st, later;
	struct session s;

	open_area(&s, AUTO);
	load_start(last_cpu);
	ok_start(s.fd);
	st = wait_full(&s, 1);
	usleep(50000);
	later = channel_status(s.channel);
	assert_int_equal(later.windows, 1);
	assert_int_equal(later.gaps, 1);
	assert_int_equal(later.produced, st.produced);
	/* A moved tail undoes neither a PAUSE nor a STOP. */
	ok_pause(&s, 0, NULL);
	channel_set_tail(s.channel, st.produced);
	usleep(50000);
	assert_int_equal(channel_status(s.channel).inhibit & AUXTRACE_INHIBIT_USER,
			 AUXTRACE_INHIBIT_USER);
	assert_int_equal(channel_status(s.channel).windows, 1);
	ok_resume(&s, 0, NULL);
	wait_full(&s, 2);
	ok_stop(s.fd);
	channel_set_tail(s.channel, channel_status(s.channel).produced);
	usleep(20000);
	assert_int_equal(channel_status(s.channel).windows, 2);
	assert_false(msr_tracing(last_cpu));
	check_accounting(&s);
}

/* A reader that makes no call but moves its tail gets all of the trace. */
static void a_reader_that_only_moves_its_tail_gets_every_byte(void **state)
{
	static uint8_t trace[64 * 16 * 4096];
	struct auxtrace_status_page st;
	uint64_t begun = 0, len = 0;
	struct follower f;
	struct session s;
	bool counted;

	open_area(&s, AUTO);
	follower_init(&f, s.channel);
	load_start(last_cpu);
	counted = emulator_bytes_plain(last_cpu, &begun);
	ok_start(s.fd);
	while (len < 8 * PAGES * page_size) {
		st = channel_status(s.channel);
		assert_true(st.produced < sizeof(trace));
		channel_copy(s.channel, len, trace + len, st.produced - len);
		len = st.produced;
		channel_set_tail(s.channel, len);
		follow_and_take(&f);
		usleep(200);
	}
	ok_stop(s.fd);
	follow_and_take(&f);
	follower_agrees(&f);
	st = channel_status(s.channel);
	assert_true(st.produced < sizeof(trace));
	channel_copy(s.channel, len, trace + len, st.produced - len);
	if (counted)
		check_written(st.produced, emulator_bytes(last_cpu) - begun);
	assert_int_equal(st.bad_tails, 0);
	check_accounting(&s);
}

static void a_full_stop_channel_needs_a_resume(void **state)
{
	struct auxtrace_effect effect;
	struct auxtrace_status_page st;
	struct follower f;
	struct session s;

	open_area(&s, STOP);
	follower_init(&f, s.channel);
	cpu_pin(last_cpu);
	load_start(last_cpu);
	ok_start(s.fd);
	for (uint64_t n = 1; n <= 4; n++) {
		st = wait_full(&s, n);
		assert_int_equal(st.windows, n);
		/* A RESUME without space has no effect. */
		ok_resume(&s, 0, &effect);
		assert_int_equal(effect.flags, 0);
		assert_int_equal(effect.inhibit, AUXTRACE_INHIBIT_FULL);
		assert_int_equal(readable(&s), POLLIN);
		channel_set_tail(s.channel, st.produced);
		readable(&s);
		usleep(5000);
		readable(&s);
		st = channel_status(s.channel);
		assert_int_equal(st.inhibit, AUXTRACE_INHIBIT_FULL);
		assert_int_equal(st.windows, n);
		assert_int_equal(st.gaps_full, n);
		assert_false(msr_tracing(last_cpu));

		ok_resume(&s, 0, &effect);
		assert_int_equal(effect.flags, AUXTRACE_EFFECT_CHANGED);
		assert_int_equal(effect.window, n + 1);
		assert_int_equal(effect.position, st.produced);
	}
	ok_stop(s.fd);
	follow_and_take(&f);
	follower_agrees(&f);
	assert_int_equal(f.begun_by[AUXTRACE_CAUSE_FULL] + f.begun_by[AUXTRACE_CAUSE_USER], 4);
	check_accounting(&s);
}

static void start_ends_a_stop_by_a_full_area(void **state)
{
	struct auxtrace_status_page st;
	struct session s;

	open_area(&s, STOP);
	load_start(last_cpu);
	ok_start(s.fd);
	st = wait_full(&s, 1);
	ok_stop(s.fd);
	channel_set_tail(s.channel, st.produced);
	ok_start(s.fd);
	assert_int_equal(channel_status(s.channel).windows, 2);
	wait_full(&s, 2);
	ok_stop(s.fd);
	check_accounting(&s);
}

/*
 * In the default mode the channel continues at a call of the reader. Each time that the area
 * was full there is one AUX record with TRUNCATED, one WINDOW with the end cause FULL, and one
 * gap.
 */
static void reaching_the_tail_is_recorded_once(void **state)
{
	struct auxtrace_status_page st;
	const union any_record *rec;
	struct follower f;
	struct session s;
	struct records r;

	open_area(&s, 0);
	follower_init(&f, s.channel);
	load_start(last_cpu);
	ok_start(s.fd);
	for (uint64_t n = 1; n <= 6; n++) {
		st = wait_full(&s, n);
		usleep(2000);
		records_read_all(&r, s.channel);
		rec = records_newest(&r, AUXTRACE_RECORD_WINDOW);
		assert_non_null(rec);
		assert_int_equal(rec->window.window, n);
		assert_int_equal(rec->window.end_cause, AUXTRACE_CAUSE_FULL);
		assert_int_equal(rec->window.begin_cause,
				 n == 1 ? AUXTRACE_CAUSE_SESSION : AUXTRACE_CAUSE_FULL);
		rec = records_newest(&r, AUXTRACE_RECORD_AUX);
		assert_non_null(rec);
		assert_int_equal(rec->aux.flags, AUXTRACE_AUX_TRUNCATED);
		records_free(&r);
		follow_and_take(&f);
		assert_int_equal(f.truncated, n);
		assert_int_equal(f.ended_by[AUXTRACE_CAUSE_FULL], n);

		/* The tail has moved, but without a call tracing does not continue. */
		channel_set_tail(s.channel, st.produced);
		usleep(3000);
		assert_int_equal(channel_status(s.channel).windows, n);
		readable(&s);
		assert_int_equal(channel_status(s.channel).windows, n + 1);
	}
	ok_stop(s.fd);
	follow_and_take(&f);
	follower_agrees(&f);
	check_accounting(&s);
}

static void the_watermark_wakes_the_reader(void **state)
{
	struct session s;
	struct waiter w;

	open_area(&s, *(const uint32_t *)*state | AUXTRACE_SETUP_PAUSED);
	ok_start(s.fd);
	load_start(last_cpu);
	waiter_start(&w, s.fd);
	ok_resume(&s, 0, NULL);
	waiter_join(&w);
	assert_true(channel_available(s.channel) >= PAGES / 2 * page_size);
	ok_stop(s.fd);
	check_accounting(&s);
}

/* All CPUs at once, each with its own speed and its own timer. */
static void all_full_auto_cpus_continue_by_themselves(void **state)
{
	struct follower f[MAX_CPUS];
	uint64_t begun = milliseconds(), done = 0;
	struct session s;

	session_prepare(&s, cpus_online(), AUXTRACE_SETUP_USER | AUTO,
			4 * page_size);
	session_prepare_data(&s, AUXTRACE_SETUP_DATA_BACKWARD, 64 * page_size);
	session_setup(&s);
	for (unsigned int i = 0; i < s.count; i++)
		follower_init(&f[i], &s.channel[i]);
	for (unsigned int i = 0; i < s.count; i++)
		load_start(s.channel[i].cpu);
	ok_start(s.fd);
	while (cpus_count(done) < s.count && milliseconds() - begun < WAIT_MS) {
		for (unsigned int i = 0; i < s.count; i++) {
			struct auxtrace_status_page st = channel_status(&s.channel[i]);

			follow_and_take(&f[i]);
			channel_set_tail(&s.channel[i], st.produced);
			if (st.gaps_full >= 3 && st.windows >= 4)
				done |= 1ULL << i;
		}
		usleep(300);
	}
	ok_stop(s.fd);
	assert_int_equal(cpus_count(done), s.count);
	for (unsigned int i = 0; i < s.count; i++) {
		follow_and_take(&f[i]);
		follower_agrees(&f[i]);
	}
	check_accounting(&s);
}

#define with_flags(f, flags) \
	{ #f " (" #flags ")", f, NULL, at_teardown, &(uint32_t){ flags } }

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(a_full_auto_channel_finds_the_moved_tail_by_itself),
		vm_test(a_full_auto_channel_stays_off_while_the_tail_stays),
		vm_test(a_reader_that_only_moves_its_tail_gets_every_byte),
		vm_test(a_full_stop_channel_needs_a_resume),
		vm_test(start_ends_a_stop_by_a_full_area),
		vm_test(reaching_the_tail_is_recorded_once),
		with_flags(the_watermark_wakes_the_reader, AUTO),
		with_flags(the_watermark_wakes_the_reader, STOP),
		vm_test(all_full_auto_cpus_continue_by_themselves),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
