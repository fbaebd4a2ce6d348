// SPDX-License-Identifier: GPL-2.0-only
#include "recording_case.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static void write_a_full_trace_directly(const char *how)
{
	struct auxtrace_recording *rec;
	struct auxtrace_totals totals;
	uint64_t at = 0;

	rec = new_recording("0,2", AUXTRACE_SETUP_USER);
	for (unsigned int i = 0; i < 40; i++) {
		uint64_t tail = fake.channel[0].user->aux_tail;

		at += 100 + 31 * i;
		produce(0, at);
		produce(2, at / PAGE * PAGE);
		/* Whole pages of both, and no more. */
		assert_true(auxtrace_recording_drain(rec) >= 0);
		assert_int_equal(fake.channel[0].user->aux_tail, at / PAGE * PAGE);
		assert_int_equal(fake.channel[2].user->aux_tail, at / PAGE * PAGE);
		assert_true(fake.channel[0].user->aux_tail >= tail);
	}
	assert_true(at % PAGE);
	assert_int_equal(auxtrace_recording_finish(rec, &totals), 0);
	expect_aux(0, 0, at);
	expect_aux(2, 0, at / PAGE * PAGE);
	assert_int_equal(totals.read, totals.produced);
	expect_in("meta", how);
}

static void whole_pages_are_written_from_the_area_itself(void **state)
{
	(void)state;
	need_direct();
	write_a_full_trace_directly("\naux_write direct ");
}

/* A recording of CPU 0, whose area holds @end bytes: each page begins with its position, and 1. */
static struct auxtrace_recording *new_large_recording(uint64_t end)
{
	struct auxtrace_options o = {
		.size = sizeof(o), .cpus = "0", .config = "tsc", .aux_size = 128ul << 20,
		.flags = AUXTRACE_SETUP_USER,
	};
	struct auxtrace_recording *rec;
	uint64_t *aux;

	session = auxtrace_open(NULL);
	assert_non_null(session);
	assert_int_equal(auxtrace_setup(session, &o), 0);
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	aux = (uint64_t *)fake.channel[0].aux;
	for (uint64_t p = 0; p < end; p += PAGE)
		aux[p / sizeof(*aux)] = p + 1;
	fake.channel[0].status->produced = end;
	return rec;
}

/* Its writes are more than may be in flight at once. */
static void an_area_larger_than_all_writes_in_flight_is_written_whole(void **state)
{
	const uint64_t end = (65ul << 20) + 3 * PAGE;
	struct auxtrace_recording *rec = new_large_recording(end);
	char *data;
	size_t size;

	(void)state;
	assert_int_equal(auxtrace_recording_drain(rec), end);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	data = slurp("cpu0.aux", &size);
	assert_int_equal(size, end);
	assert_memory_equal(data, fake.channel[0].aux, size);
	free(data);
}

/* The queue is full, so its writes are made before the rest is queued. */
static void a_write_that_fails_before_all_are_queued_is_told(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	fake.no_uring = true;
	rec = new_large_recording(65ul << 20);
	fake.write_errno = EDQUOT;
	fails(EDQUOT, auxtrace_recording_drain(rec));
	says("/cpu0.aux: Disk quota exceeded");
	assert_int_equal(fake.channel[0].user->aux_tail, 0);
	auxtrace_recording_abort(rec);
}

static void without_io_uring_pwrite_does_it(void **state)
{
	(void)state;
	need_direct();
	fake.no_uring = true;
	write_a_full_trace_directly("\naux_write direct pwrite (io_uring: Function not implemented)\n");
}

static void a_write_that_was_short_is_completed(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	need_uring();
	need_direct();
	rec = new_recording("0", AUXTRACE_SETUP_USER);
	fake.uring_writes = 5;
	for (int n = 1; n <= 6; n++) {
		produce(0, n * SIZE);
		assert_int_equal(auxtrace_recording_drain(rec), SIZE);
	}
	assert_int_equal(fake.uring_writes, 0);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_aux(0, 0, 6 * SIZE);
	expect_in("meta", "\naux_write direct io_uring\n");
}

static void a_submission_that_was_interrupted_is_made_again(void **state)
{
	static const int again[] = { EINTR, EAGAIN, EBUSY };

	need_uring();
	for (unsigned int i = 0; i < 3; i++, new_device(state)) {
		need_direct();
		fake.uring_submits = 3;
		fake.uring_errno = again[i];
		write_a_full_trace_directly("\naux_write direct io_uring\n");
		assert_int_equal(fake.uring_submits, 0);
		auxtrace_close(session);
		session = NULL;
	}
}

static void a_pwrite_that_was_interrupted_is_made_again(void **state)
{
	(void)state;
	need_direct();
	fake.no_uring = true;
	fake.write_errno = EINTR;
	write_a_full_trace_directly("\naux_write direct pwrite ");
	assert_int_equal(fake.write_errno, 0);
}

/* Of whole pages, and of parts of pages at either end. */
static void a_write_that_fails_is_told(void **state)
{
	static const struct {
		uint32_t flags;
		uint64_t produced;
	} cases[] = {
		{ 0, 100 }, { 0, PAGE }, { 0, PAGE + 100 }, { AUXTRACE_SETUP_OVERWRITE, 100 },
		{ AUXTRACE_SETUP_OVERWRITE, SIZE }, { AUXTRACE_SETUP_OVERWRITE, SIZE + 100 },
	};

	for (unsigned int i = 0; i < 12; i++, new_device(state)) {
		struct auxtrace_recording *rec;
		bool nothing = i % 2;

		need_direct();
		fake.no_uring = true;
		rec = new_recording("0", AUXTRACE_SETUP_USER | cases[i / 2].flags);
		produce(0, cases[i / 2].produced);
		fake.write_nothing = nothing;
		fake.write_errno = nothing ? 0 : EDQUOT;
		fails(nothing ? EIO : EDQUOT, auxtrace_recording_finish(rec, NULL));
		says(nothing ? "/cpu0.aux: no progress" : "/cpu0.aux: Disk quota exceeded");
		assert_false(exists("meta"));
		auxtrace_close(session);
		session = NULL;
	}
}

/* It is not used again: what it had taken is written once more, in order. */
static void a_ring_that_fails_is_replaced_by_pwrite(void **state)
{
	(void)state;
	need_direct();
	need_uring();
	fake.uring_submits = 3;
	write_a_full_trace_directly("\naux_write direct pwrite (io_uring: it failed during the recording)\n");
	assert_int_equal(fake.uring_submits, 0);
}

static void a_file_system_without_o_direct_is_noted(void **state)
{
	struct auxtrace_recording *rec;

	(void)state;
	rec = new_recording("0", AUXTRACE_SETUP_USER);
	produce(0, 100);
	assert_int_equal(auxtrace_recording_drain(rec), 100);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_in("meta", "\naux_write plain (O_DIRECT: Invalid argument)\n");
	expect_aux(0, 0, 100);
}

/* It takes the flag at open and refuses the write. */
static void a_write_that_is_refused_is_made_plainly(void **state)
{
	struct auxtrace_recording *rec;
	uint64_t at = 0;

	(void)state;
	need_direct();
	rec = new_recording("0", AUXTRACE_SETUP_USER);
	produce(0, at = PAGE + 7);
	assert_int_equal(auxtrace_recording_drain(rec), PAGE);
	fake.refuse_direct = true;
	produce(0, at += PAGE);
	assert_int_equal(auxtrace_recording_drain(rec), PAGE);
	produce(0, at += 1234);
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
	expect_aux(0, 0, at);
	expect_in("meta", "\naux_write plain (O_DIRECT: Invalid argument)\n");
}

/* The last page is written whole, then cut to what is in it. */
static void a_file_that_cannot_be_cut_is_told(void **state)
{
	struct auxtrace_recording *rec;
	char message[160];
	int sealed;

	(void)state;
	need_direct();
	rec = new_recording("0", AUXTRACE_SETUP_USER);
	sealed = memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	assert_return_code(sealed, errno);
	assert_return_code(fcntl(sealed, F_ADD_SEALS, F_SEAL_SHRINK), errno);
	assert_return_code(dup2(sealed, descriptor_of("cpu0.aux")), errno);
	close(sealed);
	produce(0, 100);
	fails(EPERM, auxtrace_recording_finish(rec, NULL));
	snprintf(message, sizeof(message), "cannot cut %s/cpu0.aux: Operation not permitted", dir);
	says(message);
	assert_false(exists("meta"));
}

static void an_overwritten_area_that_begins_within_a_page_is_padded(void **state)
{
	static const uint64_t ends[] = { 3 * SIZE + 123, 3 * SIZE, 3 * SIZE - 1, 77, PAGE, PAGE + 1, 0 };

	need_direct();
	for (unsigned int i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		uint64_t begin = ends[i] > SIZE ? ends[i] - SIZE : 0;
		struct auxtrace_recording *rec;
		struct auxtrace_totals totals;
		char text[64];

		rec = new_recording("1", AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE);
		produce(1, ends[i]);
		assert_int_equal(auxtrace_recording_finish(rec, &totals), 0);
		expect_aux_behind("", 1, begin, ends[i], begin % PAGE);
		assert_int_equal(totals.produced, totals.read + totals.overwritten);
		snprintf(text, sizeof(text), "cpu 1 begin %lu read %lu%s", begin, ends[i] - begin,
			 begin % PAGE ? " pad " : " produced");
		expect_in("meta", text);
		auxtrace_close(session);
		session = NULL;
		fake_end(state);
		fake_new(state);
	}
}

static void a_trace_whose_file_is_descriptor_0_is_written_and_closed(void **state)
{
	int input = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3), ret, left;
	struct auxtrace_recording *rec;

	(void)state;
	assert_return_code(input, errno);
	set_up("0", AUXTRACE_SETUP_USER);
	fake.descriptor_0 = "cpu0.aux";
	rec = auxtrace_recording_create(session, dir);
	assert_non_null(rec);
	produce(0, 100);
	ret = auxtrace_recording_finish(rec, NULL);
	left = fcntl(STDIN_FILENO, F_GETFD);
	assert_return_code(dup2(input, STDIN_FILENO), errno);
	close(input);
	assert_int_equal(ret, 0);
	assert_int_equal(left, -1);
	expect_aux(0, 0, 100);
}

#define t(f) cmocka_unit_test_setup_teardown(f, begin_recording, end_recording)

int main(void)
{
	const struct CMUnitTest tests[] = {
		t(a_trace_whose_file_is_descriptor_0_is_written_and_closed),
		t(whole_pages_are_written_from_the_area_itself),
		t(an_area_larger_than_all_writes_in_flight_is_written_whole),
		t(a_write_that_fails_before_all_are_queued_is_told),
		t(without_io_uring_pwrite_does_it),
		t(a_ring_that_fails_is_replaced_by_pwrite),
		t(a_submission_that_was_interrupted_is_made_again),
		t(a_pwrite_that_was_interrupted_is_made_again),
		t(a_write_that_fails_is_told),
		t(a_write_that_was_short_is_completed),
		t(a_file_system_without_o_direct_is_noted),
		t(a_write_that_is_refused_is_made_plainly),
		t(a_file_that_cannot_be_cut_is_told),
		t(an_overwritten_area_that_begins_within_a_page_is_padded),
	};

	return cmocka_run_group_tests_name("userlib aux file", tests, NULL, NULL);
}
