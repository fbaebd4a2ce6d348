// SPDX-License-Identifier: GPL-2.0-only
/* Is the kernel locked down, not so, or does nothing say it? */
#include "fakedev.h"

#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "userlib/lockdown.h"

static const long mounted = SECURITYFS_MAGIC, empty = SYSFS_MAGIC;

static char dir[] = "/tmp/auxtrace-lockdown-XXXXXX", path[64];

static int begin(void **state)
{
	fake_new(state);
	strcpy(dir + sizeof(dir) - 7, "XXXXXX");
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/lockdown", dir);
	fake.proc = dir;
	return 0;
}

static int end(void **state)
{
	unlink(path);
	rmdir(dir);
	return fake_end(state);
}

static void write_modes(const char *modes)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs(modes, f);
	assert_int_equal(fclose(f), 0);
}

/* @mode: NULL for none */
static void expect(const char *mode, bool is_known)
{
	if (mode)
		assert_string_equal(lockdown_mode(), mode);
	else
		assert_null(lockdown_mode());
	assert_int_equal(lockdown_is_known(), is_known);
}

static void the_mode_in_brackets_is_that_of_the_kernel(void **state)
{
	(void)state;
	fake.securityfs = &mounted;
	write_modes("[none] integrity confidentiality\n");
	expect(NULL, true);
	write_modes("none [integrity] confidentiality\n");
	expect("integrity", true);
	assert_false(lockdown_closes_kcore());
	write_modes("none integrity [confidentiality]\n");
	expect("confidentiality", true);
	assert_true(lockdown_closes_kcore());
}

static void a_kernel_with_securityfs_and_no_lockdown_has_none(void **state)
{
	(void)state;
	fake.securityfs = &mounted;
	expect(NULL, true);
	assert_false(lockdown_closes_kcore());
}

static void without_securityfs_it_is_not_known(void **state)
{
	(void)state;
	fake.securityfs = &empty;
	expect(NULL, false);
	fake.securityfs = NULL;
	expect(NULL, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(the_mode_in_brackets_is_that_of_the_kernel, begin, end),
		cmocka_unit_test_setup_teardown(a_kernel_with_securityfs_and_no_lockdown_has_none, begin, end),
		cmocka_unit_test_setup_teardown(without_securityfs_it_is_not_known, begin, end),
	};

	return cmocka_run_group_tests_name("userlib lockdown", tests, NULL, NULL);
}
