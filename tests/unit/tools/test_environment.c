// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a report of the self-test says of the machine: of which CPU, by a /proc that this test makes, and what a session that was not
 * to be had means.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "command.h"
#include "tools/machine/machine.h"
#include "tools/selftest/environment.h"
#include "tools/selftest/selftest.h"
#include "tools/selftest/traced.h"

/* ---- what the command has elsewhere ------------------------------------------------ */

static struct {
	const char *cpuinfo, *cmdline;
	int open_error, begin_error;	/* errno; 0: there is a session */
	uint32_t pmus;
} machine;

static const char *last_error;

FILE *__real_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode);

FILE *__wrap_fopen(const char *path, const char *mode)
{
	const char *text = NULL;

	if (!strcmp(path, "/proc/cpuinfo"))
		text = machine.cpuinfo;
	else if (!strcmp(path, "/proc/cmdline"))
		text = machine.cmdline;
	return text ? fmemopen((void *)text, strlen(text), "r") : __real_fopen(path, mode);
}

bool machine_usable(void)
{
	return true;
}

static struct auxtrace_session *any_session(int error)
{
	errno = error;
	last_error = error ? "somebody has it" : "";
	return error ? NULL : (struct auxtrace_session *)&machine;
}

struct auxtrace_session *auxtrace_open(const char *path)
{
	(void)path;
	return any_session(machine.open_error);
}

struct auxtrace_session *traced_begin(const struct selftest *t, struct auxtrace_options options)
{
	(void)t, (void)options;
	return any_session(machine.begin_error);
}

int auxtrace_info(struct auxtrace_session *session, uint32_t flags, struct auxtrace_info *info)
{
	(void)session, (void)flags;
	*info = (struct auxtrace_info){ .out_pmus = machine.pmus };
	return 0;
}

void auxtrace_close(struct auxtrace_session *session)
{
	(void)session;
}

const char *auxtrace_error(void)
{
	return last_error;
}

bool traced_refused(int error)
{
	return error == EBUSY;
}

static char why[400];

enum outcome check_failed(const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(why, sizeof(why), format, ap);
	va_end(ap);
	return FAILED;
}

/* ---- the report -------------------------------------------------------------------- */

#define CPU(number, name, model, stepping) \
	"processor\t: " number "\nvendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: " model "\nmodel name\t: " name "\nstepping\t: " \
	stepping "\nmicrocode\t: 0x" number number "\ncpu MHz\t\t: 1000.000\n\n"

static const struct source source = { .name = "pt" };
static struct selftest t;
static char *text, *json;

static int begin(void **state)
{
	(void)state;
	t = (struct selftest){ .source = &source };
	machine = (typeof(machine)){ .cpuinfo = CPU("0", "A", "151", "2") CPU("1", "B", "190", "3") CPU("11", "C", "191", "4"),
				     .cmdline = "BOOT_IMAGE=/vmlinuz quiet\n", .pmus = 1 };
	return 0;
}

static int end(void **state)
{
	(void)state;
	free(text);
	free(json);
	text = json = NULL;
	return 0;
}

static void report_of(unsigned int cpu)
{
	size_t size;
	FILE *f;

	end(NULL);
	t.cpu = cpu;
	environment_find(&t);
	f = open_memstream(&text, &size);
	environment_text(f);
	fclose(f);
	f = open_memstream(&json, &size);
	environment_json(f);
	fclose(f);
}

static void the_report_is_of_the_tested_cpu(void **state)
{
	(void)state;
	report_of(1);
	expect_part(text, "     tested_cpu      1\n");
	expect_part(text, "     cpu name        B\n     cpu family      6\n     cpu model       190\n     cpu stepping    3\n     cpu microcode   0x11\n");
	expect_part(json, "\n  \"tested_cpu\": 1,");
	expect_part(json, "\n  \"cpu\": { \"vendor\": \"GenuineIntel\", \"name\": \"B\", \"family\": \"6\", \"model\": \"190\", "
			  "\"stepping\": \"3\", \"microcode\": \"0x11\" },");
	report_of(11);
	expect_part(json, "\"name\": \"C\", \"family\": \"6\", \"model\": \"191\"");
	report_of(0);
	expect_part(json, "\"name\": \"A\", \"family\": \"6\", \"model\": \"151\"");
}

static void a_cpu_that_proc_does_not_know_has_empty_lines(void **state)
{
	(void)state;
	report_of(2);
	expect_part(text, "     cpu name        \n");
	expect_part(json, "\"vendor\": \"\", \"name\": \"\"");
}

static void the_report_has_its_format_as_a_number(void **state)
{
	(void)state;
	report_of(0);
	expect_part(text, "     format          1\n");
	expect_part(json, "\n  \"format\": 1,\n  \"auxtrace\": \"test\",");
}

static void of_the_kernels_options_those_that_matter_are_told(void **state)
{
	(void)state;
	report_of(0);
	expect_part(json, "\"kernel_options\": \"none\",");
	machine.cmdline = "root=/dev/sda1 pti=off quiet mitigations=auto,nosmt intel_idle.max_cstate=1 notpti=on idle=poll\n";
	report_of(0);
	expect_part(json, "\"kernel_options\": \"pti=off mitigations=auto,nosmt intel_idle.max_cstate=1 idle=poll\",");
	machine.cmdline = "nokaslr";
	report_of(0);
	expect_part(json, "\"kernel_options\": \"nokaslr\",");
}

/* ---- whether there can be a session ------------------------------------------------ */

static void a_session_that_others_have_makes_all_untested(void **state)
{
	(void)state;
	assert_null(environment_no_session(&t));
	t.cpu = 3;
	machine.begin_error = EBUSY;
	assert_string_equal(environment_no_session(&t), "no session on CPU 3: somebody has it");
	/* What the checks are to find */
	machine.begin_error = EIO;
	assert_null(environment_no_session(&t));
	machine.open_error = ENOENT;
	assert_string_equal(environment_no_session(&t), "somebody has it");
	machine.open_error = machine.begin_error = machine.pmus = 0;
	assert_string_equal(environment_no_session(&t), "sessions cannot use --source pt here");
}

static void environment_fails_where_there_can_be_no_session(void **state)
{
	(void)state;
	assert_int_equal(environment_checks[0].run(&t), PASSED);
	t.unusable = "somebody has it";
	assert_int_equal(environment_checks[0].run(&t), FAILED);
	assert_string_equal(why, "somebody has it");
}

#define check(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		check(the_report_is_of_the_tested_cpu),
		check(a_cpu_that_proc_does_not_know_has_empty_lines),
		check(the_report_has_its_format_as_a_number),
		check(of_the_kernels_options_those_that_matter_are_told),
		check(a_session_that_others_have_makes_all_untested),
		check(environment_fails_where_there_can_be_no_session),
	};

	return cmocka_run_group_tests_name("environment", tests, NULL, NULL);
}
