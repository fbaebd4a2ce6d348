// SPDX-License-Identifier: GPL-2.0-only
#include "recording_case.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "userlib/recording_dir.h"

static void a_recording_of_bts_says_so(void **state)
{
	struct auxtrace_options o = {
		.size = sizeof(o), .pmu = AUXTRACE_PMU_INTEL_BTS, .cpus = "0", .aux_size = SIZE,
		.flags = AUXTRACE_SETUP_USER,
	};
	struct auxtrace_recording *rec;

	(void)state;
	fake.caps.bts.flags = AUXTRACE_BTS_CPL | AUXTRACE_BTS_BUFFERED;
	session = auxtrace_open(NULL);
	assert_non_null(session);
	assert_int_equal(auxtrace_setup(session, &o), 0);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	produce(0, 48);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_aux(0, 0, 48);
	expect_in("meta", "\npmu 1\n");
	expect_in("meta", "\nbts_flags 0x3\n");
	expect_in("meta", "\nconfig 0\n");
	expect_in("meta", "cpu 0 begin 0 read 48 ");
}

static void a_full_trace_is_recorded_whole_across_many_wraps(void **state)
{
	struct auxtrace_recording *rec;
	struct auxtrace_totals totals;
	uint64_t at = 0;

	(void)state;
	/* The library makes it. */
	assert_int_equal(rmdir(dir), 0);
	rec = new_recording("0,2", AUXTRACE_SETUP_USER);
	assert_int_equal(auxtrace_recording_drain(rec), 0);
	for (unsigned int i = 0; i < 20; i++) {
		at += 1000 + 331 * i;
		produce(0, at);
		assert_int_equal(auxtrace_recording_drain(rec), 1000 + 331 * i);
		assert_int_equal(fake.channel[0].user->aux_tail, at);
	}
	produce(0, at + 77);
	produce(2, 5);
	fake.channel[0].status->windows = 3;
	fake.channel[0].status->gaps = 2;
	fake.channel[0].status->gaps_full = 2;
	fake.channel[2].status->pmis = 4;
	assert_int_equal(auxtrace_recording_finish(rec, &totals), 0);
	expect_aux(0, 0, at + 77);
	expect_aux(2, 0, 5);
	assert_int_equal(totals.produced, at + 82);
	assert_int_equal(totals.read, at + 82);
	assert_int_equal(totals.overwritten, 0);
	assert_int_equal(totals.retained, 0);
	assert_int_equal(totals.windows, 3);
	assert_int_equal(totals.gaps, 2);
	assert_int_equal(totals.pmis, 4);
	/* Trace is for its owner's eyes. */
	assert_int_equal(mode_of(""), 0700);
	assert_int_equal(mode_of("meta"), 0600);
	assert_int_equal(mode_of("cpu0.aux"), 0600);
	assert_false(exists("cpu0.data"));
	expect_in("meta", "auxtrace_recording 1\n");
	expect_in("meta", "\ncpu_model 94\n");
	expect_in("meta", "\nterms tsc\n");
	expect_in("meta", "cpu 0 begin 0 read ");
	expect_in("meta", " gaps_full 2 ");
	/* User code only: nothing of the kernel's is kept. */
	assert_false(exists("kcore"));
	assert_false(exists("kallsyms"));
}

static uint64_t mono_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ull + ts.tv_nsec;
}

/* The recording began and ended since @before. Takes these lines out of @meta. */
static void take_instants(char *meta, uint64_t before)
{
	char *line = strstr(meta, "mono_begin ");
	uint64_t begin_tsc, begin, end_tsc, end;
	int length = 0;

	assert_non_null(line);
	assert_int_equal(sscanf(line, "mono_begin %" SCNu64 " %" SCNu64 "\nmono_end %" SCNu64 " %" SCNu64 "\n%n",
				&begin_tsc, &begin, &end_tsc, &end, &length), 4);
	assert_true(before <= begin && begin < end && end <= mono_now());
	assert_true(begin_tsc < end_tsc);
	memmove(line, line + length, strlen(line + length) + 1);
}

static void meta_is_not_there(void *times)
{
	assert_false(exists("meta"));
	++*(int *)times;
}

static void reports_are_asked_for_at_the_end_before_it_is_complete(void **state)
{
	struct auxtrace_recording *rec;
	int times = 0;

	(void)state;
	set_up("0", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	auxtrace_recording_on_cut(rec, meta_is_not_there, &times);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_int_equal(times, 1);
	assert_true(exists("meta"));
}

/* All that a reader of the file relies on: each line, and each number where it belongs. */
static void meta_is_what_the_module_and_the_session_said(void **state)
{
	static const char expected[] =
		"auxtrace_recording 1\nabi 2\npmu 0\nrelease R\n"
		"cpu_family 6\ncpu_model 94\ncpu_stepping 3\n"
		"tsc_art_num 84\ntsc_art_den 2\nmax_nonturbo_ratio 32\n"
		"tsc_khz 2000000\ntime_shift 10\ntime_mult 512\ntime_zero 1000\n"
		"config 0x400\nterms tsc\nflags 0x2\naux_size 8192\nslots 1\n"
		"aux_write plain (O_DIRECT: Invalid argument)\n"
		"filter trace 0xffffffff81000000 0xffffffff810000ff\nfilter stop 0x1000 0x1000\n"
		"data_size 4096\n"
		"trigger 1 hits 21 acted 22 held 23 idle 24 missed 25 on it\n"
		"cpu 3 begin 0 read 300 data_begin 0 data_read 40 records 1 produced 300 overwritten 0"
		" windows 1 window_begin 2 window_begin_tsc 3 window_end 4 window_end_tsc 5"
		" pauses_asked 7 pauses_done 6 resumes_asked 9 resumes_done 8 pmis 10 gaps 36"
		" gaps_full 11 gaps_error 12 gaps_offline 13 bad_tails 14 consumed 15 snapshots 16"
		" data_records 17 data_lost 18 data_overwritten 19 data_bad_tails 20\n";
	const struct auxtrace_trigger_options trigger = {
		.size = sizeof(trigger), .label = "it",
		.kind = AUXTRACE_TRIGGER_KPROBE, .action = AUXTRACE_ACTION_PAUSE, .address = 1,
	};
	const struct auxtrace_filter filter[] = {
		{ .action = AUXTRACE_FILTER_TRACE, .first = 0xffffffff81000000, .last = 0xffffffff810000ff },
		{ .action = AUXTRACE_FILTER_STOP, .first = 0x1000, .last = 0x1000 },
	};
	struct auxtrace_options o = {
		.size = sizeof(o), .cpus = "3", .config = "tsc", .flags = AUXTRACE_SETUP_USER,
		.aux_size = SIZE, .data_size = PAGE, .filters = filter, .nr_filters = 2,
	};
	struct auxtrace_status_page *page;
	struct auxtrace_totals totals;
	struct auxtrace_recording *rec;
	char *meta, *release, *rest;
	uint64_t before;

	(void)state;
	session = auxtrace_open(NULL);
	assert_non_null(session);
	assert_int_equal(auxtrace_setup(session, &o), 0);
	assert_int_equal(auxtrace_trigger_add(session, &trigger), 1);
	fake.state.out_hits = 21;
	fake.state.out_acted = 22;
	fake.state.out_held = 23;
	fake.state.out_idle = 24;
	fake.state.out_missed = 25;
	before = mono_now();
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	produce(3, 300);
	write_record(3, 1);
	page = fake.channel[3].status;
	page->windows = 1;
	page->window_begin = 2;
	page->window_begin_time = 3;
	page->window_end = 4;
	page->window_end_time = 5;
	page->pauses_done = 6;
	page->pauses_asked = 7;
	page->resumes_done = 8;
	page->resumes_asked = 9;
	page->pmis = 10;
	page->gaps_full = 11;
	page->gaps_error = 12;
	page->gaps_offline = 13;
	page->gaps = 11 + 12 + 13;
	page->bad_tails = 14;
	page->consumed = 15;
	page->snapshots = 16;
	page->data_records = 17;
	page->data_lost = 18;
	page->data_overwritten = 19;
	page->data_bad_tails = 20;
	assert_int_equal(auxtrace_recording_finish(rec, &totals), 0);
	meta = slurp("meta", NULL);
	/* The kernel's release is what it is here. */
	release = strstr(meta, "release ");
	assert_non_null(release);
	release += strlen("release ");
	rest = strchr(release, '\n');
	assert_non_null(rest);
	*release = 'R';
	memmove(release + 1, rest, strlen(rest) + 1);
	take_instants(meta, before);
	assert_string_equal(meta, expected);
	free(meta);
	assert_int_equal(totals.produced, 300);
	assert_int_equal(totals.read, 300);
	assert_int_equal(totals.windows, 1);
	assert_int_equal(totals.gaps, 36);
	assert_int_equal(totals.pmis, 10);
	assert_int_equal(totals.records, 1);
	assert_int_equal(totals.records_lost, 18);
	/* Only overwrite mode retains anything. */
	assert_int_equal(totals.retained, 0);
}

static void a_trigger_that_cannot_be_read_is_told(void **state)
{
	const struct auxtrace_trigger_options trigger = {
		.size = sizeof(trigger), .kind = AUXTRACE_TRIGGER_KPROBE,
		.action = AUXTRACE_ACTION_PAUSE, .address = 1,
	};
	struct auxtrace_recording *rec;

	(void)state;
	set_up("0", AUXTRACE_SETUP_USER);
	assert_int_equal(auxtrace_trigger_add(session, &trigger), 1);
	assert_int_equal(auxtrace_trigger_add(session, &trigger), 2);
	/* The state of the second is known from its end. */
	assert_int_equal(auxtrace_trigger_del(session, 2, NULL), 0);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	fake.fail.nr = AUXTRACE_IOC_TRIGGER_READ;
	fake.fail.err = ENOENT;
	fails(ENOENT, auxtrace_recording_finish(rec, NULL));
	assert_false(exists("meta"));
}

static void an_overwrite_recording_has_the_newest_bytes_and_says_where_they_begin(void **state)
{
	struct auxtrace_recording *rec;
	struct auxtrace_totals totals;

	(void)state;
	rec = new_recording("1", AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE);
	produce(1, 3 * SIZE + 123);
	assert_int_equal(auxtrace_recording_drain(rec), 0);
	assert_int_equal(auxtrace_recording_finish(rec, &totals), 0);
	expect_aux(1, 2 * SIZE + 123, 3 * SIZE + 123);
	assert_int_equal(totals.produced, totals.read + totals.overwritten);
	expect_in("meta", "cpu 1 begin 16507 read 8192 produced 24699 overwritten 16507");
}

static void an_overwrite_session_that_runs_cannot_be_finished(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	rec = new_recording("1", AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE);
	fake.channel[1].status->running = 1;
	fails(EBUSY, auxtrace_recording_finish(rec, NULL));
	/* No meta: nobody takes it for a whole recording. */
	assert_false(exists("meta"));
}

static void an_old_recording_is_replaced_and_other_files_are_not(void **state)
{
	struct auxtrace_recording *rec;
	char path[128];
	FILE *f;

	(void)state;
	rec = new_recording("0,1", AUXTRACE_SETUP_USER);
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_true(exists("cpu1.aux"));
	auxtrace_close(session);
	new_device(state);
	rec = new_recording("0", AUXTRACE_SETUP_USER);
	assert_false(exists("meta"));
	assert_false(exists("cpu1.aux"));
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	snprintf(path, sizeof(path), "%s/letter.txt", dir);
	f = fopen(path, "w");
	assert_non_null(f);
	fclose(f);
	fails_null(ENOTEMPTY, auxtrace_recording_create(session, dir));
	says("letter.txt, which is not of a recording");
	/* Nothing was taken away before it was refused. */
	assert_true(exists("meta"));
	assert_true(exists("cpu0.aux"));
	/* A link in place of a snapshot's directory is not followed. */
	assert_int_equal(unlink(path), 0);
	snprintf(path, sizeof(path), "%s/snapshot.0001", dir);
	assert_int_equal(symlink(".", path), 0);
	fails_null(ENOTDIR, auxtrace_recording_create(session, dir));
	says("/snapshot.0001: Not a directory");
	assert_true(exists("meta"));
}

static void a_directory_that_cannot_be_made_is_told(void **state)
{
	(void)state;
	set_up("0", AUXTRACE_SETUP_USER);
	fails_null(ENOENT, auxtrace_recording_create(session, "/nonexistent/dir"));
	says("cannot make the directory /nonexistent/dir");
	fails_null(ENOTDIR, auxtrace_recording_create(session, "/etc/hostname"));
	says("cannot open the directory /etc/hostname");
}

/* There is room for 1023 characters. */
static void a_message_that_is_too_long_is_cut(void **state)
{
	char name[2000];

	(void)state;
	memset(name, 'd', sizeof(name));
	name[sizeof(name) - 1] = 0;
	set_up("0", AUXTRACE_SETUP_USER);
	fails_null(ENAMETOOLONG, auxtrace_recording_create(session, name));
	says("cannot make the directory dddd");
	assert_int_equal(strlen(auxtrace_error()), 1023);
}

static void an_old_file_that_cannot_be_removed_is_told(void **state)
{
	char path[128];

	(void)state;
	set_up("0", AUXTRACE_SETUP_USER);
	snprintf(path, sizeof(path), "%s/cpu0.aux", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	fails_null(EISDIR, auxtrace_recording_create(session, dir));
	says("cannot remove");
	says("/cpu0.aux: Is a directory");
	assert_int_equal(rmdir(path), 0);
}

static void make_file(const char *name)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "we");
	assert_non_null(f);
	fclose(f);
}

static void only_files_of_a_recording_are_removed(void **state)
{
	static const char *const own[] = {
		"meta", "kcore", "kcore.added", "kcore.changes", "kallsyms", "modules", "task.1", "task.12.1", "vdso.9",
		"cpu7.aux", "cpu12.data", "cpu0.samples",
		"snapshot.7/meta", "snapshot.7/cpu0.aux", "snapshot.8/vdso.0",
	};
	static const char *const others[] = {
		"metas", "kcor", "modules.1", "task", "task.", "task.x", "task-1", "vdso.", "vdso.-1", "vdso-1",
		"cpu", "cpu0", "cpu0aux", "cpu0.aux2", "cpu.aux", "cpux.aux", "cpu-1.data", "cpv0.samples",
		"data", "snapshot.", "snapshot.x", "snapshot.1x", "snapshot-1",
		"snapshot.7/letter", "snapshot.7/task.",
	};
	char path[128];
	bool made;
	int fd;

	(void)state;
	snprintf(path, sizeof(path), "%s/snapshot.7", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	for (unsigned int i = 0; i < sizeof(others) / sizeof(*others); i++) {
		const char *name = strrchr(others[i], '/') ? strrchr(others[i], '/') + 1 : others[i];

		make_file("meta");
		make_file(others[i]);
		fails(ENOTEMPTY, recording_dir_open(AT_FDCWD, dir, &made));
		snprintf(path, sizeof(path), "%s holds %s, which is not of a recording",
			 name == others[i] ? dir : "snapshot.7", name);
		says(path);
		assert_true(exists("meta"));
		snprintf(path, sizeof(path), "%s/%s", dir, others[i]);
		assert_int_equal(unlink(path), 0);
	}
	snprintf(path, sizeof(path), "%s/snapshot.8", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	for (unsigned int i = 0; i < sizeof(own) / sizeof(*own); i++)
		make_file(own[i]);
	fd = recording_dir_open(AT_FDCWD, dir, &made);
	assert_return_code(fd, errno);
	close(fd);
	/* Nothing is left in it. */
	assert_int_equal(rmdir(dir), 0);
}

/* As if somebody wrote into it meanwhile. */
static void an_old_snapshot_that_cannot_be_removed_is_told(void **state)
{
	char path[128];
	bool made;

	(void)state;
	snprintf(path, sizeof(path), "%s/snapshot.0001", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	fake.rmdir_errno = ENOTEMPTY;
	fails(ENOTEMPTY, recording_dir_open(AT_FDCWD, dir, &made));
	fake.rmdir_errno = 0;
	snprintf(path, sizeof(path), "cannot remove %s/snapshot.0001: Directory not empty", dir);
	says(path);
	/* A file that is left keeps it, too. */
	snprintf(path, sizeof(path), "%s/snapshot.0001/meta", dir);
	assert_int_equal(mkdir(path, 0700), 0);
	fails(EISDIR, recording_dir_open(AT_FDCWD, dir, &made));
	says("cannot remove snapshot.0001/meta: Is a directory");
}

static void a_directory_that_cannot_be_read_is_told(void **state)
{
	bool made;

	(void)state;
	/* The first open is that of the directory itself. */
	fake.fail_open = 2;
	fails(EMFILE, recording_dir_open(AT_FDCWD, dir, &made));
	says(named("cannot read %s: Too many open files", dir));
	/* The descriptor that was opened to read it is closed. */
	fake.no_listing = true;
	fails(ENOMEM, recording_dir_open(AT_FDCWD, dir, &made));
	says(named("cannot read %s: Cannot allocate memory", dir));
}

/* It cannot be removed, either. */
static void why_a_new_directory_cannot_be_opened_is_told(void **state)
{
	bool made;

	(void)state;
	assert_int_equal(rmdir(dir), 0);
	fake.fail_open = 1;
	fake.rmdir_errno = EBUSY;
	fails(EMFILE, recording_dir_open(AT_FDCWD, dir, &made));
	says(named("cannot open the directory %s: Too many open files", dir));
	assert_int_equal(access(dir, F_OK), 0);
}

/* The directory is listed twice: first to find what is not of a recording. */
static void an_old_recording_that_cannot_be_listed_whole_is_told(void **state)
{
	bool made;

	(void)state;
	/* ".", "..", meta and the end. */
	for (int n = 1; n <= 4 + 4; n++) {
		make_file("meta");
		fake.fail_readdir = n;
		fails(EIO, recording_dir_open(AT_FDCWD, dir, &made));
		says(named("cannot list %s: Input/output error", dir));
		assert_int_equal(fake.fail_readdir, 0);
	}
}

/* The descriptor is closed, also if it is 0. */
static void a_file_without_a_stream_is_told(void **state)
{
	bool made;
	int input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), dirfd = recording_dir_open(AT_FDCWD, dir, &made);

	(void)state;
	assert_return_code(input, errno);
	assert_return_code(dirfd, errno);
	fake.no_stream = true;
	for (int i = 0; i < 2; i++) {
		const FILE *f;
		int err, left;

		fake.descriptor_0 = i ? "meta" : NULL;
		fail_forget();
		f = recording_file(dirfd, "meta");
		err = errno;
		left = i ? fcntl(STDIN_FILENO, F_GETFD) : -1;
		assert_return_code(dup2(input, STDIN_FILENO), errno);
		assert_null(f);
		assert_int_equal(err, ENOMEM);
		assert_int_equal(left, -1);
		says("cannot write meta: Cannot allocate memory");
	}
	close(input);
	close(dirfd);
}

/* Neither fails, the write, the close, both. */
static void what_a_file_has_lost_is_told_when_it_is_closed(void **state)
{
	static const int errs[] = { 0, EIO, ENOSPC, ENOSPC };
	bool made;
	int dirfd = recording_dir_open(AT_FDCWD, dir, &made), full = open("/dev/full", O_WRONLY | O_CLOEXEC);

	(void)state;
	assert_return_code(dirfd, errno);
	assert_return_code(full, errno);
	for (int i = 0; i < 4; i++) {
		FILE *f = recording_file(dirfd, "meta");
		int there;

		assert_non_null(f);
		there = dup(fileno(f));
		assert_return_code(dup2(full, fileno(f)), errno);
		if (i & 1) {
			putc('x', f);
			assert_int_equal(fflush(f), EOF);
		}
		assert_return_code(dup2(there, fileno(f)), errno);
		close(there);
		fake.fail_close = i / 2;
		if (errs[i]) {
			fails(errs[i], recording_file_close(f, "meta"));
			says(i == 1 ? "cannot write meta: Input/output error" :
				      "cannot write meta: No space left on device");
		} else {
			errno = EXDEV;
			assert_int_equal(recording_file_close(f, "meta"), 0);
			assert_int_equal(errno, EXDEV);
		}
	}
	close(full);
	close(dirfd);
}

static void abort_removes_the_directory_only_if_create_made_it(void **state)
{
	for (int there = 1; there >= 0; there--, new_device(state)) {
		auxtrace_recording_abort(new_recording("0", AUXTRACE_SETUP_USER));
		auxtrace_close(session);
		session = NULL;
		assert_int_equal(access(dir, F_OK), there ? 0 : -1);
		/* No file is left in it. */
		if (there)
			assert_int_equal(rmdir(dir), 0);
	}
	auxtrace_recording_abort(NULL);
}

static void save_is_all_in_one(void **state)
{
	(void)state;
	set_up("0", AUXTRACE_SETUP_USER);
	produce(0, 10);
	if (auxtrace_save(session, dir))
		fail_msg("%s", auxtrace_error());
	expect_aux(0, 0, 10);
	assert_true(exists("meta"));
	assert_true(exists(named("task.%d", getpid())));
}

static void a_save_that_fails_at_its_end_leaves_the_files_without_meta(void **state)
{
	(void)state;
	fake.no_uring = true;
	set_up("0", AUXTRACE_SETUP_USER);
	produce(0, 10);
	fake.write_errno = ENOSPC;
	fails(ENOSPC, auxtrace_save(session, dir));
	says("/cpu0.aux: No space left on device");
	assert_true(exists("cpu0.aux"));
	assert_false(exists("meta"));
}

static void before_the_setup_nothing_can_be_saved(void **state)
{
	(void)state;
	session = auxtrace_open(NULL);
	assert_non_null(session);
	fails(EBADFD, auxtrace_save(session, dir));
	says("needs a session that is set up");
	assert_false(exists("meta"));
}

static void a_full_disk_is_told(void **state)
{
	struct auxtrace_recording *rec;
	char path[128];

	(void)state;
	set_up("0", AUXTRACE_SETUP_USER);
	/* cpu0.aux of the directory leads to a device that is always full. */
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	snprintf(path, sizeof(path), "%s/cpu0.aux", dir);
	for (int fd = 3; fd < 64; fd++) {
		char link[64], target[256] = "";

		snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
		if (readlink(link, target, sizeof(target) - 1) > 0 && strstr(target, "cpu0.aux")) {
			int full = open("/dev/full", O_WRONLY | O_CLOEXEC);

			assert_return_code(dup2(full, fd), errno);
			close(full);
		}
	}
	produce(0, 100);
	fails(ENOSPC, auxtrace_recording_drain(rec));
	snprintf(path, sizeof(path), "cannot write %s/cpu0.aux: No space left on device", dir);
	says(path);
	/* What could not be written is not given back. */
	assert_int_equal(fake.channel[0].user->aux_tail, 0);
	auxtrace_recording_abort(rec);
}

/* The disk has room again at the end: what was lost between is told all the same. */
static void a_disk_that_was_full_for_a_while_is_told(void **state)
{
	struct auxtrace_recording *rec;
	uint64_t n = 0;
	int fd, saved, full, err = 0;
	char message[160];

	(void)state;
	set_up_data(AUXTRACE_SETUP_USER, 0);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	fd = descriptor_of("cpu0.data");
	saved = dup(fd);
	full = open("/dev/full", O_WRONLY | O_CLOEXEC);
	assert_return_code(dup2(full, fd), errno);
	for (unsigned int i = 0; i < 8 && !err; i++) {
		for (unsigned int k = 0; k < 20; k++)
			write_record(0, ++n);
		fail_forget();
		err = auxtrace_recording_drain(rec) < 0 ? errno : 0;
	}
	assert_int_equal(err, ENOSPC);
	snprintf(message, sizeof(message), "cannot write %s/cpu0.data: No space left on device", dir);
	says(message);
	assert_return_code(dup2(saved, fd), errno);
	close(saved);
	close(full);
	fails(EIO, auxtrace_recording_finish(rec, NULL));
	assert_false(exists("meta"));
}

/* A directory with meta is a whole recording: so one that could not be written is none. */
static void a_meta_that_is_not_whole_is_none(void **state)
{
	struct auxtrace_recording *rec;
	struct rlimit was, small;
	int ret, err;

	(void)state;
	rec = new_recording("0", AUXTRACE_SETUP_USER);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
	small = (struct rlimit){ .rlim_cur = 64, .rlim_max = was.rlim_max };
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	fail_forget();
	ret = auxtrace_recording_finish(rec, NULL);
	err = errno;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
	signal(SIGXFSZ, SIG_DFL);
	assert_int_equal(ret, -1);
	assert_int_equal(err, EFBIG);
	says("cannot write meta");
	assert_false(exists("meta"));
}

static void records_are_drained_and_kept(void **state)
{
	struct auxtrace_recording *rec;
	struct auxtrace_totals totals;
	uint64_t n = 0;

	(void)state;
	set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_DATA_BACKWARD, 0);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	while (n < 1000) {
		for (unsigned int i = 0; i < 10; i++)
			write_record(1, ++n);
		assert_true(auxtrace_recording_drain(rec) > 0);
		assert_int_equal(fake.channel[1].user->data_tail, fake.channel[1].status->data_head);
	}
	write_record(1, ++n);
	fake.channel[1].status->data_lost = 5;
	assert_int_equal(auxtrace_recording_finish(rec, &totals), 0);
	assert_int_equal(expect_records("cpu1.data", n), n);
	assert_int_equal(expect_records("cpu0.data", 0), 0);
	assert_int_equal(totals.records, n);
	assert_int_equal(totals.records_lost, 5);
	expect_in("meta", " records 1001 ");
	expect_in("meta", " data_lost 5 ");
	expect_in("meta", "\ndata_size 4096\n");
}

/* What was consumed before is not in the files, which say so. */
static void a_recording_begins_where_its_readers_are(void **state)
{
	const union auxtrace_record *record;
	struct auxtrace_recording *rec;
	struct auxtrace_reader *reader;
	char text[64];

	(void)state;
	set_up_data(AUXTRACE_SETUP_USER, 0);
	reader = auxtrace_reader(session, 1);
	produce(1, 100);
	write_record(1, 1);
	write_record(1, 2);
	assert_int_equal(auxtrace_reader_consume(reader, 60), 0);
	assert_int_equal(auxtrace_reader_next_record(reader, &record), 1);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	produce(1, 150);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_aux(1, 60, 150);
	assert_int_equal(expect_records("cpu1.data", 2), 1);
	snprintf(text, sizeof(text), "\ncpu 1 begin 60 read 90 data_begin %lu data_read %lu ",
		 record_size(1), record_size(2));
	expect_in("meta", text);
}

static void an_overwritable_data_ring_is_copied_at_the_end(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_DATA_OVERWRITE, 0);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	for (uint64_t n = 1; n <= 500; n++)
		write_record(0, n);
	assert_int_equal(auxtrace_recording_drain(rec), 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_true(expect_records("cpu0.data", 500) > 20);
}

/* What is in the ring ends with no record. */
static void a_data_ring_that_is_wrong_is_told(void **state)
{
	static const uint32_t flags[] = { 0, AUXTRACE_SETUP_DATA_OVERWRITE };
	static const uint8_t nothing[16];

	for (unsigned int i = 0; i < 2; i++, new_device(state)) {
		struct auxtrace_recording *rec;

		set_up_data(AUXTRACE_SETUP_USER | flags[i], 0);
		rec = auxtrace_recording_create(session, dir);
		assert_non_null(rec);
		write_record(0, 1);
		write_bytes(0, nothing, sizeof(nothing));
		fails(EBADE, auxtrace_recording_finish(rec, NULL));
		says("no record at position ");
		assert_false(exists("meta"));
		auxtrace_close(session);
		session = NULL;
	}
}

/* Nothing of it is written, nor freed for the hardware, on any CPU. */
static void a_status_page_that_is_wrong_is_told(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	set_up_data(AUXTRACE_SETUP_USER, 0);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	produce(0, 100);
	write_record(0, 1);
	fake.channel[1].status->produced = SIZE + 1;
	fails(EBADE, auxtrace_recording_drain(rec));
	assert_int_equal(fake.channel[0].user->aux_tail, 0);
	assert_int_equal(fake.channel[0].user->data_tail, 0);
	auxtrace_recording_abort(rec);
}

static void status_page_breaks(void)
{
	fake.channel[0].status->seq = 1;
}

/* All is written, but the tail is not moved. */
static void a_status_page_that_breaks_while_its_data_is_written_is_told(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	fake.no_uring = true;
	set_up("0", AUXTRACE_SETUP_USER);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	produce(0, SIZE);
	fake.clock_step = 1;
	fake.on_write = status_page_breaks;
	fails(EAGAIN, auxtrace_recording_drain(rec));
	says("the status page of CPU 0 stays inconsistent");
	assert_int_equal(fake.channel[0].user->aux_tail, 0);
	auxtrace_recording_abort(rec);
}

static void processes_that_cannot_be_read_are_told(void **state)
{
	static const int passed_over[] = { ESRCH, ENXIO, ENOENT, EPERM };
	struct auxtrace_recording *rec;
	struct rlimit limit, no_files;
	int ret, err;

	(void)state;
	rec = new_recording("0", AUXTRACE_SETUP_USER);
	for (unsigned int i = 0; i < 4; i++) {
		fake.task_errno = passed_over[i];
		assert_int_equal(auxtrace_recording_add_all_tasks(rec), 0);
	}
	fake.task_errno = EIO;
	fails(EIO, auxtrace_recording_add_all_tasks(rec));
	says("TASK of process ");
	fake.task_errno = 0;
	assert_return_code(getrlimit(RLIMIT_NOFILE, &limit), errno);
	no_files = limit;
	no_files.rlim_cur = 0;
	fail_forget();
	assert_return_code(setrlimit(RLIMIT_NOFILE, &no_files), errno);
	ret = auxtrace_recording_add_all_tasks(rec);
	err = errno;
	assert_return_code(setrlimit(RLIMIT_NOFILE, &limit), errno);
	assert_int_equal(ret, -1);
	assert_int_equal(err, EMFILE);
	says("cannot read /proc: Too many open files");
	/* After some of them. */
	fake.task_errno = ESRCH;
	fake.fail_readdir = 3;
	fails(EIO, auxtrace_recording_add_all_tasks(rec));
	says("cannot list /proc: Input/output error");
	fake.fail_readdir = 0;
	auxtrace_recording_abort(rec);
	/* A recording that is made all in one leaves nothing then. */
	fake.task_errno = EIO;
	assert_int_equal(rmdir(dir), 0);
	fails(EIO, auxtrace_save(session, dir));
	says("TASK of process ");
	assert_int_equal(access(dir, F_OK), -1);
}

/* Creation fails at each descriptor in turn. Then no descriptor may be left to list the directory with. */
static void a_recording_without_descriptors_leaves_nothing(void **state)
{
	for (unsigned int there = 0; there < 2; there++, new_device(state)) {
		struct rlimit limit, few;
		int next, more, kept;

		set_up("0,1", AUXTRACE_SETUP_USER);
		next = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
		assert_return_code(next, errno);
		close(next);
		assert_return_code(getrlimit(RLIMIT_NOFILE, &limit), errno);
		if (!there)
			assert_int_equal(rmdir(dir), 0);
		for (more = 0, kept = 0; !kept && more < 16; more++) {
			struct auxtrace_recording *rec;
			int err;

			few = (struct rlimit){ .rlim_cur = next + more, .rlim_max = limit.rlim_max };
			fail_forget();
			assert_return_code(setrlimit(RLIMIT_NOFILE, &few), errno);
			rec = auxtrace_recording_create(session, dir);
			err = errno;
			assert_return_code(setrlimit(RLIMIT_NOFILE, &limit), errno);
			kept = !!rec;
			if (rec) {
				auxtrace_recording_abort(rec);
			} else {
				assert_int_equal(err, EMFILE);
				says("Too many open files");
			}
			assert_false(exists("cpu0.aux"));
			assert_int_equal(access(dir, F_OK), there ? 0 : -1);
		}
		/* A ring, the directory, and a file of each CPU, at least. */
		assert_true(kept && more > 3);
		auxtrace_close(session);
		session = NULL;
		if (!there)
			assert_int_equal(mkdir(dir, 0700), 0);
	}
}

/* A sample of CPU 1 that is in a slot, up to what was produced there. */
static void write_sample(uint32_t slot, uint64_t length)
{
	const struct auxtrace_record_sample record = {
		.header = { .type = AUXTRACE_RECORD_SAMPLE, .size = sizeof(record) + 16 },
		.sample_slot = slot, .aux_end = fake.channel[1].status->produced,
		.wanted = length, .length = length, .flags = AUXTRACE_SAMPLE_IN_SLOT,
	};
	const struct auxtrace_record_end tail = { .size = sizeof(record) + 16 };
	uint8_t bytes[sizeof(record) + 16];

	assert_int_equal(sizeof(tail), 16);
	memcpy(bytes, &record, sizeof(record));
	memcpy(bytes + sizeof(record), &tail, sizeof(tail));
	write_bytes(1, bytes, sizeof(bytes));
}

static void samples_in_slots_are_saved_and_their_slots_released(void **state)
{
	struct auxtrace_recording *rec;
	uint8_t *data;
	size_t size;

	(void)state;
	set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE, 2);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	produce_in_slot(1, SIZE + 100);
	write_sample(0, 5000);
	assert_true(auxtrace_recording_drain(rec) > 0);
	assert_int_equal(fake.release.flags, AUXTRACE_RELEASE_SAMPLE);
	assert_int_equal(fake.release.slot, 0);
	assert_int_equal(fake.release.cpu, 1);
	fake.channel[1].status->slot = 1;
	produce_in_slot(1, 60);
	write_sample(1, 50);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	assert_int_equal(fake.release.slot, 1);
	expect_in("meta", " sample_bytes 5050 ");
	assert_false(exists("cpu0.samples"));
	data = (uint8_t *)slurp("cpu1.samples", &size);
	assert_int_equal(size, 5050);
	for (uint64_t i = 0; i < size; i++) {
		uint64_t p = i < 5000 ? SIZE + 100 - 5000 + i : SIZE + 110 + (i - 5000);

		assert_int_equal(data[i], (uint8_t)(p * 31 + p / 256 + 1));
	}
	free(data);
}

/* Nothing of it is in a file of its own: the record has it. */
static void a_sample_in_its_record_is_saved_with_it(void **state)
{
	struct {
		struct auxtrace_record_sample sample;
		uint8_t bytes[24];
		struct auxtrace_record_end end;
	} record = {
		.sample = {
			.header = { .type = AUXTRACE_RECORD_SAMPLE, .size = sizeof(record) },
			.data_offset = sizeof(record.sample), .aux_end = 24, .wanted = 24, .length = 24,
		},
		.end = { .size = sizeof(record) },
	};
	struct auxtrace_recording *rec;

	(void)state;
	set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE, 2);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	fake.release.slot = 77;
	write_bytes(1, &record, sizeof(record));
	assert_int_equal(auxtrace_recording_drain(rec), sizeof(record));
	assert_int_equal(fake.release.slot, 77);
	assert_false(exists("cpu1.samples"));
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_in("meta", " data_read 96 records 1 ");
	expect_not_in("meta", " sample_bytes ");
}

/* It is in a slot that the session does not have; there is no file for it; the module keeps its slot. */
static void a_sample_that_cannot_be_saved_is_told(void **state)
{
	static const struct {
		int err;
		const char *text;
	} cases[] = {
		{ EINVAL, "invalid sample of CPU 1" },
		{ EMFILE, "cannot write cpu1.samples" },
		{ EIO, "RELEASE" },
	};

	for (int i = 0; i < 3; i++, new_device(state)) {
		struct auxtrace_recording *rec;

		set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE, 2);
		rec = auxtrace_recording_create(session, dir);
		assert_non_null(rec);
		produce_in_slot(1, SIZE);
		write_sample(i ? 0 : 2, 8);
		fake.fail_open = i == 1;
		fake.fail.nr = AUXTRACE_IOC_RELEASE;
		fake.fail.err = i == 2 ? EIO : 0;
		fails(cases[i].err, auxtrace_recording_drain(rec));
		says(cases[i].text);
		auxtrace_recording_abort(rec);
		auxtrace_close(session);
		session = NULL;
	}
}

/* Also if those behind it can be. */
static void one_of_several_samples_that_cannot_be_saved_is_told(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_DATA_OVERWRITE, 2);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	produce_in_slot(1, SIZE);
	write_sample(2, 8);
	write_sample(0, 8);
	fails(EINVAL, auxtrace_recording_finish(rec, NULL));
	says("invalid sample of CPU 1");
	assert_false(exists("meta"));
}

static void a_disk_that_is_full_of_samples_is_told(void **state)
{
	/* What stdio keeps, and more than that. */
	static const uint64_t lengths[] = { 100, 5000 };

	for (int i = 0; i < 2; i++) {
		struct auxtrace_recording *rec;
		char message[160];
		int full;

		set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE, 2);
		rec = auxtrace_recording_create(session, dir);
		assert_non_null(rec);
		produce_in_slot(1, SIZE);
		write_sample(0, 8);
		assert_true(auxtrace_recording_drain(rec) > 0);
		full = open("/dev/full", O_WRONLY | O_CLOEXEC);
		assert_return_code(dup2(full, descriptor_of("cpu1.samples")), errno);
		close(full);
		fake.release.slot = 77;
		write_sample(0, lengths[i]);
		fails(ENOSPC, auxtrace_recording_finish(rec, NULL));
		snprintf(message, sizeof(message),
			 "cannot write %s/cpu1.samples: No space left on device", dir);
		says(message);
		assert_false(exists("meta"));
		/* A sample that could not be copied keeps its slot. */
		assert_int_equal(fake.release.slot, i ? 77 : 0);
		auxtrace_close(session);
		session = NULL;
		new_device(state);
	}
}

#define t(f) cmocka_unit_test_setup_teardown(f, begin_recording, end_recording)

int main(void)
{
	const struct CMUnitTest tests[] = {
		t(a_full_trace_is_recorded_whole_across_many_wraps),
		t(reports_are_asked_for_at_the_end_before_it_is_complete),
		t(meta_is_what_the_module_and_the_session_said),
		t(a_trigger_that_cannot_be_read_is_told),
		t(a_recording_of_bts_says_so),
		t(an_overwrite_recording_has_the_newest_bytes_and_says_where_they_begin),
		t(an_overwrite_session_that_runs_cannot_be_finished),
		t(an_old_recording_is_replaced_and_other_files_are_not),
		t(a_directory_that_cannot_be_made_is_told),
		t(a_message_that_is_too_long_is_cut),
		t(an_old_file_that_cannot_be_removed_is_told),
		t(only_files_of_a_recording_are_removed),
		t(an_old_snapshot_that_cannot_be_removed_is_told),
		t(a_directory_that_cannot_be_read_is_told),
		t(why_a_new_directory_cannot_be_opened_is_told),
		t(an_old_recording_that_cannot_be_listed_whole_is_told),
		t(a_file_without_a_stream_is_told),
		t(what_a_file_has_lost_is_told_when_it_is_closed),
		t(abort_removes_the_directory_only_if_create_made_it),
		t(a_recording_without_descriptors_leaves_nothing),
		t(save_is_all_in_one),
		t(a_save_that_fails_at_its_end_leaves_the_files_without_meta),
		t(before_the_setup_nothing_can_be_saved),
		t(a_full_disk_is_told),
		t(a_disk_that_was_full_for_a_while_is_told),
		t(a_meta_that_is_not_whole_is_none),
		t(records_are_drained_and_kept),
		t(a_recording_begins_where_its_readers_are),
		t(an_overwritable_data_ring_is_copied_at_the_end),
		t(a_data_ring_that_is_wrong_is_told),
		t(a_status_page_that_is_wrong_is_told),
		t(a_status_page_that_breaks_while_its_data_is_written_is_told),
		t(processes_that_cannot_be_read_are_told),
		t(samples_in_slots_are_saved_and_their_slots_released),
		t(a_sample_in_its_record_is_saved_with_it),
		t(a_sample_that_cannot_be_saved_is_told),
		t(one_of_several_samples_that_cannot_be_saved_is_told),
		t(a_disk_that_is_full_of_samples_is_told),
	};

	return cmocka_run_group_tests_name("userlib recording", tests, NULL, NULL);
}
