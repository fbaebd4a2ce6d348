// SPDX-License-Identifier: GPL-2.0-only
/*
 * A tracer dies, descriptors are duplicated and inherited, the module is unloaded: the
 * hardware is given back.
 */
#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "kmod.h"
#include "load.h"
#include "machine.h"
#include "msr.h"
#include "pmu.h"
#include "uapi.h"

#define AUX_SIZE	space_for(1 << 20)
#define ALL		(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_OVERWRITE)

/* A new session can claim the hardware of all CPUs, so no other holds it. */
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

/* In a child: trace by a session of its own, and write to @ready when that is started. */
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

	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	if (!pid)
		_exit(trace_until_killed(pipes[1]));
	close(pipes[1]);
	assert_int_equal(read(pipes[0], &ok, 1), 1);
	close(pipes[0]);
	assert_int_equal(ok, 1);
	assert_true(msr_tracing(first_cpu));
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WTERMSIG(status), SIGKILL);
	hardware_is_free();
}

static void a_duplicate_keeps_the_session_alive(void **state)
{
	struct session s;
	int fd;

	session_open(&s, all_cpus, ALL, AUX_SIZE);
	ok_start(s.fd);
	fd = dup(s.fd);
	assert_true(fd >= 0);
	at_remember(fd);
	at_close(s.fd);
	s.fd = fd;
	assert_true(msr_tracing(first_cpu));
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
	/* The parent has only the mapping now, and sees what the child does. */
	assert_int_equal(channel_status(s.channel).running, 1);
	assert_int_equal(write(parent_closed[1], &byte, 1), 1);
	assert_int_equal(read(child_paused[0], &byte, 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	st = channel_status(s.channel);
	assert_int_equal(st.pauses_done, 1);
	/* The child had the last descriptor: its exit ended the session. */
	assert_int_equal(st.inhibit & AUXTRACE_INHIBIT_SETUP, AUXTRACE_INHIBIT_SETUP);
	check_accounting(&s);
	close(parent_closed[0]);
	close(parent_closed[1]);
	close(child_paused[0]);
	hardware_is_free();
}

static void the_module_unloads_and_loads_again_after_all_of_that(void **state)
{
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
		vm_test(a_tracer_that_is_killed_gives_the_hardware_back),
		vm_test(a_duplicate_keeps_the_session_alive),
		vm_test(an_inherited_descriptor_keeps_the_session_alive),
		vm_test(the_module_unloads_and_loads_again_after_all_of_that),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
