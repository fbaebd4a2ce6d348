// SPDX-License-Identifier: GPL-2.0-only
/* TASK: how a process shows in a trace. */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "cpu.h"
#include "load.h"
#include "machine.h"
#include "pmu.h"
#include "trace.h"
#include "uapi.h"

static struct auxtrace_task task_of(int fd, pid_t pid)
{
	struct auxtrace_task task = { .size = sizeof(task), .pid = pid };

	ok_task(fd, &task);
	assert_true(task.out_context != 0);
	assert_true(task.out_context_mask != 0);
	/* The PCID bits are not compared. */
	assert_int_equal(task.out_context_mask & 0xfff, 0);
	return task;
}

static void *wait_to_be_joined(void *arg)
{
	char byte;

	*(pid_t *)arg = gettid();
	return read(((int *)arg)[1], &byte, 1) < 0 ? arg : NULL;
}

static void task_distinguishes_processes_but_not_threads(void **state)
{
	int fd = at_open(), pipes[2];
	struct auxtrace_task self = task_of(fd, 0), other;
	int thread_arg[2] = { 0 };
	pthread_t thread;
	pid_t pid;

	assert_int_equal(task_of(fd, getpid()).out_context, self.out_context);
	assert_int_equal(pipe(pipes), 0);

	pid = fork();
	if (!pid) {
		char byte;

		close(pipes[1]);
		_exit(read(pipes[0], &byte, 1) < 0);
	}
	other = task_of(fd, pid);
	assert_int_equal(other.out_context_mask, self.out_context_mask);
	assert_true((other.out_context ^ self.out_context) & self.out_context_mask);

	thread_arg[1] = pipes[0];
	assert_int_equal(pthread_create(&thread, NULL, wait_to_be_joined, thread_arg), 0);
	while (!__atomic_load_n(&thread_arg[0], __ATOMIC_ACQUIRE))
		sched_yield();
	assert_int_equal(task_of(fd, thread_arg[0]).out_context, self.out_context);

	close(pipes[1]);
	pthread_join(thread, NULL);
	close(pipes[0]);
	waitpid(pid, NULL, 0);
}

static void task_of_no_process_gives_ESRCH(void **state)
{
	struct auxtrace_task task = { .size = sizeof(task) };
	int fd = at_open();
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	task.pid = pid;		/* reaped; the kernel does not reuse it soon */
	fail_task(ESRCH, fd, &task);
	task.pid = 0x7fffffff;
	fail_task(ESRCH, fd, &task);
	task_of(fd, 0);
}

static void task_of_a_kernel_thread_gives_ENXIO(void **state)
{
	struct auxtrace_task task = { .size = sizeof(task), .pid = 2 };	/* kthreadd */
	int fd = at_open();

	fail_task(ENXIO, fd, &task);
	task_of(fd, 0);
}

static int task_without_capabilities(void *arg)
{
	struct auxtrace_task task = { .size = sizeof(task) };
	int ret = caps_drop(CAP(PERFMON) | CAP(SYS_ADMIN));

	if (!ret)
		ret = at_ioctl(*(int *)arg, AUXTRACE_IOC_TASK, &task);
	return -ret;
}

static void task_without_a_capability_gives_EACCES(void **state)
{
	int fd = at_open();

	assert_int_equal(child_run(task_without_capabilities, &fd), EACCES);
	task_of(fd, 0);
}

static void task_names_the_cr3_that_the_trace_shows(void **state)
{
	struct auxtrace_status_page st;
	struct walk walk = { 0 };
	struct auxtrace_task task;
	struct session s;
	uint8_t *trace;

	pt_required("PIP packets");
	session_open(&s, one_cpu, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL, 1 << 20);
	task = task_of(s.fd, 0);
	assert_int_equal(cpu_pin(cpus_first(one_cpu)), 0);
	/* The window's PSB+ has a PIP of the address space in which it begins. */
	ok_start(s.fd);
	load_run(1000);
	ok_stop(s.fd);

	st = channel_status(s.channel);
	trace = test_malloc(st.produced);
	channel_copy(s.channel, 0, trace, st.produced);
	walk.want_cr3 = task.out_context;
	walk.cr3_mask = task.out_context_mask;
	trace_check_window(&walk, trace, st.produced, "a pinned load");
	assert_true(walk.cr3_hits > 0);
	test_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(task_distinguishes_processes_but_not_threads),
		vm_test(task_of_no_process_gives_ESRCH),
		vm_test(task_of_a_kernel_thread_gives_ENXIO),
		vm_test(task_without_a_capability_gives_EACCES),
		vm_test(task_names_the_cr3_that_the_trace_shows),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
