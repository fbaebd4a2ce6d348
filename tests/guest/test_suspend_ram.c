// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine sleeps in S3, where CPUs lose their registers, and its clock wakes it: a gap, after which
 * tracing goes on as last requested. scripts/vm --suspend boots a machine that can.
 */
#include <string.h>
#include <time.h>

#include "cpu.h"
#include "file.h"
#include "invariants.h"
#include "load.h"
#include "machine.h"
#include "sleep.h"
#include "trigger.h"
#include "uapi.h"

#define AUX_SIZE	(1 << 20)
#define SMALL		(16 * 4096)
#define ALL		(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_OVERWRITE)

/* The machine may need seconds until it sleeps, and the alarm must not come before. */
#define SECONDS		15
#define AS_TEXT(n)	#n
#define TEXT(n)		AS_TEXT(n)

static void sleep_in_s3(void)
{
	time_t before = time(NULL);

	expect_call("deep", 0, file_write("/sys/power/mem_sleep", "deep"), __FILE__, __LINE__);
	expect_call("alarm", 0, file_write("/sys/class/rtc/rtc0/wakealarm", "+" TEXT(SECONDS)), __FILE__, __LINE__);
	expect_call("suspend", 0, file_write("/sys/power/state", "mem"), __FILE__, __LINE__);
	assert_true(time(NULL) - before >= SECONDS - 1);
}

static void tracing_goes_on_after_a_sleep_in_s3(void **state)
{
	struct session s;
	uint32_t id;

	session_open(&s, all_cpus, ALL, AUX_SIZE);
	id = trigger_add(&s, trigger_named(AUXTRACE_TRIGGER_KPROBE, AUXTRACE_ACTION_PAUSE,
					   CALL_FUNCTION, 0));
	ok_start(s.fd);
	load_run(1000);
	ok_pause(&s, 1ULL << last_cpu, NULL);
	sleep_in_s3();
	slept_once(&s, last_cpu);
	ok_resume(&s, 1ULL << last_cpu, NULL);
	traces_until_trigger(&s, id);
	ok_stop(s.fd);
	check_accounting(&s);
}

/* What a channel whose hardware is off has before a sleep */
struct kept {
	struct auxtrace_status_page status;
	uint8_t trace[SMALL];
};

static void keep(struct kept *k, const struct session *s)
{
	k->status = channel_status(s->channel);
	memcpy(k->trace, s->channel->aux, SMALL);
}

static void expect_kept(const struct kept *k, const struct session *s)
{
	struct auxtrace_status_page st = channel_status(s->channel);

	assert_int_equal(st.inhibit, k->status.inhibit);
	assert_int_equal(st.produced, k->status.produced);
	assert_int_equal(st.windows, k->status.windows);
	assert_int_equal(st.window_end, k->status.window_end);
	/* The hardware was off already: the sleep has cost nothing. */
	assert_int_equal(st.gaps, k->status.gaps);
	assert_int_equal(st.gaps_offline, 0);
	assert_memory_equal(k->trace, s->channel->aux, SMALL);
}

/* CPU 0, which keeps its state in S3, and one that is off meanwhile; both ways, as CPUs are. */
static void frozen_and_full_areas_stay_as_they_were(void **state)
{
	static struct kept history, unread;
	struct session frozen, full;
	uint32_t id;

	for (unsigned int swap = 0; swap < 2; swap++) {
		const int one = swap ? last_cpu : first_cpu, other = swap ? first_cpu : last_cpu;

		session_open(&frozen, 1ULL << one, ALL, SMALL);
		id = trigger_add(&frozen, trigger_named(AUXTRACE_TRIGGER_KPROBE, AUXTRACE_ACTION_FREEZE, CALL_FUNCTION, 0));
		ok_start(frozen.fd);
		assert_int_equal(cpu_pin(one), 0);
		load_run(1000);
		call_times(1);
		keep(&history, &frozen);
		assert_int_equal(history.status.inhibit, AUXTRACE_INHIBIT_FROZEN);
		assert_int_equal(history.status.frozen_by, id);

		session_open(&full, 1ULL << other, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL, SMALL);
		ok_start(full.fd);
		assert_int_equal(cpu_pin(other), 0);
		while (!(channel_status(full.channel).inhibit & AUXTRACE_INHIBIT_FULL))
			load_run(1000);
		keep(&unread, &full);
		cpu_unpin();

		sleep_in_s3();
		expect_kept(&history, &frozen);
		assert_int_equal(channel_status(frozen.channel).frozen_by, id);
		expect_kept(&unread, &full);

		/* Both go on when they are told to. */
		ok_resume(&frozen, 0, NULL);
		channel_set_tail(full.channel, unread.status.produced);
		ok_resume(&full, 0, NULL);
		assert_int_equal(cpu_pin(one), 0);
		load_run(1000);
		assert_true(channel_status(frozen.channel).windows > history.status.windows);
		call_times(1);
		assert_int_equal(channel_status(frozen.channel).inhibit, AUXTRACE_INHIBIT_FROZEN);
		cpu_unpin();
		ok_stop(full.fd);
		assert_true(channel_status(full.channel).produced > unread.status.produced);
		check_accounting(&full);
		ok_stop(frozen.fd);
		check_accounting(&frozen);
		session_close(&full);
		session_close(&frozen);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(tracing_goes_on_after_a_sleep_in_s3),
		vm_test(frozen_and_full_areas_stay_as_they_were),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
