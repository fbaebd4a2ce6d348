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
#include "msr.h"
#include "trigger.h"
#include "uapi.h"

#define AUX_SIZE	(1 << 20)
#define ALL		(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_OVERWRITE)

static void sleep_for_3_seconds(void)
{
	time_t before = time(NULL);

	expect_call("deep", 0, file_write("/sys/power/mem_sleep", "deep"), __FILE__, __LINE__);
	expect_call("alarm", 0, file_write("/sys/class/rtc/rtc0/wakealarm", "+3"), __FILE__, __LINE__);
	expect_call("suspend", 0, file_write("/sys/power/state", "mem"), __FILE__, __LINE__);
	assert_true(time(NULL) - before >= 2);
}

static void tracing_goes_on_after_a_sleep_in_s3(void **state)
{
	uint64_t produced[MAX_CPUS], hits;
	struct session s;
	uint32_t id;

	session_open(&s, all_cpus, ALL, AUX_SIZE);
	id = trigger_add(&s, trigger_named(AUXTRACE_TRIGGER_KPROBE, AUXTRACE_ACTION_PAUSE,
					   CALL_FUNCTION, 0));
	ok_start(s.fd);
	load_run(1000);
	ok_pause(&s, 1ULL << last_cpu, NULL);
	sleep_for_3_seconds();
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);
		bool paused = s.channel[i].cpu == last_cpu;

		assert_int_equal(st.inhibit, paused ? AUXTRACE_INHIBIT_USER : 0);
		assert_int_equal(st.gaps_offline, !paused);
		assert_int_equal(st.windows, paused ? 1 : 2);
		assert_int_equal(msr_tracing(st.cpu), !paused);
		produced[i] = st.window_begin;
	}
	ok_resume(&s, 1ULL << last_cpu, NULL);
	hits = trigger_read(&s, id).out_hits;
	for (unsigned int i = 0; i < s.count; i++) {
		struct channel *ch = &s.channel[i];

		assert_int_equal(cpu_pin(ch->cpu), 0);
		load_run(1000);
		call_times(1);
		assert_false(msr_tracing(ch->cpu));
		assert_int_equal(channel_status(ch).inhibit, AUXTRACE_INHIBIT_TRIGGER);
		assert_true(channel_status(ch).produced > produced[i]);
	}
	assert_int_equal(trigger_read(&s, id).out_hits, hits + s.count);
	cpu_unpin();
	ok_stop(s.fd);
	check_accounting(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(tracing_goes_on_after_a_sleep_in_s3),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
