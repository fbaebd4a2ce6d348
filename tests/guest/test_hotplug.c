// SPDX-License-Identifier: GPL-2.0
/*
 * A CPU goes away and comes back, a tracer dies, descriptors are inherited, the
 * module is unloaded: requests are kept, gaps counted, the hardware given back.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "kmod.h"
#include "load.h"
#include "msr.h"
#include "perf.h"
#include "pmu.h"
#include "trace.h"
#include "uapi.h"

#define AUX_SIZE	room_for(1 << 20)
/*
 * Never full: while a CPU goes or comes others wait for it, busily, in the kernel, for as long
 * as the host does not let it run.
 */
#define ALL		(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_OVERWRITE)

static uint64_t all_cpus;
static int first, last;

/* The last CPU is the one that goes: the boot CPU cannot as a rule. */
static void hotplug_required(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", last);
	if (first != last && !access(path, W_OK))
		return;
	print_message("SKIP: no CPU that can go offline\n");
	skip();
}

#define go_offline() \
	expect_call("offline", 0, cpu_set_online(last, 0), __FILE__, __LINE__)
#define go_online() \
	expect_call("online", 0, cpu_set_online(last, 1), __FILE__, __LINE__)

static void setup_with_an_offline_cpu_gives_ENODEV(void **state)
{
	struct session s;

	(void)state;
	hotplug_required();
	session_prepare(&s, all_cpus, ALL, AUX_SIZE);
	s.fd = at_open();
	go_offline();
	fail_setup(ENODEV, s.fd, &s.setup);
	go_online();
	ok_setup(s.fd, &s.setup);
	ok_start(s.fd);
	ok_stop(s.fd);
}

static void start_with_an_offline_cpu_gives_ENODEV_and_starts_none(void **state)
{
	struct session s;

	(void)state;
	hotplug_required();
	session_open(&s, all_cpus, ALL, AUX_SIZE);
	go_offline();
	fail_start(ENODEV, s.fd);
	assert_false(msr_tracing(first));
	assert_int_equal(channel_status(s.channel).windows, 0);
	go_online();
	ok_start(s.fd);
	assert_int_equal(channel_status(session_channel(&s, last)).running, 1);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void a_cpu_that_goes_is_a_gap_and_goes_on_when_it_returns(void **state)
{
	struct auxtrace_status_page before, off, on;
	struct walk walk = { 0 };
	struct channel *gone;
	struct session s;
	uint8_t *trace;
	uint64_t len;

	(void)state;
	hotplug_required();
	session_open(&s, all_cpus, ALL, AUX_SIZE);
	gone = session_channel(&s, last);
	ok_start(s.fd);
	before = channel_status(gone);
	go_offline();
	off = channel_status(gone);
	assert_int_equal(off.running, 0);
	assert_int_equal(off.inhibit, AUXTRACE_INHIBIT_OFFLINE);
	assert_int_equal(off.gaps_offline, 1);
	assert_int_equal(off.gaps, 1);
	assert_int_equal(off.windows, before.windows);
	assert_true(off.produced > 0);
	assert_int_equal(off.window_end, off.produced);
	/* The others know nothing of it. */
	assert_int_equal(channel_status(s.channel).running, 1);
	assert_int_equal(channel_status(s.channel).gaps, 0);
	/* What it traced to its end is there, from its begin if the area holds it all. */
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
	check_accounting(&s);

	go_online();
	on = channel_status(gone);
	assert_int_equal(on.running, 1);
	assert_int_equal(on.windows, before.windows + 1);
	assert_int_equal(on.window_begin, off.produced);
	assert_int_equal(on.gaps_offline, 1);
	assert_true(msr_tracing(last));
	ok_stop(s.fd);
	assert_true(channel_status(gone).produced > off.produced);
	check_accounting(&s);
}

static void perf_stays_out_of_a_cpu_that_returned(void **state)
{
	struct session s;

	(void)state;
	perf_required();
	hotplug_required();
	session_open(&s, all_cpus, ALL, AUX_SIZE);
	ok_start(s.fd);
	go_offline();
	go_online();
	perf_is_refused(last);
	ok_stop(s.fd);
	perf_is_granted(last);
	check_accounting(&s);
}

/*
 * perf admits events of a CPU before that runs, and forgets to install those:
 * they count for nobody. One that is installed keeps a second one out.
 */
static void *take_for_perf(void *fd)
{
	int first_fd, second_fd;

	for (;;) {
		first_fd = perf_open_plain(-1, last);
		if (first_fd == -ENODEV)
			continue;
		if (first_fd < 0)
			break;
		second_fd = perf_open_plain(-1, last);
		if (second_fd < 0)
			break;
		close(second_fd);
		close(first_fd);
	}
	*(int *)fd = first_fd;
	return NULL;
}

/* Does perf trace on that CPU with this event? */
static bool perf_works(int fd)
{
	int64_t bytes;

	assert_int_equal(cpu_pin(last), 0);
	bytes = perf_trace(fd, 100);
	cpu_unpin();
	return bytes > 0;
}

#define RACES	5

static void a_cpu_that_perf_took_while_it_came_is_left_to_perf(void **state)
{
	struct auxtrace_status_page st;
	struct channel *gone;
	pthread_t thread;
	struct session s;
	int fd = -EBUSY;

	(void)state;
	perf_required();
	hotplug_required();
	for (int race = 0; race < RACES; race++) {
		session_open(&s, all_cpus, ALL, AUX_SIZE);
		gone = session_channel(&s, last);
		ok_start(s.fd);
		go_offline();
		assert_int_equal(pthread_create(&thread, NULL, take_for_perf, &fd), 0);
		go_online();
		pthread_join(thread, NULL);
		st = channel_status(gone);
		if (fd >= 0) {
			at_remember(fd);
			if (st.inhibit)
				break;
			/* Not both of us. */
			assert_false(perf_works(fd));
			at_close(fd);
		} else {
			assert_int_equal(fd, -EBUSY);
		}
		assert_int_equal(st.inhibit, 0);
		session_close(&s);
		fd = -EBUSY;
	}
	if (fd < 0) {
		print_message("SKIP: perf came too late, %d times\n", RACES);
		skip();
	}

	assert_int_equal(st.inhibit, AUXTRACE_INHIBIT_OFFLINE);
	assert_int_equal(st.gaps_offline, 1);
	assert_true(perf_works(fd));
	/* The others go on, and the CPU itself is left alone whatever is asked. */
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

/* Write @text to @path; 0 or a negative errno. */
static int put(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC), ret = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, text, strlen(text)) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

/* The kernel's own test mode: freezes and thaws, and all that is told of a suspend is. */
static void suspend_required(void)
{
	if (put("/sys/power/pm_test", "freezer") ||
	    put("/sys/module/suspend/parameters/pm_test_delay", "0")) {
		print_message("SKIP: this kernel has no pm_test\n");
		skip();
	}
}

static void a_suspend_is_a_gap_and_tracing_goes_on_after_it(void **state)
{
	struct session s;
	int ret;

	(void)state;
	suspend_required();
	session_open(&s, all_cpus, ALL, AUX_SIZE);
	ok_start(s.fd);
	ok_pause(&s, 1ULL << last, NULL);
	ret = put("/sys/power/state", "freeze");
	put("/sys/power/pm_test", "none");
	expect_call("suspend", 0, ret, __FILE__, __LINE__);
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);
		bool paused = s.channel[i].cpu == last;

		assert_int_equal(st.inhibit, paused ? AUXTRACE_INHIBIT_USER : 0);
		assert_int_equal(st.gaps_offline, !paused);
		assert_int_equal(st.windows, paused ? 1 : 2);
		assert_int_equal(msr_tracing(s.channel[i].cpu), !paused);
	}
	ok_stop(s.fd);
	check_accounting(&s);
}

static int ends;

/* START and STOP, as fast as it goes. */
static void *start_and_stop(void *fd)
{
	while (!__atomic_load_n(&ends, __ATOMIC_RELAXED)) {
		int ret = at_start(*(int *)fd);

		if (!ret)
			ret = at_stop(*(int *)fd);
		if (ret)
			return (void *)(long)ret;
	}
	return NULL;
}

#define WAKES		100
/* On a slow machine fewer, lest the whole program take too long. */
#define WAKE_SECONDS	30

/* What was stopped is not taken up again, and what is taken up is taken up once. */
static void a_session_starts_and_stops_while_the_machine_wakes(void **state)
{
	struct session s[MAX_CPUS];
	pthread_t thread[MAX_CPUS];
	uint64_t was[MAX_CPUS], is;
	unsigned int count = 0;
	time_t begun;
	int ret = 0;

	(void)state;
	suspend_required();
	for (uint64_t left = all_cpus; left; left &= left - 1, count++) {
		session_open(&s[count], left & -left, ALL, 16 << 12);
		assert_int_equal(msr_read(cpus_first(left), MSR_RTIT_OUTPUT_BASE, &was[count]), 0);
	}
	ends = 0;
	for (unsigned int i = 0; i < count; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, start_and_stop, &s[i].fd), 0);
	begun = time(NULL);
	for (int i = 0; !ret && i < WAKES && time(NULL) - begun < WAKE_SECONDS; i++)
		ret = put("/sys/power/state", "freeze");
	__atomic_store_n(&ends, 1, __ATOMIC_RELAXED);
	put("/sys/power/pm_test", "none");
	for (unsigned int i = 0; i < count; i++) {
		void *failed;

		pthread_join(thread[i], &failed);
		assert_null(failed);
	}
	expect_call("suspend", 0, ret, __FILE__, __LINE__);
	/* Given back as it was found. */
	for (unsigned int i = 0; i < count; i++) {
		assert_int_equal(msr_read(s[i].channel->cpu, MSR_RTIT_OUTPUT_BASE, &is), 0);
		assert_int_equal(is, was[i]);
	}
}

/* perf has it since the CPU was offline, though nothing of perf's runs just now. */
static void a_cpu_that_is_left_to_perf_stays_so_when_the_machine_wakes(void **state)
{
	struct session s;
	int fd, ret;

	(void)state;
	perf_required();
	hotplug_required();
	suspend_required();
	session_open(&s, 1ULL << last, ALL, AUX_SIZE);
	ok_start(s.fd);
	go_offline();
	fd = perf_open(0, -1);
	assert_true(fd >= 0);
	go_online();
	assert_int_equal(channel_status(s.channel).inhibit, AUXTRACE_INHIBIT_OFFLINE);
	ret = put("/sys/power/state", "freeze");
	put("/sys/power/pm_test", "none");
	expect_call("suspend", 0, ret, __FILE__, __LINE__);
	assert_int_equal(channel_status(s.channel).inhibit, AUXTRACE_INHIBIT_OFFLINE);
	assert_false(msr_tracing(last));
	assert_true(perf_works(fd));
	ok_stop(s.fd);
	check_accounting(&s);
}

static void a_paused_cpu_that_goes_is_no_gap_and_stays_paused(void **state)
{
	struct auxtrace_status_page st;
	struct auxtrace_effect effect;
	struct channel *gone;
	struct session s;

	(void)state;
	hotplug_required();
	session_open(&s, all_cpus, ALL, AUX_SIZE);
	gone = session_channel(&s, last);
	ok_start(s.fd);
	ok_pause(&s, 1ULL << last, &effect);
	go_offline();
	st = channel_status(gone);
	assert_int_equal(st.inhibit, AUXTRACE_INHIBIT_USER | AUXTRACE_INHIBIT_OFFLINE);
	assert_int_equal(st.gaps, 0);
	go_online();
	st = channel_status(gone);
	assert_int_equal(st.inhibit, AUXTRACE_INHIBIT_USER);
	assert_int_equal(st.windows, 1);
	ok_resume(&s, 1ULL << last, &effect);
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

	(void)state;
	hotplug_required();
	session_open(&s, all_cpus, ALL, AUX_SIZE);
	gone = session_channel(&s, last);
	ok_start(s.fd);
	go_offline();
	/* Asked with all the others, which do it at once. */
	ok_pause(&s, 0, effects);
	assert_int_equal(effects[0].flags, AUXTRACE_EFFECT_CHANGED);
	assert_int_equal(effects[s.count - 1].flags, 0);
	assert_int_equal(effects[s.count - 1].inhibit,
			 AUXTRACE_INHIBIT_USER | AUXTRACE_INHIBIT_OFFLINE);
	st = channel_status(gone);
	assert_int_equal(st.pauses_asked, 1);
	assert_int_equal(st.pauses_done, 0);
	go_online();
	assert_int_equal(channel_status(gone).inhibit, AUXTRACE_INHIBIT_USER);
	assert_false(msr_tracing(last));

	go_offline();
	ok_resume(&s, 0, effects);
	assert_int_equal(effects[s.count - 1].flags, 0);
	assert_int_equal(effects[s.count - 1].inhibit, AUXTRACE_INHIBIT_OFFLINE);
	go_online();
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

	(void)state;
	hotplug_required();
	session_open(&s, all_cpus, ALL, AUX_SIZE);
	ok_start(s.fd);
	go_offline();
	ok_stop(s.fd);
	check_accounting(&s);
	go_online();
	assert_false(msr_tracing(last));
	assert_int_equal(channel_status(session_channel(&s, last)).running, 0);
	ok_start(s.fd);
	assert_true(msr_tracing(last));
	ok_stop(s.fd);
	check_accounting(&s);
}

static void a_session_closes_while_its_cpu_is_offline(void **state)
{
	struct session s;

	(void)state;
	hotplug_required();
	session_open(&s, all_cpus, ALL, AUX_SIZE);
	ok_start(s.fd);
	go_offline();
	session_close(&s);
	go_online();
	assert_false(msr_tracing(last));
	session_open(&s, all_cpus, ALL, AUX_SIZE);
	ok_start(s.fd);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void a_cpu_may_come_and_go_again_and_again(void **state)
{
	struct auxtrace_status_page st;
	struct channel *gone;
	struct session s;

	(void)state;
	hotplug_required();
	session_open(&s, all_cpus, ALL, 64 * 1024);
	gone = session_channel(&s, last);
	ok_start(s.fd);
	for (int i = 1; i <= 3; i++) {
		go_offline();
		go_online();
		st = channel_status(gone);
		assert_int_equal(st.running, 1);
		assert_int_equal(st.gaps_offline, i);
		assert_int_equal(st.windows, i + 1);
	}
	ok_stop(s.fd);
	check_accounting(&s);
}

/* ---- processes ------------------------------------------------------------ */

/* A new session gets the hardware of all CPUs, so nobody else has it. */
static void hardware_is_free(void)
{
	struct session s;

	for (uint64_t left = all_cpus; left; left &= left - 1)
		assert_false(msr_tracing(cpus_first(left)));
	session_open(&s, all_cpus, ALL, AUX_SIZE);
	ok_start(s.fd);
	ok_stop(s.fd);
	check_accounting(&s);
	session_close(&s);
}

/* A child with a session of its own; it says through @ready when it traces. */
static int trace_until_killed(int ready)
{
	int fd = at_open_plain();
	struct session s;
	char ok;

	session_prepare(&s, all_cpus, ALL, AUX_SIZE);
	ok = fd >= 0 && !at_ioctl(fd, AUXTRACE_IOC_SETUP, &s.setup) && !at_start(fd);
	if (write(ready, &ok, 1) != 1)
		return 1;
	for (;;)
		load_run(1000);
}

static void a_tracer_that_is_killed_gives_the_hardware_back(void **state)
{
	int pipes[2], status;
	char ok = 0;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (!pid)
		_exit(trace_until_killed(pipes[1]));
	close(pipes[1]);
	assert_int_equal(read(pipes[0], &ok, 1), 1);
	close(pipes[0]);
	assert_int_equal(ok, 1);
	assert_true(msr_tracing(first));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	hardware_is_free();
}

static void a_duplicate_keeps_the_session_alive(void **state)
{
	struct session s;
	int fd;

	(void)state;
	session_open(&s, all_cpus, ALL, AUX_SIZE);
	ok_start(s.fd);
	fd = dup(s.fd);
	assert_true(fd >= 0);
	at_remember(fd);
	at_close(s.fd);
	s.fd = fd;
	assert_true(msr_tracing(first));
	ok_pause(&s, 0, NULL);
	ok_resume(&s, 0, NULL);
	ok_stop(s.fd);
	check_accounting(&s);
	session_close(&s);
	hardware_is_free();
}

static void an_inherited_descriptor_keeps_the_session_alive(void **state)
{
	int parent_closed[2], child_paused[2], status;
	struct auxtrace_status_page st;
	char byte = 0;
	struct session s;
	pid_t pid;

	(void)state;
	session_open(&s, all_cpus, ALL, AUX_SIZE);
	ok_start(s.fd);
	assert_int_equal(pipe(parent_closed), 0);
	assert_int_equal(pipe(child_paused), 0);
	pid = fork();
	if (!pid) {
		int ret;

		close(child_paused[0]);
		if (read(parent_closed[0], &byte, 1) != 1)
			_exit(100);
		ret = at_control(s.fd, AUXTRACE_IOC_PAUSE, 0, NULL, 0);
		if (ret < 0)
			_exit(-ret);
		_exit(write(child_paused[1], &byte, 1) != 1);
	}
	close(child_paused[1]);
	at_close(s.fd);
	s.fd = -1;
	/* We have only the mapping now, and see what the child does. */
	assert_int_equal(channel_status(s.channel).running, 1);
	assert_int_equal(write(parent_closed[1], &byte, 1), 1);
	assert_int_equal(read(child_paused[0], &byte, 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	st = channel_status(s.channel);
	assert_int_equal(st.pauses_done, 1);
	/* The child was the last: its end was the session's. */
	assert_int_equal(st.inhibit & AUXTRACE_INHIBIT_SETUP, AUXTRACE_INHIBIT_SETUP);
	check_accounting(&s);
	close(parent_closed[0]);
	close(parent_closed[1]);
	close(child_paused[0]);
	hardware_is_free();
}

static void the_module_unloads_and_loads_again_after_all_of_that(void **state)
{
	(void)state;
	kmod_required();
	assert_int_equal(kmod_users(), 0);
	for (int i = 0; i < 3; i++) {
		expect_call("delete_module", 0, kmod_unload(), __FILE__, __LINE__);
		assert_int_equal(kmod_users(), -1);
		assert_int_equal(at_open_plain(), -ENOENT);
		expect_call("finit_module", 0, kmod_load(), __FILE__, __LINE__);
	}
	hardware_is_free();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(setup_with_an_offline_cpu_gives_ENODEV),
		vm_test(start_with_an_offline_cpu_gives_ENODEV_and_starts_none),
		vm_test(a_cpu_that_goes_is_a_gap_and_goes_on_when_it_returns),
		vm_test(perf_stays_out_of_a_cpu_that_returned),
		vm_test(a_cpu_that_perf_took_while_it_came_is_left_to_perf),
		vm_test(a_suspend_is_a_gap_and_tracing_goes_on_after_it),
		vm_test(a_session_starts_and_stops_while_the_machine_wakes),
		vm_test(a_cpu_that_is_left_to_perf_stays_so_when_the_machine_wakes),
		vm_test(a_paused_cpu_that_goes_is_no_gap_and_stays_paused),
		vm_test(an_offline_cpu_keeps_requests_for_its_return),
		vm_test(a_session_stops_while_its_cpu_is_offline),
		vm_test(a_session_closes_while_its_cpu_is_offline),
		vm_test(a_cpu_may_come_and_go_again_and_again),
		vm_test(a_tracer_that_is_killed_gives_the_hardware_back),
		vm_test(a_duplicate_keeps_the_session_alive),
		vm_test(an_inherited_descriptor_keeps_the_session_alive),
		vm_test(the_module_unloads_and_loads_again_after_all_of_that),
	};

	all_cpus = cpus_online();
	first = cpus_first(all_cpus);
	last = cpus_last(all_cpus);
	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
