// SPDX-License-Identifier: GPL-2.0-only
/* BTS alone: INFO and SETUP of it, and which branches its records show and hide. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "branches.h"
#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "machine.h"
#include "pmu.h"
#include "trace.h"
#include "uapi.h"

#define USER		AUXTRACE_SETUP_USER
#define KERNEL		AUXTRACE_SETUP_KERNEL
#define BOTH		(USER | KERNEL)
#define OVER		AUXTRACE_SETUP_OVERWRITE

/* ---- INFO and SETUP ----------------------------------------------------------- */

static uint32_t probed_state(int fd)
{
	return at_pmu(fd, AUXTRACE_INFO_PROBE, AUXTRACE_PMU_INTEL_BTS).state;
}

static void info_reports_bts(void **state)
{
	int fd = at_open();
	char text[128] = "";
	FILE *f = fopen("/sys/devices/system/cpu/vulnerabilities/meltdown", "re");

	assert_int_equal(at_pmu(fd, 0, AUXTRACE_PMU_INTEL_BTS).state, AUXTRACE_PMU_STATE_OK);
	assert_true(at_info().out_pmus & 1u << AUXTRACE_PMU_INTEL_BTS);
	assert_true(at_bts_flags() & AUXTRACE_BTS_CPL);
	/* The kernel's own report of PTI. */
	if (f && fgets(text, sizeof(text), f))
		assert_int_equal(bts_is_buffered(), !!strstr(text, "PTI"));
	if (f)
		fclose(f);
	assert_int_equal(probed_state(fd), AUXTRACE_PMU_STATE_OK);
}

static void info_with_probe_reports_that_a_session_holds_bts(void **state)
{
	struct session s;
	int fd = at_open();

	session_open(&s, one_cpu, BOTH, 16 * page_size);
	ok_start(s.fd);
	assert_int_equal(probed_state(fd), AUXTRACE_PMU_STATE_BUSY);
	assert_int_equal(at_pmu(fd, 0, AUXTRACE_PMU_INTEL_BTS).state, AUXTRACE_PMU_STATE_OK);
	ok_stop(s.fd);
	assert_int_equal(probed_state(fd), AUXTRACE_PMU_STATE_OK);
}

static void setup_with_any_config_gives_EINVAL(void **state)
{
	struct session s;

	session_prepare(&s, one_cpu, BOTH, 16 * page_size);
	s.fd = at_open();
	for (int bit = 0; bit < 64; bit++) {
		s.setup.config = 1ULL << bit;
		fail_setup(EINVAL, s.fd, &s.setup);
	}
	s.setup.config = 0;
	ok_setup(s.fd, &s.setup);
}

/* ---- what the session may not see --------------------------------------------- */

static const struct channel *watched_channel;
static int watching;
static uint64_t seen_kernel, seen_passes;

/* Reads the area all the time, so that it also sees addresses that are removed too late. */
static void *watch(void *arg)
{
	const struct channel *ch = watched_channel;

	/* On another CPU: on the traced one the loop itself would fill the area. */
	cpu_pin(cpus_last(cpus_online()));
	while (__atomic_load_n(&watching, __ATOMIC_RELAXED)) {
		const volatile uint64_t *word = (const void *)ch->aux;

		for (size_t i = 0; i < ch->aux_size / sizeof(*word); i++)
			seen_kernel += word[i] >> 63;
		__atomic_fetch_add(&seen_passes, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

#define LEAST_ROUNDS	400
#define MOST_ROUNDS	40000	/* until the watching thread has got a CPU */

static void no_kernel_address_is_seen_at_any_time(uint32_t flags)
{
	uint64_t from_kernel = 0, seen_here = 0;
	pthread_t thread;
	struct session s;
	struct branches b;

	session_open(&s, one_cpu, USER | flags, 16 * page_size);
	watched_channel = s.channel;
	watching = 1;
	seen_kernel = seen_passes = 0;
	assert_int_equal(pthread_create(&thread, NULL, watch, NULL), 0);
	assert_int_equal(cpu_pin(first_cpu), 0);
	ok_start(s.fd);
	for (int i = 0; i < LEAST_ROUNDS ||
	     (i < MOST_ROUNDS && __atomic_load_n(&seen_passes, __ATOMIC_RELAXED) <= 10); i++) {
		struct auxtrace_status status;

		for (int n = 0; n < 20; n++) {
			getppid();
			load_run(50);
		}
		if (flags & OVER)
			continue;
		ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
		b = branches_available(s.channel);
		for (size_t k = 0; k < b.count; k++) {
			from_kernel += !b.at[k].from;
			seen_here += !b.at[k].to || b.at[k].to >> 63 || b.at[k].from >> 63;
		}
		free(b.at);
		channel_set_tail(s.channel, channel_status(s.channel).produced);
	}
	ok_stop(s.fd);
	__atomic_store_n(&watching, 0, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	b = branches_available(s.channel);
	for (size_t k = 0; k < b.count; k++)
		from_kernel += !b.at[k].from;
	free(b.at);
	assert_int_equal(seen_kernel, 0);
	assert_int_equal(seen_here, 0);
	assert_true(seen_passes > 10);
	/* The kernel did run: branches came from it. */
	assert_true(from_kernel > 20);
	assert_true(channel_status(s.channel).produced > 4 * s.channel->aux_size);
	check_accounting(&s);
}

static void user_sessions_never_show_the_kernel(void **state)
{
	no_kernel_address_is_seen_at_any_time(0);
}

static void user_sessions_in_overwrite_mode_never_show_the_kernel(void **state)
{
	no_kernel_address_is_seen_at_any_time(OVER);
}

/* Judged by the target: an address that the session may not see reads as 0. */
static void each_record_is_of_the_requested_levels(void **state)
{
	static const uint32_t flags[] = { USER, KERNEL, BOTH };

	assert_int_equal(cpu_pin(first_cpu), 0);
	for (int i = 0; i < 3; i++) {
		uint64_t to_user = 0, to_kernel = 0;
		struct session s;
		struct branches b;

		session_open(&s, one_cpu, flags[i], 4 << 20);
		ok_start(s.fd);
		for (int n = 0; n < 50; n++) {
			getppid();
			load_run(20);
		}
		ok_stop(s.fd);
		b = branches_available(s.channel);
		for (size_t k = 0; k < b.count; k++) {
			to_user += !(b.at[k].to >> 63);
			to_kernel += b.at[k].to >> 63;
		}
		free(b.at);
		assert_int_equal(to_user > 50, !!(flags[i] & USER));
		assert_int_equal(to_kernel > 50, !!(flags[i] & KERNEL));
		assert_true(flags[i] & USER || !to_user);
		assert_true(flags[i] & KERNEL || !to_kernel);
		check_accounting(&s);
		session_close(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(info_reports_bts),
		vm_test(info_with_probe_reports_that_a_session_holds_bts),
		vm_test(setup_with_any_config_gives_EINVAL),
		vm_test(user_sessions_never_show_the_kernel),
		vm_test(user_sessions_in_overwrite_mode_never_show_the_kernel),
		vm_test(each_record_is_of_the_requested_levels),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
