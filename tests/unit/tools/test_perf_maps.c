// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which processes are followed because of their perf maps, and which of them are lost. The test plays perf, which reports
 * processes; the maps are real files, and so are some of the processes.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "record/perf_maps.h"

#define COMMAND		4194300	/* the highest numbers: hardly a process of this machine has them */
#define GONE		4194301
#define OTHER		4194302

static char dir[] = "/tmp/auxtrace-maps.XXXXXX";
static struct perf_maps *maps;
static pid_t alive;
static bool refuse;		/* inotify does */

int __wrap_inotify_add_watch(int fd, const char *path, uint32_t mask);
int __real_inotify_add_watch(int fd, const char *path, uint32_t mask);

int __wrap_inotify_add_watch(int fd, const char *path, uint32_t mask)
{
	if (!refuse)
		return __real_inotify_add_watch(fd, path, mask);
	errno = ENOSPC;
	return -1;
}

static const char *map_of(pid_t pid)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/perf-%d.map", dir, pid);
	return path;
}

static const char *in_dir(const char *name)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static void make(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static int begin(void **state)
{
	(void)state;
	refuse = false;
	alive = fork();
	if (!alive)
		for (;;)
			pause();
	maps = perf_maps_open(dir, COMMAND);
	return alive > 0 && maps ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	perf_maps_close(maps);
	kill(alive, SIGKILL);
	waitpid(alive, NULL, 0);
	unlink(map_of(alive));
	unlink(map_of(GONE));
	unlink(map_of(OTHER));
	unlink(map_of(COMMAND));
	return 0;
}

static int begin_all(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int end_all(void **state)
{
	(void)state;
	return rmdir(dir);
}

/* What is to be followed when the kernel has told of files. */
static pid_t next(void)
{
	perf_maps_look(maps);
	return perf_maps_next(maps);
}

static void a_process_whose_map_comes_is_followed_once(void **state)
{
	struct pollfd fd = { .fd = perf_maps_fd(maps), .events = POLLIN };

	(void)state;
	perf_maps_forked(maps, COMMAND, alive);
	assert_int_equal(next(), 0);
	make(map_of(alive));
	assert_int_equal(poll(&fd, 1, 10000), 1);
	assert_int_equal(next(), alive);
	perf_maps_mapped(maps, alive, "//anon");
	unlink(map_of(alive));
	make(map_of(alive));
	assert_int_equal(next(), 0);
	perf_maps_read(maps, alive);
	perf_maps_exited(maps, alive);
	assert_int_equal(perf_maps_lost(maps), 0);
}

static void so_is_the_command_itself(void **state)
{
	(void)state;
	make(map_of(COMMAND));
	assert_int_equal(next(), COMMAND);
}

static void a_process_that_does_not_descend_from_the_command_is_left_alone(void **state)
{
	(void)state;
	perf_maps_forked(maps, 1, alive);
	make(map_of(alive));
	assert_int_equal(next(), 0);
	perf_maps_mapped(maps, alive, "//anon");
	assert_int_equal(next(), 0);
	perf_maps_exited(maps, alive);
	assert_int_equal(perf_maps_lost(maps), 0);
}

static void a_descendant_of_a_descendant_is_followed(void **state)
{
	(void)state;
	perf_maps_forked(maps, COMMAND, OTHER);
	perf_maps_exited(maps, OTHER);
	perf_maps_forked(maps, OTHER, alive);
	make(map_of(alive));
	assert_int_equal(next(), alive);
}

static void a_number_that_another_process_has_now_is_no_descendant(void **state)
{
	(void)state;
	perf_maps_forked(maps, COMMAND, alive);
	perf_maps_forked(maps, 1, alive);
	make(map_of(alive));
	assert_int_equal(next(), 0);
}

static void perf_may_report_a_fork_after_the_map_came(void **state)
{
	(void)state;
	make(map_of(alive));
	perf_maps_look(maps);
	perf_maps_forked(maps, COMMAND, alive);
	assert_int_equal(perf_maps_next(maps), alive);
}

static void a_map_that_was_there_before_counts_with_memory_for_code(void **state)
{
	static const char *const made[] = { "//anon", "[heap]", "[stack]", "/memfd:doublemapper (deleted)", "/dev/zero (deleted)" };

	(void)state;
	for (unsigned int i = 0; i < sizeof(made) / sizeof(made[0]); i++) {
		perf_maps_close(maps);
		make(map_of(alive));
		maps = perf_maps_open(dir, COMMAND);
		assert_non_null(maps);
		perf_maps_forked(maps, COMMAND, alive);
		perf_maps_mapped(maps, alive, "/bin/true");
		perf_maps_mapped(maps, alive, "[vdso]");
		perf_maps_mapped(maps, alive, "[uprobes]");
		assert_int_equal(next(), 0);
		perf_maps_mapped(maps, alive, made[i]);
		assert_int_equal(next(), alive);
	}
}

/* The next program makes code of its own, under the name of the map that is there. */
static void an_exec_loses_what_was_not_read(void **state)
{
	(void)state;
	perf_maps_forked(maps, COMMAND, alive);
	perf_maps_execed(maps, alive);
	assert_int_equal(perf_maps_lost(maps), 0);
	make(map_of(alive));
	assert_int_equal(next(), alive);
	perf_maps_execed(maps, alive);
	assert_int_equal(perf_maps_lost(maps), 1);
	perf_maps_mapped(maps, alive, "//anon");
	assert_int_equal(next(), alive);
	perf_maps_read(maps, alive);
	perf_maps_exited(maps, alive);
	assert_int_equal(perf_maps_lost(maps), 1);
}

static void memory_for_code_alone_has_no_names(void **state)
{
	(void)state;
	perf_maps_forked(maps, COMMAND, alive);
	perf_maps_mapped(maps, alive, "//anon");
	assert_int_equal(next(), 0);
	perf_maps_exited(maps, alive);
	assert_int_equal(perf_maps_lost(maps), 0);
}

static void a_map_may_be_renamed_to_its_name(void **state)
{
	char from[64];

	(void)state;
	snprintf(from, sizeof(from), "%s.new", map_of(alive));
	perf_maps_forked(maps, COMMAND, alive);
	make(from);
	assert_int_equal(next(), 0);
	assert_int_equal(rename(from, map_of(alive)), 0);
	assert_int_equal(next(), alive);
}

static void what_is_no_map_is_passed_over(void **state)
{
	static const char *const names[] = {
		"perf-4194301.mapx", "perf-4194301x.map", "perf-0.map", "perf-99999999.map", "perf--5.map", "perf-.map",
		"perf-99999999999999999999.map", "perf- 4194301.map", "perf-04194301.map",
	};

	(void)state;
	perf_maps_forked(maps, COMMAND, GONE);
	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		make(in_dir(names[i]));
	perf_maps_look(maps);
	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		unlink(in_dir(names[i]));
	assert_int_equal(perf_maps_next(maps), 0);
	assert_int_equal(symlink("/dev/null", map_of(GONE)), 0);
	assert_int_equal(next(), 0);
	unlink(map_of(GONE));
	assert_int_equal(mkdir(map_of(GONE), 0700), 0);
	assert_int_equal(next(), 0);
	rmdir(map_of(GONE));
	/* Numbers that no process can have. */
	perf_maps_forked(maps, COMMAND, 4194304);
	perf_maps_forked(maps, -1, 5);
	perf_maps_mapped(maps, -1, "//anon");
	perf_maps_exited(maps, -1);
	assert_int_equal(next(), 0);
	assert_int_equal(perf_maps_lost(maps), 0);
}

static void the_map_of_another_user_is_not_the_processes(void **state)
{
	(void)state;
	if (geteuid())
		skip();
	perf_maps_forked(maps, COMMAND, alive);
	make(map_of(alive));
	assert_int_equal(chown(map_of(alive), 4711, 0), 0);
	assert_int_equal(next(), 0);
	perf_maps_exited(maps, alive);
	assert_int_equal(perf_maps_lost(maps), 0);
}

static void one_that_is_gone_is_counted_once(void **state)
{
	(void)state;
	perf_maps_forked(maps, COMMAND, GONE);
	make(map_of(GONE));
	assert_int_equal(next(), GONE);
	perf_maps_failed(maps, GONE);
	assert_int_equal(perf_maps_lost(maps), 1);
	unlink(map_of(GONE));
	make(map_of(GONE));
	assert_int_equal(next(), 0);
	perf_maps_exited(maps, GONE);
	assert_int_equal(perf_maps_lost(maps), 1);
	/* The next one with this number. */
	perf_maps_forked(maps, COMMAND, GONE);
	unlink(map_of(GONE));
	make(map_of(GONE));
	assert_int_equal(next(), GONE);
	perf_maps_failed(maps, GONE);
	assert_int_equal(perf_maps_lost(maps), 2);
}

static void so_is_one_whose_whole_life_is_reported_at_once(void **state)
{
	(void)state;
	make(map_of(GONE));
	perf_maps_look(maps);
	perf_maps_forked(maps, COMMAND, GONE);
	perf_maps_mapped(maps, GONE, "//anon");
	perf_maps_exited(maps, GONE);
	assert_int_equal(perf_maps_next(maps), 0);
	assert_int_equal(perf_maps_lost(maps), 1);
}

static void a_zombie_has_no_memory(void **state)
{
	siginfo_t info;

	(void)state;
	perf_maps_forked(maps, COMMAND, alive);
	make(map_of(alive));
	assert_int_equal(next(), alive);
	kill(alive, SIGKILL);
	assert_int_equal(waitid(P_PID, alive, &info, WEXITED | WNOWAIT), 0);
	perf_maps_failed(maps, alive);
	assert_int_equal(perf_maps_lost(maps), 1);
}

static void one_that_cannot_be_followed_is_lost_when_it_ends(void **state)
{
	(void)state;
	perf_maps_forked(maps, COMMAND, alive);
	make(map_of(alive));
	assert_int_equal(next(), alive);
	perf_maps_failed(maps, alive);
	assert_int_equal(perf_maps_lost(maps), 0);
	perf_maps_exited(maps, alive);
	assert_int_equal(perf_maps_lost(maps), 1);
}

/* As one that was already beyond the place where a tracer would have been told. */
static void one_that_was_followed_and_not_read_is_lost(void **state)
{
	(void)state;
	perf_maps_forked(maps, COMMAND, alive);
	make(map_of(alive));
	assert_int_equal(next(), alive);
	perf_maps_exited(maps, alive);
	assert_int_equal(perf_maps_lost(maps), 1);
	/* And one whose exit perf has lost. */
	perf_maps_forked(maps, COMMAND, alive);
	unlink(map_of(alive));
	make(map_of(alive));
	assert_int_equal(next(), alive);
	perf_maps_forked(maps, COMMAND, alive);
	assert_int_equal(perf_maps_lost(maps), 2);
}

static void more_files_than_the_kernel_notes_hide_no_map(void **state)
{
	static const char *const names[] = { "flood.a", "flood.b" };
	FILE *f = fopen("/proc/sys/fs/inotify/max_queued_events", "r");
	unsigned int most;

	(void)state;
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%u", &most), 1);
	fclose(f);
	if (most > 100000)
		skip();
	perf_maps_forked(maps, COMMAND, alive);
	/* Not twice the same one: the kernel notes it once. */
	for (unsigned int i = 0; i <= most; i++) {
		make(in_dir(names[i % 2]));
		unlink(in_dir(names[i % 2]));
	}
	make(map_of(alive));
	assert_int_equal(next(), alive);
	assert_int_equal(perf_maps_next(maps), 0);
}

static void many_are_told_apart(void **state)
{
	(void)state;
	for (int i = 0; i < 100; i++) {
		perf_maps_forked(maps, COMMAND, COMMAND - 1 - i);
		make(map_of(COMMAND - 1 - i));
	}
	perf_maps_look(maps);
	for (int i = 0; i < 100; i++)
		assert_int_equal(perf_maps_next(maps), COMMAND - 1 - i);
	assert_int_equal(perf_maps_next(maps), 0);
	for (int i = 0; i < 100; i++) {
		if (i % 2)
			perf_maps_read(maps, COMMAND - 1 - i);
		perf_maps_exited(maps, COMMAND - 1 - i);
		unlink(map_of(COMMAND - 1 - i));
	}
	assert_int_equal(perf_maps_lost(maps), 50);
}

static void without_inotify_there_is_an_error(void **state)
{
	(void)state;
	refuse = true;
	errno = 0;
	assert_null(perf_maps_open(dir, COMMAND));
	assert_int_equal(errno, ENOSPC);
	perf_maps_close(NULL);
}

int main(void)
{
#define t(test)	cmocka_unit_test_setup_teardown(test, begin, end)
	const struct CMUnitTest tests[] = {
		t(a_process_whose_map_comes_is_followed_once),
		t(so_is_the_command_itself),
		t(a_process_that_does_not_descend_from_the_command_is_left_alone),
		t(a_descendant_of_a_descendant_is_followed),
		t(a_number_that_another_process_has_now_is_no_descendant),
		t(perf_may_report_a_fork_after_the_map_came),
		t(a_map_that_was_there_before_counts_with_memory_for_code),
		t(an_exec_loses_what_was_not_read),
		t(memory_for_code_alone_has_no_names),
		t(a_map_may_be_renamed_to_its_name),
		t(what_is_no_map_is_passed_over),
		t(the_map_of_another_user_is_not_the_processes),
		t(one_that_is_gone_is_counted_once),
		t(so_is_one_whose_whole_life_is_reported_at_once),
		t(a_zombie_has_no_memory),
		t(one_that_cannot_be_followed_is_lost_when_it_ends),
		t(one_that_was_followed_and_not_read_is_lost),
		t(more_files_than_the_kernel_notes_hide_no_map),
		t(many_are_told_apart),
		t(without_inotify_there_is_an_error),
	};

	return cmocka_run_group_tests(tests, begin_all, end_all);
}
