// SPDX-License-Identifier: GPL-2.0-only
/* Triggers, and what they are attached to, go away while they fire. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "load.h"
#include "msr.h"
#include "perf.h"
#include "records.h"
#include "trigger.h"
#include "waiter.h"
#include "worker.h"

#define AUX_SIZE	(1 << 16)
#define DATA_SIZE	(1 << 16)
#define CPU		1
/* Each takes a few grace periods of RCU. */
#define ROUNDS		4
#define ONE_CPU		(1ULL << CPU)

static void prepare(struct session *s, uint64_t cpus)
{
	session_prepare(s, cpus, AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_OVERWRITE, AUX_SIZE);
	session_prepare_data(s, AUXTRACE_SETUP_DATA_OVERWRITE, DATA_SIZE);
	session_setup(s);
}

static const struct source *firing;

static int fire(struct worker *w)
{
	firing->happen(1);
	usleep(500);
	return 0;
}

/* Each kind is added and deleted repeatedly. */
static void each_kind_can_be_deleted_while_it_fires(void **state)
{
	const uint32_t actions[] = { AUXTRACE_ACTION_PAUSE, AUXTRACE_ACTION_RESUME,
				     AUXTRACE_ACTION_SAMPLE, AUXTRACE_ACTION_FREEZE };
	struct session s;

	prepare(&s, cpus_online());
	ok_start(s.fd);
	for (unsigned int i = 0; i < nr_sources; i++) {
		uint64_t hits = 0;

		firing = &sources[i];
		for (unsigned int k = 0; firing->happen && k < s.count; k++)
			worker_start(&s, s.channel[k].cpu, fire, 0);
		for (unsigned int round = 0; round < ROUNDS; round++) {
			struct auxtrace_trigger t = trigger(firing->kind, actions[round]);
			uint32_t id;

			assert_true(firing->complete(&s, &t));
			if (t.action == AUXTRACE_ACTION_SAMPLE)
				t.sample_size = 256;
			id = trigger_add(&s, t);
			if (round == ROUNDS - 1)
				trigger_wait_hits(&s, id, 1);
			hits += trigger_del(&s, id).out_hits;
			if (t.a) {
				trigger_del(&s, t.a);
				trigger_del(&s, t.b);
			}
			ok_resume(&s, 0, NULL);
		}
		workers_join();
		print_message("%s: %llu hits\n", firing->name, (unsigned long long)hits);
		assert_true(hits > 0);
	}
	if (invariants_broken(&s))
		fail();
	session_close(&s);
}

/* DEL returns the final counts: no hit before it is missing. */
static void del_returns_the_final_counts(void **state)
{
	const char *const names[] = { "syscall enter", "kprobe", "kretprobe", "uprobe", "tracepoint" };
	struct session s;

	prepare(&s, ONE_CPU);
	assert_int_equal(cpu_pin(CPU), 0);
	ok_start(s.fd);
	for (unsigned int i = 0; i < 5; i++) {
		const struct source *from = source_named(names[i]);
		struct auxtrace_trigger t = trigger(from->kind, AUXTRACE_ACTION_PAUSE);
		struct auxtrace_trigger_state st;
		uint32_t id;

		assert_true(from->complete(&s, &t));
		id = trigger_add(&s, t);
		from->happen(7);
		st = trigger_del(&s, id);
		assert_int_equal(st.out_hits, 7);
		assert_int_equal(st.out_acted, 7);
		assert_int_equal(st.out_missed, 0);
		from->happen(1);
	}
	session_close(&s);
}

static int call_forever(struct worker *w)
{
	call_times(10);
	probed_function();
	/* Leave CPU time to workers on the same CPU. */
	usleep(500);
	return 0;
}

/* The session is closed, started or not, while its triggers fire. */
static void a_session_closes_while_its_triggers_fire(void **state)
{
	const char *const names[] = { "syscall enter", "kprobe", "kretprobe", "uprobe", "uretprobe",
				      "timer", "hardware", "tracepoint", "latency" };
	struct session none = { .fd = -1 };

	for (uint64_t left = cpus_online(); left; left &= left - 1)
		worker_start(&none, cpus_first(left), call_forever, 0);
	for (unsigned int round = 0; round < ROUNDS; round++) {
		struct session s;

		prepare(&s, cpus_online());
		for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
			const struct source *from = source_named(names[i]);
			struct auxtrace_trigger t = trigger(from->kind, 1 + (round + i) % 4);

			assert_true(from->complete(&s, &t));
			if (t.action == AUXTRACE_ACTION_SAMPLE)
				t.sample_size = 256;
			if (t.action == AUXTRACE_ACTION_PAUSE && round % 2)
				t.delay_ns = 100000;
			trigger_add(&s, t);
		}
		ok_start(s.fd);
		usleep(1000);
		if (round == 0)
			ok_stop(s.fd);
		session_close(&s);
	}
	workers_join();
}

/* Tasks that are killed between a function's entry and its return. */
static void tasks_killed_between_entry_and_return_are_counted(void **state)
{
	struct auxtrace_trigger t;
	struct session s;
	uint32_t in, out, latency;
	const unsigned int tasks = 20;

	prepare(&s, ONE_CPU);
	assert_int_equal(cpu_pin(CPU), 0);
	in = trigger_add(&s, trigger_named(AUXTRACE_TRIGGER_KPROBE, AUXTRACE_ACTION_RESUME,
					   "__x64_sys_pause", 0));
	out = trigger_add(&s, trigger_named(AUXTRACE_TRIGGER_KRETPROBE, AUXTRACE_ACTION_PAUSE,
					    "__x64_sys_pause", 0));
	t = trigger(AUXTRACE_TRIGGER_LATENCY, AUXTRACE_ACTION_FREEZE);
	t.a = in;
	t.b = out;
	t.bound_ns = 100000000000;
	latency = trigger_add(&s, t);
	ok_start(s.fd);
	for (unsigned int i = 0; i < tasks; i++) {
		pid_t pid = fork();

		assert_true(pid >= 0);
		if (!pid) {
			pause();
			_exit(0);
		}
		trigger_wait_hits(&s, in, i + 1);
		kill(pid, SIGKILL);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
	}
	/* The signal ends the system call, which returns before the task exits. */
	trigger_counted(&s, in, tasks, 0, 0, 0);
	trigger_counted(&s, out, tasks, 0, 0, 0);
	trigger_counted(&s, latency, 0, 0, 0, 0);
	session_close(&s);
}

/* ---- a module that is probed ---------------------------------------------------- */

#define MSR_NODE	"/dev/cpu/0/msr"

/* The file from which init.sh loaded the msr module; false if it did not. */
static bool msr_module(char *path, size_t size)
{
	FILE *f = fopen("/modules/order", "re");
	bool found = false;
	char line[200];

	while (f && !found && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = 0;
		found = !strcmp(line, "msr.ko") || strstr(line, "/msr.ko");
	}
	if (f)
		fclose(f);
	if (found)
		snprintf(path, size, "/modules/%s", line);
	return found;
}

static int load_module(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = syscall(SYS_finit_module, fd, "", 0) ? -errno : 0;
	close(fd);
	return ret;
}

static unsigned int opened;

static int open_msr(struct worker *w)
{
	int fd = open(MSR_NODE, O_RDONLY | O_CLOEXEC);

	if (fd >= 0) {
		opened++;
		close(fd);
	}
	return 0;
}

static void a_probed_module_can_be_unloaded(void **state)
{
	struct session s;
	char path[256];
	unsigned int hits;
	uint32_t id, back;

	if (!msr_module(path, sizeof(path)))
		skip_test("no msr module was loaded from /modules");
	prepare(&s, ONE_CPU);
	id = trigger_add(&s, trigger_named(AUXTRACE_TRIGGER_KPROBE, AUXTRACE_ACTION_PAUSE,
					   "msr:msr_open", 0));
	ok_start(s.fd);
	opened = 0;
	worker_start(&s, CPU, open_msr, 0);
	while (!__atomic_load_n(&opened, __ATOMIC_RELAXED))
		usleep(1000);
	/* The module can be unloaded only between two opens. */
	for (unsigned int n = 0; syscall(SYS_delete_module, "msr", O_NONBLOCK); n++)
		assert_true(n < 1000000 && errno == EWOULDBLOCK);
	workers_join();
	hits = opened;
	trigger_counted(&s, id, hits, 0, 0, 0);
	fail_trigger(ENOENT, &s, trigger_named(AUXTRACE_TRIGGER_KPROBE, AUXTRACE_ACTION_PAUSE,
					       "msr:msr_open", 0));
	assert_int_equal(load_module(path), 0);
	/* The trigger ended with the code that it probed; the new code needs another. */
	assert_int_equal(cpu_pin(CPU), 0);
	back = trigger_add(&s, trigger_named(AUXTRACE_TRIGGER_KPROBE, AUXTRACE_ACTION_PAUSE,
					     "msr:msr_open", 0));
	wait_until(!access(MSR_NODE, R_OK));
	open_msr(NULL);
	trigger_counted(&s, back, 1, 0, 0, 0);
	assert_int_equal(trigger_del(&s, id).out_hits, hits);
	session_close(&s);
}

/* ---- CPUs ------------------------------------------------------------------------ */

static void wait_for_more(const struct session *s, uint32_t id)
{
	uint64_t acted = trigger_read(s, id).out_acted;

	wait_until(trigger_read(s, id).out_acted >= acted + 3);
}

/* After a CPU has returned its timers and counters, which belong to the CPU, work again. */
static void a_cpu_that_returns_has_its_events_again(void **state)
{
	const struct source *counted = source_named("software");
	struct auxtrace_trigger t = trigger(counted->kind, AUXTRACE_ACTION_PAUSE);
	uint32_t timer, software, call, written;
	struct session s;
	int cpu = cpus_last(cpus_online());

	assert_true(cpu > 0);
	prepare(&s, 1ULL << cpu);
	assert_true(counted->complete(&s, &t));
	software = trigger_add(&s, t);
	t = trigger(AUXTRACE_TRIGGER_TIMER, AUXTRACE_ACTION_RESUME);
	t.bound_ns = 1000000;
	timer = trigger_add(&s, t);
	call = trigger_add(&s, trigger_syscall(AUXTRACE_TRIGGER_SYSCALL_ENTER,
					       AUXTRACE_ACTION_PAUSE, CALL_NUMBER));
	written = trigger_add(&s, trigger_written(AUXTRACE_ACTION_PAUSE, &watched));
	ok_start(s.fd);
	for (unsigned int round = 1; round <= 3; round++) {
		uint64_t faults;

		wait_for_more(&s, timer);
		assert_int_equal(cpu_pin(cpu), 0);
		faults = trigger_read(&s, software).out_acted;
		counted->happen(5);
		assert_int_equal(trigger_read(&s, software).out_acted, faults + 5);
		call_times(2);
		trigger_counted(&s, call, 2 * round, 0, 0, 0);
		write_watched();
		trigger_counted(&s, written, round, 0, 0, 0);
		cpu_unpin();
		assert_int_equal(cpu_set_online(cpu, 0), 0);
		assert_true(channel_status(&s.channel[0]).inhibit & AUXTRACE_INHIBIT_OFFLINE);
		assert_int_equal(cpu_set_online(cpu, 1), 0);
		wait_until(!(channel_status(&s.channel[0]).inhibit & AUXTRACE_INHIBIT_OFFLINE));
	}
	session_close(&s);
}

/* The module does not create an event again if its attr points to a name, which may have changed. */
static void a_probe_of_perfs_that_has_a_name_does_not_return_with_its_cpu(void **state)
{
	const struct source *tracepoint = source_named("tracepoint");
	int64_t type = perf_pmu_type("kprobe"), user_type = perf_pmu_type("uprobe");
	struct perf_event_attr attr = { .size = sizeof(attr), .sample_period = 1 };
	struct auxtrace_trigger t = trigger(tracepoint->kind, AUXTRACE_ACTION_PAUSE);
	uint32_t returns, by_address, by_name, by_path;
	int cpu = cpus_last(cpus_online());
	struct session s;

	assert_true(cpu > 0);
	if (type < 0 || user_type < 0)
		skip_test("this kernel has no PMU kprobe or uprobe");
	prepare(&s, 1ULL << cpu);
	assert_true(tracepoint->complete(&s, &t));
	returns = trigger_add(&s, t);
	attr.type = type;
	attr.kprobe_addr = function_address(CALL_FUNCTION);
	assert_true(attr.kprobe_addr);
	by_address = trigger_add(&s, trigger_perf(AUXTRACE_ACTION_PAUSE, &attr));
	attr.kprobe_func = (uintptr_t)CALL_FUNCTION;
	attr.probe_offset = 0;
	by_name = trigger_add(&s, trigger_perf(AUXTRACE_ACTION_PAUSE, &attr));
	attr.type = user_type;
	attr.uprobe_path = (uintptr_t)PROGRAM;
	attr.probe_offset = offset_in_program(probed_function);
	by_path = trigger_add(&s, trigger_perf(AUXTRACE_ACTION_PAUSE, &attr));
	ok_start(s.fd);
	for (int round = 0; round < 2; round++) {
		uint64_t hits = trigger_read(&s, returns).out_hits;
		uint64_t address_hits = trigger_read(&s, by_address).out_hits;

		assert_int_equal(cpu_pin(cpu), 0);
		call_times(2);
		probed_function();
		assert_int_equal(trigger_read(&s, returns).out_hits, hits + 2);
		assert_int_equal(trigger_read(&s, by_address).out_hits, address_hits + 2);
		assert_int_equal(trigger_read(&s, by_name).out_hits, 2);
		assert_int_equal(trigger_read(&s, by_path).out_hits, 1);
		if (round)
			break;
		cpu_unpin();
		assert_int_equal(cpu_set_online(cpu, 0), 0);
		assert_int_equal(cpu_set_online(cpu, 1), 0);
		/* Events are created again by a work item, in the order of their triggers. */
		assert_int_equal(cpu_pin(cpu), 0);
		for (uint64_t old = address_hits + 2; trigger_read(&s, by_address).out_hits <= old; usleep(1000))
			call_times(1);
	}
	/* Added again, it hits. */
	attr.type = type;
	attr.kprobe_func = (uintptr_t)CALL_FUNCTION;
	attr.probe_offset = 0;
	trigger_del(&s, by_name);
	by_name = trigger_add(&s, trigger_perf(AUXTRACE_ACTION_PAUSE, &attr));
	call_times(3);
	assert_int_equal(trigger_read(&s, by_name).out_hits, 3);
	session_close(&s);
}

/*
 * A timer that was migrated when its CPU went offline, and a delay that the CPU's going offline
 * ended: neither keeps later timers and delays from working.
 */
static void a_timer_or_delay_of_an_offline_cpu_blocks_no_later_one(void **state)
{
	int cpu = cpus_last(cpus_online());
	struct auxtrace_trigger t;
	struct session s;
	uint32_t timer, later;
	uint64_t hits;

	assert_true(cpu > 0);
	prepare(&s, 1ULL << cpu);
	t = trigger(AUXTRACE_TRIGGER_TIMER, AUXTRACE_ACTION_NONE);
	t.bound_ns = 2000000000;
	timer = trigger_add(&s, t);
	t = trigger_syscall(AUXTRACE_TRIGGER_SYSCALL_ENTER, AUXTRACE_ACTION_PAUSE, CALL_NUMBER);
	t.delay_ns = 1000000000000;
	later = trigger_add(&s, t);
	ok_start(s.fd);
	assert_int_equal(cpu_pin(cpu), 0);
	call_times(2);
	trigger_counted(&s, later, 1, 0, 0, 1);
	cpu_unpin();
	trigger_wait_hits(&s, timer, 1);
	hits = trigger_read(&s, timer).out_hits;
	assert_int_equal(cpu_set_online(cpu, 0), 0);
	assert_int_equal(cpu_set_online(cpu, 1), 0);
	trigger_wait_hits(&s, timer, hits + 2);
	assert_int_equal(cpu_pin(cpu), 0);
	call_times(1);
	trigger_counted(&s, later, 2, 0, 0, 1);
	session_close(&s);
}

/* A CPU goes offline and returns while all others fire, freeze and broadcast. */
static void cpus_go_offline_and_return_while_triggers_fire(void **state)
{
	int cpu = cpus_last(cpus_online());
	struct auxtrace_trigger t;
	struct session s, none = { .fd = -1 };

	prepare(&s, cpus_online());
	t = trigger_syscall(AUXTRACE_TRIGGER_SYSCALL_ENTER, AUXTRACE_ACTION_RESUME, CALL_NUMBER);
	t.flags = AUXTRACE_TRIGGER_ALL_CPUS;
	trigger_add(&s, t);
	t.kind = AUXTRACE_TRIGGER_SYSCALL_EXIT;
	t.action = AUXTRACE_ACTION_PAUSE;
	trigger_add(&s, t);
	t = trigger(AUXTRACE_TRIGGER_TIMER, AUXTRACE_ACTION_FREEZE);
	t.bound_ns = 1000000;
	trigger_add(&s, t);
	t = trigger_named(AUXTRACE_TRIGGER_KPROBE, AUXTRACE_ACTION_PAUSE, CALL_FUNCTION, 0);
	t.delay_ns = 200000;
	trigger_add(&s, t);
	ok_start(s.fd);
	for (unsigned int i = 0; i < s.count; i++)
		if (s.channel[i].cpu != cpu)
			worker_start(&none, s.channel[i].cpu, call_forever, 0);
	worker_start(&s, -1, pause_and_resume_all, 0);
	for (unsigned int round = 0; round < 4; round++) {
		assert_int_equal(cpu_set_online(cpu, 0), 0);
		usleep(3000);
		assert_int_equal(cpu_set_online(cpu, 1), 0);
		usleep(3000);
	}
	workers_join();
	if (invariants_broken(&s))
		fail();
	session_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(each_kind_can_be_deleted_while_it_fires),
		vm_test(del_returns_the_final_counts),
		vm_test(a_session_closes_while_its_triggers_fire),
		vm_test(tasks_killed_between_entry_and_return_are_counted),
		vm_test(a_probed_module_can_be_unloaded),
		vm_test(a_cpu_that_returns_has_its_events_again),
		vm_test(a_timer_or_delay_of_an_offline_cpu_blocks_no_later_one),
		vm_test(a_probe_of_perfs_that_has_a_name_does_not_return_with_its_cpu),
		vm_test(cpus_go_offline_and_return_while_triggers_fire),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
