// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is the same for every ioctl: how it reads and writes its struct. Each refused call is
 * invalid in one respect only. After it a valid call on the same file must succeed: a call
 * that fails leaves the session as it was.
 */
#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cpu.h"
#include "machine.h"
#include "module/core/known.h"
#include "trigger.h"
#include "uapi.h"

#define AUX_SIZE	(64 * 1024)

/* A file in a state in which a call succeeds, and valid arguments for the call. */
struct fixture {
	struct session session;
	struct auxtrace_cut cut;
	union {
		__u32 size;
		struct auxtrace_info info;
		struct auxtrace_setup setup;
		struct auxtrace_start start;
		struct auxtrace_control control;
		struct auxtrace_status status;
		struct auxtrace_task task;
		struct auxtrace_output output;
		struct auxtrace_snapshot snapshot;
		struct auxtrace_release release;
		struct auxtrace_trigger trigger;
		struct auxtrace_trigger_state trigger_state;
		uint8_t raw[512];
	} arg;
};

enum state { NEW, SET_UP, STARTED };

static const struct shape {
	const char *name;
	unsigned long nr;
	size_t size;
	enum state state;
	uint32_t flags_all;
	size_t reserved;	/* offset of a reserved member, 0: none */
	bool answers;		/* has out_* members */
	size_t first;		/* its size in version 2, if the struct has grown; else 0 */
} shapes[] = {
	{ "INFO", AUXTRACE_IOC_INFO, sizeof(struct auxtrace_info), NEW, AUXTRACE_INFO_ALL,
	  0, true, 0 },
	{ "SETUP", AUXTRACE_IOC_SETUP, sizeof(struct auxtrace_setup), NEW, AUXTRACE_SETUP_ALL,
	  offsetof(struct auxtrace_setup, reserved), false, 72 },
	{ "START", AUXTRACE_IOC_START, sizeof(struct auxtrace_start), SET_UP, 0, 0, false, 0 },
	{ "STOP", AUXTRACE_IOC_STOP, sizeof(struct auxtrace_start), STARTED, 0, 0, false, 0 },
	{ "PAUSE", AUXTRACE_IOC_PAUSE, sizeof(struct auxtrace_control), STARTED, 0,
	  offsetof(struct auxtrace_control, reserved), false, 0 },
	{ "RESUME", AUXTRACE_IOC_RESUME, sizeof(struct auxtrace_control), STARTED, 0,
	  offsetof(struct auxtrace_control, reserved), false, 0 },
	{ "STATUS", AUXTRACE_IOC_STATUS, sizeof(struct auxtrace_status), NEW, AUXTRACE_STATUS_ALL,
	  offsetof(struct auxtrace_status, reserved), true, 104 },
	{ "TASK", AUXTRACE_IOC_TASK, sizeof(struct auxtrace_task), NEW, 0,
	  offsetof(struct auxtrace_task, reserved), true, 0 },
	{ "PAUSE_OUTPUT", AUXTRACE_IOC_PAUSE_OUTPUT, sizeof(struct auxtrace_output), STARTED, 0,
	  0, false, 0 },
	{ "SNAPSHOT", AUXTRACE_IOC_SNAPSHOT, sizeof(struct auxtrace_snapshot), STARTED,
	  AUXTRACE_SNAPSHOT_ALL, 0, true, 0 },
	{ "RELEASE", AUXTRACE_IOC_RELEASE, sizeof(struct auxtrace_release), STARTED, 0,
	  offsetof(struct auxtrace_release, cpu), false, 0 },
	{ "TRIGGER_ADD", AUXTRACE_IOC_TRIGGER_ADD, sizeof(struct auxtrace_trigger), SET_UP,
	  AUXTRACE_TRIGGER_ALL, offsetof(struct auxtrace_trigger, reserved), true, 0 },
	{ "TRIGGER_DEL", AUXTRACE_IOC_TRIGGER_DEL, sizeof(struct auxtrace_trigger_state), STARTED, 0,
	  offsetof(struct auxtrace_trigger_state, reserved), true, 0 },
	{ "TRIGGER_READ", AUXTRACE_IOC_TRIGGER_READ, sizeof(struct auxtrace_trigger_state), STARTED,
	  AUXTRACE_TRIGGER_REARM, offsetof(struct auxtrace_trigger_state, reserved), true, 0 },
};

#define for_each_shape(sh) \
	for (const struct shape *sh = shapes; sh < shapes + sizeof(shapes) / sizeof(*shapes); sh++)

static struct auxtrace_trigger a_trigger(void)
{
	return trigger_syscall(AUXTRACE_TRIGGER_SYSCALL_ENTER, AUXTRACE_ACTION_PAUSE, CALL_NUMBER);
}

static void fixture_make(struct fixture *st, const struct shape *sh)
{
	struct session *s = &st->session;

	memset(&st->arg, 0, sizeof(st->arg));
	session_prepare(s, one_cpu, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE, AUX_SIZE);
	session_prepare_data(s, 0, page_size);
	s->setup.slots = 2;
	if (sh->state == NEW)
		s->fd = at_open();
	else
		session_setup(s);
	if (sh->state == STARTED)
		ok_start(s->fd);

	if (sh->nr == AUXTRACE_IOC_SETUP)
		st->arg.setup = s->setup;
	if (sh->nr == AUXTRACE_IOC_RELEASE)
		ok_snapshot(s, AUXTRACE_SNAPSHOT_SLOT, &st->cut, &st->arg.release.slot);
	if (sh->nr == AUXTRACE_IOC_TRIGGER_ADD)
		st->arg.trigger = a_trigger();
	if (sh->nr == AUXTRACE_IOC_TRIGGER_DEL || sh->nr == AUXTRACE_IOC_TRIGGER_READ)
		st->arg.trigger_state.id = trigger_add(s, a_trigger());
	st->arg.size = sh->size;
}

/* The valid call succeeds after the refused one. */
static void fixture_check(struct fixture *st, const struct shape *sh)
{
	int ret = at_ioctl(st->session.fd, sh->nr, &st->arg);

	if (ret)
		fail_msg("%s fails after a refused one: %s", sh->name, strerror(-ret));
	session_close(&st->session);
}

static void refused(const struct fixture *st, const struct shape *sh, int err, void *arg,
		    const char *why)
{
	int ret = at_ioctl(st->session.fd, sh->nr, arg);

	if (ret != -err)
		fail_msg("%s with %s: expected %s, got %s", sh->name, why, strerrorname_np(err),
			 ret ? strerrorname_np(-ret) : "success");
}

static void an_unknown_ioctl_gives_ENOTTY(void **state)
{
	struct auxtrace_start arg = { .size = sizeof(arg) };
	int fd = at_open();

	for (unsigned int nr = 14; nr < 256; nr++)
		fail_ioctl(ENOTTY, fd, _IO(AUXTRACE_IOC_MAGIC, nr), &arg);
	/* The same number with another type, direction or size is another ioctl. */
	fail_ioctl(ENOTTY, fd, _IO(AUXTRACE_IOC_MAGIC ^ 1, 0), &arg);
	fail_ioctl(ENOTTY, fd, _IOWR(AUXTRACE_IOC_MAGIC, 0, struct auxtrace_info), &arg);
}

static void every_ioctl_refuses_a_null_pointer_with_EFAULT(void **state)
{
	struct fixture st;

	for_each_shape(sh) {
		fixture_make(&st, sh);
		refused(&st, sh, EFAULT, NULL, "a null pointer");
		fixture_check(&st, sh);
	}
}

static void every_ioctl_refuses_a_struct_that_cannot_be_read_to_its_end_with_EFAULT(void **state)
{
	uint8_t *two = at_guarded_page();
	struct fixture st;

	for_each_shape(sh) {
		/* The size can be read, the end cannot. */
		uint8_t *arg = two + page_size - 4;

		fixture_make(&st, sh);
		memcpy(arg, &st.arg, 4);
		refused(&st, sh, EFAULT, arg, "an end that cannot be read");
		fixture_check(&st, sh);
	}
	munmap(two, 2 * page_size);
}

static void every_ioctl_that_answers_refuses_a_read_only_struct_with_EFAULT(void **state)
{
	uint8_t *page = mmap(NULL, page_size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct fixture st;

	assert_ptr_not_equal(page, MAP_FAILED);
	for_each_shape(sh) {
		if (!sh->answers)
			continue;
		fixture_make(&st, sh);
		mprotect(page, page_size, PROT_READ | PROT_WRITE);
		memcpy(page, &st.arg, sh->size);
		mprotect(page, page_size, PROT_READ);
		refused(&st, sh, EFAULT, page, "a read-only struct");
		if (sh->state == STARTED) {
			/* A call that cannot answer has no effect. */
			struct auxtrace_status_page now = channel_status(st.session.channel);

			assert_int_equal(now.running, 1);
			assert_int_equal(now.pauses_asked + now.resumes_asked, 0);
		}
		if (sh->nr == AUXTRACE_IOC_TRIGGER_ADD) {
			struct auxtrace_trigger_state none;

			assert_int_equal(at_trigger_read(st.session.fd, 1, 0, &none), -ENOENT);
		}
		fixture_check(&st, sh);
	}
	munmap(page, page_size);
}

static void every_ioctl_refuses_a_size_below_that_of_version_2_with_EINVAL(void **state)
{
	struct fixture st;

	for_each_shape(sh) {
		const size_t small[] = { 0, 3, 4, (sh->first ?: sh->size) - 1 };

		fixture_make(&st, sh);
		for (size_t i = 0; i < sizeof(small) / sizeof(*small); i++) {
			st.arg.size = small[i];
			refused(&st, sh, EINVAL, &st.arg, "too small a size");
		}
		st.arg.size = sh->size;
		fixture_check(&st, sh);
	}
}

/* Where the struct has grown since; it ends where the memory does. */
static void every_ioctl_takes_the_struct_of_version_2(void **state)
{
	uint8_t *two = at_guarded_page();
	struct fixture st;

	for_each_shape(sh) {
		uint8_t *at = two + page_size - sh->first;

		if (!sh->first)
			continue;
		fixture_make(&st, sh);
		st.arg.size = sh->first;
		memcpy(at, &st.arg, sh->first);
		assert_int_equal(at_ioctl(st.session.fd, sh->nr, at), 0);
		assert_int_equal(*(uint32_t *)at, sh->first);
		session_close(&st.session);
	}
	munmap(two, 2 * page_size);
}

static void every_ioctl_accepts_a_longer_struct_whose_tail_is_zero(void **state)
{
	struct fixture st;

	for_each_shape(sh) {
		fixture_make(&st, sh);
		st.arg.size = sh->size + 64;
		assert_int_equal(at_ioctl(st.session.fd, sh->nr, &st.arg), 0);
		for (size_t i = sh->size; i < sizeof(st.arg.raw); i++)
			assert_int_equal(st.arg.raw[i], 0);
		session_close(&st.session);
	}
}

static void every_ioctl_refuses_a_longer_struct_whose_tail_is_not_zero_with_E2BIG(void **state)
{
	struct fixture st;

	for_each_shape(sh) {
		const size_t at[] = { sh->size, sh->size + 63 };

		fixture_make(&st, sh);
		st.arg.size = sh->size + 64;
		for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
			st.arg.raw[at[i]] = 1;
			refused(&st, sh, E2BIG, &st.arg, "a tail that is not zero");
			st.arg.raw[at[i]] = 0;
		}
		fixture_check(&st, sh);
	}
}

/* The kernel reads the excess to see that it is zero: no more than a page at a time. */
static void every_ioctl_refuses_a_size_beyond_a_page_with_E2BIG(void **state)
{
	uint8_t *zero = mmap(NULL, 4 * page_size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct fixture st;

	assert_ptr_not_equal(zero, MAP_FAILED);
	for_each_shape(sh) {
		const uint32_t large[] = { page_size + 1, 4 * page_size, UINT32_MAX };

		fixture_make(&st, sh);
		memcpy(zero, &st.arg, sizeof(st.arg));
		for (size_t i = 0; i < sizeof(large) / sizeof(*large); i++) {
			*(uint32_t *)zero = large[i];
			refused(&st, sh, E2BIG, zero, "a size beyond a page");
		}
		*(uint32_t *)zero = page_size;
		assert_int_equal(at_ioctl(st.session.fd, sh->nr, zero), 0);
		session_close(&st.session);
	}
	munmap(zero, 4 * page_size);
}

static void every_ioctl_refuses_each_unknown_flag_with_EINVAL(void **state)
{
	struct fixture st;

	for_each_shape(sh) {
		fixture_make(&st, sh);
		for (int bit = 0; bit < 32; bit++) {
			uint32_t flag = 1u << bit;

			if (sh->flags_all & flag)
				continue;
			/* In all structs the flags follow the size. */
			st.arg.start.flags ^= flag;
			refused(&st, sh, EINVAL, &st.arg, "an unknown flag");
			st.arg.start.flags ^= flag;
		}
		fixture_check(&st, sh);
	}
}

static void every_ioctl_refuses_a_reserved_member_that_is_not_zero_with_EINVAL(void **state)
{
	struct fixture st;

	for_each_shape(sh) {
		if (!sh->reserved)
			continue;
		fixture_make(&st, sh);
		st.arg.raw[sh->reserved + 3] = 0x80;
		refused(&st, sh, EINVAL, &st.arg, "a reserved member set");
		st.arg.raw[sh->reserved + 3] = 0;
		fixture_check(&st, sh);
	}
}

/* ---- a size that changes ------------------------------------------------------ */

/* The kernel reads the size, then the struct with the size in it. */
struct flips {
	pthread_t thread;
	__u32 *size;
	__u32 good;
	bool done;
};

static void *flip_size(void *arg)
{
	struct flips *f = arg;
	/* Too small; valid; valid with zeros behind the struct; beyond a page. */
	const __u32 sizes[] = { 4, f->good, page_size, page_size + 1 };

	cpu_pin(last_cpu);
	for (unsigned int i = 0; !__atomic_load_n(&f->done, __ATOMIC_RELAXED); i++)
		__atomic_store_n(f->size, sizes[i % 4], __ATOMIC_RELAXED);
	return NULL;
}

static void a_size_that_changes_meanwhile_counts_as_it_was_read_first(void **state)
{
	uint8_t *page = at_guarded_page();
	static const uint8_t zero[4096];
	struct fixture st;

	two_cpus_required();
	assert_int_equal(cpu_pin(first_cpu), 0);
	assert_true(page_size <= sizeof(zero));
	for_each_shape(sh) {
		unsigned int seen[3] = { 0 }, wrong = 0;
		struct flips f = { .size = (__u32 *)page, .good = sh->size };
		int ret, other = 0;

		/* Those that can be repeated, and two that answer nothing. */
		if (sh->nr != AUXTRACE_IOC_INFO && sh->nr != AUXTRACE_IOC_STATUS &&
		    sh->nr != AUXTRACE_IOC_TASK && sh->nr != AUXTRACE_IOC_TRIGGER_READ &&
		    sh->nr != AUXTRACE_IOC_PAUSE && sh->nr != AUXTRACE_IOC_PAUSE_OUTPUT)
			continue;
		fixture_make(&st, sh);
		memset(page, 0, page_size);
		memcpy(page, &st.arg, sh->size);
		assert_int_equal(pthread_create(&f.thread, NULL, flip_size, &f), 0);
		/* On a busy machine the other CPU of the guest rests now and then. */
		for (int i = 0; i < 20000 || (i < 1000000 && !(seen[0] && seen[1] && seen[2])); i++) {
			ret = at_ioctl(st.session.fd, sh->nr, page);
			seen[0] += !ret;
			seen[1] += ret == -EINVAL;
			seen[2] += ret == -E2BIG;
			if (ret && ret != -EINVAL && ret != -E2BIG)
				other = ret;
			wrong = memcmp(page + sh->size, zero, page_size - sh->size);
			if (wrong || other)
				break;
		}
		__atomic_store_n(&f.done, true, __ATOMIC_RELAXED);
		pthread_join(f.thread, NULL);
		print_message("%s: %u done, %u too small, %u too large\n", sh->name, seen[0],
			      seen[1], seen[2]);
		if (other)
			fail_msg("%s with a size that changes: %s", sh->name,
				 strerrorname_np(-other));
		if (wrong)
			fail_msg("%s wrote behind its struct", sh->name);
		/* The thread did change it between calls. */
		assert_true(seen[0] && seen[1] && seen[2]);
		fixture_check(&st, sh);
	}
	cpu_unpin();
	munmap(page, 2 * page_size);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(an_unknown_ioctl_gives_ENOTTY),
		vm_test(every_ioctl_refuses_a_null_pointer_with_EFAULT),
		vm_test(every_ioctl_refuses_a_struct_that_cannot_be_read_to_its_end_with_EFAULT),
		vm_test(every_ioctl_that_answers_refuses_a_read_only_struct_with_EFAULT),
		vm_test(every_ioctl_refuses_a_size_below_that_of_version_2_with_EINVAL),
		vm_test(every_ioctl_takes_the_struct_of_version_2),
		vm_test(every_ioctl_accepts_a_longer_struct_whose_tail_is_zero),
		vm_test(every_ioctl_refuses_a_longer_struct_whose_tail_is_not_zero_with_E2BIG),
		vm_test(every_ioctl_refuses_a_size_beyond_a_page_with_E2BIG),
		vm_test(every_ioctl_refuses_each_unknown_flag_with_EINVAL),
		vm_test(every_ioctl_refuses_a_reserved_member_that_is_not_zero_with_EINVAL),
		vm_test(a_size_that_changes_meanwhile_counts_as_it_was_read_first),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
