// SPDX-License-Identifier: GPL-2.0-only
#include "recording_case.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "userlib/recording_dir.h"

static void a_flight_recorder_writes_what_was_put_aside(void **state)
{
	struct auxtrace_recording *rec;
	struct auxtrace_totals totals;
	uint64_t n = 0, at[2] = { 0 };

	for (unsigned int direct = 0; direct < 2; direct++) {
		if (direct)
			need_direct();
		set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE |
			    AUXTRACE_SETUP_DATA_OVERWRITE, 2);
		fake.on_snapshot = take_slot;
		rec = auxtrace_recording_create(session, dir);
		assert_non_null(rec);
		n = at[0] = at[1] = 0;
		for (unsigned int i = 1; i <= 5; i++) {
			char name[64], text[64];
			uint64_t count[2] = { 1000 * i, SIZE + 77 };

			for (unsigned int cpu = 0; cpu < 2; cpu++) {
				produce_in_slot(cpu, count[cpu]);
				at[cpu] += count[cpu];
				fake.channel[cpu].status->windows = i;
				fake.channel[cpu].status->running = 1;
			}
			write_record(1, ++n);
			write_record(1, ++n);
			next_slot = i & 1;
			if (auxtrace_recording_snapshot(rec) != (int)i)
				fail_msg("%s", auxtrace_error());
			assert_int_equal(fake.snapshot.flags, AUXTRACE_SNAPSHOT_SLOT);
			assert_int_equal(fake.released, !next_slot);
			snprintf(name, sizeof(name), "snapshot.%04u/", i);
			expect_aux_behind(name, 0, at[0] - count[0], at[0], direct ? (at[0] - count[0]) % PAGE : 0);
			expect_aux_behind(name, 1, at[1] - SIZE, at[1], direct ? (at[1] - SIZE) % PAGE : 0);
			assert_int_equal(expect_records(named("snapshot.%04u/cpu1.data", i), n), 2);
			snprintf(name, sizeof(name), "snapshot.%04u/meta", i);
			snprintf(text, sizeof(text), "\nsnapshot %u\n", i);
			expect_in(name, text);
			snprintf(text, sizeof(text), " produced %lu windows %u ", at[0], i);
			expect_in(name, text);
			assert_true(exists(named("snapshot.%04u/task.%d", i, getpid())));
		}
		fake.channel[0].status->running = fake.channel[1].status->running = 0;
		produce_in_slot(0, 5);
		fake.channel[0].status->overwritten = 0;
		fake.channel[1].status->overwritten = 5 * 77;
		assert_int_equal(auxtrace_recording_finish(rec, &totals), 0);
		expect_aux_behind("", 0, at[0], at[0] + 5, direct ? at[0] % PAGE : 0);
		assert_int_equal(totals.produced, totals.read + totals.overwritten + totals.retained);
		auxtrace_close(session);
		new_device(state);
		/* A new recording takes the place of the old one and its snapshots. */
		rec = new_recording("0", AUXTRACE_SETUP_USER);
		assert_false(exists("snapshot.0001"));
		assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
		auxtrace_close(session);
		session = NULL;
		new_device(state);
	}
}

static struct auxtrace_recording *cut_recording;
static uint64_t cut_time;
static unsigned int cuts_told;

static void take_slot_now(unsigned int cpu, struct auxtrace_cut *cut)
{
	/* CPU 0 goes on until the last one has its cut. */
	take_slot(cpu, cut);
	cut->time = cut_time = __builtin_ia32_rdtsc();
	fake.release.slot = 77;
}

/*
 * Between the cut and what is read: an exec in the trace, and one after it, which is reported only when
 * all processes have been read.
 */
static void tell_execs(void *arg)
{
	assert_ptr_equal(arg, &cuts_told);
	assert_int_equal(fake.release.slot, 77);
	if (!cuts_told++) {
		fake.cr3 = 0x2000;
		assert_int_equal(auxtrace_recording_exec_task(cut_recording, 0, cut_time - 1), 0);
		fake.cr3 = 0x3000;
	} else {
		assert_int_equal(auxtrace_recording_exec_task(cut_recording, 0, cut_time + 1), 0);
	}
}

/* The trace has been written. */
static void exec_again(void)
{
	fake.cr3 = 0x4000;
}

static void a_snapshot_has_the_tasks_of_its_cut(void **state)
{
	struct auxtrace_recording *rec;
	uint64_t first_cut;
	char task[40];

	(void)state;
	set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_DATA_OVERWRITE, 2);
	fake.on_snapshot = take_slot_now;
	fake.on_release = exec_again;
	cut_recording = rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	fake.cr3 = 0x1000;
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	cuts_told = 0;
	auxtrace_recording_on_cut(rec, tell_execs, &cuts_told);
	next_slot = 1;
	assert_int_equal(auxtrace_recording_snapshot(rec), 1);
	assert_int_equal(cuts_told, 2);
	first_cut = cut_time;
	fake.on_release = NULL;
	auxtrace_recording_on_cut(rec, NULL, NULL);
	assert_int_equal(auxtrace_recording_add_task(rec, 0), 0);
	next_slot = 0;
	assert_int_equal(auxtrace_recording_snapshot(rec), 2);
	assert_int_equal(cuts_told, 2);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);

	snprintf(task, sizeof(task), "snapshot.0001/task.%d", getpid());
	assert_int_equal(number_in(task, "\ncr3 "), 0x1000);
	assert_int_equal(number_in(task, "\nend_tsc "), first_cut - 1);
	snprintf(task, sizeof(task), "snapshot.0001/task.%d.1", getpid());
	assert_int_equal(number_in(task, "\ncr3 "), 0x2000);
	assert_int_equal(number_in(task, "\nbegin_tsc "), first_cut - 1);
	/* What began after the cut is in the next one. */
	assert_false(exists(named("snapshot.0001/task.%d.2", getpid())));
	assert_false(exists(named("snapshot.0001/vdso.%d.2", getpid())));
	assert_int_equal(number_in(named("snapshot.0002/task.%d.2", getpid()), "\ncr3 "), 0x3000);
	/* That was not reported: it may have been before the cut. */
	assert_false(exists(named("snapshot.0001/task.%d.3", getpid())));
	assert_int_equal(number_in(named("snapshot.0002/task.%d.3", getpid()), "\ncr3 "), 0x4000);
	for (int i = 1; i <= 3; i++) {
		assert_int_equal(number_in(named("task.%d.%d", getpid(), i), "\ncr3 "), 0x1000 * (i + 1));
	}
}

/* CPUs are not paused for as long as it takes to read all processes. */
static void is_read_after_the_resume(void)
{
	assert_int_equal(fake.control_cpus[0], 1);
}

/* CPU 1 was paused, and its records, before the snapshot. */
static void without_slots_a_snapshot_pauses_and_resumes_who_ran(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_DATA_OVERWRITE, 0);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	produce(0, 100);
	fake.channel[1].status->inhibit = AUXTRACE_INHIBIT_USER;
	fake.channel[1].status->data_paused = 1;
	fake.on_task = is_read_after_the_resume;
	assert_int_equal(auxtrace_recording_snapshot(rec), 1);
	fake.on_task = NULL;
	assert_true(exists(named("snapshot.0001/task.%d", getpid())));
	assert_int_equal(fake.snapshot.flags, AUXTRACE_SNAPSHOT_PAUSE);
	assert_int_equal(fake.control_cpus[0], 1);
	assert_int_equal(fake.output_cpus[0], 1);
	assert_int_equal(fake.output.pause, 0);
	expect_aux_behind("snapshot.0001/", 0, 0, 100, 0);
	/* User code only. */
	assert_false(exists("kallsyms"));
	assert_false(exists("snapshot.0001/kallsyms"));
	/* Frozen by a trigger: it is for the user to end that. */
	fake.control_cpus[0] = 0;
	for (unsigned int cpu = 0; cpu < 2; cpu++) {
		fake.channel[cpu].status->inhibit = AUXTRACE_INHIBIT_FROZEN;
		fake.channel[cpu].status->data_paused = 2;
	}
	assert_int_equal(auxtrace_recording_snapshot(rec), 2);
	assert_int_equal(fake.snapshot.flags, 0);
	assert_int_equal(fake.control_cpus[0], 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
}

/* Its bit is the last one of a byte. */
static void cpu_7_is_not_resumed_if_it_was_paused(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	rec = new_recording("0,7", AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE);
	fake.channel[7].status->inhibit = AUXTRACE_INHIBIT_USER;
	assert_int_equal(auxtrace_recording_snapshot(rec), 1);
	assert_int_equal(fake.control_cpus[0], 1);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
}

/* The snapshot would not know which CPUs to resume, so it pauses none. */
static void a_status_page_that_cannot_be_read_is_told(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_DATA_OVERWRITE, 0);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	fake.clock_step = 1;
	fake.channel[1].status->seq = 1;
	fails(EAGAIN, auxtrace_recording_snapshot(rec));
	says("the status page of CPU 1 stays inconsistent");
	fake.clock_step = 0;
	assert_int_equal(fake.snapshot.size, 0);
	fake.channel[1].status->seq = 2;
	assert_int_equal(auxtrace_recording_snapshot(rec), 1);
	auxtrace_recording_abort(rec);
}

/* All processes have ended, so every allocation is the snapshot's own. */
static void each_of_its_own_allocations_may_fail(void **state)
{
	for (uint32_t slots = 0; slots < 4; slots += 2) {
		int ret = -1, failed = 0;

		for (int n = 1; ret < 0; n++, new_device(state)) {
			struct auxtrace_recording *rec;

			set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE |
				    AUXTRACE_SETUP_DATA_OVERWRITE, slots);
			rec = auxtrace_recording_create(session, dir);
			assert_non_null(rec);
			write_record(0, 1);
			fake.task_errno = ESRCH;
			fake.fail_alloc = n;
			fail_forget();
			errno = 0;
			ret = auxtrace_recording_snapshot(rec);
			if (ret < 0) {
				assert_int_equal(errno, ENOMEM);
				says("memory");
				assert_false(exists("snapshot.0001"));
				failed++;
			}
			/* A snapshot succeeds only if it makes fewer allocations. */
			assert_int_equal(fake.fail_alloc > 0, ret == 1);
			auxtrace_recording_abort(rec);
			auxtrace_close(session);
			session = NULL;
		}
		assert_true(failed > 3);
	}
}

/* If all CPUs were paused before, RESUME is not called. */
static void who_ran_is_resumed_and_nobody_else(void **state)
{
	struct auxtrace_recording *rec;

	set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_DATA_OVERWRITE, 0);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	fake.fail.err = EIO;
	fake.fail.nr = AUXTRACE_IOC_PAUSE_OUTPUT;
	fails(EIO, auxtrace_recording_snapshot(rec));
	says("PAUSE_OUTPUT");
	fake.fail.nr = AUXTRACE_IOC_RESUME;
	fails(EIO, auxtrace_recording_snapshot(rec));
	says("RESUME");
	/* Both would fail. */
	fake.channel[0].status->inhibit = fake.channel[1].status->inhibit = AUXTRACE_INHIBIT_USER;
	assert_int_equal(auxtrace_recording_snapshot(rec), 1);
	fake.fail.nr = AUXTRACE_IOC_PAUSE_OUTPUT;
	fake.channel[0].status->data_paused = fake.channel[1].status->data_paused = 1;
	assert_int_equal(auxtrace_recording_snapshot(rec), 2);
	auxtrace_recording_abort(rec);
	auxtrace_close(session);
	/* Without data rings there is no output. */
	new_device(state);
	set_up("0,1", AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	fake.fail.err = EIO;
	fake.fail.nr = AUXTRACE_IOC_PAUSE_OUTPUT;
	assert_int_equal(auxtrace_recording_snapshot(rec), 1);
	auxtrace_recording_abort(rec);
}

static void break_ring(unsigned int cpu, struct auxtrace_cut *cut)
{
	static const uint8_t nothing[16];

	if (cpu)
		return;
	write_bytes(0, nothing, sizeof(nothing));
	cut->data_end = fake.channel[0].status->data_head;
}

static void leave_letter(unsigned int cpu, struct auxtrace_cut *cut)
{
	char path[128];

	(void)cpu;
	(void)cut;
	snprintf(path, sizeof(path), "%s/snapshot.0001/letter", dir);
	close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

/* Somebody else writes into its directory, which cannot be removed then. */
static void why_a_snapshot_failed_is_told_whatever_cannot_be_removed(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	fake.no_uring = true;
	set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE, 2);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	produce_in_slot(0, 100);
	fake.on_snapshot = leave_letter;
	fake.write_errno = EDQUOT;
	fails(EDQUOT, auxtrace_recording_snapshot(rec));
	says("/cpu0.aux: Disk quota exceeded");
	assert_true(exists("snapshot.0001/letter"));
	auxtrace_recording_abort(rec);
}

static void a_snapshot_that_cannot_be_written_is_told(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	need_direct();
	set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_DATA_OVERWRITE, 0);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	for (uint64_t end = 100; end <= SIZE + 100; end += SIZE) {
		produce(0, end);
		fake.channel[0].status->slot_begin = end - 100;
		fake.write_errno = EDQUOT;
		fails(EDQUOT, auxtrace_recording_snapshot(rec));
		says("/cpu0.aux: Disk quota exceeded");
	}
	fake.on_snapshot = break_ring;
	fails(EBADE, auxtrace_recording_snapshot(rec));
	says("no record at position ");
	assert_false(exists("snapshot.0001"));
	auxtrace_recording_abort(rec);
}

static void a_snapshot_that_fails_leaves_no_directory_and_all_goes_on(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE, 2);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	fake.fail.nr = AUXTRACE_IOC_SNAPSHOT;
	fake.fail.err = ENOSPC;
	fails(ENOSPC, auxtrace_recording_snapshot(rec));
	says("holds a snapshot");
	assert_false(exists("snapshot.0001"));
	fake.fail.err = 0;
	/* Each open of a snapshot may fail: of its directory, twice to clear it, of a file for each CPU. */
	for (int n = 1; n <= 5; n++) {
		fake.fail_open = n;
		fails(EMFILE, auxtrace_recording_snapshot(rec));
		assert_int_equal(fake.fail_open, 0);
		assert_false(exists("snapshot.0001"));
	}
	/* The slot is released also if it cannot be written. */
	fake.channel[0].status->running = 1;
	fails(EBUSY, auxtrace_recording_snapshot(rec));
	assert_int_equal(fake.released, 0);
	assert_false(exists("snapshot.0001"));
	fake.channel[0].status->running = 0;
	/* It is written, but its slot is lost. */
	fake.fail.nr = AUXTRACE_IOC_RELEASE;
	fake.fail.err = EIO;
	fails(EIO, auxtrace_recording_snapshot(rec));
	says("RELEASE failed");
	fake.fail.err = 0;
	assert_int_equal(auxtrace_recording_snapshot(rec), 1);
	auxtrace_recording_abort(rec);
	assert_int_equal(rmdir(dir), 0);
}

static void take_wrong_cpu(unsigned int cpu, struct auxtrace_cut *cut)
{
	if (cpu)
		cut->cpu = 7;
}

static void expect_first_cut_written(void)
{
	expect_aux_behind("snapshot.0001/", 0, 0, 100, 0);
}

/*
 * Of CPU 1 the module returns no cut: what CPU 0 has is in the file nevertheless when its slot is
 * released, as the writer still has these pages.
 */
static void a_cut_of_another_cpu_fails_and_what_is_in_flight_is_written(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE, 2);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	produce_in_slot(0, 100);
	fake.on_snapshot = take_wrong_cpu;
	fake.on_release = expect_first_cut_written;
	fails(EBADE, auxtrace_recording_snapshot(rec));
	says("a cut of CPU 7 in place of CPU 1");
	assert_int_equal(fake.released, 0);
	assert_false(exists("snapshot.0001"));
	fake.on_release = NULL;
	fake.on_snapshot = NULL;
	assert_int_equal(auxtrace_recording_snapshot(rec), 1);
	auxtrace_recording_abort(rec);
}

/* The write of CPU 0's cut, which was queued before, fails as well. */
static void why_a_snapshot_failed_is_told_whatever_cannot_be_written(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	fake.no_uring = true;
	set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE, 2);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	produce_in_slot(0, 100);
	fake.on_snapshot = take_wrong_cpu;
	fake.write_errno = ENOSPC;
	fails(EBADE, auxtrace_recording_snapshot(rec));
	says("a cut of CPU 7 in place of CPU 1");
	/* The write was tried. */
	assert_int_equal(fake.write_errno, 0);
	assert_int_equal(fake.released, 0);
	auxtrace_recording_abort(rec);
}

/* A flight recorder's life, with one snapshot. 0, or -1 with what is left put away. */
static int fly(void)
{
	struct auxtrace_options o = {
		.size = sizeof(o), .cpus = "0,1", .config = "tsc", .aux_size = 2 * SIZE,
		.flags = AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE |
			 AUXTRACE_SETUP_DATA_OVERWRITE, .data_size = 2 * PAGE, .slots = 2,
	};
	struct auxtrace_recording *rec = NULL;
	struct auxtrace_totals totals;
	int ret = -1;

	session = auxtrace_open(NULL);
	if (!session || auxtrace_setup(session, &o))
		goto out;
	fake.on_snapshot = take_slot;
	next_slot = 1;
	rec = auxtrace_recording_create(session, dir);
	if (!rec)
		goto out;
	produce_in_slot(0, SIZE + 5);
	write_record(0, 1);
	if (auxtrace_recording_add_task(rec, getpid()))
		goto out;
	ret = auxtrace_recording_snapshot(rec);
	if (ret != 1) {
		assert_int_equal(ret, -1);
		goto out;
	}
	produce_in_slot(1, 7);
	/* It ends the recording, whatever it returns. */
	ret = auxtrace_recording_finish(rec, &totals);
	rec = NULL;
	assert_true(ret == 0 || ret == -1);
out:
	if (rec)
		auxtrace_recording_abort(rec);
	auxtrace_close(session);
	session = NULL;
	return ret;
}

/* Whatever allocation fails, that is told, and nothing stays open. */
static void each_allocation_that_fails_is_told(void **state)
{
	int failed = 0;

	/* The first ones each; of the many for all processes of this machine, some. */
	for (int n = 1; ; n += n < 40 ? 1 : n / 2) {
		fake.fail_alloc = n;
		fail_forget();
		errno = 0;
		if (!fly())
			break;
		assert_int_equal(fake.fail_alloc, 0);
		assert_int_equal(errno, ENOMEM);
		says("memory");
		failed++;
		new_device(state);
	}
	/* There are no more than that. */
	assert_true(fake.fail_alloc > 0);
	assert_true(failed > 10);
}

/* Likewise for files that are written, and directories. */
static void each_file_that_cannot_be_opened_is_told(void **state)
{
	int failed = 0;

	for (int n = 1; ; n += n < 40 ? 1 : n / 2) {
		int ret;

		fake.fail_open = n;
		fail_forget();
		errno = 0;
		ret = fly();
		if (fake.fail_open > 0) {
			assert_int_equal(ret, 0);
			break;
		}
		assert_int_equal(ret, -1);
		assert_int_equal(errno, EMFILE);
		says("open files");
		failed++;
		new_device(state);
	}
	assert_true(failed > 10);
}

/* But of cpuN.data, which are flushed before: two of the snapshot, two of the recording. */
static void a_disk_that_is_full_at_the_end_is_told(void **state)
{
	int failed = 0, untold = 0;

	for (int n = 1; ; n += n < 40 ? 1 : n / 2) {
		int ret;

		fake.fail_close = n;
		fail_forget();
		errno = 0;
		ret = fly();
		if (fake.fail_close > 0) {
			assert_int_equal(ret, 0);
			break;
		}
		if (ret) {
			assert_int_equal(errno, ENOSPC);
			says("No space left on device");
			failed++;
		} else {
			untold++;
		}
		new_device(state);
	}
	assert_true(failed > 3);
	assert_true(untold <= 4);
}

static void a_full_trace_has_no_snapshots(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	rec = new_recording("0", AUXTRACE_SETUP_USER);
	fails(EINVAL, auxtrace_recording_snapshot(rec));
	says("overwrite mode");
	auxtrace_recording_abort(rec);
}

static int open_dir(void)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static uint64_t space(void)
{
	uint64_t bytes = 0;
	int fd = open_dir();

	assert_int_equal(recording_dir_space(fd, dir, &bytes), 0);
	close(fd);
	return bytes;
}

static struct auxtrace_recording *snapshots_of_a_recorder(unsigned int count)
{
	struct auxtrace_recording *rec;

	set_up_data(AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE | AUXTRACE_SETUP_DATA_OVERWRITE, 2);
	fake.on_snapshot = take_slot;
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	for (unsigned int i = 1; i <= count; i++) {
		produce_in_slot(0, 5000);
		produce_in_slot(1, 5000);
		next_slot = i & 1;
		assert_int_equal(auxtrace_recording_snapshot(rec), (int)i);
	}
	return rec;
}

static void the_oldest_snapshots_go_until_a_recording_fits(void **state)
{
	struct auxtrace_recording *rec = snapshots_of_a_recorder(6);
	uint64_t all = space();
	int fd = open_dir();

	(void)state;
	/* The trace alone is two pages for each CPU. */
	assert_true(all >= 6 * 4 * PAGE);
	assert_int_equal(auxtrace_recording_trim(rec, all), 0);
	assert_int_equal(auxtrace_recording_trim(rec, all - 1), 1);
	assert_false(exists("snapshot.0001"));
	assert_true(exists("snapshot.0002/meta"));
	assert_true(space() < all);
	/* What somebody else has removed is not counted, and does not hold up the others. */
	assert_int_equal(renameat(fd, "snapshot.0002", fd, "snapshot.0009"), 0);
	assert_int_equal(auxtrace_recording_trim(rec, space() - 1), 1);
	assert_false(exists("snapshot.0003"));
	assert_true(exists("snapshot.0004/meta"));
	assert_int_equal(renameat(fd, "snapshot.0009", fd, "snapshot.0002"), 0);
	close(fd);
	/* The newest stays. */
	assert_int_equal(auxtrace_recording_trim(rec, 0), 2);
	assert_int_equal(auxtrace_recording_trim(rec, 0), 0);
	assert_true(exists("snapshot.0006/meta"));
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
}

/* The finish writes the trace that the areas hold, which is another snapshot's worth. */
static void a_finished_recording_fits_as_well(void **state)
{
	struct auxtrace_recording *rec = snapshots_of_a_recorder(6);
	struct auxtrace_totals totals;
	uint64_t bound = space();

	(void)state;
	assert_int_equal(auxtrace_recording_trim(rec, bound), 0);
	produce_in_slot(0, 5000);
	produce_in_slot(1, 5000);
	assert_int_equal(auxtrace_recording_finish(rec, &totals), 0);
	assert_true(totals.trimmed >= 1 && totals.trimmed < 6);
	assert_false(exists("snapshot.0001"));
	assert_true(exists("snapshot.0006/meta"));
	assert_true(exists("meta"));
	assert_true(space() <= bound);
}

static void a_finish_that_cannot_remove_all_says_what_it_has_removed(void **state)
{
	struct auxtrace_recording *rec = snapshots_of_a_recorder(6);
	static const char notes[1 << 20];
	struct auxtrace_totals totals;
	int fd;

	(void)state;
	assert_int_equal(auxtrace_recording_trim(rec, space()), 0);
	fd = open(named("%s/snapshot.0002/notes", dir), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, notes, sizeof(notes)), sizeof(notes));
	close(fd);
	fails(ENOTEMPTY, auxtrace_recording_finish(rec, &totals));
	says("notes");
	assert_int_equal(totals.trimmed, 1);
	assert_true(exists("meta"));
	assert_false(exists("snapshot.0001"));
	assert_true(exists("snapshot.0003/meta"));
	unlink(named("%s/snapshot.0002/notes", dir));
}

static void a_recording_without_a_bound_keeps_all_snapshots(void **state)
{
	struct auxtrace_recording *rec = snapshots_of_a_recorder(3);
	struct auxtrace_totals totals;

	(void)state;
	assert_int_equal(auxtrace_recording_finish(rec, &totals), 0);
	assert_int_equal(totals.trimmed, 0);
	assert_true(exists("snapshot.0001/meta"));
}

static void a_snapshot_with_a_file_of_somebody_else_stays(void **state)
{
	struct auxtrace_recording *rec = snapshots_of_a_recorder(3);
	int fd = open(named("%s/snapshot.0001/notes", dir), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	fails(ENOTEMPTY, auxtrace_recording_trim(rec, 0));
	says("notes");
	assert_true(exists("snapshot.0001/meta"));
	assert_true(exists("snapshot.0002/meta"));
	assert_int_equal(unlink(named("%s/snapshot.0001/notes", dir)), 0);
	assert_int_equal(auxtrace_recording_trim(rec, 0), 2);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
}

#define t(f) cmocka_unit_test_setup_teardown(f, begin_recording, end_recording)

int main(void)
{
	const struct CMUnitTest tests[] = {
		t(a_flight_recorder_writes_what_was_put_aside),
		t(a_snapshot_has_the_tasks_of_its_cut),
		t(without_slots_a_snapshot_pauses_and_resumes_who_ran),
		t(cpu_7_is_not_resumed_if_it_was_paused),
		t(a_status_page_that_cannot_be_read_is_told),
		t(each_of_its_own_allocations_may_fail),
		t(who_ran_is_resumed_and_nobody_else),
		t(a_snapshot_that_cannot_be_written_is_told),
		t(why_a_snapshot_failed_is_told_whatever_cannot_be_removed),
		t(a_snapshot_that_fails_leaves_no_directory_and_all_goes_on),
		t(a_cut_of_another_cpu_fails_and_what_is_in_flight_is_written),
		t(why_a_snapshot_failed_is_told_whatever_cannot_be_written),
		t(each_allocation_that_fails_is_told),
		t(each_file_that_cannot_be_opened_is_told),
		t(a_disk_that_is_full_at_the_end_is_told),
		t(a_full_trace_has_no_snapshots),
		t(the_oldest_snapshots_go_until_a_recording_fits),
		t(a_finished_recording_fits_as_well),
		t(a_finish_that_cannot_remove_all_says_what_it_has_removed),
		t(a_recording_without_a_bound_keeps_all_snapshots),
		t(a_snapshot_with_a_file_of_somebody_else_stays),
	};

	return cmocka_run_group_tests_name("userlib snapshot", tests, NULL, NULL);
}
