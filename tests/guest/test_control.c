// SPDX-License-Identifier: GPL-2.0-only
/*
 * PAUSE and RESUME: what they change, what they answer (test_cost.c: what they cost). The
 * areas are large enough that neither a watermark nor a full area interferes, also with what
 * a debug kernel executes between two lines of a test.
 */
#include <errno.h>
#include <pthread.h>
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

#define AUX_SIZE	(4 * space_for(1 << 20) * slowness)
#define BOTH		(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL)

static void start_begins_window_one_everywhere(void **state)
{
	struct session s;

	session_open(&s, all_cpus, quiet_level(), AUX_SIZE);
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);

		assert_int_equal(st.inhibit, AUXTRACE_INHIBIT_SETUP);
		assert_int_equal(st.windows, 0);
		assert_int_equal(st.produced, 0);
	}
	ok_start(s.fd);
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);

		assert_int_equal(st.inhibit, 0);
		assert_int_equal(st.running, 1);
		assert_int_equal(st.windows, 1);
		assert_int_equal(st.window_begin, 0);
		assert_true(st.window_begin_time > 0);
		assert_true(msr_tracing(s.channel[i].cpu));
	}
	ok_stop(s.fd);
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);

		assert_int_equal(st.inhibit, AUXTRACE_INHIBIT_SETUP);
		assert_int_equal(st.running, 0);
		assert_int_equal(st.windows, 1);
		assert_int_equal(st.window_end, st.produced);
		assert_true(st.window_end_time > st.window_begin_time);
		assert_false(msr_tracing(s.channel[i].cpu));
		channel_check_window(&s.channel[i], 0, st.produced, "window");
	}
	check_accounting(&s);
}

static void start_after_stop_continues_at_the_position_of_the_stop(void **state)
{
	uint64_t position = 0;
	struct session s;

	session_open(&s, one_cpu, BOTH, AUX_SIZE);
	cpu_pin(first_cpu);
	for (uint64_t window = 1; window <= 3; window++) {
		struct auxtrace_status_page st;

		ok_start(s.fd);
		st = channel_status(s.channel);
		assert_int_equal(st.windows, window);
		assert_int_equal(st.window_begin, position);
		load_run(500);
		ok_stop(s.fd);
		st = channel_status(s.channel);
		assert_true(st.window_end > position);
		channel_check_window(s.channel, position, st.window_end, "window");
		position = st.window_end;
	}
	check_accounting(&s);
}

static void a_session_that_starts_paused_traces_nothing_until_resume(void **state)
{
	struct auxtrace_effect effects[MAX_CPUS];
	struct session s;

	session_open(&s, all_cpus, BOTH | AUXTRACE_SETUP_PAUSED, AUX_SIZE);
	ok_start(s.fd);
	load_run(1000);
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);

		assert_int_equal(st.inhibit, AUXTRACE_INHIBIT_USER);
		assert_int_equal(st.windows, 0);
		assert_int_equal(st.pauses_asked, 0);
		assert_false(msr_tracing(s.channel[i].cpu));
	}
	ok_resume(&s, 0, effects);
	for (unsigned int i = 0; i < s.count; i++) {
		assert_int_equal(effects[i].flags, AUXTRACE_EFFECT_CHANGED);
		assert_int_equal(effects[i].inhibit, 0);
		assert_int_equal(effects[i].position, 0);
		assert_int_equal(effects[i].window, 1);
	}
	ok_stop(s.fd);
	check_accounting(&s);
}

static void start_forgets_earlier_pauses(void **state)
{
	struct session s;

	session_open(&s, all_cpus, BOTH, AUX_SIZE);
	ok_start(s.fd);
	ok_pause(&s, 0, NULL);
	ok_stop(s.fd);
	ok_start(s.fd);
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);

		assert_int_equal(st.inhibit, 0);
		assert_int_equal(st.windows, 2);
	}
	ok_stop(s.fd);
	check_accounting(&s);
	session_close(&s);

	/* A session with PAUSED starts paused each time. */
	session_open(&s, all_cpus, BOTH | AUXTRACE_SETUP_PAUSED, AUX_SIZE);
	ok_start(s.fd);
	ok_resume(&s, 0, NULL);
	ok_stop(s.fd);
	ok_start(s.fd);
	for (unsigned int i = 0; i < s.count; i++)
		assert_int_equal(channel_status(&s.channel[i]).inhibit, AUXTRACE_INHIBIT_USER);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void effects_say_where_and_when_each_window_ends_and_begins(void **state)
{
	struct auxtrace_effect effects[MAX_CPUS];
	uint64_t end[MAX_CPUS];
	struct session s;

	session_open(&s, all_cpus, BOTH, AUX_SIZE);
	ok_start(s.fd);
	memset(end, 0, sizeof(end));
	for (uint64_t window = 1; window <= 8; window++) {
		uint64_t before = read_tsc(), after;

		ok_pause(&s, 0, effects);
		after = read_tsc();
		for (unsigned int i = 0; i < s.count; i++) {
			const struct auxtrace_effect *e = &effects[i];
			struct auxtrace_status_page st = channel_status(&s.channel[i]);

			assert_int_equal(e->flags, AUXTRACE_EFFECT_CHANGED);
			assert_int_equal(e->inhibit, AUXTRACE_INHIBIT_USER);
			assert_int_equal(e->reserved, 0);
			assert_int_equal(e->window, window);
			assert_true(e->position > end[i]);
			assert_in_range(e->time, before, after);
			assert_int_equal(st.running, 0);
			assert_int_equal(st.produced, e->position);
			assert_int_equal(st.window_end, e->position);
			assert_int_equal(st.window_end_time, e->time);
			channel_check_window(&s.channel[i], end[i], e->position, "window");
			end[i] = e->position;
		}
		before = read_tsc();
		ok_resume(&s, 0, effects);
		after = read_tsc();
		for (unsigned int i = 0; i < s.count; i++) {
			const struct auxtrace_effect *e = &effects[i];
			struct auxtrace_status_page st = channel_status(&s.channel[i]);

			assert_int_equal(e->flags, AUXTRACE_EFFECT_CHANGED);
			assert_int_equal(e->inhibit, 0);
			assert_int_equal(e->window, window + 1);
			/* No trace while paused, so no gap between the windows. */
			assert_int_equal(e->position, end[i]);
			assert_in_range(e->time, before, after);
			assert_int_equal(st.running, 1);
			assert_int_equal(st.windows, window + 1);
			assert_int_equal(st.window_begin, e->position);
			assert_int_equal(st.window_begin_time, e->time);
		}
	}
	ok_stop(s.fd);
	check_accounting(&s);
}

static void a_request_with_a_mask_changes_only_its_cpus(void **state)
{
	uint64_t some = all_cpus & (all_cpus - 1);	/* all but the first */
	struct auxtrace_effect effects[MAX_CPUS];
	struct session s;

	two_cpus_required();
	session_open(&s, all_cpus, BOTH, AUX_SIZE);
	ok_start(s.fd);
	ok_pause(&s, some, effects);
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);
		bool asked = some >> s.channel[i].cpu & 1;

		assert_int_equal(st.pauses_asked, asked);
		assert_int_equal(st.pauses_done, asked);
		assert_int_equal(st.running, !asked);
		assert_int_equal(msr_tracing(s.channel[i].cpu), !asked);
	}
	/* RESUME of one of them: the others stay paused. */
	ok_resume(&s, 1ULL << cpus_last(some), effects);
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);
		int cpu = s.channel[i].cpu;

		assert_int_equal(st.resumes_asked, cpu == cpus_last(some));
		assert_int_equal(st.running, !(some >> cpu & 1) || cpu == cpus_last(some));
	}
	ok_stop(s.fd);
	check_accounting(&s);
}

static void redundant_requests_are_counted_and_change_nothing(void **state)
{
	struct auxtrace_effect effects[MAX_CPUS], again[MAX_CPUS];
	struct session s;

	session_open(&s, all_cpus, BOTH, AUX_SIZE);
	ok_start(s.fd);
	ok_resume(&s, 0, effects);
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);

		assert_int_equal(effects[i].flags, 0);
		assert_int_equal(effects[i].inhibit, 0);
		assert_int_equal(effects[i].window, 1);
		assert_int_equal(st.resumes_asked, 1);
		assert_int_equal(st.resumes_done, 0);
		assert_int_equal(st.windows, 1);
	}
	ok_pause(&s, 0, effects);
	ok_pause(&s, 0, again);
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);

		assert_int_equal(effects[i].flags, AUXTRACE_EFFECT_CHANGED);
		assert_int_equal(again[i].flags, 0);
		assert_int_equal(again[i].inhibit, AUXTRACE_INHIBIT_USER);
		assert_int_equal(again[i].window, 1);
		assert_int_equal(again[i].position, effects[i].position);
		assert_int_equal(st.pauses_asked, 2);
		assert_int_equal(st.pauses_done, 1);
		assert_int_equal(st.window_end_time, effects[i].time);
	}
	/* One RESUME undoes any number of PAUSEs. */
	ok_resume(&s, 0, effects);
	for (unsigned int i = 0; i < s.count; i++) {
		assert_int_equal(effects[i].flags, AUXTRACE_EFFECT_CHANGED);
		assert_int_equal(effects[i].window, 2);
	}
	ok_stop(s.fd);
	check_accounting(&s);
}

static void effects_beyond_the_given_space_are_dropped(void **state)
{
	struct auxtrace_effect effects[MAX_CPUS], untouched;
	struct session s;

	two_cpus_required();
	session_open(&s, all_cpus, BOTH, AUX_SIZE);
	ok_start(s.fd);
	memset(effects, 0xff, sizeof(effects));
	memset(&untouched, 0xff, sizeof(untouched));
	assert_int_equal(at_control(s.fd, AUXTRACE_IOC_PAUSE, 0, effects, 1), 1);
	assert_int_equal(effects[0].flags, AUXTRACE_EFFECT_CHANGED);
	assert_memory_equal(&effects[1], &untouched, sizeof(untouched));
	for (unsigned int i = 0; i < s.count; i++)
		assert_int_equal(channel_status(&s.channel[i]).running, 0);
	/* Space beyond the entries is not written. */
	assert_int_equal(at_control(s.fd, AUXTRACE_IOC_RESUME, 0, effects, MAX_CPUS), s.count);
	assert_memory_equal(&effects[s.count], &untouched, sizeof(untouched));
	ok_stop(s.fd);
	check_accounting(&s);
}

struct remote_control {
	const struct session *session;
	struct auxtrace_effect pause[MAX_CPUS], resume[MAX_CPUS];
	int ret;
};

static void *control_from_here(void *arg)
{
	struct remote_control *rc = arg;
	int fd = rc->session->fd;

	rc->ret = at_control(fd, AUXTRACE_IOC_PAUSE, 0, rc->pause, MAX_CPUS);
	if (rc->ret >= 0)
		rc->ret = at_control(fd, AUXTRACE_IOC_RESUME, 0, rc->resume, MAX_CPUS);
	return NULL;
}

static void another_thread_pauses_and_resumes_a_live_mapped_session(void **state)
{
	struct remote_control rc = { 0 };
	pthread_t thread;
	struct session s;

	/* Overwrite mode: with this load a full trace's area could fill. */
	session_open(&s, all_cpus, BOTH | AUXTRACE_SETUP_OVERWRITE, AUX_SIZE);
	load_start(last_cpu);
	ok_start(s.fd);
	rc.session = &s;
	assert_int_equal(pthread_create(&thread, NULL, control_from_here, &rc), 0);
	pthread_join(thread, NULL);
	assert_int_equal(rc.ret, s.count);
	for (unsigned int i = 0; i < s.count; i++) {
		assert_int_equal(rc.pause[i].flags, AUXTRACE_EFFECT_CHANGED);
		assert_int_equal(rc.pause[i].window, 1);
		assert_int_equal(rc.resume[i].flags, AUXTRACE_EFFECT_CHANGED);
		assert_int_equal(rc.resume[i].window, 2);
		assert_int_equal(channel_status(&s.channel[i]).running, 1);
	}
	ok_stop(s.fd);
	check_accounting(&s);
}

/* Pauses and resumes the CPU on which it runs, as long as the session is in use. */
struct own_cpu {
	pthread_t thread;
	const struct session *session;
	int cpu;
	bool end;
	unsigned int done, refused;
	int err;
};

static int own_cpu_control(struct own_cpu *own, unsigned long nr)
{
	int ret = at_control(own->session->fd, nr, 1ULL << own->cpu, NULL, 0);

	if (ret == -EBADFD)
		__atomic_fetch_add(&own->refused, 1, __ATOMIC_RELAXED);
	else if (ret)
		own->err = ret;
	else
		__atomic_fetch_add(&own->done, 1, __ATOMIC_RELAXED);
	return own->err;
}

static void *control_own_cpu(void *arg)
{
	struct own_cpu *own = arg;

	own->err = cpu_pin(own->cpu);
	while (!own->err && !__atomic_load_n(&own->end, __ATOMIC_RELAXED))
		if (!own_cpu_control(own, AUXTRACE_IOC_PAUSE))
			own_cpu_control(own, AUXTRACE_IOC_RESUME);
	return NULL;
}

static bool each_was_done_and_refused(const struct own_cpu *own, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		if (!__atomic_load_n(&own[i].done, __ATOMIC_RELAXED) ||
		    !__atomic_load_n(&own[i].refused, __ATOMIC_RELAXED))
			return false;
	return true;
}

/*
 * Such requests take no lock. Each comes before a STOP or is refused, and none changes a channel that
 * is stopped.
 */
static void requests_of_the_own_cpu_race_with_start_and_stop(void **state)
{
	struct own_cpu own[MAX_CPUS] = { 0 };
	struct session s;

	session_open(&s, all_cpus, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE, AUX_SIZE);
	for (unsigned int i = 0; i < s.count; i++) {
		own[i].session = &s;
		own[i].cpu = s.channel[i].cpu;
		assert_int_equal(pthread_create(&own[i].thread, NULL, control_own_cpu, &own[i]), 0);
	}
	for (int n = 0; n < 100 || !each_was_done_and_refused(own, s.count); n++) {
		struct auxtrace_status_page before, after;

		ok_start(s.fd);
		usleep(1000 * (n % 4));
		ok_stop(s.fd);
		for (unsigned int i = 0; i < s.count; i++) {
			before = channel_status(&s.channel[i]);
			assert_true(before.inhibit & AUXTRACE_INHIBIT_SETUP);
			assert_int_equal(before.running, 0);
			assert_false(msr_tracing(s.channel[i].cpu));
			usleep(100);
			after = channel_status(&s.channel[i]);
			assert_int_equal(after.pauses_asked, before.pauses_asked);
			assert_int_equal(after.resumes_asked, before.resumes_asked);
		}
	}
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st;

		__atomic_store_n(&own[i].end, true, __ATOMIC_RELAXED);
		pthread_join(own[i].thread, NULL);
		st = channel_status(&s.channel[i]);
		assert_int_equal(own[i].err, 0);
		assert_int_equal(st.pauses_asked + st.resumes_asked, own[i].done);
	}
	check_accounting(&s);
}

static void sync_moves_the_position_and_keeps_the_window(void **state)
{
	struct auxtrace_status status;
	struct session s;
	uint64_t last = 0;

	session_open(&s, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	cpu_pin(first_cpu);
	ok_start(s.fd);
	for (int i = 0; i < 10; i++) {
		struct auxtrace_status_page st;

		load_run(300);
		ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
		st = channel_status(s.channel);
		assert_true(st.produced > last);
		assert_int_equal(status.out_produced, st.produced);
		assert_int_equal(st.windows, 1);
		assert_int_equal(st.window_begin, 0);
		assert_int_equal(st.window_end, 0);
		assert_int_equal(st.running, 1);
		last = st.produced;
	}
	ok_stop(s.fd);
	/* The short stops of SYNC do not end the window. */
	channel_check_window(s.channel, 0, channel_status(s.channel).produced, "window");
	check_accounting(&s);
}

static void user_and_kernel_flags_choose_what_is_traced(void **state)
{
	static const uint32_t flags[] = { AUXTRACE_SETUP_USER, AUXTRACE_SETUP_KERNEL, BOTH };

	cpu_pin(first_cpu);
	for (int i = 0; i < 3; i++) {
		struct auxtrace_status_page st;
		struct walk walk;
		struct session s;

		session_open(&s, one_cpu, flags[i], AUX_SIZE);
		ok_start(s.fd);
		for (int n = 0; n < 50; n++) {
			load_run(20);
			getppid();
		}
		ok_stop(s.fd);
		st = channel_status(s.channel);
		walk = channel_check_window(s.channel, 0, st.produced, "window");
		if (flags[i] == AUXTRACE_SETUP_USER) {
			assert_int_equal(walk.into_kernel, 0);
			assert_true(walk.into_user >= 50);
		} else if (flags[i] == AUXTRACE_SETUP_KERNEL) {
			assert_int_equal(walk.into_user, 0);
			assert_true(walk.into_kernel >= 50);
		} else {
			/* One flow through both levels, which begins in the kernel. */
			assert_true(walk.into_kernel > 0);
		}
		check_accounting(&s);
		session_close(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(start_begins_window_one_everywhere),
		vm_test(start_after_stop_continues_at_the_position_of_the_stop),
		vm_test(a_session_that_starts_paused_traces_nothing_until_resume),
		vm_test(start_forgets_earlier_pauses),
		vm_test(effects_say_where_and_when_each_window_ends_and_begins),
		vm_test(a_request_with_a_mask_changes_only_its_cpus),
		vm_test(redundant_requests_are_counted_and_change_nothing),
		vm_test(effects_beyond_the_given_space_are_dropped),
		vm_test(another_thread_pauses_and_resumes_a_live_mapped_session),
		vm_test(requests_of_the_own_cpu_race_with_start_and_stop),
		vm_test(sync_moves_the_position_and_keeps_the_window),
		vm_test(user_and_kernel_flags_choose_what_is_traced),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
