// SPDX-License-Identifier: GPL-2.0-only
/* What a recording says of a program that is replaced, changed or removed after it was mapped. */
#include "recording_case.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#include "userlib/file_seen.h"

#define GONE	4711	/* a process that cannot be read */

/* What stands for maps of every process in /proc; the program is below it. */
static char process[80];
static char text[1024];

static const char *path_of(const char *name)
{
	static char path[2][128];
	static unsigned int next;
	char *to = path[next++ % 2];

	snprintf(to, sizeof(path[0]), "%s/%s", process, name);
	return to;
}

static void write_as(const char *name, const char *content, const char *mode)
{
	FILE *f = fopen(path_of(name), mode);

	assert_non_null(f);
	fputs(content, f);
	assert_int_equal(fclose(f), 0);
}

static struct stat stat_of(const char *name)
{
	struct stat st;

	assert_int_equal(stat(path_of(name), &st), 0);
	return st;
}

/* The line of maps of the file as it is now, in @text from @at on. */
static size_t map_line(size_t at, const char *name, const char *perms, uint64_t inode)
{
	const struct stat st = stat_of(name);

	return at + snprintf(text + at, sizeof(text) - at, "40000-41000 %s 00000000 %02x:%02x %" PRIu64 "      %s\n", perms,
			     major(st.st_dev), minor(st.st_dev), inode ?: st.st_ino, path_of(name));
}

/* @name is another file, of the same size and time of change. */
static void replace(const char *name)
{
	struct timespec times[2];
	struct stat was = stat_of(name);

	write_as("fresh", "another one", "we");
	times[0] = was.st_atim;
	times[1] = was.st_mtim;
	assert_int_equal(utimensat(AT_FDCWD, path_of("fresh"), times, 0), 0);
	assert_int_equal(stat_of("fresh").st_size, was.st_size);
	assert_int_equal(rename(path_of("fresh"), path_of(name)), 0);
	assert_int_not_equal(stat_of(name).st_ino, was.st_ino);
}

static int begin_process(void **state)
{
	if (begin_recording(state))
		return -1;
	snprintf(process, sizeof(process), "%s.process", dir);
	if (mkdir(process, 0700))
		return -1;
	fake.process = process;
	write_as("prog", "the program", "we");
	return 0;
}

static int end_process(void **state)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf %s", process);
	return system(command) | end_recording(state);
}

static struct auxtrace_recording *recording_of(const char *maps)
{
	struct auxtrace_recording *rec = new_recording("0", AUXTRACE_SETUP_USER);

	write_as("maps", maps, "we");
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	return rec;
}

/* Is the line "map" that is in @text that of a file which did not stay? */
static void expect_code(const char *task, bool other)
{
	char line[700];

	snprintf(line, sizeof(line), "\nmap %.*s%s\n", (int)strlen(text) - 1, text, other ? " (deleted)" : "");
	expect_in(task, line);
	if (!other)
		expect_not_in(task, " (deleted)");
}

static void expect_file(const char *task, const char *name)
{
	const struct stat st = stat_of(name);
	char line[300];

	snprintf(line, sizeof(line), "\nfile %ld %ld.%09ld %s\n", (long)st.st_size, (long)st.st_mtim.tv_sec, st.st_mtim.tv_nsec,
		 path_of(name));
	expect_in(task, line);
}

static void a_file_that_stays_is_told_by_size_and_time(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	map_line(0, "prog", "r-xp", 0);
	rec = recording_of(text);
	/* The time of change of its inode says nothing. */
	assert_int_equal(chmod(path_of("prog"), 0700), 0);
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_code(named("task.%d", getpid()), false);
	expect_file(named("task.%d", getpid()), "prog");
}

static void a_file_that_is_replaced_is_no_more(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	map_line(0, "prog", "r-xp", 0);
	rec = recording_of(text);
	replace("prog");
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_code(named("task.%d", getpid()), true);
	expect_not_in(named("task.%d", getpid()), "\nfile ");
}

/* The kernel says it as well, where the process is read again: one line remains. */
static void a_file_that_the_kernel_has_deleted_is_told_once(void **state)
{
	struct auxtrace_recording *rec;
	char deleted[600], *task, *at;

	(void)state;
	map_line(0, "prog", "r-xp", 0);
	rec = recording_of(text);
	replace("prog");
	snprintf(deleted, sizeof(deleted), "%.*s (deleted)\n", (int)strlen(text) - 1, text);
	write_as("maps", deleted, "we");
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	task = slurp(named("task.%d", getpid()), NULL);
	at = strstr(task, "\nmap ");
	assert_non_null(at);
	assert_non_null(strstr(at, deleted));
	assert_null(strstr(at + 1, "\nmap "));
	free(task);
}

/* Its inode stays. So it is if the inode of a removed file is used again. */
static void a_file_that_is_written_in_its_place_is_another_one(void **state)
{
	struct auxtrace_recording *rec;
	uint64_t inode = stat_of("prog").st_ino;

	(void)state;
	map_line(0, "prog", "r-xp", 0);
	rec = recording_of(text);
	write_as("prog", "a new program", "we");
	assert_int_equal(stat_of("prog").st_ino, inode);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_code(named("task.%d", getpid()), true);
	expect_not_in(named("task.%d", getpid()), "\nfile ");
}

/* It is seen when another one is at its path already: only the kernel knows. */
static void a_number_that_the_file_does_not_have_is_another_file_s(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	map_line(0, "prog", "r-xp", stat_of("prog").st_ino + 1);
	rec = recording_of(text);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_code(named("task.%d", getpid()), true);
	expect_not_in(named("task.%d", getpid()), "\nfile ");
}

static void a_file_that_is_removed_has_no_line(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	map_line(0, "prog", "r-xp", 0);
	rec = recording_of(text);
	assert_int_equal(unlink(path_of("prog")), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_code(named("task.%d", getpid()), false);
	expect_not_in(named("task.%d", getpid()), "\nfile ");
}

/* Files of data are written all the time, and so is a dump of code. */
static void what_is_not_executed_may_change(void **state)
{
	struct auxtrace_recording *rec;
	char *task;

	(void)state;
	write_as("jit-1.dump", "", "we");
	map_line(map_line(0, "prog", "rw-s", 0), "jit-1.dump", "r-xp", 0);
	rec = recording_of(text);
	write_as("prog", "more", "ae");
	write_as("jit-1.dump", "more", "ae");
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	task = slurp(named("task.%d", getpid()), NULL);
	assert_null(strstr(task, "(deleted)"));
	free(task);
	expect_file(named("task.%d", getpid()), "prog");
	expect_file(named("task.%d", getpid()), "jit-1.dump");
}

static struct auxtrace_mapping mapping_of(const char *name)
{
	const struct stat st = stat_of(name);
	static char path[128];

	snprintf(path, sizeof(path), "%s", path_of(name));
	return (struct auxtrace_mapping){
		.size = sizeof(struct auxtrace_mapping), .start = 0x40000, .end = 0x41000, .path = path,
		.major = major(st.st_dev), .minor = minor(st.st_dev), .inode = st.st_ino,
	};
}

/* A process that has ended, whose program was @m; perf reports it at @m's time. */
static void add_gone(struct auxtrace_recording *rec, const struct auxtrace_mapping *m)
{
	fake.task_errno = ESRCH;
	assert_int_equal(auxtrace_recording_exec_task(rec, GONE, 1000), -1);
	fake.task_errno = 0;
	assert_int_equal(auxtrace_recording_add_mapped_file(rec, GONE, m), 0);
	snprintf(text, sizeof(text), "40000-41000 r-xp 00000000 %02x:%02x %" PRIu64 " %s\n", m->major, m->minor, m->inode, m->path);
}

/* As a compiler's test programs are: all at one path, one after the other. */
static void two_programs_at_one_path_are_told_apart(void **state)
{
	struct auxtrace_recording *rec = new_recording("0", AUXTRACE_SETUP_USER);
	const struct auxtrace_mapping m = mapping_of("prog");

	(void)state;
	add_gone(rec, &m);
	replace("prog");
	map_line(0, "prog", "r-xp", 0);
	write_as("maps", text, "we");
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_code(named("task.%d", getpid()), false);
	expect_file(named("task.%d", getpid()), "prog");
	expect_in(named("task.%d", GONE), " (deleted)\n");
	expect_not_in(named("task.%d", GONE), "\nfile ");
}

static void a_reported_mapping_has_the_file_s_number(void **state)
{
	struct auxtrace_recording *rec = new_recording("0", AUXTRACE_SETUP_USER);
	struct auxtrace_mapping m = mapping_of("prog");

	(void)state;
	m.time = __rdtsc();
	add_gone(rec, &m);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_code(named("task.%d", GONE), false);
	expect_file(named("task.%d", GONE), "prog");
}

/* It was replaced before the report was read. */
static void a_report_that_comes_late_is_told_by_number_or_time(void **state)
{
	for (int by_time = 0; by_time < 2; by_time++) {
		struct auxtrace_recording *rec = new_recording("0", AUXTRACE_SETUP_USER);
		struct auxtrace_mapping m = mapping_of("prog");

		if (by_time) {
			m.time = __rdtsc();
			/* Times of files are those of the last tick of the kernel's clock. */
			usleep(50000);
			write_as("prog", "a new program", "we");
		} else {
			replace("prog");
		}
		add_gone(rec, &m);
		assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
		expect_code(named("task.%d", GONE), true);
		assert_int_equal(end_process(state), 0);
		assert_int_equal(begin_process(state), 0);
	}
}

static void a_mapping_that_cannot_be_known_is_refused(void **state)
{
	struct auxtrace_recording *rec = new_recording("0", AUXTRACE_SETUP_USER);
	struct auxtrace_mapping m = mapping_of("prog");

	(void)state;
	m.size--;
	fails(EINVAL, auxtrace_recording_add_mapped_file(rec, GONE, &m));
	m.size++;
	m.reserved = 1;
	fails(EINVAL, auxtrace_recording_add_mapped_file(rec, GONE, &m));
	m.reserved = 0;
	fails(ENOENT, auxtrace_recording_add_mapped_file(rec, GONE, &m));
	auxtrace_recording_abort(rec);
}

/* A clock that was wrong leaves files that are of the future: they are not new for that. */
static void a_time_to_come_is_no_change(void **state)
{
	struct timespec now, times[2];
	uint64_t ns;

	(void)state;
	assert_int_equal(clock_gettime(CLOCK_REALTIME, &now), 0);
	ns = now.tv_sec * 1000000000ull + now.tv_nsec;
	times[0] = times[1] = (struct timespec){ now.tv_sec - 10, 0 };
	assert_int_equal(utimensat(AT_FDCWD, path_of("prog"), times, 0), 0);
	assert_int_equal(file_see(path_of("prog"), ns, 0).state, FILE_THERE);
	assert_int_equal(file_see(path_of("prog"), ns - 20000000000ull, 0).state, FILE_OTHER);
	assert_int_equal(file_see(path_of("prog"), ns - 20000000000ull, 30000000000ull).state, FILE_THERE);
	assert_int_equal(file_see(path_of("prog"), 0, 0).state, FILE_THERE);
	times[0].tv_sec = times[1].tv_sec = now.tv_sec + 1000;
	assert_int_equal(utimensat(AT_FDCWD, path_of("prog"), times, 0), 0);
	assert_int_equal(file_see(path_of("prog"), ns, 0).state, FILE_THERE);
	assert_int_equal(file_see(path_of("none"), ns, 0).state, FILE_MISSING);
}

#define p(f) cmocka_unit_test_setup_teardown(f, begin_process, end_process)

int main(void)
{
	const struct CMUnitTest tests[] = {
		p(a_file_that_stays_is_told_by_size_and_time),
		p(a_file_that_is_replaced_is_no_more),
		p(a_file_that_the_kernel_has_deleted_is_told_once),
		p(a_file_that_is_written_in_its_place_is_another_one),
		p(a_number_that_the_file_does_not_have_is_another_file_s),
		p(a_file_that_is_removed_has_no_line),
		p(what_is_not_executed_may_change),
		p(two_programs_at_one_path_are_told_apart),
		p(a_reported_mapping_has_the_file_s_number),
		p(a_report_that_comes_late_is_told_by_number_or_time),
		p(a_mapping_that_cannot_be_known_is_refused),
		p(a_time_to_come_is_no_change),
	};

	return cmocka_run_group_tests_name("file_seen", tests, NULL, NULL);
}
