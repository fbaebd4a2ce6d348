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

/* A channel whose hardware is off before the sleep, and what it has then */
struct kept {
	struct session session;
	struct auxtrace_status_page status;
	uint8_t trace[SMALL];
};

static void keep(struct kept *k)
{
	k->status = channel_status(k->session.channel);
	memcpy(k->trace, k->session.channel->aux, SMALL);
}

/* @gaps_full: behind the sleep it would trace again, and has no space. */
static void expect_kept(const struct kept *k, unsigned int gaps_full)
{
	struct auxtrace_status_page st = channel_status(k->session.channel);

	assert_int_equal(st.inhibit, k->status.inhibit);
	assert_int_equal(st.produced, k->status.produced);
	assert_int_equal(st.windows, k->status.windows);
	assert_int_equal(st.window_end, k->status.window_end);
	assert_int_equal(st.frozen_by, k->status.frozen_by);
	/* The hardware was off already: the sleep itself has cost nothing. */
	assert_int_equal(st.gaps_full, k->status.gaps_full + gaps_full);
	assert_int_equal(st.gaps, k->status.gaps + gaps_full);
	assert_memory_equal(k->trace, k->session.channel->aux, SMALL);
}

static void make_frozen(struct kept *k, int cpu)
{
	uint32_t id;

	session_open(&k->session, 1ULL << cpu, ALL, SMALL);
	id = trigger_add(&k->session, trigger_named(AUXTRACE_TRIGGER_KPROBE, AUXTRACE_ACTION_FREEZE, CALL_FUNCTION, 0));
	ok_start(k->session.fd);
	assert_int_equal(cpu_pin(cpu), 0);
	load_run(1000);
	call_times(1);
	cpu_unpin();
	keep(k);
	assert_int_equal(k->status.inhibit, AUXTRACE_INHIBIT_FROZEN);
	assert_int_equal(k->status.frozen_by, id);
}

static void make_full(struct kept *k, int cpu)
{
	session_open(&k->session, 1ULL << cpu, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL, SMALL);
	ok_start(k->session.fd);
	assert_int_equal(cpu_pin(cpu), 0);
	while (!(channel_status(k->session.channel).inhibit & AUXTRACE_INHIBIT_FULL))
		load_run(1000);
	cpu_unpin();
	keep(k);
}

/* It is told to, and traces until it stops again. */
static void goes_on(struct kept *k, int cpu)
{
	channel_set_tail(k->session.channel, k->status.produced);
	ok_resume(&k->session, 0, NULL);
	assert_int_equal(cpu_pin(cpu), 0);
	load_run(1000);
	call_times(1);
	cpu_unpin();
	assert_true(channel_status(k->session.channel).windows > k->status.windows);
	ok_stop(k->session.fd);
	assert_true(channel_status(k->session.channel).produced > k->status.produced);
	check_accounting(&k->session);
}

/*
 * One sleep for all: the emulator's clock wakes the machine at once from a second one. CPUs 0 and 1 trace, or are paused;
 * the history of CPU 2 is frozen, and the area of CPU 3 full.
 */
static void sessions_go_on_after_a_sleep_in_s3(void **state)
{
	static struct kept frozen, full;
	struct session s;
	uint32_t id;

	assert_int_equal(all_cpus, 0xf);
	session_open(&s, 0x3, ALL, AUX_SIZE);
	id = trigger_add(&s, trigger_named(AUXTRACE_TRIGGER_KPROBE, AUXTRACE_ACTION_PAUSE,
					   CALL_FUNCTION, 0));
	make_frozen(&frozen, 2);
	make_full(&full, 3);
	ok_start(s.fd);
	load_run(1000);
	ok_pause(&s, 0x2, NULL);
	sleep_in_s3();
	expect_kept(&frozen, 0);
	expect_kept(&full, 1);
	slept_once(&s, 1);
	ok_resume(&s, 0x2, NULL);
	traces_until_trigger(&s, id);
	ok_stop(s.fd);
	check_accounting(&s);
	goes_on(&frozen, 2);
	goes_on(&full, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(sessions_go_on_after_a_sleep_in_s3),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
