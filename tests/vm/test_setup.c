// SPDX-License-Identifier: GPL-2.0
/*
 * What SETUP takes and refuses: each cause that the header names, wrong in that
 * one respect only, and after each refusal a right SETUP of the same file.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "child.h"
#include "cpu.h"
#include "pmu.h"
#include "invariants.h"
#include "uapi.h"

#define AUX_SIZE	(64 * 1024)

static size_t page_size;
static uint64_t one_cpu, all_cpus;

static void setup_ok(struct session *s)
{
	s->fd = at_open();
	ok_setup(s->fd, &s->setup);
	at_close(s->fd);
}

/* Refuses @wrong with @err, then accepts a right one on the same file. */
static void setup_refuses(int err, struct session *wrong)
{
	struct session right;

	session_prepare(&right, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	right.fd = at_open();
	fail_setup(err, right.fd, &wrong->setup);
	ok_setup(right.fd, &right.setup);
	at_close(right.fd);
}

static void prepare(struct session *s)
{
	session_prepare(s, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
}

/* With a data ring: without one no DATA flag may be set. */
static bool mode_is_right(uint32_t flags)
{
	const uint32_t full = AUXTRACE_SETUP_FULL_AUTO | AUXTRACE_SETUP_FULL_STOP;

	if (!(flags & (AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL)))
		return false;
	return !(flags & full) ||
	       ((flags & full) != full && !(flags & AUXTRACE_SETUP_OVERWRITE));
}

static void setup_takes_each_right_mode_and_refuses_every_other_with_EINVAL(void **state)
{
	(void)state;
	for (uint32_t flags = 0; flags <= AUXTRACE_SETUP_ALL; flags++) {
		struct session s;

		session_prepare(&s, mode_is_right(flags) ? all_cpus : one_cpu, flags,
				2 * page_size);
		session_prepare_data(&s, 0, page_size);
		if (mode_is_right(flags)) {
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

	(void)state;
	prepare(&s);
	session_setup(&s);
	fail_setup(EEXIST, s.fd, &s.setup);
	ok_start(s.fd);
	fail_setup(EEXIST, s.fd, &s.setup);
	check_accounting(&s);
	ok_stop(s.fd);
}

static void setup_with_an_empty_cpu_set_gives_EINVAL(void **state)
{
	struct session s;

	(void)state;
	prepare(&s);
	s.cpus = 0;
	setup_refuses(EINVAL, &s);
}

static void setup_with_a_cpu_set_of_no_bytes_gives_EINVAL(void **state)
{
	struct session s;

	(void)state;
	prepare(&s);
	s.setup.cpus_len = 0;
	setup_refuses(EINVAL, &s);
}

static void setup_with_a_cpu_that_does_not_exist_gives_EINVAL(void **state)
{
	unsigned int ids = at_info().out_nr_cpu_ids;
	struct session s;

	(void)state;
	if (ids >= 64) {
		print_message("SKIP: %u CPUs\n", ids);
		skip();
	}
	for (unsigned int cpu = ids; cpu < 64; cpu++) {
		prepare(&s);
		s.cpus |= 1ULL << cpu;
		setup_refuses(EINVAL, &s);
	}
}

static void setup_takes_a_longer_cpu_set_only_if_the_rest_is_zero(void **state)
{
	uint64_t set[512] = { one_cpu };	/* more bits than any kernel has CPUs */
	struct session s;

	(void)state;
	prepare(&s);
	s.setup.cpus = (uintptr_t)set;
	s.setup.cpus_len = sizeof(set);
	setup_ok(&s);
	set[511] = 1ULL << 63;
	setup_refuses(EINVAL, &s);
}

static void setup_takes_a_cpu_set_of_one_byte(void **state)
{
	uint8_t set[2] = { 1, 0xff };	/* the second is not part of it */
	struct auxtrace_status status;
	struct session s;

	(void)state;
	prepare(&s);
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

	(void)state;
	prepare(&s);
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

	(void)state;
	prepare(&s);
	s.setup.pmu = AUXTRACE_PMU_INTEL_BTS + 1;
	setup_refuses(ENODEV, &s);
	s.setup.pmu = UINT32_MAX;
	setup_refuses(ENODEV, &s);
}

static void setup_without_user_and_kernel_gives_EINVAL(void **state)
{
	struct session s;

	(void)state;
	prepare(&s);
	s.setup.flags = AUXTRACE_SETUP_PAUSED;
	setup_refuses(EINVAL, &s);
}

static void setup_with_an_aux_size_that_is_not_a_power_of_two_gives_EINVAL(void **state)
{
	const uint64_t sizes[] = { 0, 1, 2, page_size / 2, page_size, 3 * page_size,
				   2 * page_size + 1, 2 * page_size - 1,
				   6 * page_size, UINT64_MAX };
	struct session s;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		prepare(&s);
		s.setup.aux_size = sizes[i];
		setup_refuses(EINVAL, &s);
	}
}

static void setup_with_two_pages_is_the_least(void **state)
{
	struct session s;

	(void)state;
	session_open(&s, one_cpu, AUXTRACE_SETUP_USER, 2 * page_size);
	check_accounting(&s);
}

static void setup_beyond_all_memory_gives_ENOMEM(void **state)
{
	const uint64_t sizes[] = { 1ULL << 36, 1ULL << 40, 1ULL << 50, 1ULL << 63 };
	struct session s;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		prepare(&s);
		s.setup.aux_size = sizes[i];
		setup_refuses(ENOMEM, &s);
	}
}

static void setup_takes_each_right_watermark(void **state)
{
	const uint64_t marks[] = { 0, page_size, 5 * page_size, AUX_SIZE - page_size };
	struct session s;

	(void)state;
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		prepare(&s);
		s.setup.aux_watermark = marks[i];
		setup_ok(&s);
	}
}

static void setup_with_a_wrong_watermark_gives_EINVAL(void **state)
{
	const uint64_t marks[] = { 1, page_size - 1, page_size + 1, AUX_SIZE, AUX_SIZE + page_size,
				   UINT64_MAX, -page_size };
	struct session s;

	(void)state;
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		prepare(&s);
		s.setup.aux_watermark = marks[i];
		setup_refuses(EINVAL, &s);
	}
}

static void setup_with_a_watermark_in_overwrite_mode_gives_EINVAL(void **state)
{
	struct session s;

	(void)state;
	prepare(&s);
	s.setup.flags |= AUXTRACE_SETUP_OVERWRITE;
	setup_ok(&s);
	s.setup.aux_watermark = page_size;
	setup_refuses(EINVAL, &s);
}

/* ---- the data ring -------------------------------------------------------- */

#define DATA_SIZE	(16 * 1024)

static void prepare_data(struct session *s, uint32_t flags)
{
	prepare(s);
	session_prepare_data(s, flags, DATA_SIZE);
}

static void setup_with_a_data_size_that_is_not_a_power_of_two_of_pages_gives_EINVAL(void **state)
{
	const uint64_t sizes[] = { 1, 8, page_size / 2, page_size - 1, page_size + 1,
				   page_size + 8, 3 * page_size, 5 * page_size, UINT64_MAX };
	struct session s;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		prepare(&s);
		s.setup.data_size = sizes[i];
		setup_refuses(EINVAL, &s);
	}
	prepare(&s);
	s.setup.data_size = page_size;
	setup_ok(&s);
}

static void setup_of_a_data_ring_beyond_all_memory_gives_ENOMEM(void **state)
{
	const uint64_t sizes[] = { 1ULL << 36, 1ULL << 40, 1ULL << 50, 1ULL << 63 };
	struct session s;

	(void)state;
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		prepare(&s);
		s.setup.data_size = sizes[i];
		setup_refuses(ENOMEM, &s);
	}
}

static void setup_takes_each_data_watermark_below_the_size(void **state)
{
	const uint64_t right[] = { 0, 1, 8, page_size, DATA_SIZE - 1 };
	const uint64_t wrong[] = { DATA_SIZE, DATA_SIZE + 1, 1ULL << 32, UINT64_MAX };
	struct session s;

	(void)state;
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

	(void)state;
	prepare_data(&s, AUXTRACE_SETUP_DATA_OVERWRITE);
	setup_ok(&s);
	s.setup.data_watermark = 8;
	setup_refuses(EINVAL, &s);
}

static void setup_of_anything_about_a_data_ring_without_one_gives_EINVAL(void **state)
{
	struct session s;

	(void)state;
	prepare(&s);
	s.setup.flags |= AUXTRACE_SETUP_DATA_BACKWARD;
	setup_refuses(EINVAL, &s);
	prepare(&s);
	s.setup.flags |= AUXTRACE_SETUP_DATA_OVERWRITE;
	setup_refuses(EINVAL, &s);
	prepare(&s);
	s.setup.data_watermark = 8;
	setup_refuses(EINVAL, &s);
	prepare(&s);
	s.setup.records = AUXTRACE_WANT_WINDOW;
	setup_refuses(EINVAL, &s);
}

static void setup_with_an_unknown_kind_of_record_gives_EINVAL(void **state)
{
	struct session s;

	(void)state;
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

	(void)state;
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

	(void)state;
	prepare_slots(&s, 4, 8, newest, 4);
	setup_ok(&s);
	prepare_slots(&s, 4, 4, newest, 4);
	setup_refuses(EINVAL, &s);
	prepare_slots(&s, 4, 8, newest, 2);
	setup_refuses(EINVAL, &s);
	/* A ring that is not overwritable has no parts. */
	prepare_slots(&s, 4, 8, 0, 1);
	setup_ok(&s);
}

static void setup_with_slots_in_a_full_trace_gives_EINVAL(void **state)
{
	struct session s;

	(void)state;
	prepare_slots(&s, 2, 8, 0, 1);
	s.setup.flags &= ~AUXTRACE_SETUP_OVERWRITE;
	setup_refuses(EINVAL, &s);
	s.setup.slots = 1;
	setup_ok(&s);
	s.setup.slots = 0;
	setup_ok(&s);
}

static void setup_with_a_config_bit_outside_the_format_gives_EINVAL(void **state)
{
	struct session s;

	(void)state;
	pt_required("config");
	for (int bit = 0; bit < 64; bit++) {
		if (CONFIG_FORMAT >> bit & 1)
			continue;
		prepare(&s);
		s.setup.config |= 1ULL << bit;
		setup_refuses(EINVAL, &s);
	}
}

static void setup_with_a_period_without_its_packet_gives_EINVAL(void **state)
{
	struct auxtrace_info info = at_info();
	struct session s;

	(void)state;
	pt_required("config");
	for (int n = 1; n < 16; n++) {
		prepare(&s);
		s.setup.config |= CONFIG_MTC_PERIOD(n);
		if (info.out_pt_config & CONFIG_MTC && info.out_pt_mtc_periods >> n & 1)
			setup_refuses(EINVAL, &s);
		prepare(&s);
		s.setup.config |= CONFIG_CYC_THRESH(n);
		if (info.out_pt_config & CONFIG_CYC && info.out_pt_cyc_thresholds >> n & 1)
			setup_refuses(EINVAL, &s);
	}
}

static void setup_with_fup_on_ptw_without_ptw_gives_EINVAL(void **state)
{
	struct session s;

	(void)state;
	pt_required("config");
	if (!(at_info().out_pt_config & CONFIG_PTW)) {
		print_message("SKIP: this CPU has no PTWRITE packets\n");
		skip();
	}
	prepare(&s);
	s.setup.config |= CONFIG_FUP_ON_PTW;
	setup_refuses(EINVAL, &s);
	s.setup.config |= CONFIG_PTW;
	setup_ok(&s);
}

static void setup_with_branch_and_without_pt_gives_EINVAL(void **state)
{
	struct session s;

	(void)state;
	pt_required("config");
	prepare(&s);
	s.setup.config = CONFIG_BRANCH | CONFIG_TSC;
	setup_refuses(EINVAL, &s);
	s.setup.config |= CONFIG_PT;
	setup_ok(&s);
}

/* Errata BDM106 and its like: Broadwell cannot trace without branches. */
static bool branches_required(const struct auxtrace_info *info)
{
	switch (info->out_cpu_family << 8 | info->out_cpu_model) {
	case 0x63d:
	case 0x647:
	case 0x64f:
	case 0x656:
		return true;
	}
	return false;
}

static void setup_without_branches_is_refused_only_where_the_cpu_cannot(void **state)
{
	struct auxtrace_info info = at_info();
	struct session s;

	(void)state;
	pt_required("config");
	prepare(&s);
	s.setup.config = CONFIG_PT | CONFIG_TSC;
	if (branches_required(&info))
		setup_refuses(EINVAL, &s);
	else
		setup_ok(&s);
	s.setup.config |= CONFIG_BRANCH;
	setup_ok(&s);
}

static void setup_takes_each_config_bit_that_info_offers(void **state)
{
	struct auxtrace_info info = at_info();
	struct session s;

	(void)state;
	pt_required("config");
	for (int bit = 0; bit < 14; bit++) {
		uint64_t flag = 1ULL << bit;

		if (!(info.out_pt_config & flag))
			continue;
		prepare(&s);
		s.setup.config = flag;
		if (flag == CONFIG_FUP_ON_PTW)
			s.setup.config |= CONFIG_PTW;
		if (flag == CONFIG_PT || flag == CONFIG_BRANCH)
			s.setup.config = CONFIG_PT | CONFIG_BRANCH;
		setup_ok(&s);
	}
	for (int n = 1; n < 16; n++) {
		prepare(&s);
		if (info.out_pt_mtc_periods >> n & 1)
			s.setup.config |= CONFIG_MTC | CONFIG_MTC_PERIOD(n);
		if (info.out_pt_cyc_thresholds >> n & 1)
			s.setup.config |= CONFIG_CYC | CONFIG_CYC_THRESH(n);
		if (info.out_pt_psb_periods >> n & 1)
			s.setup.config |= CONFIG_PSB_PERIOD(n);
		setup_ok(&s);
	}
}

static void setup_with_a_config_bit_that_the_cpu_lacks_gives_EOPNOTSUPP(void **state)
{
	struct auxtrace_info info = at_info();
	unsigned int tried = 0;
	struct session s;

	(void)state;
	pt_required("config");
	for (int bit = 0; bit < 14; bit++) {
		uint64_t flag = 1ULL << bit;

		if (!(CONFIG_FORMAT & flag) || (info.out_pt_config & flag))
			continue;
		prepare(&s);
		s.setup.config |= flag;
		if (flag == CONFIG_FUP_ON_PTW)
			s.setup.config |= CONFIG_PTW;
		setup_refuses(EOPNOTSUPP, &s);
		tried++;
	}
	if (!tried) {
		print_message("SKIP: this CPU has every bit\n");
		skip();
	}
}

static void setup_with_a_period_that_the_cpu_lacks_gives_EOPNOTSUPP(void **state)
{
	struct auxtrace_info info = at_info();
	unsigned int tried = 0;
	struct session s;

	(void)state;
	pt_required("config");
	for (int n = 1; n < 16; n++) {
		if (info.out_pt_config & CONFIG_MTC && !(info.out_pt_mtc_periods >> n & 1)) {
			prepare(&s);
			s.setup.config |= CONFIG_MTC | CONFIG_MTC_PERIOD(n);
			setup_refuses(EOPNOTSUPP, &s);
			tried++;
		}
		if (info.out_pt_config & CONFIG_CYC && !(info.out_pt_cyc_thresholds >> n & 1)) {
			prepare(&s);
			s.setup.config |= CONFIG_CYC | CONFIG_CYC_THRESH(n);
			setup_refuses(EOPNOTSUPP, &s);
			tried++;
		}
		if (!(info.out_pt_psb_periods >> n & 1)) {
			prepare(&s);
			s.setup.config |= CONFIG_PSB_PERIOD(n);
			setup_refuses(EOPNOTSUPP, &s);
			tried++;
		}
	}
	if (!tried) {
		print_message("SKIP: this CPU has every period\n");
		skip();
	}
}

struct capability_try {
	struct session session;
	uint64_t keep;
	struct rlimit memlock;
};

static int setup_with_capabilities(void *arg)
{
	struct capability_try *try = arg;
	int ret = 0;

	if (try->memlock.rlim_max && setrlimit(RLIMIT_MEMLOCK, &try->memlock))
		return 100;
	ret = caps_keep(try->keep);
	if (!ret)
		ret = at_ioctl(try->session.fd, AUXTRACE_IOC_SETUP, &try->session.setup);
	return -ret;
}

static int try_setup(struct capability_try *try)
{
	int ret;

	try->session.fd = at_open();
	ret = child_run(setup_with_capabilities, try);
	at_close(try->session.fd);
	return ret;
}

static void setup_without_a_capability_gives_EACCES(void **state)
{
	struct capability_try try = { .keep = ~(CAP(PERFMON) | CAP(SYS_ADMIN)) };

	(void)state;
	prepare(&try.session);
	assert_int_equal(try_setup(&try), EACCES);
	/* A user's own code is no exception: the trace is CPU-wide. */
	try.session.setup.flags = AUXTRACE_SETUP_KERNEL;
	assert_int_equal(try_setup(&try), EACCES);
}

static void setup_needs_only_one_of_the_two_capabilities(void **state)
{
	struct capability_try try;

	(void)state;
	prepare(&try.session);
	try.memlock = (struct rlimit){ 1 << 20, 1 << 20 };
	try.keep = CAP(PERFMON);
	assert_int_equal(try_setup(&try), 0);
	try.keep = CAP(SYS_ADMIN);
	assert_int_equal(try_setup(&try), 0);
}

static void setup_beyond_the_locked_memory_limit_gives_ENOMEM(void **state)
{
	struct capability_try try = {
		.keep = ~CAP(IPC_LOCK),
		.memlock = { 256 << 10, 256 << 10 },
	};

	(void)state;
	prepare(&try.session);
	try.session.setup.aux_size = 512 << 10;
	assert_int_equal(try_setup(&try), ENOMEM);
	/* What is charged is the sum over the channels. */
	prepare(&try.session);
	try.session.cpus = all_cpus;
	try.session.setup.aux_size = 256 << 10;
	assert_int_equal(try_setup(&try), ENOMEM);
	/* And of all regions of each. */
	prepare(&try.session);
	try.session.setup.aux_size = 128 << 10;
	assert_int_equal(try_setup(&try), 0);
	session_prepare_data(&try.session, 0, 256 << 10);
	assert_int_equal(try_setup(&try), ENOMEM);
	/* Within the limit, and beyond it with the capability: both fine. */
	prepare(&try.session);
	assert_int_equal(try_setup(&try), 0);
	try.session.setup.aux_size = 512 << 10;
	try.keep = ~0ULL;
	assert_int_equal(try_setup(&try), 0);
}

/* A limit that is good for one area, not for two: each close has to give it back. */
static int setup_again_and_again(void *arg)
{
	struct rlimit memlock = { 400 << 10, 400 << 10 };
	struct session *s = arg;

	s->setup.aux_size = 256 << 10;
	if (setrlimit(RLIMIT_MEMLOCK, &memlock) || caps_drop(CAP(IPC_LOCK)))
		return 100;
	for (int i = 0; i < 8; i++) {
		int fd = at_open_plain(), ret;

		ret = fd < 0 ? fd : at_ioctl(fd, AUXTRACE_IOC_SETUP, &s->setup);
		if (ret)
			return -ret;
		close(fd);
	}
	return 0;
}

static void locked_memory_is_given_back_at_close(void **state)
{
	struct session s;

	(void)state;
	prepare(&s);
	assert_int_equal(child_run(setup_again_and_again, &s), 0);
}

/* Two failed attempts between: they must not have charged anything. */
static int setup_fails_then_succeeds(void *arg)
{
	struct rlimit memlock = { 400 << 10, 400 << 10 };
	struct session *s = arg;
	int ret;

	if (setrlimit(RLIMIT_MEMLOCK, &memlock) || caps_drop(CAP(IPC_LOCK)))
		return 100;
	for (int i = 0; i < 4; i++) {
		s->setup.aux_size = 512 << 10;
		ret = at_ioctl(s->fd, AUXTRACE_IOC_SETUP, &s->setup);
		if (ret != -ENOMEM)
			return 101;
	}
	s->setup.aux_size = 256 << 10;
	return -at_ioctl(s->fd, AUXTRACE_IOC_SETUP, &s->setup);
}

static void a_setup_beyond_the_limit_charges_nothing(void **state)
{
	struct session s;

	(void)state;
	prepare(&s);
	s.fd = at_open();
	assert_int_equal(child_run(setup_fails_then_succeeds, &s), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(setup_takes_each_right_mode_and_refuses_every_other_with_EINVAL),
		vm_test(setup_twice_gives_EEXIST),
		vm_test(setup_with_an_empty_cpu_set_gives_EINVAL),
		vm_test(setup_with_a_cpu_set_of_no_bytes_gives_EINVAL),
		vm_test(setup_with_a_cpu_that_does_not_exist_gives_EINVAL),
		vm_test(setup_takes_a_longer_cpu_set_only_if_the_rest_is_zero),
		vm_test(setup_takes_a_cpu_set_of_one_byte),
		vm_test(setup_with_a_bad_cpu_set_pointer_gives_EFAULT),
		vm_test(setup_of_an_unknown_pmu_gives_ENODEV),
		vm_test(setup_without_user_and_kernel_gives_EINVAL),
		vm_test(setup_with_an_aux_size_that_is_not_a_power_of_two_gives_EINVAL),
		vm_test(setup_with_two_pages_is_the_least),
		vm_test(setup_beyond_all_memory_gives_ENOMEM),
		vm_test(setup_takes_each_right_watermark),
		vm_test(setup_with_a_wrong_watermark_gives_EINVAL),
		vm_test(setup_with_a_watermark_in_overwrite_mode_gives_EINVAL),
		vm_test(setup_with_a_data_size_that_is_not_a_power_of_two_of_pages_gives_EINVAL),
		vm_test(setup_of_a_data_ring_beyond_all_memory_gives_ENOMEM),
		vm_test(setup_takes_each_data_watermark_below_the_size),
		vm_test(setup_with_a_watermark_of_an_overwritable_data_ring_gives_EINVAL),
		vm_test(setup_of_anything_about_a_data_ring_without_one_gives_EINVAL),
		vm_test(setup_with_an_unknown_kind_of_record_gives_EINVAL),
		vm_test(setup_with_a_number_of_slots_that_is_not_a_power_of_two_gives_EINVAL),
		vm_test(setup_with_slots_that_are_too_small_gives_EINVAL),
		vm_test(setup_with_slots_in_a_full_trace_gives_EINVAL),
		vm_test(setup_with_a_config_bit_outside_the_format_gives_EINVAL),
		vm_test(setup_with_a_period_without_its_packet_gives_EINVAL),
		vm_test(setup_with_fup_on_ptw_without_ptw_gives_EINVAL),
		vm_test(setup_with_branch_and_without_pt_gives_EINVAL),
		vm_test(setup_without_branches_is_refused_only_where_the_cpu_cannot),
		vm_test(setup_takes_each_config_bit_that_info_offers),
		vm_test(setup_with_a_config_bit_that_the_cpu_lacks_gives_EOPNOTSUPP),
		vm_test(setup_with_a_period_that_the_cpu_lacks_gives_EOPNOTSUPP),
		vm_test(setup_without_a_capability_gives_EACCES),
		vm_test(setup_needs_only_one_of_the_two_capabilities),
		vm_test(setup_beyond_the_locked_memory_limit_gives_ENOMEM),
		vm_test(locked_memory_is_given_back_at_close),
		vm_test(a_setup_beyond_the_limit_charges_nothing),
	};

	page_size = sysconf(_SC_PAGESIZE);
	all_cpus = cpus_online();
	one_cpu = 1ULL << cpus_first(all_cpus);
	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
