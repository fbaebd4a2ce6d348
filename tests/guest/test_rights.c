// SPDX-License-Identifier: GPL-2.0
/* Who may do what: capabilities, namespaces, descriptors, and the limit of locked memory. */
#include <errno.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "child.h"
#include "cpu.h"
#include "machine.h"
#include "setup.h"
#include "uapi.h"

struct capability_try {
	struct session session;
	uint64_t keep;
	struct rlimit memlock;
};

static int setup_with_capabilities(void *arg)
{
	struct capability_try *try = arg;
	int ret = 0;

	if (try->memlock.rlim_max && setrlimit(RLIMIT_MEMLOCK, &try->memlock))
		return 100;
	ret = caps_keep(try->keep);
	if (!ret)
		ret = at_ioctl(try->session.fd, AUXTRACE_IOC_SETUP, &try->session.setup);
	return -ret;
}

static int try_setup(struct capability_try *try)
{
	int ret;

	try->session.fd = at_open();
	ret = child_run(setup_with_capabilities, try);
	at_close(try->session.fd);
	return ret;
}

static void setup_without_a_capability_gives_EACCES(void **state)
{
	struct capability_try try = { .keep = ~(CAP(PERFMON) | CAP(SYS_ADMIN)) };

	setup_prepare(&try.session);
	assert_int_equal(try_setup(&try), EACCES);
	/* Other levels make no difference: the trace is CPU-wide. */
	try.session.setup.flags = AUXTRACE_SETUP_KERNEL;
	assert_int_equal(try_setup(&try), EACCES);
}

static void setup_needs_only_one_of_the_two_capabilities(void **state)
{
	struct capability_try try;

	setup_prepare(&try.session);
	try.memlock = (struct rlimit){ 1 << 20, 1 << 20 };
	try.keep = CAP(PERFMON);
	assert_int_equal(try_setup(&try), 0);
	try.keep = CAP(SYS_ADMIN);
	assert_int_equal(try_setup(&try), 0);
}

static void setup_beyond_the_locked_memory_limit_gives_ENOMEM(void **state)
{
	struct capability_try try = {
		.keep = ~CAP(IPC_LOCK),
		.memlock = { 256 << 10, 256 << 10 },
	};

	setup_prepare(&try.session);
	try.session.setup.aux_size = 512 << 10;
	assert_int_equal(try_setup(&try), ENOMEM);
	/* The sum over the channels is charged. */
	setup_prepare(&try.session);
	try.session.cpus = cpus_online();
	try.session.setup.aux_size = 256 << 10;
	assert_int_equal(try_setup(&try), ENOMEM);
	/* All regions of a channel are charged. */
	setup_prepare(&try.session);
	try.session.setup.aux_size = 128 << 10;
	assert_int_equal(try_setup(&try), 0);
	session_prepare_data(&try.session, 0, 256 << 10);
	assert_int_equal(try_setup(&try), ENOMEM);
	/* Success within the limit, and beyond it with the capability. */
	setup_prepare(&try.session);
	assert_int_equal(try_setup(&try), 0);
	try.session.setup.aux_size = 512 << 10;
	try.keep = ~0ULL;
	assert_int_equal(try_setup(&try), 0);
}

/* The limit is enough for one area, not for two: each close has to uncharge its area. */
static int setup_again_and_again(void *arg)
{
	struct rlimit memlock = { 400 << 10, 400 << 10 };
	struct session *s = arg;

	s->setup.aux_size = 256 << 10;
	if (setrlimit(RLIMIT_MEMLOCK, &memlock) || caps_drop(CAP(IPC_LOCK)))
		return 100;
	for (int i = 0; i < 8; i++) {
		int fd = at_open_plain(), ret;

		ret = fd < 0 ? fd : at_ioctl(fd, AUXTRACE_IOC_SETUP, &s->setup);
		if (ret)
			return -ret;
		close(fd);
	}
	return 0;
}

static void locked_memory_is_given_back_at_close(void **state)
{
	struct session s;

	setup_prepare(&s);
	assert_int_equal(child_run(setup_again_and_again, &s), 0);
}

/* Attempts that fail must not charge anything. */
static int setup_fails_then_succeeds(void *arg)
{
	struct rlimit memlock = { 400 << 10, 400 << 10 };
	struct session *s = arg;
	int ret;

	if (setrlimit(RLIMIT_MEMLOCK, &memlock) || caps_drop(CAP(IPC_LOCK)))
		return 100;
	for (int i = 0; i < 4; i++) {
		s->setup.aux_size = 512 << 10;
		ret = at_ioctl(s->fd, AUXTRACE_IOC_SETUP, &s->setup);
		if (ret != -ENOMEM)
			return 101;
	}
	s->setup.aux_size = 256 << 10;
	return -at_ioctl(s->fd, AUXTRACE_IOC_SETUP, &s->setup);
}

static void a_setup_beyond_the_limit_charges_nothing(void **state)
{
	struct session s;

	setup_prepare(&s);
	s.fd = at_open();
	assert_int_equal(child_run(setup_fails_then_succeeds, &s), 0);
}

/* ---- who holds a descriptor ------------------------------------------------------ */

static int holder_without_capabilities(void *arg)
{
	struct auxtrace_trigger trigger = { .size = sizeof(trigger),
					    .kind = AUXTRACE_TRIGGER_SYSCALL_ENTER,
					    .action = AUXTRACE_ACTION_PAUSE, .number = -1 };
	struct auxtrace_task task = { .size = sizeof(task) };
	struct auxtrace_effect effects[MAX_CPUS];
	const struct session *s = arg;
	struct auxtrace_status status;
	void *page;

	if (caps_keep(0))
		return 100;
	/* What reads a session, and what turns it off and on again. */
	page = mmap(NULL, page_size, PROT_READ, MAP_SHARED, s->fd,
		    AUXTRACE_MMAP_OFFSET(first_cpu, AUXTRACE_REGION_STATUS));
	if (page == MAP_FAILED || at_status(s->fd, AUXTRACE_STATUS_SYNC, &status))
		return 101;
	if (at_control(s->fd, AUXTRACE_IOC_PAUSE, 0, effects, MAX_CPUS) < 0 ||
	    at_control(s->fd, AUXTRACE_IOC_RESUME, 0, effects, MAX_CPUS) < 0 ||
	    at_snapshot(s->fd, 0, NULL, 0, NULL) < 0)
		return 102;
	/* What takes hardware, hooks the kernel or tells of a process. */
	if (at_ioctl(s->fd, AUXTRACE_IOC_TRIGGER_ADD, &trigger) != -EACCES)
		return 103;
	if (at_ioctl(s->fd, AUXTRACE_IOC_TASK, &task) != -EACCES)
		return 104;
	if (at_stop(s->fd))
		return 105;
	return at_start(s->fd) == -EACCES ? 0 : 106;
}

static void a_descriptor_alone_controls_and_reads_but_does_not_start(void **state)
{
	struct session s;

	setup_prepare(&s);
	session_setup(&s);
	ok_start(s.fd);
	assert_int_equal(child_run(holder_without_capabilities, &s), 0);
	/* Its owner starts it again. */
	ok_start(s.fd);
	ok_stop(s.fd);
}

/* In a user namespace of its own a process has every capability, and none in the machine's. */
static int root_of_a_namespace(void *arg)
{
	struct auxtrace_info info = { .size = sizeof(info) };
	const struct capability_try *try = arg;

	if (unshare(CLONE_NEWUSER))
		return errno == EPERM || errno == ENOSPC || errno == EINVAL ? 77 : 100;
	if (at_ioctl(try->session.fd, AUXTRACE_IOC_INFO, &info) || info.out_may)
		return 101;
	return -at_ioctl(try->session.fd, AUXTRACE_IOC_SETUP, (void *)&try->session.setup);
}

static void root_of_a_user_namespace_may_not_trace(void **state)
{
	struct capability_try try = { .keep = 0 };
	int ret;

	setup_prepare(&try.session);
	try.session.fd = at_open();
	ret = child_run(root_of_a_namespace, &try);
	if (ret == 77)
		skip_test("this kernel has no user namespaces");
	assert_int_equal(ret, EACCES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(setup_without_a_capability_gives_EACCES),
		vm_test(setup_needs_only_one_of_the_two_capabilities),
		vm_test(setup_beyond_the_locked_memory_limit_gives_ENOMEM),
		vm_test(locked_memory_is_given_back_at_close),
		vm_test(a_setup_beyond_the_limit_charges_nothing),
		vm_test(a_descriptor_alone_controls_and_reads_but_does_not_start),
		vm_test(root_of_a_user_namespace_may_not_trace),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
