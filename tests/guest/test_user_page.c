// SPDX-License-Identifier: GPL-2.0-only
/* Nothing that a process writes into its user page does any harm. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>

#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "machine.h"
#include "trace.h"
#include "uapi.h"

#define AUX_SIZE	(64 * 1024)

static void tails_beyond_the_data_or_going_back_are_counted_and_ignored(void **state)
{
	struct auxtrace_status status;
	struct auxtrace_status_page st;
	struct session s;
	uint64_t len;

	session_open(&s, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	len = load_trace(&s, 1000);
	/* A valid tail first; it may be in the middle of a packet. */
	channel_set_tail(s.channel, len / 2);
	ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
	st = channel_status(s.channel);
	assert_int_equal(st.consumed, len / 2);
	assert_int_equal(st.bad_tails, 0);

	const uint64_t bad[] = { len + 1, UINT64_MAX, 1ULL << 63, len / 2 - 1, 0,
				 len + AUX_SIZE, (uint64_t)AUX_SIZE << 32 };

	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		channel_set_tail(s.channel, bad[i]);
		ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
		st = channel_status(s.channel);
		assert_int_equal(st.consumed, len / 2);
		assert_true(st.bad_tails > i);
	}
	/* A valid tail is taken again. */
	channel_set_tail(s.channel, len);
	ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
	assert_int_equal(channel_available(s.channel), 0);
	check_accounting(&s);
}

struct scribbler {
	struct auxtrace_user_page *user;
	unsigned int rounds;
	int stop;
};

#define HOSTILE_ROUNDS	300
#define MAX_ROUNDS	100000	/* if the host does not run the two threads at the same time */

static void *scribble(void *arg)
{
	struct scribbler *sc = arg;
	uint64_t x = 88172645463325252ULL;

	while (!__atomic_load_n(&sc->stop, __ATOMIC_RELAXED)) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		/* Random ones, and ones that may be valid by chance. */
		__atomic_store_n(&sc->user->aux_tail, x & 1 ? x : x % (8 * AUX_SIZE),
				 __ATOMIC_RELAXED);
		__atomic_fetch_add(&sc->rounds, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

static void random_tails_from_a_hostile_thread_do_no_harm(void **state)
{
	struct auxtrace_status status;
	struct auxtrace_status_page st;
	struct scribbler sc = { 0 };
	unsigned int rounds = 0;
	uint64_t consumed = 0;
	struct session s;
	pthread_t thread;

	session_open(&s, one_cpu, AUXTRACE_SETUP_USER, 4 * page_size);
	load_start(first_cpu);
	sc.user = s.channel->user;
	assert_int_equal(pthread_create(&thread, NULL, scribble, &sc), 0);
	while (!__atomic_load_n(&sc.rounds, __ATOMIC_RELAXED))
		sched_yield();
	ok_start(s.fd);
	do {
		ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
		if (rounds % 8 == 7) {
			ok_pause(&s, 0, NULL);
			ok_resume(&s, 0, NULL);
		}
		channel_available(s.channel);
		st = channel_status(s.channel);
		if (st.consumed < consumed)
			break;
		consumed = st.consumed;
		sched_yield();
	} while (++rounds < HOSTILE_ROUNDS || (!st.bad_tails && rounds < MAX_ROUNDS));
	ok_stop(s.fd);
	__atomic_store_n(&sc.stop, 1, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);

	assert_true(st.consumed >= consumed);
	assert_true(st.bad_tails > 0);
	check_accounting(&s);
}

/* Its first and last reserved byte, on the last of the CPUs. */
static void a_start_refuses_a_user_page_whose_reserved_part_is_not_zero(void **state)
{
	const size_t at[] = { sizeof(struct auxtrace_user_page), page_size - 1 };
	struct session s;
	uint8_t *user;

	session_open(&s, all_cpus, AUXTRACE_SETUP_USER, AUX_SIZE);
	user = (uint8_t *)s.channel[s.count - 1].user;
	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
		user[at[i]] = 1;
		fail_start(EINVAL, s.fd);
		user[at[i]] = 0;
	}
	ok_start(s.fd);
	ok_stop(s.fd);
	check_accounting(&s);
}

/* What a program reads before it knows anything else of the page. */
static void the_status_page_says_what_it_is(void **state)
{
	struct auxtrace_status_page st;
	const uint8_t *bytes;
	struct session s;

	session_prepare(&s, one_cpu, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE, AUX_SIZE);
	session_prepare_data(&s, 0, page_size);
	s.setup.slots = 4;
	session_setup(&s);
	st = channel_status(s.channel);
	assert_int_equal(st.size, sizeof(st));
	assert_int_equal(st.abi_version, AUXTRACE_ABI_VERSION);
	assert_int_equal(st.cpu, first_cpu);
	assert_int_equal(st.pmu, s.setup.pmu);
	assert_int_equal(st.clock, AUXTRACE_CLOCK_TSC);
	assert_int_equal(st.slots, 4);
	assert_int_equal(st.aux_size, AUX_SIZE);
	assert_int_equal(st.data_size, page_size);
	/* Room for later members reads as 0. */
	bytes = (const uint8_t *)s.channel->status;
	for (size_t i = sizeof(st); i < page_size; i++)
		assert_int_equal(bytes[i], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(tails_beyond_the_data_or_going_back_are_counted_and_ignored),
		vm_test(random_tails_from_a_hostile_thread_do_no_harm),
		vm_test(a_start_refuses_a_user_page_whose_reserved_part_is_not_zero),
		vm_test(the_status_page_says_what_it_is),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
