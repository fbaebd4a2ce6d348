// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which arguments SETUP accepts: each cause of refusal that the header names, with arguments
 * invalid in that respect only, and after each refusal a valid SETUP of the same file.
 */
#include <errno.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cpu.h"
#include "invariants.h"
#include "machine.h"
#include "module/core/known.h"
#include "setup.h"

/* For a session with a data ring; without one no DATA flag may be set. */
static bool mode_is_valid(uint32_t flags)
{
	const uint32_t full = AUXTRACE_SETUP_FULL_AUTO | AUXTRACE_SETUP_FULL_STOP;

	if (!(flags & (AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL)))
		return false;
	return !(flags & full) ||
	       ((flags & full) != full && !(flags & AUXTRACE_SETUP_OVERWRITE));
}

#define SCOPE	(AUXTRACE_SETUP_THREAD | AUXTRACE_SETUP_PROCESS | AUXTRACE_SETUP_DESCENDANTS | \
		 AUXTRACE_SETUP_ADDRESS_SPACE)

static void setup_accepts_each_valid_mode_and_refuses_every_other_with_EINVAL(void **state)
{
	for (uint32_t flags = 0; flags <= (AUXTRACE_SETUP_ALL & ~SCOPE); flags++) {
		struct session s;

		session_prepare(&s, mode_is_valid(flags) ? all_cpus : one_cpu, flags,
				2 * page_size);
		session_prepare_data(&s, 0, page_size);
		if (mode_is_valid(flags)) {
			session_setup(&s);
			session_close(&s);
		} else {
			s.fd = at_open();
			fail_setup(EINVAL, s.fd, &s.setup);
			at_close(s.fd);
		}
	}
}

static void setup_twice_gives_EEXIST(void **state)
{
	struct session s;

	setup_prepare(&s);
	session_setup(&s);
	fail_setup(EEXIST, s.fd, &s.setup);
	ok_start(s.fd);
	fail_setup(EEXIST, s.fd, &s.setup);
	ok_stop(s.fd);
	check_accounting(&s);
}

static void setup_with_an_empty_cpu_set_gives_EINVAL(void **state)
{
	struct session s;

	setup_prepare(&s);
	s.cpus = 0;
	setup_refuses(EINVAL, &s);
}

static void setup_with_a_cpu_set_of_no_bytes_gives_EINVAL(void **state)
{
	struct session s;

	setup_prepare(&s);
	s.setup.cpus_len = 0;
	setup_refuses(EINVAL, &s);
}

static void setup_with_a_cpu_that_does_not_exist_gives_EINVAL(void **state)
{
	unsigned int ids = at_info().out_nr_cpu_ids;
	struct session s;

	if (ids >= 64)
		skip_test("%u CPUs", ids);
	for (unsigned int cpu = ids; cpu < 64; cpu++) {
		setup_prepare(&s);
		s.cpus |= 1ULL << cpu;
		setup_refuses(EINVAL, &s);
	}
}

static void setup_accepts_a_longer_cpu_set_only_if_the_rest_is_zero(void **state)
{
	uint64_t set[512] = { one_cpu };	/* more bits than any kernel has CPUs */
	struct session s;

	setup_prepare(&s);
	s.setup.cpus = (uintptr_t)set;
	s.setup.cpus_len = sizeof(set);
	setup_ok(&s);
	set[511] = 1ULL << 63;
	setup_refuses(EINVAL, &s);
}

static void setup_accepts_a_cpu_set_of_one_byte(void **state)
{
	uint8_t set[2] = { 1, 0xff };	/* the second is not part of it */
	struct auxtrace_status status;
	struct session s;

	setup_prepare(&s);
	s.setup.cpus = (uintptr_t)set;
	s.setup.cpus_len = 1;
	s.fd = at_open();
	ok_setup(s.fd, &s.setup);
	ok_status(s.fd, 0, &status);
	assert_int_equal(status.out_nr_channels, 1);
}

static void setup_with_a_bad_cpu_set_pointer_gives_EFAULT(void **state)
{
	uint8_t *two = at_guarded_page();
	struct session s;

	setup_prepare(&s);
	s.setup.cpus = 0;
	setup_refuses(EFAULT, &s);
	/* Readable, but not to the end. */
	two[page_size - 1] = 1;
	s.setup.cpus = (uintptr_t)two + page_size - 1;
	setup_refuses(EFAULT, &s);
	munmap(two, 2 * page_size);
}

static void setup_of_an_unknown_pmu_gives_ENODEV(void **state)
{
	struct session s;

	setup_prepare(&s);
	s.setup.pmu = AUXTRACE_PMU_INTEL_BTS + 1;
	setup_refuses(ENODEV, &s);
	s.setup.pmu = UINT32_MAX;
	setup_refuses(ENODEV, &s);
}

static void setup_without_user_and_kernel_gives_EINVAL(void **state)
{
	struct session s;

	setup_prepare(&s);
	s.setup.flags = AUXTRACE_SETUP_PAUSED;
	setup_refuses(EINVAL, &s);
}

static void setup_with_an_aux_size_that_is_not_a_power_of_two_gives_EINVAL(void **state)
{
	const uint64_t sizes[] = { 0, 1, 2, page_size / 2, page_size, 3 * page_size,
				   2 * page_size + 1, 2 * page_size - 1,
				   6 * page_size, UINT64_MAX };
	struct session s;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		setup_prepare(&s);
		s.setup.aux_size = sizes[i];
		setup_refuses(EINVAL, &s);
	}
}

static void setup_accepts_two_pages_as_the_smallest_area(void **state)
{
	struct session s;

	session_open(&s, one_cpu, AUXTRACE_SETUP_USER, 2 * page_size);
	check_accounting(&s);
}

static void setup_beyond_all_memory_gives_ENOMEM(void **state)
{
	const uint64_t sizes[] = { 1ULL << 36, 1ULL << 40, 1ULL << 50, 1ULL << 63 };
	struct session s;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		setup_prepare(&s);
		s.setup.aux_size = sizes[i];
		setup_refuses(ENOMEM, &s);
	}
}

static void setup_accepts_each_valid_watermark(void **state)
{
	const uint64_t marks[] = { 0, page_size, 5 * page_size, SETUP_AUX_SIZE - page_size };
	struct session s;

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		setup_prepare(&s);
		s.setup.aux_watermark = marks[i];
		setup_ok(&s);
	}
}

static void setup_with_a_wrong_watermark_gives_EINVAL(void **state)
{
	const uint64_t marks[] = { 1, page_size - 1, page_size + 1, SETUP_AUX_SIZE, SETUP_AUX_SIZE + page_size,
				   UINT64_MAX, -page_size };
	struct session s;

	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		setup_prepare(&s);
		s.setup.aux_watermark = marks[i];
		setup_refuses(EINVAL, &s);
	}
}

static void setup_with_a_watermark_in_overwrite_mode_gives_EINVAL(void **state)
{
	struct session s;

	setup_prepare(&s);
	s.setup.flags |= AUXTRACE_SETUP_OVERWRITE;
	setup_ok(&s);
	s.setup.aux_watermark = page_size;
	setup_refuses(EINVAL, &s);
}

/* ---- the data ring -------------------------------------------------------- */

#define DATA_SIZE	(16 * 1024)

static void prepare_data(struct session *s, uint32_t flags)
{
	setup_prepare(s);
	session_prepare_data(s, flags, DATA_SIZE);
}

static void setup_with_a_data_size_that_is_not_a_power_of_two_of_pages_gives_EINVAL(void **state)
{
	const uint64_t sizes[] = { 1, 8, page_size / 2, page_size - 1, page_size + 1,
				   page_size + 8, 3 * page_size, 5 * page_size, UINT64_MAX };
	struct session s;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		setup_prepare(&s);
		s.setup.data_size = sizes[i];
		setup_refuses(EINVAL, &s);
	}
	setup_prepare(&s);
	s.setup.data_size = page_size;
	setup_ok(&s);
}

static void setup_of_a_data_ring_beyond_all_memory_gives_ENOMEM(void **state)
{
	const uint64_t sizes[] = { 1ULL << 36, 1ULL << 40, 1ULL << 50, 1ULL << 63 };
	struct session s;

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		setup_prepare(&s);
		s.setup.data_size = sizes[i];
		setup_refuses(ENOMEM, &s);
	}
}

static void setup_accepts_each_data_watermark_below_the_size(void **state)
{
	const uint64_t right[] = { 0, 1, 8, page_size, DATA_SIZE - 1 };
	const uint64_t wrong[] = { DATA_SIZE, DATA_SIZE + 1, 1ULL << 32, UINT64_MAX };
	struct session s;

	for (size_t i = 0; i < sizeof(right) / sizeof(*right); i++) {
		prepare_data(&s, AUXTRACE_SETUP_DATA_BACKWARD);
		s.setup.data_watermark = right[i];
		setup_ok(&s);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		prepare_data(&s, 0);
		s.setup.data_watermark = wrong[i];
		setup_refuses(EINVAL, &s);
	}
}

static void setup_with_a_watermark_of_an_overwritable_data_ring_gives_EINVAL(void **state)
{
	struct session s;

	prepare_data(&s, AUXTRACE_SETUP_DATA_OVERWRITE);
	setup_ok(&s);
	s.setup.data_watermark = 8;
	setup_refuses(EINVAL, &s);
}

static void setup_of_data_ring_options_without_a_data_ring_gives_EINVAL(void **state)
{
	struct session s;

	setup_prepare(&s);
	s.setup.flags |= AUXTRACE_SETUP_DATA_BACKWARD;
	setup_refuses(EINVAL, &s);
	setup_prepare(&s);
	s.setup.flags |= AUXTRACE_SETUP_DATA_OVERWRITE;
	setup_refuses(EINVAL, &s);
	setup_prepare(&s);
	s.setup.data_watermark = 8;
	setup_refuses(EINVAL, &s);
	setup_prepare(&s);
	s.setup.records = AUXTRACE_WANT_WINDOW;
	setup_refuses(EINVAL, &s);
}

static void setup_with_an_unknown_kind_of_record_gives_EINVAL(void **state)
{
	struct session s;

	for (uint32_t want = 0; want <= AUXTRACE_WANT_ALL; want++) {
		prepare_data(&s, 0);
		s.setup.records = want;
		setup_ok(&s);
	}
	for (int bit = 0; bit < 32; bit++) {
		if (AUXTRACE_WANT_ALL >> bit & 1)
			continue;
		prepare_data(&s, 0);
		s.setup.records = AUXTRACE_WANT_WINDOW | 1u << bit;
		setup_refuses(EINVAL, &s);
	}
}

static void prepare_slots(struct session *s, uint32_t slots, uint64_t aux_pages,
			  uint32_t data_flags, uint64_t data_pages)
{
	session_prepare(s, one_cpu, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_OVERWRITE,
			aux_pages * page_size);
	session_prepare_data(s, data_flags, data_pages * page_size);
	s->setup.slots = slots;
}

static void setup_with_a_number_of_slots_that_is_not_a_power_of_two_gives_EINVAL(void **state)
{
	const uint32_t wrong[] = { 3, 5, 6, 63, 65, 96, 128, 1u << 31, UINT32_MAX };
	struct session s;

	for (uint32_t slots = 1; slots <= AUXTRACE_MAX_SLOTS; slots *= 2) {
		prepare_slots(&s, slots, 2 * AUXTRACE_MAX_SLOTS, 0, 0);
		setup_ok(&s);
	}
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		prepare_slots(&s, wrong[i], 4 * AUXTRACE_MAX_SLOTS, 0, 0);
		setup_refuses(EINVAL, &s);
	}
}

static void setup_with_slots_that_are_too_small_gives_EINVAL(void **state)
{
	const uint32_t newest = AUXTRACE_SETUP_DATA_OVERWRITE;
	struct session s;

	prepare_slots(&s, 4, 8, newest, 4);
	setup_ok(&s);
	prepare_slots(&s, 4, 4, newest, 4);
	setup_refuses(EINVAL, &s);
	prepare_slots(&s, 4, 8, newest, 2);
	setup_refuses(EINVAL, &s);
	/* A ring that is not overwritable is not divided into slots. */
	prepare_slots(&s, 4, 8, 0, 1);
	setup_ok(&s);
}

static void setup_with_slots_in_a_full_trace_gives_EINVAL(void **state)
{
	struct session s;

	prepare_slots(&s, 2, 8, 0, 1);
	s.setup.flags &= ~AUXTRACE_SETUP_OVERWRITE;
	setup_refuses(EINVAL, &s);
	s.setup.slots = 1;
	setup_ok(&s);
	s.setup.slots = 0;
	setup_ok(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(setup_accepts_each_valid_mode_and_refuses_every_other_with_EINVAL),
		vm_test(setup_twice_gives_EEXIST),
		vm_test(setup_with_an_empty_cpu_set_gives_EINVAL),
		vm_test(setup_with_a_cpu_set_of_no_bytes_gives_EINVAL),
		vm_test(setup_with_a_cpu_that_does_not_exist_gives_EINVAL),
		vm_test(setup_accepts_a_longer_cpu_set_only_if_the_rest_is_zero),
		vm_test(setup_accepts_a_cpu_set_of_one_byte),
		vm_test(setup_with_a_bad_cpu_set_pointer_gives_EFAULT),
		vm_test(setup_of_an_unknown_pmu_gives_ENODEV),
		vm_test(setup_without_user_and_kernel_gives_EINVAL),
		vm_test(setup_with_an_aux_size_that_is_not_a_power_of_two_gives_EINVAL),
		vm_test(setup_accepts_two_pages_as_the_smallest_area),
		vm_test(setup_beyond_all_memory_gives_ENOMEM),
		vm_test(setup_accepts_each_valid_watermark),
		vm_test(setup_with_a_wrong_watermark_gives_EINVAL),
		vm_test(setup_with_a_watermark_in_overwrite_mode_gives_EINVAL),
		vm_test(setup_with_a_data_size_that_is_not_a_power_of_two_of_pages_gives_EINVAL),
		vm_test(setup_of_a_data_ring_beyond_all_memory_gives_ENOMEM),
		vm_test(setup_accepts_each_data_watermark_below_the_size),
		vm_test(setup_with_a_watermark_of_an_overwritable_data_ring_gives_EINVAL),
		vm_test(setup_of_data_ring_options_without_a_data_ring_gives_EINVAL),
		vm_test(setup_with_an_unknown_kind_of_record_gives_EINVAL),
		vm_test(setup_with_a_number_of_slots_that_is_not_a_power_of_two_gives_EINVAL),
		vm_test(setup_with_slots_that_are_too_small_gives_EINVAL),
		vm_test(setup_with_slots_in_a_full_trace_gives_EINVAL),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
