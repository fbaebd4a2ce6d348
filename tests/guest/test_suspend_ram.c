// SPDX-License-Identifier: GPL-2.0-only
/*
 * The machine sleeps in S3, where CPUs lose their registers, and its clock wakes it: a gap, after which
 * tracing goes on as last requested. scripts/vm --suspend boots a machine that can.
 */
#include <string.h>
#include <time.h>

#include "file.h"
#include "invariants.h"
#include "load.h"
#include "machine.h"
#include "sleep.h"
#include "trigger.h"
#include "uapi.h"

#define AUX_SIZE	(1 << 20)
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(tracing_goes_on_after_a_sleep_in_s3),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
