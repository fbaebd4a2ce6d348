// SPDX-License-Identifier: GPL-2.0
/*
 * A machine without what we need: the module loads, INFO says what is missing,
 * and nothing can be set up. $AUXTRACE_MISSING says which of the AUXTRACE_PT_*
 * reasons it is: CPUID, TOPA or PMI. tests/vm/absent.sh boots such machines.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "uapi.h"

static uint32_t expected;

static int read_expectation(void **state)
{
	static const char *const names[] = {
		[AUXTRACE_PT_NO_CPUID] = "CPUID",
		[AUXTRACE_PT_NO_TOPA] = "TOPA",
		[AUXTRACE_PT_NO_PMI] = "PMI",
	};
	const char *missing = getenv("AUXTRACE_MISSING");

	(void)state;
	if (access("/dev/auxtrace", F_OK) || !missing) {
		print_message("SKIP: no /dev/auxtrace or no $AUXTRACE_MISSING\n");
		exit(77);
	}
	for (uint32_t i = AUXTRACE_PT_NO_CPUID; i <= AUXTRACE_PT_NO_PMI; i++)
		if (!strcmp(missing, names[i]))
			expected = i;
	return expected ? 0 : -1;
}

static void info_says_what_is_missing(void **state)
{
	struct auxtrace_info info = { .size = sizeof(info) };
	int fd = at_open();

	(void)state;
	ok_info(fd, &info);
	assert_int_equal(info.out_pt, expected);
	assert_int_equal(info.out_pmus, 0);
	assert_int_equal(info.out_abi_version, AUXTRACE_ABI_VERSION);
	assert_int_equal(info.out_may, AUXTRACE_MAY_TRACE | AUXTRACE_MAY_LOCK);
	assert_int_equal(info.out_page_size, sysconf(_SC_PAGESIZE));
	/* To probe does not change the reason: nobody holds what is not there. */
	info = (struct auxtrace_info){ .size = sizeof(info), .flags = AUXTRACE_INFO_PROBE };
	ok_info(fd, &info);
	assert_int_equal(info.out_pt, expected);
}

static void setup_gives_ENODEV(void **state)
{
	struct auxtrace_status status;
	struct session s;

	(void)state;
	session_prepare(&s, cpus_online(), AUXTRACE_SETUP_USER, 64 * 1024);
	s.setup.config = 0;
	s.fd = at_open();
	fail_setup(ENODEV, s.fd, &s.setup);
	fail_start(EBADFD, s.fd);
	ok_status(s.fd, 0, &status);
	assert_int_equal(status.out_state, AUXTRACE_STATE_NEW);
}

static void task_needs_no_trace_unit(void **state)
{
	struct auxtrace_task task = { .size = sizeof(task) };

	(void)state;
	ok_task(at_open(), &task);
	assert_true(task.out_cr3 != 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(info_says_what_is_missing),
		vm_test(setup_gives_ENODEV),
		vm_test(task_needs_no_trace_unit),
	};

	return cmocka_run_group_tests(tests, read_expectation, NULL);
}
