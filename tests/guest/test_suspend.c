// SPDX-License-Identifier: GPL-2.0-only
/* The machine suspends and wakes: a gap, after which tracing continues as last requested. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <time.h>

#include "cpu.h"
#include "file.h"
#include "invariants.h"
#include "machine.h"
#include "msr.h"
#include "sleep.h"
#include "perf.h"
#include "pmu.h"
#include "uapi.h"

#define AUX_SIZE	space_for(1 << 20)
/* Overwrite mode: CPUs that wait for each other would fill a full trace's area. */
#define ALL		(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_OVERWRITE)

/* The kernel's test mode for suspend: it only freezes tasks, and calls the PM notifiers. */
static void suspend_required(void)
{
	if (file_write("/sys/power/pm_test", "freezer") ||
	    file_write("/sys/module/suspend/parameters/pm_test_delay", "0"))
		skip_test("this kernel has no pm_test");
}

static void a_suspend_is_a_gap_and_tracing_continues_after_it(void **state)
{
	struct session s;
	int ret;

	suspend_required();
	session_open(&s, all_cpus, ALL, AUX_SIZE);
	ok_start(s.fd);
	ok_pause(&s, 1ULL << last_cpu, NULL);
	ret = file_write("/sys/power/state", "freeze");
	file_write("/sys/power/pm_test", "none");
	expect_call("suspend", 0, ret, __FILE__, __LINE__);
	slept_once(&s, last_cpu);
	ok_stop(s.fd);
	check_accounting(&s);
}

/*
 * The kernel's device for programs that hibernate or restore the machine: it calls the PM notifiers
 * when it is opened, and again when it is closed and nothing has been done.
 */
static void off_while_snapshot_is_open(int flags)
{
	struct session s;
	int fd;

	session_open(&s, all_cpus, ALL, AUX_SIZE);
	ok_start(s.fd);
	fd = open("/dev/snapshot", flags | O_CLOEXEC);
	if (fd < 0 && (errno == ENOENT || errno == ENODEV || errno == EPERM))
		skip_test("this kernel does not hibernate: %s", strerror(errno));
	assert_true(fd >= 0);
	at_remember(fd);
	for (unsigned int i = 0; i < s.count; i++) {
		assert_false(msr_tracing(s.channel[i].cpu));
		assert_int_equal(channel_status(&s.channel[i]).inhibit, AUXTRACE_INHIBIT_OFFLINE);
	}
	at_close(fd);
	for (unsigned int i = 0; i < s.count; i++) {
		struct auxtrace_status_page st = channel_status(&s.channel[i]);

		assert_int_equal(st.inhibit, 0);
		assert_int_equal(st.gaps, 1);
		assert_int_equal(st.gaps_offline, 1);
		assert_int_equal(st.windows, 2);
		assert_true(msr_tracing(s.channel[i].cpu));
	}
	ok_stop(s.fd);
	check_accounting(&s);
}

static void the_hardware_is_off_before_a_hibernated_kernel_is_loaded(void **state)
{
	off_while_snapshot_is_open(O_WRONLY);
}

static void the_hardware_is_off_before_the_machine_hibernates(void **state)
{
	off_while_snapshot_is_open(O_RDONLY);
}

/* The kernel lets the machine suspend and wake in between. */
static void the_hardware_stays_off_if_the_machine_suspends_meanwhile(void **state)
{
	struct session s;
	int fd, ret;

	suspend_required();
	session_open(&s, all_cpus, ALL, AUX_SIZE);
	ok_start(s.fd);
	fd = open("/dev/snapshot", O_WRONLY | O_CLOEXEC);
	if (fd < 0) {
		file_write("/sys/power/pm_test", "none");
		skip_test("this kernel does not hibernate: %s", strerror(errno));
	}
	at_remember(fd);
	ret = file_write("/sys/power/state", "freeze");
	file_write("/sys/power/pm_test", "none");
	expect_call("suspend", 0, ret, __FILE__, __LINE__);
	for (unsigned int i = 0; i < s.count; i++)
		assert_false(msr_tracing(s.channel[i].cpu));
	at_close(fd);
	for (unsigned int i = 0; i < s.count; i++) {
		assert_true(msr_tracing(s.channel[i].cpu));
		assert_int_equal(channel_status(&s.channel[i]).gaps_offline, 1);
	}
	ok_stop(s.fd);
	check_accounting(&s);
}

static int ends;

/* START and STOP, as fast as possible. */
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
/* Fewer on a slow machine, so that the program keeps its time limit. */
#define WAKE_SECONDS	30

/* Waking must not start a stopped session, nor a started one twice. */
static void a_session_starts_and_stops_while_the_machine_wakes(void **state)
{
	struct session s[MAX_CPUS];
	pthread_t thread[MAX_CPUS];
	uint64_t was[MAX_CPUS], is;
	unsigned int count = 0;
	time_t begun;
	int ret = 0;

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
		ret = file_write("/sys/power/state", "freeze");
	__atomic_store_n(&ends, 1, __ATOMIC_RELAXED);
	file_write("/sys/power/pm_test", "none");
	for (unsigned int i = 0; i < count; i++) {
		void *failed;

		pthread_join(thread[i], &failed);
		assert_null(failed);
	}
	expect_call("suspend", 0, ret, __FILE__, __LINE__);
	/* The hardware was given back as it was found. */
	for (unsigned int i = 0; i < count; i++) {
		assert_int_equal(msr_read(s[i].channel->cpu, MSR_RTIT_OUTPUT_BASE, &is), 0);
		assert_int_equal(is, was[i]);
	}
}

/* perf has the CPU since that was offline, though no perf event is running. */
static void a_cpu_that_is_left_to_perf_stays_so_when_the_machine_wakes(void **state)
{
	struct session s;
	int fd, ret;

	perf_required();
	hotplug_required();
	suspend_required();
	session_open(&s, 1ULL << last_cpu, ALL, AUX_SIZE);
	ok_start(s.fd);
	last_cpu_offline();
	fd = perf_open(0, -1);
	assert_true(fd >= 0);
	last_cpu_online();
	assert_int_equal(channel_status(s.channel).inhibit, AUXTRACE_INHIBIT_OFFLINE);
	ret = file_write("/sys/power/state", "freeze");
	file_write("/sys/power/pm_test", "none");
	expect_call("suspend", 0, ret, __FILE__, __LINE__);
	assert_int_equal(channel_status(s.channel).inhibit, AUXTRACE_INHIBIT_OFFLINE);
	assert_false(msr_tracing(last_cpu));
	assert_true(perf_works(fd, last_cpu));
	ok_stop(s.fd);
	check_accounting(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(a_suspend_is_a_gap_and_tracing_continues_after_it),
		vm_test(the_hardware_is_off_before_the_machine_hibernates),
		vm_test(the_hardware_stays_off_if_the_machine_suspends_meanwhile),
		vm_test(the_hardware_is_off_before_a_hibernated_kernel_is_loaded),
		vm_test(a_session_starts_and_stops_while_the_machine_wakes),
		vm_test(a_cpu_that_is_left_to_perf_stays_so_when_the_machine_wakes),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
