// SPDX-License-Identifier: GPL-2.0-only
/* Overwrite mode: the newest data replaces the oldest, which is counted to the byte. */
#include <string.h>
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

#define BOTH	(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL)
#define OVER	AUXTRACE_SETUP_OVERWRITE
#define PAGES	16

static void run_until(const struct session *s, uint64_t bytes)
{
	struct auxtrace_status status;

	for (int i = 0; i < 20000; i++) {
		load_run(200);
		ok_status(s->fd, AUXTRACE_STATUS_SYNC, &status);
		if (status.out_produced >= bytes)
			return;
		assert_int_equal(status.out_nr_running, 1);
	}
	fail_msg("only %llu bytes after all of the load", (unsigned long long)status.out_produced);
}

/* The newest bytes, from the first PSB among them, are whole packets to the end. */
static void check_newest(const struct session *s)
{
	struct auxtrace_status_page st = channel_status(s->channel);
	uint64_t len = channel_available(s->channel);
	uint8_t *trace = test_malloc(len);
	struct walk walk = { 0 };

	channel_copy(s->channel, st.produced - len, trace, len);
	trace_walk(&walk, trace, len, true);
	if (walk.error || walk.end != len)
		fail_msg("bad packet at %zu of the newest %llu bytes", walk.end,
			 (unsigned long long)len);
	assert_true(walk.starts > 0);
	/* PSB period 0 means a PSB every 2 KiB, so most of the trace decodes. */
	assert_true(walk.count >= trace_least(len));
	test_free(trace);
}

static void nothing_is_overwritten_before_the_first_wrap(void **state)
{
	struct auxtrace_status_page st;
	struct walk walk = { 0 };
	struct session s;

	session_open(&s, one_cpu, AUXTRACE_SETUP_USER | OVER, PAGES * page_size);
	cpu_pin(first_cpu);
	ok_start(s.fd);
	run_until(&s, 4 * page_size);
	ok_pause(&s, 0, NULL);
	st = channel_status(s.channel);
	assert_true(st.produced < PAGES * page_size);
	assert_int_equal(st.overwritten, 0);
	trace_check_window(&walk, s.channel->aux, st.produced, "before the first wrap");
	ok_stop(s.fd);
	check_accounting(&s);
}

static void wraps(uint32_t flags)
{
	uint64_t begun = 0, area = PAGES * page_size;
	struct auxtrace_status_page st;
	struct session s;
	bool counted;

	session_open(&s, one_cpu, flags | OVER, area);
	cpu_pin(first_cpu);
	counted = emulator_bytes_plain(first_cpu, &begun);
	ok_start(s.fd);
	for (unsigned int round = 1; round <= 8; round++) {
		run_until(&s, round * area + page_size / 3);
		ok_pause(&s, 0, NULL);
		st = channel_status(s.channel);
		assert_int_equal(st.overwritten, st.produced - area);
		assert_int_equal(st.gaps, 0);
		assert_int_equal(st.windows, round);
		if (counted)
			check_written(st.produced, emulator_bytes(first_cpu) - begun);
		check_newest(&s);
		check_accounting(&s);
		ok_resume(&s, 0, NULL);
	}
	ok_stop(s.fd);
	check_newest(&s);
	check_accounting(&s);
}

static void wraps_of_user_code_are_counted_to_the_byte(void **state)
{
	wraps(AUXTRACE_SETUP_USER);
}

static void wraps_of_user_and_kernel_are_counted_to_the_byte(void **state)
{
	wraps(BOTH);
}

/* Without a SYNC only the interrupt counts the wraps. */
static void wraps_are_counted_without_a_sync(void **state)
{
	uint64_t begun, area = 4 * page_size;
	struct auxtrace_status_page st;
	struct session s;

	emulator_required();
	session_open(&s, one_cpu, AUXTRACE_SETUP_USER | OVER, area);
	cpu_pin(first_cpu);
	begun = emulator_bytes(first_cpu);
	ok_start(s.fd);
	load_run(200000);
	ok_stop(s.fd);
	st = channel_status(s.channel);
	check_written(st.produced, emulator_bytes(first_cpu) - begun);
	assert_true(st.produced > 10 * area);
	/* Once a lap; BTS: once for as many bytes as its buffer holds. */
	assert_true(st.pmis >= st.produced / (under_bts() ? 64 << 10 : area) / 2);
	assert_int_equal(st.windows, 1);
	check_newest(&s);
	check_accounting(&s);
}

static void a_wrap_interrupt_moves_the_published_position(void **state)
{
	uint64_t last = 0, area = 4 * page_size;
	struct session s;

	session_open(&s, one_cpu, AUXTRACE_SETUP_USER | OVER, area);
	cpu_pin(first_cpu);
	ok_start(s.fd);
	for (int i = 0; i < 5; i++) {
		struct auxtrace_status_page st;

		/* Far more trace than the area holds. */
		load_run(20000);
		st = channel_status(s.channel);
		assert_true(st.produced > last);
		channel_available(s.channel);
		last = st.produced;
	}
	ok_stop(s.fd);
	check_accounting(&s);
}

static void pauses_anywhere_in_the_area_lose_no_byte(void **state)
{
	uint64_t area = 2 * page_size, last = 0, begun = 0;
	struct auxtrace_status_page st;
	struct session s;
	bool counted;

	session_open(&s, one_cpu, AUXTRACE_SETUP_USER | OVER, area);
	cpu_pin(first_cpu);
	counted = emulator_bytes_plain(first_cpu, &begun);
	ok_start(s.fd);
	/* Pauses at many positions, also near the ends of the area and of pages. */
	for (int i = 0; i < 300; i++) {
		load_run(37 + i % 61);
		ok_pause(&s, 0, NULL);
		st = channel_status(s.channel);
		assert_true(st.produced > last);
		if (counted)
			check_written(st.produced, emulator_bytes(first_cpu) - begun);
		last = st.produced;
		channel_available(s.channel);
		ok_resume(&s, 0, NULL);
	}
	ok_stop(s.fd);
	check_newest(&s);
	check_accounting(&s);
}

static void tails_have_no_effect(void **state)
{
	static const uint64_t tails[] = { 1, UINT64_MAX, 1ULL << 40 };
	struct auxtrace_status status;
	struct session s;

	session_open(&s, one_cpu, AUXTRACE_SETUP_USER | OVER, PAGES * page_size);
	cpu_pin(first_cpu);
	ok_start(s.fd);
	for (int i = 0; i < 3; i++) {
		channel_set_tail(s.channel, tails[i]);
		load_run(20000);
		ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
		assert_int_equal(channel_status(s.channel).consumed, 0);
	}
	ok_stop(s.fd);
	check_accounting(&s);
}

static void a_running_session_is_never_readable(void **state)
{
	struct session s;

	session_open(&s, one_cpu, AUXTRACE_SETUP_USER | OVER, 4 * page_size);
	cpu_pin(first_cpu);
	ok_start(s.fd);
	load_run(50000);
	assert_int_equal(poll_events(s.fd, 0), 0);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void start_after_stop_continues_to_overwrite(void **state)
{
	uint64_t area = 4 * page_size;
	struct auxtrace_status_page st;
	struct session s;

	session_open(&s, one_cpu, AUXTRACE_SETUP_USER | OVER, area);
	cpu_pin(first_cpu);
	for (int i = 1; i <= 3; i++) {
		ok_start(s.fd);
		run_until(&s, (uint64_t)i * 2 * area);
		ok_stop(s.fd);
		st = channel_status(s.channel);
		assert_int_equal(st.windows, i);
		assert_int_equal(st.overwritten, st.produced - area);
		check_newest(&s);
	}
	check_accounting(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(nothing_is_overwritten_before_the_first_wrap),
		vm_test(wraps_of_user_code_are_counted_to_the_byte),
		vm_test(wraps_of_user_and_kernel_are_counted_to_the_byte),
		vm_test(wraps_are_counted_without_a_sync),
		vm_test(a_wrap_interrupt_moves_the_published_position),
		vm_test(pauses_anywhere_in_the_area_lose_no_byte),
		vm_test(tails_have_no_effect),
		vm_test(a_running_session_is_never_readable),
		vm_test(start_after_stop_continues_to_overwrite),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
