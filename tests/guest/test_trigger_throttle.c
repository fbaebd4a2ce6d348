// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters that perf throttles: beyond perf_event_max_sample_rate samples a second perf turns a
 * counter off until the next timer tick. Each time counts as a missed hit.
 */
#include <linux/perf_event.h>
#include <time.h>

#include "cpu.h"
#include "perf.h"
#include "trigger.h"

#define AUX_SIZE	(1 << 16)
#define DATA_SIZE	(1 << 14)
#define CPU		1
#define HZ		250		/* of Debian's kernels */
#define PER_TICK	4		/* samples of an event before perf throttles it */
#define MILLISECONDS	200
#define LONGEST_SPIN_S	60

/* Back to what the other tests expect. */
static int allow_all(void **state)
{
	bool done = perf_unthrottle();

	return at_teardown(state) || !done ? -1 : 0;
}

static void begin(struct session *s)
{
	session_prepare(s, 1ULL << CPU, AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_OVERWRITE, AUX_SIZE);
	session_prepare_data(s, AUXTRACE_SETUP_DATA_OVERWRITE, DATA_SIZE);
	session_setup(s);
	assert_int_equal(cpu_pin(CPU), 0);
	ok_start(s->fd);
}

static struct auxtrace_trigger counter(uint32_t type, uint64_t config, uint64_t period)
{
	static struct perf_event_attr attr;

	attr = (struct perf_event_attr) {
		.type = type, .size = sizeof(attr), .config = config, .sample_period = period,
	};
	return trigger_perf(AUXTRACE_ACTION_NONE, &attr);
}

static void spin(void)
{
	struct timespec begin, now;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	do {
		for (volatile unsigned int i = 0; i < 10000; i++)
			;
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000 <
		 MILLISECONDS);
}

/*
 * perf throttles an event at the n-th sample since a tick. So there are n hits for each time it
 * did, and fewer in each tick in which it did not. On a slow machine most ticks are of the second
 * kind: this spins until two are of the first.
 */
static void is_throttled(struct auxtrace_trigger t)
{
	struct auxtrace_trigger_state st;
	time_t begun = time(NULL);
	struct session s;
	uint32_t id;

	begin(&s);
	assert_true(perf_throttle(PER_TICK * HZ));
	id = trigger_add(&s, t);
	do
		spin();
	while (trigger_read(&s, id).out_missed < 2 && time(NULL) - begun < LONGEST_SPIN_S);
	st = trigger_del(&s, id);
	print_message("%llu hits came, %llu times throttled\n", st.out_held, st.out_missed);
	assert_int_equal(st.out_acted + st.out_idle, 0);
	assert_true(st.out_missed >= 2);
	assert_true(st.out_held >= PER_TICK * st.out_missed);
	session_close(&s);
}

static void a_throttled_counter_has_missed(void **state)
{
	is_throttled(counter(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 5000));
}

/* A clock is a timer of perf's, every 100 us. */
static void a_throttled_clock_has_missed(void **state)
{
	is_throttled(counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK, 100000));
}

/* More events of each kind than perf takes of a hardware counter in a tick: it counts each. */
static void breakpoints_and_tracepoints_are_not_throttled(void **state)
{
	static const char *const names[] = { "breakpoint", "tracepoint" };
	const unsigned int times = 2000;

	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct source *from = source_named(names[i]);
		struct auxtrace_trigger t = trigger(from->kind, AUXTRACE_ACTION_NONE);
		struct session s;
		uint32_t id;

		begin(&s);
		assert_true(from->complete(&s, &t));
		assert_true(perf_throttle(PER_TICK * HZ));
		id = trigger_add(&s, t);
		from->happen(times);
		trigger_counted(&s, id, 0, times, 0, 0);
		session_close(&s);
	}
}

static void a_counter_below_the_rate_misses_nothing(void **state)
{
	struct auxtrace_trigger_state st;
	struct session s;
	uint32_t id;

	begin(&s);
	assert_true(perf_unthrottle());
	id = trigger_add(&s, counter(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS, 200000));
	spin();
	st = trigger_del(&s, id);
	assert_true(st.out_held >= 2);
	assert_int_equal(st.out_missed, 0);
	session_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(a_throttled_counter_has_missed, allow_all),
		cmocka_unit_test_teardown(a_throttled_clock_has_missed, allow_all),
		cmocka_unit_test_teardown(breakpoints_and_tracepoints_are_not_throttled, allow_all),
		cmocka_unit_test_teardown(a_counter_below_the_rate_misses_nothing, allow_all),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
