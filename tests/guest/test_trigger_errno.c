// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each way in which TRIGGER_ADD, DEL and READ fail. A refused call is invalid in one respect
 * only, and the valid call succeeds afterwards.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "cpu.h"
#include "module/core/known.h"
#include "perf.h"
#include "trigger.h"

#define AUX_SIZE	65536
#define DATA_SIZE	65536
#define ONE_CPU		2ULL

static void open_with(struct session *s, uint32_t flags, uint64_t data_size)
{
	session_prepare(s, ONE_CPU, AUXTRACE_SETUP_KERNEL | flags, AUX_SIZE);
	session_prepare_data(s, 0, data_size);
	session_setup(s);
}

static struct auxtrace_trigger valid(uint32_t kind)
{
	static const struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES, .sample_period = 1,
	};

	switch (kind) {
	case AUXTRACE_TRIGGER_PERF:
		return trigger_perf(AUXTRACE_ACTION_PAUSE, &attr);
	case AUXTRACE_TRIGGER_SYSCALL_ENTER:
	case AUXTRACE_TRIGGER_SYSCALL_EXIT:
		return trigger_syscall(kind, AUXTRACE_ACTION_PAUSE, CALL_NUMBER);
	case AUXTRACE_TRIGGER_KPROBE:
	case AUXTRACE_TRIGGER_KRETPROBE:
		return trigger_named(kind, AUXTRACE_ACTION_PAUSE, CALL_FUNCTION, 0);
	case AUXTRACE_TRIGGER_UPROBE:
	case AUXTRACE_TRIGGER_URETPROBE:
		return trigger_named(kind, AUXTRACE_ACTION_PAUSE, PROGRAM,
				     offset_in_program(probed_function));
	case AUXTRACE_TRIGGER_BREAKPOINT:
		return trigger_written(AUXTRACE_ACTION_PAUSE, &watched);
	}
	fail();
	return trigger(kind, 0);
}

static struct auxtrace_trigger timer(void)
{
	struct auxtrace_trigger t = trigger(AUXTRACE_TRIGGER_TIMER, AUXTRACE_ACTION_PAUSE);

	t.bound_ns = 10000000;
	return t;
}

#define with(t, ...) ({ struct auxtrace_trigger with_ = (t); with_.__VA_ARGS__; with_; })

static void add_and_del(const struct session *s, struct auxtrace_trigger t)
{
	trigger_del(s, trigger_add(s, t));
}

static void calls_before_setup_give_EBADFD(void **state)
{
	struct auxtrace_trigger t = timer();
	struct auxtrace_trigger_state st = { .size = sizeof(st), .id = 1 };
	int fd = at_open();

	fail_ioctl(EBADFD, fd, AUXTRACE_IOC_TRIGGER_ADD, &t);
	fail_ioctl(EBADFD, fd, AUXTRACE_IOC_TRIGGER_DEL, &st);
	fail_ioctl(EBADFD, fd, AUXTRACE_IOC_TRIGGER_READ, &st);
	at_close(fd);
}

/* Members that a kind or an action does not use must be zero. */
static void a_member_that_a_kind_does_not_use_must_be_zero(void **state)
{
	struct session s;

	open_with(&s, 0, DATA_SIZE);
	for (uint32_t kind = 0; kind <= AUXTRACE_TRIGGER_BREAKPOINT; kind++) {
		struct auxtrace_trigger t = valid(kind);
		bool named = kind >= AUXTRACE_TRIGGER_KPROBE && kind <= AUXTRACE_TRIGGER_URETPROBE;
		bool call = kind == AUXTRACE_TRIGGER_SYSCALL_ENTER ||
			    kind == AUXTRACE_TRIGGER_SYSCALL_EXIT;

		if (kind != AUXTRACE_TRIGGER_PERF) {
			fail_trigger(EINVAL, &s, with(t, attr = 4096));
			fail_trigger(EINVAL, &s, with(t, attr_len = 64));
		}
		if (!call && kind != AUXTRACE_TRIGGER_BREAKPOINT)
			fail_trigger(EINVAL, &s, with(t, number = 1));
		if (!named && kind != AUXTRACE_TRIGGER_BREAKPOINT)
			fail_trigger(EINVAL, &s, with(t, address = 4096));
		if (!named) {
			fail_trigger(EINVAL, &s, with(t, name = 4096));
			fail_trigger(EINVAL, &s, with(t, name_len = 1));
		}
		fail_trigger(EINVAL, &s, with(t, bound_ns = 10000000));
		fail_trigger(EINVAL, &s, with(t, a = 1));
		fail_trigger(EINVAL, &s, with(t, b = 1));
		fail_trigger(EINVAL, &s, with(t, sample_size = 64));
		add_and_del(&s, t);
	}
	session_close(&s);
}

static void invalid_values_give_EINVAL(void **state)
{
	struct auxtrace_trigger t = timer();
	struct session s, overwrite;

	open_with(&s, 0, DATA_SIZE);
	fail_trigger(EINVAL, &s, with(t, kind = AUXTRACE_TRIGGER_TIMER + 1));
	fail_trigger(EINVAL, &s, with(t, kind = UINT32_MAX));
	fail_trigger(EINVAL, &s, with(t, action = AUXTRACE_ACTION_FREEZE + 1));
	fail_trigger(EINVAL, &s, with(t, action = UINT32_MAX));
	fail_trigger(EINVAL, &s, with(t, flags = AUXTRACE_TRIGGER_ALL + 1));
	fail_trigger(EINVAL, &s, with(t, reserved = 1));
	fail_trigger(EINVAL, &s, with(t, bound_ns = 0));
	fail_trigger(EINVAL, &s, with(t, bound_ns = 9999));
	fail_trigger(EINVAL, &s, with(t, bound_ns = UINT64_MAX));
	/* ALL_CPUS is for PAUSE and RESUME only; a FREEZE always goes to all CPUs. */
	fail_trigger(EINVAL, &s, with(t, action = AUXTRACE_ACTION_SAMPLE, with_.sample_size = 64,
				      with_.flags = AUXTRACE_TRIGGER_ALL_CPUS));
	fail_trigger(EINVAL, &s, with(t, action = AUXTRACE_ACTION_NONE,
				      with_.flags = AUXTRACE_TRIGGER_ALL_CPUS));
	fail_trigger(EINVAL, &s, with(t, action = AUXTRACE_ACTION_RESUME, with_.delay_ns = 1000));
	fail_trigger(EINVAL, &s, with(t, action = AUXTRACE_ACTION_NONE, with_.delay_ns = 1000));
	fail_trigger(EINVAL, &s, with(t, action = AUXTRACE_ACTION_NONE, with_.count = 1));
	fail_trigger(EINVAL, &s, with(t, action = AUXTRACE_ACTION_NONE, with_.after_hits = 1));
	fail_trigger(EINVAL, &s, with(t, action = AUXTRACE_ACTION_NONE, with_.hold_off_ns = 1));
	fail_trigger(EINVAL, &s, with(trigger(AUXTRACE_TRIGGER_KPROBE, AUXTRACE_ACTION_PAUSE),
				      flags = 0));
	/* A delay in bytes needs overwrite mode. */
	fail_trigger(EINVAL, &s, with(t, delay_bytes = 4096));
	add_and_del(&s, t);
	add_and_del(&s, with(t, bound_ns = 10000));
	add_and_del(&s, with(t, flags = AUXTRACE_TRIGGER_ALL_CPUS));
	add_and_del(&s, with(t, delay_ns = 1000));
	session_close(&s);

	open_with(&overwrite, AUXTRACE_SETUP_OVERWRITE, DATA_SIZE);
	add_and_del(&overwrite, with(t, delay_bytes = 4096));
	/* The largest delay, which no position ever reaches. */
	add_and_del(&overwrite, with(t, delay_bytes = INT64_MAX));
	fail_trigger(EINVAL, &overwrite, with(t, delay_bytes = INT64_MAX + 1ULL));
	fail_trigger(EINVAL, &overwrite, with(t, delay_bytes = UINT64_MAX));
	fail_trigger(EINVAL, &overwrite, with(t, action = AUXTRACE_ACTION_RESUME,
					      with_.delay_bytes = 4096));
	session_close(&overwrite);
}

static void a_sample_must_fit_area_and_ring(void **state)
{
	struct auxtrace_trigger t = timer();
	struct session s, without;

	t.action = AUXTRACE_ACTION_SAMPLE;
	t.sample_size = 64;
	open_with(&s, 0, DATA_SIZE);
	fail_trigger(EINVAL, &s, with(t, sample_size = 0));
	fail_trigger(EINVAL, &s, with(t, sample_size = AUX_SIZE / 2 + 1));
	fail_trigger(EINVAL, &s, with(t, sample_size = UINT64_MAX));
	/* A delay is for PAUSE and FREEZE only. */
	fail_trigger(EINVAL, &s, with(t, delay_ns = 1000));
	add_and_del(&s, t);
	add_and_del(&s, with(t, sample_size = AUX_SIZE / 2));
	session_close(&s);

	/* Without slots a sample must fit in a record. */
	session_prepare(&s, ONE_CPU, AUXTRACE_SETUP_KERNEL, 1 << 20);
	session_prepare_data(&s, 0, 1 << 20);
	session_setup(&s);
	fail_trigger(EINVAL, &s, with(t, sample_size = AUXTRACE_SAMPLE_IN_RECORD + 1));
	add_and_del(&s, with(t, sample_size = AUXTRACE_SAMPLE_IN_RECORD));
	session_close(&s);
	open_with(&s, 0, 8192);
	fail_trigger(EINVAL, &s, with(t, sample_size = 8192));
	add_and_del(&s, with(t, sample_size = 4096));
	session_close(&s);

	/* What a hit copies at most: half of these slots is twice that. */
	session_prepare(&s, ONE_CPU, AUXTRACE_SETUP_KERNEL | AUXTRACE_SETUP_OVERWRITE,
			8 * AUXTRACE_MAX_SAMPLE);
	session_prepare_data(&s, 0, DATA_SIZE);
	s.setup.slots = 2;
	session_setup(&s);
	fail_trigger(EINVAL, &s, with(t, sample_size = AUXTRACE_MAX_SAMPLE + 1));
	fail_trigger(EINVAL, &s, with(t, sample_size = 2 * AUXTRACE_MAX_SAMPLE));
	add_and_del(&s, with(t, sample_size = AUXTRACE_MAX_SAMPLE));
	session_close(&s);

	open_with(&without, 0, 0);
	fail_trigger(EINVAL, &without, t);
	add_and_del(&without, timer());
	add_and_del(&without, with(timer(), action = AUXTRACE_ACTION_FREEZE));
	session_close(&without);
}

static void an_unknown_system_call_gives_EINVAL(void **state)
{
	struct auxtrace_trigger t = valid(AUXTRACE_TRIGGER_SYSCALL_ENTER);
	struct session s;

	open_with(&s, 0, DATA_SIZE);
	fail_trigger(EINVAL, &s, with(t, number = -2));
	fail_trigger(EINVAL, &s, with(t, number = 1 << 20));
	fail_trigger(EINVAL, &s, with(t, number = INT64_MAX));
	add_and_del(&s, with(t, number = -1));
	session_close(&s);
}

static void a_latency_needs_triggers_that_exist(void **state)
{
	struct auxtrace_trigger t = trigger(AUXTRACE_TRIGGER_LATENCY, AUXTRACE_ACTION_PAUSE);
	struct auxtrace_trigger_state st;
	struct session s;
	uint32_t id;

	open_with(&s, 0, DATA_SIZE);
	t.a = trigger_add(&s, valid(AUXTRACE_TRIGGER_SYSCALL_ENTER));
	t.b = trigger_add(&s, valid(AUXTRACE_TRIGGER_SYSCALL_EXIT));
	t.bound_ns = 1;
	fail_trigger(EINVAL, &s, with(t, bound_ns = 0));
	fail_trigger(ENOENT, &s, with(t, a = 0));
	fail_trigger(ENOENT, &s, with(t, b = 0));
	fail_trigger(ENOENT, &s, with(t, a = 99));
	fail_trigger(ENOENT, &s, with(t, b = 99));
	/* The id that the trigger itself would get. */
	fail_trigger(ENOENT, &s, with(t, b = t.b + 1));
	id = trigger_add(&s, t);
	fail_trigger(EINVAL, &s, with(t, a = id));
	assert_int_equal(at_trigger_del(s.fd, t.a, &st), -EBUSY);
	assert_int_equal(at_trigger_del(s.fd, t.b, &st), -EBUSY);
	trigger_del(&s, id);
	trigger_del(&s, t.a);
	trigger_del(&s, t.b);
	session_close(&s);
}

static void bad_names_are_refused_by_cause(void **state)
{
	struct auxtrace_trigger k = valid(AUXTRACE_TRIGGER_KPROBE);
	struct auxtrace_trigger kret = valid(AUXTRACE_TRIGGER_KRETPROBE);
	struct auxtrace_trigger u = valid(AUXTRACE_TRIGGER_UPROBE);
	static const char no_symbol[] = "no_such_function", no_file[] = "/no/such/file";
	static const char directory[] = "/tmp", inside[] = "ab\0cd";
	char *empty = (char *)at_guarded_page() + sysconf(_SC_PAGESIZE);
	struct session s;

	open_with(&s, 0, DATA_SIZE);
	fail_trigger(ENOENT, &s, with(k, name = (uintptr_t)no_symbol, with_.name_len = 16));
	fail_trigger(ENOENT, &s, with(kret, name = (uintptr_t)no_symbol, with_.name_len = 16));
	fail_trigger(ENOENT, &s, with(u, name = (uintptr_t)no_file, with_.name_len = 13));
	fail_trigger(EINVAL, &s, with(u, name = (uintptr_t)directory, with_.name_len = 4));
	fail_trigger(EINVAL, &s, with(u, name_len = 0));
	fail_trigger(EINVAL, &s, with(k, name = (uintptr_t)inside, with_.name_len = 5));
	fail_trigger(EINVAL, &s, with(k, name_len = 4096));
	fail_trigger(EINVAL, &s, with(u, address = 1ULL << 40));
	fail_trigger(EFAULT, &s, with(k, name = (uintptr_t)empty));
	fail_trigger(EFAULT, &s, with(k, name = (uintptr_t)empty - 1, with_.name_len = 2));
	fail_trigger(EFAULT, &s, with(u, name = (uintptr_t)empty));
	/* The kernel refuses these probes: on the path of probes, inside an instruction. */
	fail_trigger(EOPNOTSUPP, &s, trigger_named(AUXTRACE_TRIGGER_KPROBE, AUXTRACE_ACTION_PAUSE,
						   "exc_nmi", 0));
	fail_trigger(EOPNOTSUPP, &s, trigger_named(AUXTRACE_TRIGGER_KRETPROBE,
						   AUXTRACE_ACTION_PAUSE, "exc_nmi", 0));
	fail_trigger(EOPNOTSUPP, &s, with(k, address = 1));
	add_and_del(&s, k);
	add_and_del(&s, kret);
	add_and_del(&s, u);
	munmap(empty - sysconf(_SC_PAGESIZE), 2 * sysconf(_SC_PAGESIZE));
	session_close(&s);
}

static void bad_perf_attributes_are_refused_by_cause(void **state)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_SOFTWARE, .size = sizeof(attr),
		.config = PERF_COUNT_SW_CONTEXT_SWITCHES, .sample_period = 1,
	};
	struct auxtrace_trigger t = trigger_perf(AUXTRACE_ACTION_PAUSE, &attr);
	uint64_t longer[64] = { 0 };
	struct session s;

	open_with(&s, 0, DATA_SIZE);
	fail_trigger(EINVAL, &s, with(t, attr_len = PERF_ATTR_SIZE_VER0 - 8));
	fail_trigger(EFAULT, &s, with(t, attr = 8));
	attr.sample_period = 0;
	fail_trigger(EINVAL, &s, t);
	attr.sample_period = 1;
	attr.type = 999;
	/* perf has no PMU of that type. */
	fail_trigger(ENOENT, &s, t);
	attr.type = PERF_TYPE_SOFTWARE;
	/* A struct longer than the kernel's, with zero and with other excess bytes. */
	memcpy(longer, &attr, sizeof(attr));
	t.attr = (uintptr_t)longer;
	t.attr_len = sizeof(longer);
	add_and_del(&s, t);
	longer[63] = 1;
	fail_trigger(E2BIG, &s, t);
	session_close(&s);
}

static void bad_breakpoints_are_refused_by_cause(void **state)
{
	static volatile uint64_t words[8];
	struct session s;
	unsigned int n = 0;
	uint32_t id, last = 0;
	int ret;

	open_with(&s, 0, DATA_SIZE);
	fail_trigger(EINVAL, &s, with(trigger_written(AUXTRACE_ACTION_PAUSE, words),
				      number = HW_BREAKPOINT_W | 3 << 8));
	fail_trigger(EINVAL, &s, with(trigger_written(AUXTRACE_ACTION_PAUSE, words),
				      number = HW_BREAKPOINT_LEN_8 << 8));
	fail_trigger(EINVAL, &s, with(trigger_written(AUXTRACE_ACTION_PAUSE, words),
				      address = (uintptr_t)words + 1));
	fail_trigger(EINVAL, &s, with(trigger_written(AUXTRACE_ACTION_PAUSE, words), number = -1));
	/* x86 has four breakpoints. */
	while (!(ret = at_trigger_add(s.fd, trigger_written(AUXTRACE_ACTION_PAUSE, &words[n]), &id))) {
		last = id;
		assert_true(++n <= 4);
	}
	assert_int_equal(ret, -ENOSPC);
	assert_int_equal(n, 4);
	trigger_del(&s, last);
	trigger_add(&s, trigger_written(AUXTRACE_ACTION_PAUSE, &words[7]));
	session_close(&s);
}

static void triggers_beyond_the_limit_give_ENOSPC(void **state)
{
	struct auxtrace_trigger t = trigger_syscall(AUXTRACE_TRIGGER_SYSCALL_ENTER,
						    AUXTRACE_ACTION_PAUSE, CALL_NUMBER);
	struct session s;

	open_with(&s, 0, DATA_SIZE);
	for (uint32_t i = 1; i <= AUXTRACE_MAX_TRIGGERS; i++)
		assert_int_equal(trigger_add(&s, t), i);
	fail_trigger(ENOSPC, &s, t);
	trigger_del(&s, 7);
	/* The place of a deleted trigger is free, its id is not used again. */
	assert_int_equal(trigger_add(&s, t), AUXTRACE_MAX_TRIGGERS + 1);
	fail_trigger(ENOSPC, &s, t);
	session_close(&s);
}

static void an_unknown_or_deleted_id_gives_ENOENT(void **state)
{
	struct auxtrace_trigger_state st;
	struct session s, other;
	uint32_t id;

	open_with(&s, 0, DATA_SIZE);
	open_with(&other, 0, DATA_SIZE);
	id = trigger_add(&s, timer());
	assert_int_equal(at_trigger_read(s.fd, 0, 0, &st), -ENOENT);
	assert_int_equal(at_trigger_read(s.fd, id + 1, 0, &st), -ENOENT);
	assert_int_equal(at_trigger_read(other.fd, id, 0, &st), -ENOENT);
	assert_int_equal(at_trigger_del(s.fd, 0, &st), -ENOENT);
	assert_int_equal(at_trigger_del(s.fd, id + 1, &st), -ENOENT);
	assert_int_equal(at_trigger_del(other.fd, id, &st), -ENOENT);
	assert_int_equal(at_trigger_read(s.fd, id, AUXTRACE_TRIGGER_REARM << 1, &st), -EINVAL);
	st = (struct auxtrace_trigger_state){ .size = sizeof(st), .id = id, .reserved = 1 };
	fail_ioctl(EINVAL, s.fd, AUXTRACE_IOC_TRIGGER_READ, &st);
	fail_ioctl(EINVAL, s.fd, AUXTRACE_IOC_TRIGGER_DEL, &st);
	st.reserved = 0;
	st.flags = AUXTRACE_TRIGGER_REARM;
	fail_ioctl(EINVAL, s.fd, AUXTRACE_IOC_TRIGGER_DEL, &st);
	trigger_read(&s, id);
	trigger_del(&s, id);
	assert_int_equal(at_trigger_read(s.fd, id, 0, &st), -ENOENT);
	assert_int_equal(at_trigger_del(s.fd, id, &st), -ENOENT);
	session_close(&other);
	session_close(&s);
}

struct attempt {
	int fd;
	uint32_t id;
};

static int add_without_capability(void *arg)
{
	const struct attempt *a = arg;
	uint32_t id;
	int ret = caps_keep(0);

	return ret ? 100 : -at_trigger_add(a->fd, valid(AUXTRACE_TRIGGER_SYSCALL_ENTER), &id);
}

static void an_unknown_process_gives_ESRCH(void **state)
{
	struct auxtrace_trigger t = valid(AUXTRACE_TRIGGER_SYSCALL_ENTER);
	struct session s;

	open_with(&s, 0, DATA_SIZE);
	/* Larger than any pid. */
	fail_trigger(ESRCH, &s, with(t, pid = 1 << 30));
	add_and_del(&s, with(t, pid = getpid()));
	session_close(&s);
}

static void add_without_a_capability_gives_EACCES(void **state)
{
	struct attempt a;
	struct session s;

	open_with(&s, 0, DATA_SIZE);
	a.fd = s.fd;
	assert_int_equal(child_run(add_without_capability, &a), EACCES);
	assert_int_equal(trigger_add(&s, valid(AUXTRACE_TRIGGER_SYSCALL_ENTER)), 1);
	session_close(&s);
}

struct attempt_by {
	int fd;
	uint64_t caps;
	struct auxtrace_trigger trigger;
};

static int add_with_capabilities(void *arg)
{
	const struct attempt_by *a = arg;
	uint32_t id;

	return caps_keep(a->caps) ? 100 : -at_trigger_add(a->fd, a->trigger, &id);
}

static int add_by(const struct session *s, uint64_t caps, struct auxtrace_trigger t)
{
	struct attempt_by a = { s->fd, caps, t };

	return child_run(add_with_capabilities, &a);
}

static void a_kernel_breakpoint_with_CAP_PERFMON_alone_gives_EACCES(void **state)
{
	uint64_t function = function_address(CALL_FUNCTION);
	struct perf_event_attr attr = {
		.type = PERF_TYPE_BREAKPOINT, .size = sizeof(attr), .sample_period = 1,
		.bp_type = HW_BREAKPOINT_X, .bp_addr = function, .bp_len = sizeof(long),
	};
	struct auxtrace_trigger of_perf = trigger_perf(AUXTRACE_ACTION_PAUSE, &attr);
	struct auxtrace_trigger own = trigger_executed(AUXTRACE_ACTION_PAUSE, function);
	struct session s;

	assert_true(function != 0);
	open_with(&s, 0, DATA_SIZE);
	assert_int_equal(add_by(&s, CAP(PERFMON), own), EACCES);
	assert_int_equal(add_by(&s, CAP(PERFMON), of_perf), EACCES);
	/* In a program the same capability is enough; in the kernel the other one is. */
	assert_int_equal(add_by(&s, CAP(PERFMON), valid(AUXTRACE_TRIGGER_BREAKPOINT)), 0);
	assert_int_equal(add_by(&s, CAP(SYS_ADMIN), own), 0);
	assert_int_equal(add_by(&s, CAP(SYS_ADMIN), of_perf), 0);
	session_close(&s);
}

static void a_uprobe_with_CAP_PERFMON_alone_gives_EACCES(void **state)
{
	struct session s;

	open_with(&s, 0, DATA_SIZE);
	for (uint32_t kind = AUXTRACE_TRIGGER_UPROBE; kind <= AUXTRACE_TRIGGER_URETPROBE; kind++) {
		assert_int_equal(add_by(&s, ~CAP(SYS_ADMIN), valid(kind)), EACCES);
		assert_int_equal(add_by(&s, CAP(SYS_ADMIN), valid(kind)), 0);
	}
	session_close(&s);
}

#define NOBODY		65534
#define DIRECTORY	"/tmp/programs"
#define OF_NOBODY	DIRECTORY "/of_nobody"

/* Root without the capabilities that bypass permissions is no more than any other user here. */
static void a_uprobe_needs_the_right_to_read_the_file(void **state)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr), .sample_period = 1, .uprobe_path = (uintptr_t)OF_NOBODY,
	};
	static const uint32_t kinds[] = { AUXTRACE_TRIGGER_UPROBE, AUXTRACE_TRIGGER_URETPROBE };
	struct session s;
	int fd;

	mkdir(DIRECTORY, 0755);
	fd = open(OF_NOBODY, O_CREAT | O_WRONLY | O_CLOEXEC, 0700);
	assert_true(fd >= 0);
	at_remember(fd);
	assert_int_equal(ftruncate(fd, 4096), 0);
	assert_int_equal(fchown(fd, NOBODY, NOBODY), 0);
	assert_int_equal(chown(DIRECTORY, NOBODY, NOBODY), 0);
	open_with(&s, 0, DATA_SIZE);
	for (int i = 0; i < 2; i++) {
		struct auxtrace_trigger t = trigger_named(kinds[i], AUXTRACE_ACTION_PAUSE,
							  OF_NOBODY, 0);
		struct auxtrace_trigger beyond = with(t, address = 1 << 30);

		assert_int_equal(fchmod(fd, 0700), 0);
		assert_int_equal(chmod(DIRECTORY, 0711), 0);
		assert_int_equal(add_by(&s, CAP(SYS_ADMIN), t), EACCES);
		/* Nor does it say how long the file is. */
		assert_int_equal(add_by(&s, CAP(SYS_ADMIN), beyond), EACCES);
		assert_int_equal(fchmod(fd, 0711), 0);
		assert_int_equal(add_by(&s, CAP(SYS_ADMIN), t), EACCES);
		assert_int_equal(add_by(&s, CAP(SYS_ADMIN) | CAP(DAC_READ_SEARCH), t), 0);
		assert_int_equal(fchmod(fd, 0704), 0);
		assert_int_equal(add_by(&s, CAP(SYS_ADMIN), t), 0);
		assert_int_equal(add_by(&s, CAP(SYS_ADMIN), beyond), EINVAL);
		assert_int_equal(chmod(DIRECTORY, 0700), 0);
		assert_int_equal(add_by(&s, CAP(SYS_ADMIN), t), EACCES);
	}
	/* perf's own asks for the capability, and of the file only to search the directories. */
	if (perf_pmu_type("uprobe") >= 0) {
		attr.type = perf_pmu_type("uprobe");
		assert_int_equal(fchmod(fd, 0700), 0);
		assert_int_equal(add_by(&s, CAP(SYS_ADMIN), trigger_perf(AUXTRACE_ACTION_PAUSE, &attr)), EACCES);
		assert_int_equal(chmod(DIRECTORY, 0711), 0);
		assert_int_equal(add_by(&s, CAP(PERFMON), trigger_perf(AUXTRACE_ACTION_PAUSE, &attr)), EACCES);
		assert_int_equal(add_by(&s, CAP(SYS_ADMIN), trigger_perf(AUXTRACE_ACTION_PAUSE, &attr)), 0);
	}
	session_close(&s);
	unlink(OF_NOBODY);
	rmdir(DIRECTORY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(calls_before_setup_give_EBADFD),
		vm_test(a_member_that_a_kind_does_not_use_must_be_zero),
		vm_test(invalid_values_give_EINVAL),
		vm_test(a_sample_must_fit_area_and_ring),
		vm_test(an_unknown_system_call_gives_EINVAL),
		vm_test(a_latency_needs_triggers_that_exist),
		vm_test(bad_names_are_refused_by_cause),
		vm_test(bad_perf_attributes_are_refused_by_cause),
		vm_test(bad_breakpoints_are_refused_by_cause),
		vm_test(triggers_beyond_the_limit_give_ENOSPC),
		vm_test(an_unknown_or_deleted_id_gives_ENOENT),
		vm_test(an_unknown_process_gives_ESRCH),
		vm_test(add_without_a_capability_gives_EACCES),
		vm_test(a_kernel_breakpoint_with_CAP_PERFMON_alone_gives_EACCES),
		vm_test(a_uprobe_with_CAP_PERFMON_alone_gives_EACCES),
		vm_test(a_uprobe_needs_the_right_to_read_the_file),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
