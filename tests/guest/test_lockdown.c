// SPDX-License-Identifier: GPL-2.0-only
/*
 * A kernel that is locked down while the module is loaded. It stays so until the machine is off:
 * tests/proofs boots one for this program alone, and its cases are one story.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cpu.h"
#include "load.h"
#include "perf.h"
#include "pmu.h"
#include "trace.h"
#include "trigger.h"

#define LOCKDOWN	"/sys/kernel/security/lockdown"
#define CPU		1
#define AUX_SIZE	(1 << 20)
#define DATA_SIZE	(1 << 16)
#define MAX_SOURCES	16
#define TIMES		3

/* Of each of sources[]; completed before the lockdown, which closes tracefs. */
static struct auxtrace_trigger ready[MAX_SOURCES];
static bool is_ready[MAX_SOURCES];

static void lock_down(const char *level)
{
	int fd;

	mount("securityfs", "/sys/kernel/security", "securityfs", 0, NULL);
	fd = open(LOCKDOWN, O_WRONLY);
	if (fd < 0)
		skip_test("this kernel has no lockdown");
	assert_int_equal(write(fd, level, strlen(level)), strlen(level));
	close(fd);
}

/* The file has all levels, the present one in brackets. */
static bool is_locked_down(void)
{
	char levels[128] = "";
	int fd = open(LOCKDOWN, O_RDONLY);

	if (fd < 0)
		return false;
	if (read(fd, levels, sizeof(levels) - 1) < 0)
		levels[0] = 0;
	close(fd);
	return strstr(levels, "[confidentiality]");
}

static bool probes_the_kernel(const struct source *from)
{
	return from->kind == AUXTRACE_TRIGGER_KPROBE || from->kind == AUXTRACE_TRIGGER_KRETPROBE ||
	       !strcmp(from->name, "kprobe PMU");
}

static void begin(struct session *s)
{
	session_prepare(s, 1ULL << CPU, AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_USER |
					AUXTRACE_SETUP_OVERWRITE, AUX_SIZE);
	session_prepare_data(s, 0, DATA_SIZE);
	session_setup(s);
	assert_int_equal(cpu_pin(CPU), 0);
}

/* Adds a trigger of each kind; probes in the kernel fail with @err. */
static void each_kind_is_added_but_probes_give(int err, const struct session *s)
{
	for (unsigned int i = 0; i < nr_sources; i++) {
		if (!is_ready[i])
			continue;
		print_message("%s\n", sources[i].name);
		if (err && probes_the_kernel(&sources[i]))
			fail_trigger(err, s, ready[i]);
		else
			trigger_del(s, trigger_add(s, ready[i]));
	}
}

/* What perf itself answers for a kprobe. */
static int perf_probes(void)
{
	for (unsigned int i = 0; i < nr_sources; i++) {
		struct perf_event_attr attr;
		int fd;

		if (strcmp(sources[i].name, "kprobe PMU") || !is_ready[i])
			continue;
		memcpy(&attr, (const void *)(uintptr_t)ready[i].attr, sizeof(attr));
		fd = syscall(SYS_perf_event_open, &attr, -1, CPU, -1, 0);
		if (fd < 0)
			return errno;
		close(fd);
		return 0;
	}
	return -1;
}

#define PERFS_PMU (under_bts() ? "intel_bts" : "intel_pt")

/* perf opens the event, of the kernel, and counts as many as happen in a number of calls. */
static void perf_open_counts(const struct perf_event_attr *attr, unsigned int calls)
{
	uint64_t count;
	int fd = perf_open_event(attr, -1, CPU);

	if (fd < 0)
		fail_msg("perf_event_open: %s", strerrorname_np(-fd));
	at_remember(fd);
	call_times(calls);
	assert_int_equal(read(fd, &count, sizeof(count)), sizeof(count));
	assert_int_equal(count, calls);
	at_close(fd);
}

static void a_locked_down_kernel_is_traced(void **state)
{
	struct auxtrace_task task = { .size = sizeof(task) };
	struct session s;

	if (!is_locked_down())
		skip_test("this kernel is not locked down");
	begin(&s);
	ok_start(s.fd);
	load_run(200);
	ok_stop(s.fd);
	assert_int_equal(channel_status(&s.channel[0]).windows, 1);
	assert_true(channel_status(&s.channel[0]).produced > 0);
	ok_task(s.fd, &task);
	session_close(&s);
	/* perf traces the kernel there, too. */
	if (perf_pmu_type(PERFS_PMU) < 0) {
		print_message("this kernel has no PMU %s\n", PERFS_PMU);
		return;
	}
	perf_open_counts(&(struct perf_event_attr){
		.type = perf_pmu_type(PERFS_PMU), .size = sizeof(struct perf_event_attr),
		.config = under_bts() ? 0 : CONFIG_TSC | CONFIG_BRANCH | CONFIG_PT,
	}, 0);
}

/* Each event in the kernel that perf counts on a locked-down one can be a trigger, too. */
static void events_of_a_locked_down_kernel_are_triggers_as_they_are_perfs(void **state)
{
	const struct source *tracepoint = source_named("tracepoint");
	uint64_t function = function_address(CALL_FUNCTION);
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT, .size = sizeof(attr), .sample_period = 1,
		.bp_type = HW_BREAKPOINT_X, .bp_addr = function, .bp_len = sizeof(long),
	};
	struct session s;
	uint32_t id;

	if (!is_locked_down())
		skip_test("this kernel is not locked down");
	begin(&s);
	ok_start(s.fd);
	assert_true(function != 0);
	perf_open_counts(&attr, TIMES);
	id = trigger_add(&s, trigger_executed(AUXTRACE_ACTION_PAUSE, function));
	call_times(TIMES);
	assert_int_equal(trigger_read(&s, id).out_acted, TIMES);
	trigger_del(&s, id);

	if (is_ready[tracepoint - sources]) {
		memcpy(&attr, (const void *)(uintptr_t)ready[tracepoint - sources].attr, sizeof(attr));
		perf_open_counts(&attr, TIMES);
		id = trigger_add(&s, ready[tracepoint - sources]);
		call_times(TIMES);
		assert_int_equal(trigger_read(&s, id).out_acted, TIMES);
		trigger_del(&s, id);
	}
	session_close(&s);
}

static void only_confidentiality_refuses_and_only_probes_in_the_kernel(void **state)
{
	const struct source *call = source_named("kprobe");
	struct session s;
	uint32_t before;

	assert_true(nr_sources <= MAX_SOURCES);
	begin(&s);
	for (unsigned int i = 0; i < nr_sources; i++) {
		ready[i] = trigger(sources[i].kind, AUXTRACE_ACTION_PAUSE);
		is_ready[i] = sources[i].complete(&s, &ready[i]);
	}
	before = trigger_add(&s, ready[call - sources]);
	each_kind_is_added_but_probes_give(0, &s);
	assert_int_equal(perf_probes(), 0);

	lock_down("integrity");
	each_kind_is_added_but_probes_give(0, &s);
	assert_int_equal(perf_probes(), 0);

	lock_down("confidentiality");
	assert_true(is_locked_down());
	assert_int_equal(perf_probes(), EPERM);
	assert_int_equal(open("/sys/kernel/tracing/trace", O_RDONLY), -1);
	assert_int_equal(errno, EPERM);
	each_kind_is_added_but_probes_give(EPERM, &s);

	/* What was there before still works. */
	ok_start(s.fd);
	call->happen(TIMES);
	assert_int_equal(trigger_read(&s, before).out_acted, TIMES);
	trigger_del(&s, before);
	session_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(only_confidentiality_refuses_and_only_probes_in_the_kernel),
		vm_test(a_locked_down_kernel_is_traced),
		vm_test(events_of_a_locked_down_kernel_are_triggers_as_they_are_perfs),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
