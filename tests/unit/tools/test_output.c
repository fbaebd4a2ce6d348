// SPDX-License-Identifier: GPL-2.0-only
/* What becomes of an output that is not complete. Each case has a process that writes one, and ends. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "lib/output.h"
#include "scratch.h"

static char path[96], other[128];

static int begin(void **state)
{
	(void)state;
	if (scratch_begin("neighbour", "stays\n"))
		return -1;
	snprintf(path, sizeof(path), "%s/out", dir);
	snprintf(other, sizeof(other), "%s/other", dir);
	return 0;
}

/* The wait status of a process that does @work. */
static int status_of(void (*work)(void))
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		work();
		exit(3);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static bool is_there(const char *name)
{
	return !access(name, F_OK);
}

static void make(const char *name)
{
	int fd = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

	if (fd < 0)
		_exit(9);
	close(fd);
}

static void begin_file(void)
{
	fputs("half", output_file(path));
}

static void begin_directory(void)
{
	output_directory(path);
	snprintf(other, sizeof(other), "%s/sub", path);
	if (mkdir(other, 0700))
		_exit(9);
	snprintf(other, sizeof(other), "%s/sub/file", path);
	make(other);
}

static void begin_file_and_get_a_signal(void)
{
	begin_file();
	raise(SIGTERM);
}

static void ignore_the_signal(void)
{
	signal(SIGTERM, SIG_IGN);
	begin_file_and_get_a_signal();
}

static void complete_file(void)
{
	FILE *f = output_file(path);

	fputs("all", f);
	output_close(f);
}

static void complete_directory(void)
{
	begin_directory();
	output_complete();
}

static void lose_the_name(void)
{
	begin_file();
	if (rename(path, other))
		_exit(9);
	make(path);
}

static void go_beyond_the_limit(void)
{
	const struct rlimit small = { .rlim_cur = 16, .rlim_max = 16 };
	FILE *f;

	setrlimit(RLIMIT_FSIZE, &small);
	f = output_file(path);
	for (unsigned int i = 0; i < 10000; i++)
		fputs("a line\n", f);
	output_close(f);
}

static void what_is_not_complete_goes_with_its_process(void **state)
{
	(void)state;
	assert_int_equal(WEXITSTATUS(status_of(begin_file)), 3);
	assert_false(is_there(path));
	assert_int_equal(WEXITSTATUS(status_of(begin_directory)), 3);
	assert_false(is_there(path));
	assert_int_equal(WTERMSIG(status_of(begin_file_and_get_a_signal)), SIGTERM);
	assert_false(is_there(path));
	assert_int_equal(WEXITSTATUS(status_of(ignore_the_signal)), 3);
	assert_false(is_there(path));
}

static void what_is_complete_stays(void **state)
{
	(void)state;
	assert_int_equal(WEXITSTATUS(status_of(complete_file)), 3);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(WEXITSTATUS(status_of(complete_directory)), 3);
	assert_true(is_there(path));
}

static void what_others_have_put_in_its_place_stays(void **state)
{
	(void)state;
	assert_int_equal(WEXITSTATUS(status_of(lose_the_name)), 3);
	assert_true(is_there(path));
	/* And the file, which somebody has taken away. */
	assert_true(is_there(other));
}

static void a_limit_is_an_error_and_no_signal(void **state)
{
	(void)state;
	assert_int_equal(WEXITSTATUS(status_of(go_beyond_the_limit)), 1);
	assert_false(is_there(path));
}

static void what_was_there_before_stays(void **state)
{
	(void)state;
	make(path);
	assert_int_equal(WEXITSTATUS(status_of(begin_file)), 1);
	assert_true(is_there(path));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(mkdir(path, 0700), 0);
	assert_int_equal(WEXITSTATUS(status_of(begin_directory)), 1);
	assert_true(is_there(path));
}

int main(void)
{
#define t(test)	cmocka_unit_test_setup_teardown(test, begin, scratch_end)
	const struct CMUnitTest tests[] = {
		t(what_is_not_complete_goes_with_its_process),
		t(what_is_complete_stays),
		t(what_others_have_put_in_its_place_stays),
		t(a_limit_is_an_error_and_no_signal),
		t(what_was_there_before_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
