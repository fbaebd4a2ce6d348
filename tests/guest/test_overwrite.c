// SPDX-License-Identifier: GPL-2.0
/* Overwrite mode: the newest data wins, and what it replaced is counted to the byte. */
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "msr.h"
#include "pmu.h"
#include "trace.h"
#include "uapi.h"

#define BOTH	(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL)
#define OVER	AUXTRACE_SETUP_OVERWRITE
#define PAGES	16

static size_t page_size;
static int cpu;

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
	fail_msg("%llu bytes after all that load", (unsigned long long)status.out_produced);
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
	/* A PSB at least each 2 KiB, as the period 0 says; so most of it decodes. */
	assert_true(walk.count >= trace_least(len));
	test_free(trace);
}

static void nothing_is_overwritten_before_the_first_wrap(void **state)
{
	struct auxtrace_status_page st;
	struct walk walk = { 0 };
	struct session s;

	(void)state;
	session_open(&s, 1ULL << cpu, AUXTRACE_SETUP_USER | OVER, PAGES * page_size);
	cpu_pin(cpu);
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
	bool bench;

	session_open(&s, 1ULL << cpu, flags | OVER, area);
	cpu_pin(cpu);
	bench = bench_bytes_plain(cpu, &begun);
	ok_start(s.fd);
	for (unsigned int round = 1; round <= 8; round++) {
		run_until(&s, round * area + page_size / 3);
		ok_pause(&s, 0, NULL);
		st = channel_status(s.channel);
		assert_int_equal(st.overwritten, st.produced - area);
		assert_int_equal(st.gaps, 0);
		assert_int_equal(st.windows, round);
		if (bench)
			assert_int_equal(st.produced, bench_bytes(cpu) - begun);
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
	(void)state;
	wraps(AUXTRACE_SETUP_USER);
}

static void wraps_of_user_and_kernel_are_counted_to_the_byte(void **state)
{
	(void)state;
	wraps(BOTH);
}

/* With no SYNC in between, wraps are the interrupt's to count. */
static void wraps_are_counted_when_nobody_asks(void **state)
{
	uint64_t begun, area = 4 * page_size;
	struct auxtrace_status_page st;
	struct session s;

	(void)state;
	bench_required();
	session_open(&s, 1ULL << cpu, AUXTRACE_SETUP_USER | OVER, area);
	cpu_pin(cpu);
	begun = bench_bytes(cpu);
	ok_start(s.fd);
	load_run(200000);
	ok_stop(s.fd);
	st = channel_status(s.channel);
	assert_int_equal(st.produced, bench_bytes(cpu) - begun);
	assert_true(st.produced > 10 * area);
	/* Once a lap; of BTS once for so many bytes, which is as much as its buffer holds. */
	assert_true(st.pmis >= st.produced / (under_bts() ? 64 << 10 : area) / 2);
	assert_int_equal(st.windows, 1);
	check_newest(&s);
	check_accounting(&s);
}

static void a_wrap_interrupt_moves_the_published_position(void **state)
{
	uint64_t last = 0, area = 4 * page_size;
	struct session s;

	(void)state;
	session_open(&s, 1ULL << cpu, AUXTRACE_SETUP_USER | OVER, area);
	cpu_pin(cpu);
	ok_start(s.fd);
	for (int i = 0; i < 5; i++) {
		struct auxtrace_status_page st;

		/* Far more than an area of it. */
		load_run(20000);
		st = channel_status(s.channel);
		assert_true(st.produced > last);
		channel_available(s.channel);
		last = st.produced;
	}
	ok_stop(s.fd);
	check_accounting(&s);
}

static void pauses_anywhere_in_the_area_leave_no_byte_out(void **state)
{
	uint64_t area = 2 * page_size, last = 0, begun = 0;
	struct auxtrace_status_page st;
	struct session s;
	bool bench;

	(void)state;
	session_open(&s, 1ULL << cpu, AUXTRACE_SETUP_USER | OVER, area);
	cpu_pin(cpu);
	bench = bench_bytes_plain(cpu, &begun);
	ok_start(s.fd);
	/* Pauses at all kinds of places, near the area's end and the page's too. */
	for (int i = 0; i < 300; i++) {
		load_run(37 + i % 61);
		ok_pause(&s, 0, NULL);
		st = channel_status(s.channel);
		assert_true(st.produced > last);
		if (bench)
			assert_int_equal(st.produced, bench_bytes(cpu) - begun);
		last = st.produced;
		channel_available(s.channel);
		ok_resume(&s, 0, NULL);
	}
	ok_stop(s.fd);
	check_newest(&s);
	check_accounting(&s);
}

static void tails_mean_nothing(void **state)
{
	static const uint64_t tails[] = { 1, UINT64_MAX, 1ULL << 40 };
	struct auxtrace_status status;
	struct session s;

	(void)state;
	session_open(&s, 1ULL << cpu, AUXTRACE_SETUP_USER | OVER, PAGES * page_size);
	cpu_pin(cpu);
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
	struct pollfd p;

	(void)state;
	session_open(&s, 1ULL << cpu, AUXTRACE_SETUP_USER | OVER, 4 * page_size);
	cpu_pin(cpu);
	ok_start(s.fd);
	load_run(50000);
	p = (struct pollfd){ .fd = s.fd, .events = POLLIN };
	assert_int_equal(poll(&p, 1, 0), 0);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void start_after_stop_goes_on_overwriting(void **state)
{
	uint64_t area = 4 * page_size;
	struct auxtrace_status_page st;
	struct session s;

	(void)state;
	session_open(&s, 1ULL << cpu, AUXTRACE_SETUP_USER | OVER, area);
	cpu_pin(cpu);
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
		vm_test(wraps_are_counted_when_nobody_asks),
		vm_test(a_wrap_interrupt_moves_the_published_position),
		vm_test(pauses_anywhere_in_the_area_leave_no_byte_out),
		vm_test(tails_mean_nothing),
		vm_test(a_running_session_is_never_readable),
		vm_test(start_after_stop_goes_on_overwriting),
	};

	page_size = sysconf(_SC_PAGESIZE);
	cpu = cpus_first(cpus_online());
	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
