// SPDX-License-Identifier: GPL-2.0-only
/* Events that the kernel drops and counts: hits that are missed. */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu.h"
#include "trigger.h"
#include "waiter.h"

#define AUX_SIZE	(1 << 16)
#define DATA_SIZE	(1 << 14)
#define CPU		1

static void open_here(struct session *s)
{
	session_prepare(s, 1ULL << CPU, AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_OVERWRITE, AUX_SIZE);
	session_prepare_data(s, AUXTRACE_SETUP_DATA_OVERWRITE, DATA_SIZE);
	session_setup(s);
	assert_int_equal(cpu_pin(CPU), 0);
}

/* More concurrent calls than the uapi header promises to follow. */
static void calls_that_a_kretprobe_cannot_follow_are_missed(void **state)
{
	const long cpus = sysconf(_SC_NPROCESSORS_CONF);
	const unsigned int followed = 4 * cpus > 64 ? 4 * cpus : 64, more = 20;
	struct auxtrace_trigger_state st;
	pid_t pid[followed + more];
	uint32_t calls, returns;
	struct session s;

	open_here(&s);
	calls = trigger_add(&s, trigger_named(AUXTRACE_TRIGGER_KPROBE, AUXTRACE_ACTION_NONE,
					      "__x64_sys_pause", 0));
	returns = trigger_add(&s, trigger_named(AUXTRACE_TRIGGER_KRETPROBE, AUXTRACE_ACTION_PAUSE,
						"__x64_sys_pause", 0));
	ok_start(s.fd);
	for (unsigned int i = 0; i < followed + more; i++) {
		pid[i] = fork();
		assert_true(pid[i] >= 0);
		if (!pid[i]) {
			pause();
			_exit(0);
		}
	}
	trigger_wait_hits(&s, calls, followed + more);
	/* No call has returned: the missed are the calls that are not followed. */
	trigger_counted(&s, returns, 0, 0, 0, more);
	for (unsigned int i = 0; i < followed + more; i++) {
		kill(pid[i], SIGKILL);
		assert_int_equal(waitpid(pid[i], NULL, 0), pid[i]);
	}
	trigger_counted(&s, returns, followed, 0, 0, more);
	trigger_counted(&s, calls, 0, followed + more, 0, 0);
	/* The counts outlive the probe. */
	st = trigger_del(&s, returns);
	assert_int_equal(st.out_missed, more);
	assert_int_equal(st.out_hits, followed + more);
	session_close(&s);
}

/* A probe within the handler of another: a freeze wakes readers by irq_work_queue(). */
static void a_kprobe_within_a_probe_is_missed(void **state)
{
	const unsigned int rounds = 10;
	struct auxtrace_trigger_state before, after;
	uint32_t freeze, within;
	struct session s;

	open_here(&s);
	within = trigger_add(&s, trigger_named(AUXTRACE_TRIGGER_KPROBE, AUXTRACE_ACTION_NONE,
					       "irq_work_queue", 0));
	freeze = trigger_add(&s, trigger_named(AUXTRACE_TRIGGER_KRETPROBE, AUXTRACE_ACTION_FREEZE,
					       CALL_FUNCTION, 0));
	ok_start(s.fd);
	before = trigger_read(&s, within);
	for (unsigned int i = 0; i < rounds; i++) {
		call_times(1);
		ok_resume(&s, 0, NULL);
	}
	after = trigger_del(&s, within);
	print_message("within the other's handler: %llu missed of %llu\n",
		      after.out_missed - before.out_missed, after.out_hits - before.out_hits);
	assert_true(after.out_missed - before.out_missed >= rounds);
	trigger_counted(&s, freeze, rounds, 0, 0, 0);
	session_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(calls_that_a_kretprobe_cannot_follow_are_missed),
		vm_test(a_kprobe_within_a_probe_is_missed),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
