// SPDX-License-Identifier: GPL-2.0-only
/* Who may do what: capabilities, namespaces, descriptors, and the limit of locked memory. */
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "cpu.h"
#include "file.h"
#include "machine.h"
#include "records.h"
#include "setup.h"
#include "trigger.h"
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

struct holder {
	struct session *session;
	uint32_t trigger;
};

static int holder_without_capabilities(void *arg)
{
	struct auxtrace_trigger trigger = { .size = sizeof(trigger),
					    .kind = AUXTRACE_TRIGGER_SYSCALL_ENTER,
					    .action = AUXTRACE_ACTION_PAUSE, .number = -1 };
	struct auxtrace_task task = { .size = sizeof(task) };
	struct auxtrace_effect effects[MAX_CPUS];
	const struct holder *h = arg;
	const struct session *s = h->session;
	struct auxtrace_trigger_state counts;
	struct auxtrace_status status;
	struct pollfd p = { .fd = s->fd, .events = POLLIN };
	uint32_t slot;
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
	    at_snapshot(s->fd, AUXTRACE_SNAPSHOT_SLOT, NULL, 0, &slot) < 0 ||
	    at_release(s->fd, slot))
		return 102;
	if (at_output(s->fd, 0, 1) || at_output(s->fd, 0, 0))
		return 103;
	if (at_trigger_read(s->fd, h->trigger, AUXTRACE_TRIGGER_REARM, &counts) ||
	    at_trigger_del(s->fd, h->trigger, &counts))
		return 104;
	/* What takes hardware, hooks the kernel or tells of a process. */
	if (at_ioctl(s->fd, AUXTRACE_IOC_TRIGGER_ADD, &trigger) != -EACCES)
		return 105;
	if (at_ioctl(s->fd, AUXTRACE_IOC_TASK, &task) != -EACCES)
		return 106;
	if (at_stop(s->fd))
		return 107;
	/* The records of the windows that ended above. */
	if (poll(&p, 1, 0) != 1 || p.revents != POLLIN)
		return 108;
	return at_start(s->fd) == -EACCES ? 0 : 109;
}

static void a_descriptor_alone_controls_and_reads_but_does_not_start(void **state)
{
	struct holder h;
	struct session s;

	setup_prepare(&s);
	s.setup.flags |= AUXTRACE_SETUP_OVERWRITE;
	session_prepare_data(&s, 0, page_size);
	s.setup.slots = 2;
	session_setup(&s);
	h = (struct holder){
		&s, trigger_add(&s, trigger_syscall(AUXTRACE_TRIGGER_SYSCALL_ENTER,
						    AUXTRACE_ACTION_NONE, CALL_NUMBER)),
	};
	ok_start(s.fd);
	assert_int_equal(child_run(holder_without_capabilities, &h), 0);
	/* Its owner starts it again. */
	ok_start(s.fd);
	ok_stop(s.fd);
}

/* ---- perf_event_paranoid --------------------------------------------------------- */

#define PARANOID	"/proc/sys/kernel/perf_event_paranoid"

static int set_up_and_start(void *arg)
{
	struct capability_try *try = arg;
	int ret = caps_keep(try->keep);

	if (!ret)
		ret = at_ioctl(try->session.fd, AUXTRACE_IOC_SETUP, &try->session.setup);
	if (ret)
		return -ret;
	return at_start(try->session.fd) ? 100 : 0;
}

static int try_to_start(struct capability_try *try, uint64_t keep)
{
	int ret;

	try->keep = keep;
	try->session.fd = at_open();
	ret = child_run(set_up_and_start, try);
	at_close(try->session.fd);
	return ret;
}

static void perf_event_paranoid_makes_no_difference(void **state)
{
	static const char *const levels[] = { "-1", "0", "1", "2", "3" };
	int64_t before = file_number(PARANOID);
	struct capability_try try;
	char text[16];

	snprintf(text, sizeof(text), "%lld", (long long)before);
	setup_prepare(&try.session);
	try.session.setup.flags |= AUXTRACE_SETUP_KERNEL;
	for (int i = 0; i < 5; i++) {
		int without, with;

		assert_int_equal(file_write(PARANOID, levels[i]), 0);
		without = try_to_start(&try, 0);
		with = try_to_start(&try, CAP(PERFMON) | CAP(IPC_LOCK));
		file_write(PARANOID, text);
		print_message("perf_event_paranoid %s: %d, %d\n", levels[i], without, with);
		assert_int_equal(without, EACCES);
		assert_int_equal(with, 0);
	}
}

/* ---- namespaces ------------------------------------------------------------------ */

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

/* What the first process of a PID namespace found; shared with its parent. */
struct first_process {
	const struct session *session;
	int ret;
	uint32_t trigger;
	struct auxtrace_task self, first, outside;
};

static int asks_by_its_number(struct first_process *found, pid_t parent)
{
	struct auxtrace_trigger t = trigger_syscall(AUXTRACE_TRIGGER_SYSCALL_ENTER,
						    AUXTRACE_ACTION_PAUSE, CALL_NUMBER);
	int ret;

	if (getpid() != 1)
		return -EBADF;
	found->self = found->first = (struct auxtrace_task){ .size = sizeof(found->self) };
	found->outside = found->self;
	found->first.pid = 1;
	found->outside.pid = parent;
	ret = at_ioctl(found->session->fd, AUXTRACE_IOC_TASK, &found->self);
	if (!ret)
		ret = at_ioctl(found->session->fd, AUXTRACE_IOC_TASK, &found->first);
	if (ret)
		return ret;
	/* The parent has no number here. */
	if (at_ioctl(found->session->fd, AUXTRACE_IOC_TASK, &found->outside) != -ESRCH)
		return -EBADE;
	t.pid = parent;
	if (at_trigger_add(found->session->fd, t, &found->trigger) != -ESRCH)
		return -EBADR;
	t.pid = 1;
	ret = at_trigger_add(found->session->fd, t, &found->trigger);
	call_times(1);
	return ret;
}

/* Runs asks_by_its_number() as process 1 of a namespace; its number outside. */
static pid_t in_a_pid_namespace(struct first_process *found)
{
	pid_t parent = getpid(), child, inside;
	int pipes[2], status;

	if (pipe(pipes))
		return -1;
	/* Of the caller's later children only the first is to be in the namespace. */
	child = fork();
	if (!child) {
		if (unshare(CLONE_NEWPID))
			_exit(errno == EINVAL ? 77 : 100);
		inside = fork();
		if (!inside) {
			found->ret = asks_by_its_number(found, parent);
			_exit(0);
		}
		if (write(pipes[1], &inside, sizeof(inside)) != sizeof(inside))
			_exit(101);
		_exit(waitpid(inside, &status, 0) != inside || status);
	}
	close(pipes[1]);
	if (read(pipes[0], &inside, sizeof(inside)) != sizeof(inside))
		inside = -1;
	close(pipes[0]);
	if (waitpid(child, &status, 0) != child || status)
		return WIFEXITED(status) && WEXITSTATUS(status) == 77 ? 0 : -1;
	return inside;
}

static void calls_take_numbers_of_the_callers_pid_namespace_and_records_have_the_initial_ones(void **state)
{
	const struct auxtrace_record_trigger *hit = NULL;
	struct first_process *found;
	struct session s;
	struct records r;
	pid_t inside;

	found = mmap(NULL, page_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(found, MAP_FAILED);
	setup_prepare(&s);
	session_prepare_data(&s, 0, 65536);
	session_setup(&s);
	found->session = &s;
	assert_int_equal(cpu_pin(first_cpu), 0);
	ok_start(s.fd);
	inside = in_a_pid_namespace(found);
	ok_stop(s.fd);
	cpu_unpin();
	if (!inside)
		skip_test("this kernel has no PID namespaces");
	assert_true(inside > 1);
	assert_int_equal(found->ret, 0);
	assert_true(found->self.out_context != 0);
	assert_int_equal(found->first.out_context, found->self.out_context);
	assert_int_equal(trigger_read(&s, found->trigger).out_acted, 1);
	records_read_all(&r, &s.channel[0]);
	for (unsigned int i = 0; i < r.count; i++)
		if (r.at[i]->header.type == AUXTRACE_RECORD_TRIGGER)
			hit = &r.at[i]->trigger;
	assert_non_null(hit);
	assert_int_equal(hit->trigger, found->trigger);
	assert_int_equal(hit->pid, inside);
	assert_int_equal(hit->tid, inside);
	records_free(&r);
	session_close(&s);
	munmap(found, page_size);
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
		vm_test(perf_event_paranoid_makes_no_difference),
		vm_test(root_of_a_user_namespace_may_not_trace),
		vm_test(calls_take_numbers_of_the_callers_pid_namespace_and_records_have_the_initial_ones),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
