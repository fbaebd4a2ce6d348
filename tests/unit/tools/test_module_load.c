// SPDX-License-Identifier: GPL-2.0-only
/*
 * What auxtrace info says of a kernel for which there is no module. The test plays uname(2), libkmod, which knows no module, and the
 * administrator's file for DKMS.
 */
#include <errno.h>
#include <regex.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <cmocka.h>

#include <libkmod.h>

#include "lib/findings.h"
#include "machine/module_load.h"

static char running[65], finding[sizeof(((struct finding *)NULL)->text)];
static enum verdict judged;
static const char *override;	/* /etc/dkms/auxtrace.conf, or NULL */

void finding_add(const struct source *source, const char *name, enum verdict verdict, const char *format, ...)
{
	va_list ap;

	assert_null(source);
	assert_string_equal(name, "module");
	judged = verdict;
	va_start(ap, format);
	assert_in_range(vsnprintf(finding, sizeof(finding), format, ap), 1, sizeof(finding) - 1);
	va_end(ap);
}

int __wrap_uname(struct utsname *uts);
int __wrap_uname(struct utsname *uts)
{
	strcpy(uts->release, running);
	return 0;
}

int __wrap_kmod_module_new_from_lookup(struct kmod_ctx *ctx, const char *alias, struct kmod_list **list);
int __wrap_kmod_module_new_from_lookup(struct kmod_ctx *ctx, const char *alias, struct kmod_list **list)
{
	(void)ctx;
	assert_string_equal(alias, "auxtrace");
	*list = NULL;
	return 0;
}

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
	if (strcmp(path, "/etc/dkms/auxtrace.conf"))
		return __real_fopen(path, mode);
	if (override)
		return fmemopen((void *)override, strlen(override), "r");
	errno = ENOENT;
	return NULL;
}

/* What is found on a kernel so many series and versions from the newest one that DKMS builds for */
static const char *found_on(int versions, int series)
{
	unsigned int version, newest;

	assert_int_equal(sscanf(NEWEST_KERNEL, "%u.%u", &version, &newest), 2);
	snprintf(running, sizeof(running), "%u.%u.0-0.test-amd64", version + versions, newest + series);
	finding[0] = 0;
	find_module();
	assert_int_equal(judged, NO);
	assert_non_null(strstr(finding, running));
	return finding;
}

static void is_skipped(const char *text)
{
	assert_non_null(strstr(text, "DKMS skips kernels newer than " NEWEST_KERNEL ","));
	assert_non_null(strstr(text, "write BUILD_EXCLUSIVE_KERNEL=\"\" to /etc/dkms/auxtrace.conf, then dkms autoinstall"));
	assert_null(strstr(text, "if the kernel's headers are installed"));
}

static void is_built(const char *text)
{
	assert_non_null(strstr(text, "auxtrace-dkms builds it if the kernel's headers are installed"));
	assert_null(strstr(text, "skips"));
}

static void a_kernel_that_is_newer_than_the_bound_is_skipped(void **state)
{
	(void)state;
	is_skipped(found_on(0, 1));
	is_skipped(found_on(1, 0));
	/* As numbers: series 10 is newer than series 2. */
	is_skipped(found_on(0, 10));
}

static void the_newest_kernel_and_older_ones_are_not(void **state)
{
	(void)state;
	is_built(found_on(0, 0));
	is_built(found_on(-1, 0));
	is_built(found_on(-1, 19));
}

static void an_administrator_who_has_set_the_bound_is_not_told_of_another(void **state)
{
	(void)state;
	override = "# a comment\n  BUILD_EXCLUSIVE_KERNEL=\"\"\n";
	is_built(found_on(0, 1));
	override = "# BUILD_EXCLUSIVE_KERNEL is as it was\nAUTOINSTALL=\"yes\"\n";
	is_skipped(found_on(0, 1));
	override = NULL;
}

/* DKMS's own test, of the pattern in dkms.conf */
static void the_bound_is_that_of_dkms_conf(void **state)
{
	unsigned int version, series;
	char line[256], pattern[200] = "", release[32];
	regex_t regex;
	FILE *f = fopen(DKMS_CONF, "re");

	(void)state;
	assert_non_null(f);
	while (fgets(line, sizeof(line), f))
		sscanf(line, "BUILD_EXCLUSIVE_KERNEL=\"%199[^\"]", pattern);
	fclose(f);
	assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB), 0);
	assert_int_equal(sscanf(NEWEST_KERNEL, "%u.%u", &version, &series), 2);
	snprintf(release, sizeof(release), "%u.%u.1-amd64", version, series);
	assert_int_equal(regexec(&regex, release, 0, NULL, 0), 0);
	snprintf(release, sizeof(release), "%u.%u.1-amd64", version, series + 1);
	assert_int_equal(regexec(&regex, release, 0, NULL, 0), REG_NOMATCH);
	snprintf(release, sizeof(release), "%u.0.1-amd64", version + 1);
	assert_int_equal(regexec(&regex, release, 0, NULL, 0), REG_NOMATCH);
	regfree(&regex);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_kernel_that_is_newer_than_the_bound_is_skipped),
		cmocka_unit_test(the_newest_kernel_and_older_ones_are_not),
		cmocka_unit_test(an_administrator_who_has_set_the_bound_is_not_told_of_another),
		cmocka_unit_test(the_bound_is_that_of_dkms_conf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
