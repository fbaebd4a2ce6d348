// SPDX-License-Identifier: GPL-2.0-only
/*
 * The states of a session: which calls each of them allows, what PAUSE and RESUME refuse, what
 * STATUS reports. A refused call leaves the session as it was.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "machine.h"
#include "uapi.h"

#define AUX_SIZE	(64 * 1024)

static void prepare(struct session *s)
{
	session_prepare(s, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
}

/* ---- START, STOP --------------------------------------------------------- */

static void start_and_stop_before_setup_give_EBADFD(void **state)
{
	struct session s;

	prepare(&s);
	s.fd = at_open();
	fail_start(EBADFD, s.fd);
	fail_stop(EBADFD, s.fd);
	ok_setup(s.fd, &s.setup);
	ok_start(s.fd);
	ok_stop(s.fd);
}

static void start_twice_gives_EALREADY(void **state)
{
	struct auxtrace_status_page before, after;
	struct session s;

	prepare(&s);
	session_setup(&s);
	ok_start(s.fd);
	before = channel_status(s.channel);
	fail_start(EALREADY, s.fd);
	after = channel_status(s.channel);
	assert_int_equal(after.running, 1);
	assert_int_equal(after.windows, before.windows);
	ok_stop(s.fd);
}

static void stop_of_what_is_not_started_gives_EALREADY(void **state)
{
	struct session s;

	prepare(&s);
	session_setup(&s);
	fail_stop(EALREADY, s.fd);
	ok_start(s.fd);
	ok_stop(s.fd);
	fail_stop(EALREADY, s.fd);
	ok_start(s.fd);
	ok_stop(s.fd);
	check_accounting(&s);
}

/* ---- PAUSE, RESUME ------------------------------------------------------- */

static void pause_and_resume_before_setup_give_EBADFD(void **state)
{
	int fd = at_open();

	fail_pause(EBADFD, fd, 0);
	fail_resume(EBADFD, fd, 0);
}

static void pause_and_resume_of_what_is_not_started_give_EBADFD(void **state)
{
	struct auxtrace_status_page st;
	struct session s;

	prepare(&s);
	session_setup(&s);
	fail_pause(EBADFD, s.fd, 0);
	fail_resume(EBADFD, s.fd, 0);
	ok_start(s.fd);
	ok_pause(&s, 0, NULL);
	ok_resume(&s, 0, NULL);
	ok_stop(s.fd);
	fail_pause(EBADFD, s.fd, 0);
	fail_resume(EBADFD, s.fd, 0);
	st = channel_status(s.channel);
	assert_int_equal(st.pauses_asked, 1);
	assert_int_equal(st.resumes_asked, 1);
	check_accounting(&s);
}

/* PAUSE and RESUME with these arguments fail with @err and reach no CPU. */
static void control_refuses(int err, struct session *s, const void *cpus, uint32_t cpus_len,
			    void *effects, uint32_t effects_len)
{
	const unsigned long nrs[] = { AUXTRACE_IOC_PAUSE, AUXTRACE_IOC_RESUME };
	struct auxtrace_control arg = {
		.size = sizeof(arg),
		.cpus_len = cpus_len,
		.cpus = (uintptr_t)cpus,
		.effects = (uintptr_t)effects,
		.effects_len = effects_len,
		.effect_size = sizeof(struct auxtrace_effect),
	};

	ok_start(s->fd);
	for (int i = 0; i < 2; i++)
		fail_ioctl(err, s->fd, nrs[i], &arg);
	for (unsigned int i = 0; i < s->count; i++) {
		struct auxtrace_status_page st = channel_status(&s->channel[i]);

		assert_int_equal(st.pauses_asked, 0);
		assert_int_equal(st.resumes_asked, 0);
		assert_int_equal(st.windows, 1);
		assert_int_equal(st.running, 1);
	}
	ok_pause(s, 0, NULL);
	ok_resume(s, 0, NULL);
	ok_stop(s->fd);
	check_accounting(s);
}

static void pause_and_resume_of_an_empty_set_give_EINVAL(void **state)
{
	uint64_t none = 0;
	struct session s;

	session_open(&s, all_cpus, AUXTRACE_SETUP_USER, AUX_SIZE);
	control_refuses(EINVAL, &s, &none, sizeof(none), NULL, 0);
}

static void pause_and_resume_of_a_cpu_that_is_not_the_sessions_give_EINVAL(void **state)
{
	struct session s;

	two_cpus_required();
	session_open(&s, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	control_refuses(EINVAL, &s, &all_cpus, sizeof(all_cpus), NULL, 0);
}

static void pause_and_resume_of_a_cpu_that_does_not_exist_give_EINVAL(void **state)
{
	uint64_t set[512] = { one_cpu };
	struct session s;

	set[511] = 1ULL << 63;
	session_open(&s, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	control_refuses(EINVAL, &s, set, sizeof(set), NULL, 0);
}

static void pause_and_resume_with_a_bad_cpu_set_pointer_give_EFAULT(void **state)
{
	struct session s;

	session_open(&s, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	control_refuses(EFAULT, &s, NULL, sizeof(uint64_t), NULL, 0);
}

static void pause_and_resume_with_a_bad_effects_pointer_give_EFAULT(void **state)
{
	struct session s;

	session_open(&s, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	control_refuses(EFAULT, &s, NULL, 0, NULL, 1);
}

static void pause_and_resume_with_read_only_effects_give_EFAULT(void **state)
{
	void *page = mmap(NULL, page_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct session s;

	assert_ptr_not_equal(page, MAP_FAILED);
	session_open(&s, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	control_refuses(EFAULT, &s, NULL, 0, page, 1);
	munmap(page, page_size);
}

/* ---- STATUS -------------------------------------------------------------- */

static void status_of_a_new_file_is_all_zero(void **state)
{
	struct auxtrace_status status, zero = { .size = sizeof(zero) };
	int fd = at_open();

	ok_status(fd, 0, &status);
	assert_int_equal(status.out_state, AUXTRACE_STATE_NEW);
	assert_memory_equal(&status, &zero, sizeof(zero));
	zero.flags = AUXTRACE_STATUS_SYNC;
	ok_status(fd, AUXTRACE_STATUS_SYNC, &status);
	assert_memory_equal(&status, &zero, sizeof(zero));
}

static void status_follows_the_session(void **state)
{
	struct auxtrace_status status;
	unsigned int n = cpus_count(all_cpus);
	struct session s;

	session_open(&s, all_cpus, AUXTRACE_SETUP_USER, AUX_SIZE);
	ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
	assert_int_equal(status.out_state, AUXTRACE_STATE_STOPPED);
	assert_int_equal(status.out_nr_channels, n);
	assert_int_equal(status.out_nr_running, 0);
	assert_int_equal(status.out_windows, 0);

	ok_start(s.fd);
	ok_status(s.fd, 0, &status);
	assert_int_equal(status.out_state, AUXTRACE_STATE_STARTED);
	assert_int_equal(status.out_nr_running, n);
	assert_int_equal(status.out_windows, n);

	ok_pause(&s, one_cpu, NULL);
	ok_status(s.fd, 0, &status);
	assert_int_equal(status.out_nr_running, n - 1);
	assert_int_equal(status.out_gaps, 0);

	ok_stop(s.fd);
	ok_status(s.fd, 0, &status);
	assert_int_equal(status.out_state, AUXTRACE_STATE_STOPPED);
	assert_int_equal(status.out_nr_running, 0);
	check_accounting(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(start_and_stop_before_setup_give_EBADFD),
		vm_test(start_twice_gives_EALREADY),
		vm_test(stop_of_what_is_not_started_gives_EALREADY),
		vm_test(pause_and_resume_before_setup_give_EBADFD),
		vm_test(pause_and_resume_of_what_is_not_started_give_EBADFD),
		vm_test(pause_and_resume_of_an_empty_set_give_EINVAL),
		vm_test(pause_and_resume_of_a_cpu_that_is_not_the_sessions_give_EINVAL),
		vm_test(pause_and_resume_of_a_cpu_that_does_not_exist_give_EINVAL),
		vm_test(pause_and_resume_with_a_bad_cpu_set_pointer_give_EFAULT),
		vm_test(pause_and_resume_with_a_bad_effects_pointer_give_EFAULT),
		vm_test(pause_and_resume_with_read_only_effects_give_EFAULT),
		vm_test(status_of_a_new_file_is_all_zero),
		vm_test(status_follows_the_session),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
