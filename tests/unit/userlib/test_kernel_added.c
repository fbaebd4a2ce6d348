// SPDX-License-Identifier: GPL-2.0-only
/* Code that the kernel generates while it is recorded, and that may be gone at the end: the file kcore.added. */
#include "kernel_case.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#include "userlib/kernel_added.h"

/* Where BPF's memory is, and no program at first. */
#define HERE	(MODULES + 0x15 * PAGE)
#define AREA	0x20000u	/* bytes of the modules' area */

struct line {
	uint64_t address, begin, end, read;
	char bytes[64], name[64];
};

/* The lines of a kcore.added. Returns their number. */
static unsigned int lines_of(const char *name, struct line *line, unsigned int most)
{
	size_t size;
	char *text = exists(name) ? slurp(name, &size) : NULL, *at = text, *end;
	unsigned int n = 0;

	for (; at && at < text + size; at = end + 1, n++) {
		end = memchr(at, '\n', text + size - at);
		assert_non_null(end);
		*end = 0;
		if (n < most)
			assert_int_equal(sscanf(at, "added %" SCNx64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %63s %63s",
						&line[n].address, &line[n].begin, &line[n].end, &line[n].read,
						line[n].bytes, line[n].name), 6);
	}
	free(text);
	return n;
}

static void finish(struct auxtrace_recording *rec)
{
	assert_int_equal(auxtrace_recording_finish(rec, NULL), 0);
}

static void code_that_is_gone_is_recorded_as_it_was_read(void **state)
{
	struct auxtrace_recording *rec = kernel_recording();
	uint64_t begin = __rdtsc(), behind, end;
	struct line line;

	(void)state;
	patch(HERE + 8, "\x55\xc3\x90", 3);
	assert_int_equal(auxtrace_recording_add_kernel_code(rec, begin, HERE + 8, 3, "bpf_prog_1_x"), 0);
	behind = __rdtsc();
	patch(HERE + 8, "\xcc\xcc\xcc", 3);
	end = __rdtsc();
	assert_int_equal(auxtrace_recording_end_kernel_code(rec, end, HERE + 8), 0);
	finish(rec);
	assert_int_equal(lines_of("kcore.added", &line, 1), 1);
	assert_int_equal(line.address, HERE + 8);
	assert_int_equal(line.begin, begin);
	assert_int_equal(line.end, end);
	assert_in_range(line.read, begin, behind);
	assert_string_equal(line.bytes, "55c390");
	assert_string_equal(line.name, "bpf_prog_1_x");
}

static void what_is_there_at_the_end_has_no_end(void **state)
{
	struct auxtrace_recording *rec = kernel_recording();
	uint64_t before = __rdtsc();
	struct line line;

	(void)state;
	assert_int_equal(auxtrace_recording_add_kernel_code(rec, 0, HERE, 2, "with a blank"), 0);
	finish(rec);
	assert_int_equal(lines_of("kcore.added", &line, 1), 1);
	assert_in_range(line.begin, before, line.read);
	assert_int_equal(line.end, 0);
	expect_in("kcore.added", " cccc with a blank\n");
}

/* By then the memory may have had other code. */
static void what_was_read_too_late_is_dropped(void **state)
{
	struct auxtrace_recording *rec = kernel_recording();
	uint64_t begin = __rdtsc(), end = __rdtsc();

	(void)state;
	assert_int_equal(auxtrace_recording_add_kernel_code(rec, begin, HERE, 4, "late"), 0);
	fails(ENOENT, auxtrace_recording_end_kernel_code(rec, end, HERE));
	says("nothing was read while it was there");
	finish(rec);
	assert_false(exists("kcore.added"));
}

static void an_end_of_what_nobody_has_reported_is_told(void **state)
{
	struct auxtrace_recording *rec = kernel_recording();

	(void)state;
	fails(ENOENT, auxtrace_recording_end_kernel_code(rec, 0, HERE));
	assert_int_equal(auxtrace_recording_add_kernel_code(rec, 0, HERE, 4, "here"), 0);
	fails(ENOENT, auxtrace_recording_end_kernel_code(rec, 0, HERE + 1));
	assert_int_equal(auxtrace_recording_end_kernel_code(rec, 0, HERE), 0);
	fails(ENOENT, auxtrace_recording_end_kernel_code(rec, 0, HERE));
	finish(rec);
}

/* The kernel reports a trampoline before it has written it. */
static void a_second_reading_counts_if_it_differs(void **state)
{
	struct auxtrace_recording *rec = kernel_recording();
	uint64_t begin = __rdtsc(), end;
	struct line line[2];

	(void)state;
	for (int i = 0; i < 2; i++)
		assert_int_equal(auxtrace_recording_add_kernel_code(rec, begin, HERE, 2, "x"), 0);
	patch(HERE, "\x90\xc3", 2);
	for (int i = 0; i < 2; i++)
		assert_int_equal(auxtrace_recording_add_kernel_code(rec, begin, HERE, 2, "x"), 0);
	end = __rdtsc();
	assert_int_equal(auxtrace_recording_end_kernel_code(rec, end, HERE), 0);
	finish(rec);
	assert_int_equal(lines_of("kcore.added", line, 2), 2);
	assert_string_equal(line[0].bytes, "cccc");
	assert_string_equal(line[1].bytes, "90c3");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(line[i].begin, begin);
		assert_int_equal(line[i].end, end);
	}
	assert_true(line[0].read < line[1].read);
}

/* perf has lost that it was gone. */
static void new_code_at_an_address_ends_the_old(void **state)
{
	struct auxtrace_recording *rec = kernel_recording();
	struct line line[2];
	uint64_t second;

	(void)state;
	assert_int_equal(auxtrace_recording_add_kernel_code(rec, 0, HERE, 2, "first"), 0);
	second = __rdtsc();
	assert_int_equal(auxtrace_recording_add_kernel_code(rec, second, HERE, 2, "second"), 0);
	finish(rec);
	assert_int_equal(lines_of("kcore.added", line, 2), 2);
	assert_string_equal(line[0].name, "first");
	assert_int_equal(line[0].end, second);
	assert_int_equal(line[1].begin, second);
	assert_int_equal(line[1].end, 0);
}

static void a_snapshot_has_what_came_until_then(void **state)
{
	struct auxtrace_recording *rec = kernel_flight();
	struct line line[2];

	(void)state;
	assert_int_equal(auxtrace_recording_add_kernel_code(rec, 0, HERE, 2, "first"), 0);
	assert_int_equal(auxtrace_recording_snapshot(rec), 1);
	assert_int_equal(auxtrace_recording_end_kernel_code(rec, 0, HERE), 0);
	assert_int_equal(auxtrace_recording_add_kernel_code(rec, 0, HERE + 64, 2, "second"), 0);
	finish(rec);
	assert_int_equal(lines_of("snapshot.0001/kcore.added", line, 2), 1);
	assert_int_equal(line[0].end, 0);
	assert_int_equal(lines_of("kcore.added", line, 2), 2);
	assert_true(line[0].end);
	assert_string_equal(line[1].name, "second");
}

static void what_cannot_be_read_says_why(void **state)
{
	struct auxtrace_recording *rec = kernel_recording();

	(void)state;
	fails(EINVAL, auxtrace_recording_add_kernel_code(rec, 1, HERE, 0, "empty"));
	fails(EINVAL, auxtrace_recording_add_kernel_code(rec, 1, HERE, ADDED_LIMIT + 1, "large"));
	fails(EINVAL, auxtrace_recording_add_kernel_code(rec, 1, 0x400000, 16, "user"));
	says("16 bytes at 0x400000 are no code of the kernel");
	fails(EINVAL, auxtrace_recording_add_kernel_code(rec, 1, -8ull, 16, "wraps"));
	fails(EINVAL, auxtrace_recording_add_kernel_code(rec, 1, HERE, 16, "two\nlines"));
	fails(EFAULT, auxtrace_recording_add_kernel_code(rec, 1, MODULES + AREA - 8, 16, "beyond"));
	fails(EFAULT, auxtrace_recording_add_kernel_code(rec, 1, MODULES - 8, 16, "before"));
	fails(EFAULT, auxtrace_recording_add_kernel_code(rec, 1, 0xffffc90000000000, 16, "elsewhere"));
	says("/proc/kcore does not have the 16 bytes at 0xffffc90000000000");
	fake.kcore_errno = EPERM;
	fails(EPERM, auxtrace_recording_add_kernel_code(rec, 1, HERE, 16, "closed"));
	fake.kcore_errno = 0;
	finish(rec);
	assert_false(exists("kcore.added"));
}

static void without_memory_nothing_is_added(void **state)
{
	struct auxtrace_recording *rec = kernel_recording();
	struct line line;

	(void)state;
	for (int n = 1;; n++) {
		int ret;

		fake.fail_alloc = n;
		ret = auxtrace_recording_add_kernel_code(rec, 0, HERE, 16, "x");
		if (fake.fail_alloc) {
			assert_int_equal(ret, 0);
			break;
		}
		assert_int_equal(ret, -1);
		assert_int_equal(errno, ENOMEM);
	}
	fake.fail_alloc = 0;
	finish(rec);
	assert_int_equal(lines_of("kcore.added", &line, 1), 1);
}

static void in_overwrite_mode_what_has_been_gone_for_longest_makes_room(void **state)
{
	const unsigned int fit = ADDED_LIMIT / AREA - 1;
	struct auxtrace_recording *rec = kernel_flight();
	struct line line[2];

	(void)state;
	/* The one that came last is the first to go; one stays. */
	assert_int_equal(auxtrace_recording_add_kernel_code(rec, 0, HERE, 16, "stays"), 0);
	assert_int_equal(auxtrace_recording_add_kernel_code(rec, 0, MODULES, 4, "gone_later"), 0);
	for (unsigned int i = 0; i < fit; i++)
		assert_int_equal(auxtrace_recording_add_kernel_code(rec, 0, MODULES + i + 1, AREA - i - 1, "large"), 0);
	/* There is no room, and nothing gives way: neither for this one, nor if nothing is to be read. */
	fails(ENOSPC, auxtrace_recording_add_kernel_code(rec, 0, MODULES + 100, AREA - 100, "more"));
	for (unsigned int i = fit; i--;)
		assert_int_equal(auxtrace_recording_end_kernel_code(rec, 0, MODULES + i + 1), 0);
	assert_int_equal(auxtrace_recording_end_kernel_code(rec, 0, MODULES), 0);
	fails(EFAULT, auxtrace_recording_add_kernel_code(rec, 0, MODULES - 8, AREA, "nowhere"));
	assert_int_equal(auxtrace_recording_add_kernel_code(rec, 0, MODULES + 100, AREA - 100, "more"), 0);
	finish(rec);
	assert_int_equal(lines_of("kcore.added", line, 2), 2 + fit);
	assert_string_equal(line[0].name, "stays");
	assert_string_equal(line[1].name, "gone_later");
	expect_in("kcore.added", " more\n");
}

static void a_full_trace_keeps_what_it_has(void **state)
{
	struct auxtrace_recording *rec = kernel_recording();
	unsigned int n = 0;
	struct line line;

	(void)state;
	while (!auxtrace_recording_add_kernel_code(rec, 0, MODULES, AREA, "x")) {
		assert_int_equal(auxtrace_recording_end_kernel_code(rec, 0, MODULES), 0);
		n++;
	}
	assert_int_equal(errno, ENOSPC);
	says("x is not recorded");
	assert_int_equal(n, ADDED_LIMIT / AREA - 1);
	finish(rec);
	assert_int_equal(lines_of("kcore.added", &line, 1), n);
}

static void the_same_again_needs_no_room(void **state)
{
	struct auxtrace_recording *rec = kernel_flight();
	struct line line;

	(void)state;
	assert_int_equal(auxtrace_recording_add_kernel_code(rec, 5, HERE, 16, "gone"), 0);
	assert_int_equal(auxtrace_recording_end_kernel_code(rec, 0, HERE), 0);
	for (unsigned int i = 0; i < ADDED_LIMIT / AREA - 1; i++)
		assert_int_equal(auxtrace_recording_add_kernel_code(rec, 5, MODULES + i, AREA - i, "large"), 0);
	assert_int_equal(auxtrace_recording_add_kernel_code(rec, 5, MODULES, AREA, "large"), 0);
	finish(rec);
	assert_int_equal(lines_of("kcore.added", &line, 1), ADDED_LIMIT / AREA);
	assert_string_equal(line.name, "gone");
}

int main(void)
{
#define t(test)	cmocka_unit_test_setup_teardown(test, begin_kernel, end_kernel)
	const struct CMUnitTest tests[] = {
		t(code_that_is_gone_is_recorded_as_it_was_read),
		t(what_is_there_at_the_end_has_no_end),
		t(what_was_read_too_late_is_dropped),
		t(an_end_of_what_nobody_has_reported_is_told),
		t(a_second_reading_counts_if_it_differs),
		t(new_code_at_an_address_ends_the_old),
		t(a_snapshot_has_what_came_until_then),
		t(what_cannot_be_read_says_why),
		t(without_memory_nothing_is_added),
		t(in_overwrite_mode_what_has_been_gone_for_longest_makes_room),
		t(a_full_trace_keeps_what_it_has),
		t(the_same_again_needs_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
