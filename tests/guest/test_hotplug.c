// SPDX-License-Identifier: GPL-2.0-only
/* A CPU goes offline and comes back: requests are kept, gaps counted. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "machine.h"
#include "msr.h"
#include "perf.h"
#include "pmu.h"
#include "trace.h"
#include "uapi.h"

#define AUX_SIZE	space_for(1 << 20)
/*
 * Overwrite mode: while a CPU goes offline or comes online, others spin in the kernel until it
 * has run, and a slow host would let them fill a full trace's area.
 */
#define ALL		(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_OVERWRITE)

static void setup_with_an_offline_cpu_gives_ENODEV(void **state)
{
	struct session s;

	hotplug_required();
	session_prepare(&s, all_cpus, ALL, AUX_SIZE);
	s.fd = at_open();
	last_cpu_offline();
	fail_setup(ENODEV, s.fd, &s.setup);
	last_cpu_online();
	ok_setup(s.fd, &s.setup);
	ok_start(s.fd);
	ok_stop(s.fd);
}

static void start_with_an_offline_cpu_gives_ENODEV_and_starts_none(void **state)
{
	struct session s;

	hotplug_required();
	session_open(&s, all_cpus, ALL, AUX_SIZE);
	last_cpu_offline();
	fail_start(ENODEV, s.fd);
	assert_false(msr_tracing(first_cpu));
	assert_int_equal(channel_status(s.channel).windows, 0);
	last_cpu_online();
	ok_start(s.fd);
	assert_int_equal(channel_status(session_channel(&s, last_cpu)).running, 1);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void a_cpu_that_goes_offline_is_a_gap_and_continues_when_it_returns(void **state)
{
	struct auxtrace_status_page before, off, on;
	struct walk walk = { 0 };
	struct channel *gone;
	struct session s;
	uint8_t *trace;
	uint64_t len;

	hotplug_required();
	session_open(&s, all_cpus, ALL, AUX_SIZE);
	gone = session_channel(&s, last_cpu);
	ok_start(s.fd);
	before = channel_status(gone);
	last_cpu_offline();
	off = channel_status(gone);
	assert_int_equal(off.running, 0);
	assert_int_equal(off.inhibit, AUXTRACE_INHIBIT_OFFLINE);
	assert_int_equal(off.gaps_offline, 1);
	assert_int_equal(off.gaps, 1);
	assert_int_equal(off.windows, before.windows);
	assert_true(off.produced > 0);
	assert_int_equal(off.window_end, off.produced);
	/* Other CPUs are not affected. */
	assert_int_equal(channel_status(s.channel).running, 1);
	assert_int_equal(channel_status(s.channel).gaps, 0);
	/* The trace is complete to its end, and from its begin if the area holds all of it. */
	len = channel_available(gone);
	trace = test_malloc(len);
	channel_copy(gone, off.produced - len, trace, len);
	if (len == off.produced) {
		trace_check_window(&walk, trace, len, "the window that offline ended");
	} else {
		trace_walk(&walk, trace, len, true);
		assert_null(walk.error);
		assert_int_equal(walk.end, len);
		assert_true(walk.starts > 0);
	}
	test_free(trace);
	/* The other CPUs go on: the sums of all would be those of another moment. */
	assert_int_equal(invariants_broken(&s), 0);

	last_cpu_online();
	on = channel_status(gone);
	assert_int_equal(on.running, 1);
	assert_int_equal(on.windows, before.windows + 1);
	assert_int_equal(on.window_begin, off.produced);
	assert_int_equal(on.gaps_offline, 1);
	assert_true(msr_tracing(last_cpu));
	ok_stop(s.fd);
	assert_true(channel_status(gone).produced > off.produced);
	check_accounting(&s);
}

static void perf_is_refused_on_a_cpu_that_returned(void **state)
{
	struct session s;

	perf_required();
	hotplug_required();
	session_open(&s, all_cpus, ALL, AUX_SIZE);
	ok_start(s.fd);
	last_cpu_offline();
	last_cpu_online();
	perf_is_refused(last_cpu);
	ok_stop(s.fd);
	perf_is_granted(last_cpu);
	check_accounting(&s);
}

/*
 * perf accepts events of a CPU before the CPU runs, but does not install them, so they hold
 * nothing. An installed event makes a second one fail.
 */
static void *take_for_perf(void *fd)
{
	int first_fd, second_fd;

	for (;;) {
		first_fd = perf_open_plain(-1, last_cpu);
		if (first_fd == -ENODEV)
			continue;
		if (first_fd < 0)
			break;
		second_fd = perf_open_plain(-1, last_cpu);
		if (second_fd < 0)
			break;
		close(second_fd);
		close(first_fd);
	}
	*(int *)fd = first_fd;
	return NULL;
}

#define RACES	5

static void a_cpu_that_perf_claimed_while_it_came_online_is_left_to_perf(void **state)
{
	struct auxtrace_status_page st;
	struct channel *gone;
	pthread_t thread;
	struct session s;
	int fd = -EBUSY;

	perf_required();
	hotplug_required();
	for (int race = 0; race < RACES; race++) {
		session_open(&s, all_cpus, ALL, AUX_SIZE);
		gone = session_channel(&s, last_cpu);
		ok_start(s.fd);
		last_cpu_offline();
		assert_int_equal(pthread_create(&thread, NULL, take_for_perf, &fd), 0);
		last_cpu_online();
		pthread_join(thread, NULL);
		st = channel_status(gone);
		if (fd >= 0) {
			at_remember(fd);
			if (st.inhibit)
				break;
			/* Either perf or the session traces, not both. */
			assert_false(perf_works(fd, last_cpu));
			at_close(fd);
		} else {
			assert_int_equal(fd, -EBUSY);
		}
		assert_int_equal(st.inhibit, 0);
		session_close(&s);
		fd = -EBUSY;
	}
	if (fd < 0)
		skip_test("perf came too late, %d times", RACES);

	assert_int_equal(st.inhibit, AUXTRACE_INHIBIT_OFFLINE);
	assert_int_equal(st.gaps_offline, 1);
	assert_true(perf_works(fd, last_cpu));
	/* Other CPUs continue, and no request touches this one. */
	assert_int_equal(channel_status(s.channel).running, 1);
	ok_pause(&s, 0, NULL);
	ok_resume(&s, 0, NULL);
	st = channel_status(gone);
	assert_int_equal(st.running, 0);
	assert_int_equal(st.pauses_asked, 1);
	assert_int_equal(st.pauses_done, 0);
	assert_int_equal(st.gaps_offline, 1);
	ok_stop(s.fd);
	fail_start(EBUSY, s.fd);
	at_close(fd);
	ok_start(s.fd);
	assert_int_equal(channel_status(gone).running, 1);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void a_paused_cpu_that_goes_offline_is_no_gap_and_stays_paused(void **state)
{
	struct auxtrace_status_page st;
	struct auxtrace_effect effect;
	struct channel *gone;
	struct session s;

	hotplug_required();
	session_open(&s, all_cpus, ALL, AUX_SIZE);
	gone = session_channel(&s, last_cpu);
	ok_start(s.fd);
	ok_pause(&s, 1ULL << last_cpu, &effect);
	last_cpu_offline();
	st = channel_status(gone);
	assert_int_equal(st.inhibit, AUXTRACE_INHIBIT_USER | AUXTRACE_INHIBIT_OFFLINE);
	assert_int_equal(st.gaps, 0);
	last_cpu_online();
	st = channel_status(gone);
	assert_int_equal(st.inhibit, AUXTRACE_INHIBIT_USER);
	assert_int_equal(st.windows, 1);
	ok_resume(&s, 1ULL << last_cpu, &effect);
	assert_int_equal(effect.flags, AUXTRACE_EFFECT_CHANGED);
	assert_int_equal(effect.window, 2);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void an_offline_cpu_keeps_requests_for_its_return(void **state)
{
	struct auxtrace_effect effects[MAX_CPUS];
	struct auxtrace_status_page st;
	struct channel *gone;
	struct session s;

	hotplug_required();
	session_open(&s, all_cpus, ALL, AUX_SIZE);
	gone = session_channel(&s, last_cpu);
	ok_start(s.fd);
	last_cpu_offline();
	/* A request for all CPUs, which the others carry out at once. */
	ok_pause(&s, 0, effects);
	assert_int_equal(effects[0].flags, AUXTRACE_EFFECT_CHANGED);
	assert_int_equal(effects[s.count - 1].flags, 0);
	assert_int_equal(effects[s.count - 1].inhibit,
			 AUXTRACE_INHIBIT_USER | AUXTRACE_INHIBIT_OFFLINE);
	st = channel_status(gone);
	assert_int_equal(st.pauses_asked, 1);
	assert_int_equal(st.pauses_done, 0);
	last_cpu_online();
	assert_int_equal(channel_status(gone).inhibit, AUXTRACE_INHIBIT_USER);
	assert_false(msr_tracing(last_cpu));

	last_cpu_offline();
	ok_resume(&s, 0, effects);
	assert_int_equal(effects[s.count - 1].flags, 0);
	assert_int_equal(effects[s.count - 1].inhibit, AUXTRACE_INHIBIT_OFFLINE);
	last_cpu_online();
	st = channel_status(gone);
	assert_int_equal(st.running, 1);
	assert_int_equal(st.windows, 2);
	assert_int_equal(st.resumes_asked, 1);
	assert_int_equal(st.resumes_done, 0);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void a_session_stops_while_its_cpu_is_offline(void **state)
{
	struct session s;

	hotplug_required();
	session_open(&s, all_cpus, ALL, AUX_SIZE);
	ok_start(s.fd);
	last_cpu_offline();
	ok_stop(s.fd);
	check_accounting(&s);
	last_cpu_online();
	assert_false(msr_tracing(last_cpu));
	assert_int_equal(channel_status(session_channel(&s, last_cpu)).running, 0);
	ok_start(s.fd);
	assert_true(msr_tracing(last_cpu));
	ok_stop(s.fd);
	check_accounting(&s);
}

static void a_session_closes_while_its_cpu_is_offline(void **state)
{
	struct session s;

	hotplug_required();
	session_open(&s, all_cpus, ALL, AUX_SIZE);
	ok_start(s.fd);
	last_cpu_offline();
	session_close(&s);
	last_cpu_online();
	assert_false(msr_tracing(last_cpu));
	session_open(&s, all_cpus, ALL, AUX_SIZE);
	ok_start(s.fd);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void a_cpu_may_go_offline_and_return_repeatedly(void **state)
{
	struct auxtrace_status_page st;
	struct channel *gone;
	struct session s;

	hotplug_required();
	session_open(&s, all_cpus, ALL, 64 * 1024);
	gone = session_channel(&s, last_cpu);
	ok_start(s.fd);
	for (int i = 1; i <= 3; i++) {
		last_cpu_offline();
		last_cpu_online();
		st = channel_status(gone);
		assert_int_equal(st.running, 1);
		assert_int_equal(st.gaps_offline, i);
		assert_int_equal(st.windows, i + 1);
	}
	ok_stop(s.fd);
	check_accounting(&s);
}

/* ---- hotplug against calls that hold the hotplug lock ------------------- */

#define CYCLES		20
#define CYCLES_MS	90000u

static int take_cpu_down_and_up(const struct session *s)
{
	int ret = 0;

	for (int i = 0; !ret && i < CYCLES; i++) {
		ret = cpu_set_online(last_cpu, 0);
		if (!ret)
			ret = cpu_set_online(last_cpu, 1);
	}
	return -ret;
}

/* Until it is killed. */
static int probe_and_start(const struct session *s)
{
	int ret = 0;

	while (!ret) {
		struct auxtrace_info info = { .size = sizeof(info), .flags = AUXTRACE_INFO_PROBE };

		ret = at_ioctl(s->fd, AUXTRACE_IOC_INFO, &info);
		if (!ret)
			ret = at_start(s->fd);
		if (!ret)
			ret = at_stop(s->fd);
	}
	return -ret;
}

static pid_t in_child(int (*fn)(const struct session *s), const struct session *s)
{
	pid_t pid = fork();

	if (!pid)
		_exit(fn(s));
	assert_true(pid > 0);
	return pid;
}

/*
 * A task that takes the hotplug lock for reading again, while it holds it and a hotplug operation
 * waits for it, waits for ever, and so does all that needs the lock after it. Nothing can kill
 * such a task. Hence both sides are children: only this process is left to tell.
 */
static void info_and_start_never_wait_for_hotplug_that_waits_for_them(void **state)
{
	pid_t hotplug, caller;
	int status = 0, called = 0;
	unsigned int ms = 0;
	struct session s;

	hotplug_required();
	session_open(&s, one_cpu, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE, 64 * 1024);
	caller = in_child(probe_and_start, &s);
	hotplug = in_child(take_cpu_down_and_up, &s);
	while (waitpid(hotplug, &status, WNOHANG) != hotplug) {
		if (ms++ == CYCLES_MS * slowness) {
			printf("hotplug, and INFO or START, wait for each other\n");
			fflush(stdout);
			/* Teardown would wait, too. */
			_exit(1);
		}
		usleep(1000);
	}
	kill(caller, SIGKILL);
	assert_int_equal(waitpid(caller, &called, 0), caller);
	assert_int_equal(status, 0);
	assert_true(WIFSIGNALED(called));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(setup_with_an_offline_cpu_gives_ENODEV),
		vm_test(start_with_an_offline_cpu_gives_ENODEV_and_starts_none),
		vm_test(a_cpu_that_goes_offline_is_a_gap_and_continues_when_it_returns),
		vm_test(perf_is_refused_on_a_cpu_that_returned),
		vm_test(a_cpu_that_perf_claimed_while_it_came_online_is_left_to_perf),
		vm_test(a_paused_cpu_that_goes_offline_is_no_gap_and_stays_paused),
		vm_test(an_offline_cpu_keeps_requests_for_its_return),
		vm_test(a_session_stops_while_its_cpu_is_offline),
		vm_test(a_session_closes_while_its_cpu_is_offline),
		vm_test(a_cpu_may_go_offline_and_return_repeatedly),
		vm_test(info_and_start_never_wait_for_hotplug_that_waits_for_them),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
