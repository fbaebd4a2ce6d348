// SPDX-License-Identifier: GPL-2.0-only
#include "failure.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <auxtrace.h>

static void a_list_of_ranges_and_numbers_is_a_set(void **state)
{
	struct auxtrace_cpus *cpus = auxtrace_cpus_parse("0-3,5,64-65");
	static const int expected[] = { 0, 1, 2, 3, 5, 64, 65, -1 };
	int at = 0;

	(void)state;
	assert_non_null(cpus);
	assert_int_equal(auxtrace_cpus_count(cpus), 7);
	for (unsigned int i = 0; i < 8; i++) {
		at = auxtrace_cpus_next(cpus, at);
		assert_int_equal(at++, expected[i]);
	}
	assert_true(auxtrace_cpus_has(cpus, 64));
	assert_false(auxtrace_cpus_has(cpus, 4));
	/* 71 is in the last byte of the set, 72 behind it. */
	assert_false(auxtrace_cpus_has(cpus, 71));
	assert_false(auxtrace_cpus_has(cpus, 72));
	assert_false(auxtrace_cpus_has(cpus, 1000000));
	auxtrace_cpus_free(cpus);
	auxtrace_cpus_free(NULL);
}

static void order_and_overlap_do_not_matter(void **state)
{
	struct auxtrace_cpus *cpus = auxtrace_cpus_parse("7,1-2,2-3,7");

	(void)state;
	assert_int_equal(auxtrace_cpus_count(cpus), 4);
	auxtrace_cpus_free(cpus);
}

static void the_largest_number_is_65535(void **state)
{
	struct auxtrace_cpus *cpus = auxtrace_cpus_parse("65535");

	(void)state;
	assert_int_equal(auxtrace_cpus_next(cpus, 0), 65535);
	assert_int_equal(auxtrace_cpus_next(cpus, 65536), -1);
	auxtrace_cpus_free(cpus);
}

static void what_is_no_list_is_refused_with_its_errno_and_a_sentence(void **state)
{
	static const struct {
		const char *list, *says;
		int err;
	} cases[] = {
		{ "", "a number is missing", EINVAL },
		{ "x", "a number is missing at \"x\"", EINVAL },
		{ "1,", "a number is missing", EINVAL },
		{ "1-", "a number is missing", EINVAL },
		{ "-1", "a number is missing", EINVAL },
		{ "1 2", "' ' is neither", EINVAL },
		{ "3-1", "write 1-3", EINVAL },
		{ "65536", "largest possible number is 65535", ERANGE },
		{ "99999999999999999999", "too large", ERANGE },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		fails_null(cases[i].err, auxtrace_cpus_parse(cases[i].list));
		says(cases[i].says);
	}
}

static void the_online_set_is_the_system_s(void **state)
{
	static const char *const names[] = { NULL, "all", "online" };

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct auxtrace_cpus *cpus = names[i] ? auxtrace_cpus_parse(names[i]) : auxtrace_cpus_online();

		assert_non_null(cpus);
		assert_int_equal(auxtrace_cpus_count(cpus), sysconf(_SC_NPROCESSORS_ONLN));
		auxtrace_cpus_free(cpus);
	}
}

static void without_sysfs_no_cpu_is_known(void **state)
{
	char dir[] = "/tmp/auxtrace-cpus-XXXXXX", path[64];

	(void)state;
	fake.proc = "/nowhere";
	fails_null(ENOENT, auxtrace_cpus_online());
	says("cannot open /sys/devices/system/cpu/online: No such file");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/online", dir);
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
	fake.proc = dir;
	fails_null(EIO, auxtrace_cpus_online());
	says("/sys/devices/system/cpu/online is empty");
	fake.proc = NULL;
	unlink(path);
	rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_list_of_ranges_and_numbers_is_a_set),
		cmocka_unit_test(order_and_overlap_do_not_matter),
		cmocka_unit_test(the_largest_number_is_65535),
		cmocka_unit_test(what_is_no_list_is_refused_with_its_errno_and_a_sentence),
		cmocka_unit_test(the_online_set_is_the_system_s),
		cmocka_unit_test(without_sysfs_no_cpu_is_known),
	};

	return cmocka_run_group_tests_name("userlib cpus", tests, NULL, NULL);
}
