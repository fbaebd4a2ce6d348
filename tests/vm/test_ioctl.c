// SPDX-License-Identifier: GPL-2.0
/*
 * What each ioctl does and refuses: one success each, and one failure for each
 * cause that the header names, wrong in that one respect only. After each
 * failure the right call on the same file has to succeed: a call that fails
 * leaves the session as it was.
 */
#include <cpuid.h>
#include <errno.h>
#include <linux/capability.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"
#include "cpu.h"
#include "load.h"
#include "msr.h"
#include "packets.h"
#include "uapi.h"

#define AUX_SIZE	(64 * 1024)
#define CAP(c)		(1ULL << CAP_##c)

static size_t page_size;
static uint64_t one_cpu, all_cpus;

static struct auxtrace_info get_info(void)
{
	struct auxtrace_info info = { .size = sizeof(info) };
	int fd = at_open();

	ok_info(fd, &info);
	at_close(fd);
	return info;
}

/* ---- what is the same for every ioctl ----------------------------------- */

/* A file in the state in which the call succeeds, and the arguments with which it does. */
struct stand {
	struct session session;
	struct auxtrace_effect effects[MAX_CPUS];
	union {
		__u32 size;
		struct auxtrace_info info;
		struct auxtrace_setup setup;
		struct auxtrace_start start;
		struct auxtrace_control control;
		struct auxtrace_status status;
		struct auxtrace_task task;
		uint8_t raw[512];
	} arg;
};

enum state { NEW, SET_UP, STARTED };

static const struct shape {
	const char *name;
	unsigned long nr;
	size_t size;
	enum state state;
	uint32_t flags_all;
	size_t reserved;	/* offset of a reserved member, 0: none */
	bool answers;		/* has out_* members */
} shapes[] = {
	{ "INFO", AUXTRACE_IOC_INFO, sizeof(struct auxtrace_info), NEW, AUXTRACE_INFO_ALL,
	  0, true },
	{ "SETUP", AUXTRACE_IOC_SETUP, sizeof(struct auxtrace_setup), NEW, AUXTRACE_SETUP_ALL,
	  0, false },
	{ "START", AUXTRACE_IOC_START, sizeof(struct auxtrace_start), SET_UP, 0, 0, false },
	{ "STOP", AUXTRACE_IOC_STOP, sizeof(struct auxtrace_start), STARTED, 0, 0, false },
	{ "PAUSE", AUXTRACE_IOC_PAUSE, sizeof(struct auxtrace_control), STARTED, 0,
	  offsetof(struct auxtrace_control, reserved), true },
	{ "RESUME", AUXTRACE_IOC_RESUME, sizeof(struct auxtrace_control), STARTED, 0,
	  offsetof(struct auxtrace_control, reserved), true },
	{ "STATUS", AUXTRACE_IOC_STATUS, sizeof(struct auxtrace_status), NEW, AUXTRACE_STATUS_ALL,
	  offsetof(struct auxtrace_status, reserved), true },
	{ "TASK", AUXTRACE_IOC_TASK, sizeof(struct auxtrace_task), NEW, 0,
	  offsetof(struct auxtrace_task, reserved), true },
};

#define for_each_shape(sh) \
	for (const struct shape *sh = shapes; sh < shapes + sizeof(shapes) / sizeof(*shapes); sh++)

static void stand_up(struct stand *st, const struct shape *sh)
{
	struct session *s = &st->session;

	memset(&st->arg, 0, sizeof(st->arg));
	session_prepare(s, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	if (sh->state == NEW)
		s->fd = at_open();
	else
		session_setup(s);
	if (sh->state == STARTED)
		ok_start(s->fd);

	if (sh->nr == AUXTRACE_IOC_SETUP)
		st->arg.setup = s->setup;
	st->arg.size = sh->size;
}

/* The call that was refused just now is made in the right way. */
static void stand_proves(struct stand *st, const struct shape *sh)
{
	int ret = at_ioctl(st->session.fd, sh->nr, &st->arg);

	if (ret)
		fail_msg("%s fails after a refused one: %s", sh->name, strerror(-ret));
	session_close(&st->session);
}

static void refused(const struct stand *st, const struct shape *sh, int err, void *arg,
		    const char *why)
{
	int ret = at_ioctl(st->session.fd, sh->nr, arg);

	if (ret != -err)
		fail_msg("%s with %s: expected %s, got %s", sh->name, why, strerrorname_np(err),
			 ret ? strerrorname_np(-ret) : "success");
}

static void an_unknown_ioctl_gives_ENOTTY(void **state)
{
	struct auxtrace_start arg = { .size = sizeof(arg) };
	int fd = at_open();

	(void)state;
	for (unsigned int nr = 8; nr < 256; nr++)
		fail_ioctl(ENOTTY, fd, _IO(AUXTRACE_IOC_MAGIC, nr), &arg);
	/* The right number under another type, direction or size is another ioctl. */
	fail_ioctl(ENOTTY, fd, _IO(AUXTRACE_IOC_MAGIC ^ 1, 0), &arg);
	fail_ioctl(ENOTTY, fd, _IOWR(AUXTRACE_IOC_MAGIC, 0, struct auxtrace_info), &arg);
}

static void every_ioctl_refuses_a_null_pointer_with_EFAULT(void **state)
{
	struct stand st;

	(void)state;
	for_each_shape(sh) {
		stand_up(&st, sh);
		refused(&st, sh, EFAULT, NULL, "a null pointer");
		stand_proves(&st, sh);
	}
}

/*
 * Two pages, of which the second cannot be touched. Not a hole: the next mmap(2)
 * might fill it.
 */
static uint8_t *page_before_the_end(void)
{
	uint8_t *two = mmap(NULL, 2 * page_size, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(two, MAP_FAILED);
	assert_int_equal(mprotect(two + page_size, page_size, PROT_NONE), 0);
	return two;
}

static void every_ioctl_refuses_a_struct_that_cannot_be_read_to_its_end_with_EFAULT(void **state)
{
	uint8_t *two = page_before_the_end();
	struct stand st;

	(void)state;
	for_each_shape(sh) {
		/* The size can be read, the end cannot. */
		uint8_t *arg = two + page_size - 4;

		stand_up(&st, sh);
		memcpy(arg, &st.arg, 4);
		refused(&st, sh, EFAULT, arg, "an end that cannot be read");
		stand_proves(&st, sh);
	}
	munmap(two, 2 * page_size);
}

static void every_ioctl_that_answers_refuses_a_read_only_struct_with_EFAULT(void **state)
{
	uint8_t *page = mmap(NULL, page_size, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct stand st;

	(void)state;
	assert_ptr_not_equal(page, MAP_FAILED);
	for_each_shape(sh) {
		if (!sh->answers)
			continue;
		stand_up(&st, sh);
		mprotect(page, page_size, PROT_READ | PROT_WRITE);
		memcpy(page, &st.arg, sh->size);
		mprotect(page, page_size, PROT_READ);
		refused(&st, sh, EFAULT, page, "a read-only struct");
		if (sh->state == STARTED) {
			/* Nothing was done of what could not be answered. */
			struct auxtrace_status_page now = channel_status(st.session.channel);

			assert_int_equal(now.running, 1);
			assert_int_equal(now.pauses_asked + now.resumes_asked, 0);
		}
		stand_proves(&st, sh);
	}
	munmap(page, page_size);
}

static void every_ioctl_refuses_a_size_below_the_first_published_with_EINVAL(void **state)
{
	struct stand st;

	(void)state;
	for_each_shape(sh) {
		const size_t small[] = { 0, 3, 4, sh->size - 1 };

		stand_up(&st, sh);
		for (size_t i = 0; i < sizeof(small) / sizeof(*small); i++) {
			st.arg.size = small[i];
			refused(&st, sh, EINVAL, &st.arg, "too small a size");
		}
		st.arg.size = sh->size;
		stand_proves(&st, sh);
	}
}

static void every_ioctl_accepts_a_longer_struct_whose_tail_is_zero(void **state)
{
	struct stand st;

	(void)state;
	for_each_shape(sh) {
		stand_up(&st, sh);
		st.arg.size = sh->size + 64;
		assert_int_equal(at_ioctl(st.session.fd, sh->nr, &st.arg), 0);
		for (size_t i = sh->size; i < sizeof(st.arg.raw); i++)
			assert_int_equal(st.arg.raw[i], 0);
		session_close(&st.session);
	}
}

static void every_ioctl_refuses_a_longer_struct_whose_tail_is_not_zero_with_E2BIG(void **state)
{
	struct stand st;

	(void)state;
	for_each_shape(sh) {
		const size_t at[] = { sh->size, sh->size + 63 };

		stand_up(&st, sh);
		st.arg.size = sh->size + 64;
		for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
			st.arg.raw[at[i]] = 1;
			refused(&st, sh, E2BIG, &st.arg, "a tail that is not zero");
			st.arg.raw[at[i]] = 0;
		}
		stand_proves(&st, sh);
	}
}

static void every_ioctl_refuses_each_unknown_flag_with_EINVAL(void **state)
{
	struct stand st;

	(void)state;
	for_each_shape(sh) {
		stand_up(&st, sh);
		for (int bit = 0; bit < 32; bit++) {
			uint32_t flag = 1u << bit;

			if (sh->flags_all & flag)
				continue;
			/* In all of them the flags follow the size. */
			st.arg.start.flags ^= flag;
			refused(&st, sh, EINVAL, &st.arg, "an unknown flag");
			st.arg.start.flags ^= flag;
		}
		stand_proves(&st, sh);
	}
}

static void every_ioctl_refuses_a_reserved_member_that_is_not_zero_with_EINVAL(void **state)
{
	struct stand st;

	(void)state;
	for_each_shape(sh) {
		if (!sh->reserved)
			continue;
		stand_up(&st, sh);
		st.arg.raw[sh->reserved + 3] = 0x80;
		refused(&st, sh, EINVAL, &st.arg, "a reserved member set");
		st.arg.raw[sh->reserved + 3] = 0;
		stand_proves(&st, sh);
	}
}

/* ---- INFO ---------------------------------------------------------------- */

static void the_device_is_for_root_alone(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(stat("/dev/auxtrace", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(st.st_uid, 0);
}

static void info_tells_what_cpuid_tells(void **state)
{
	struct auxtrace_info info = get_info();
	unsigned int a, b, c, d, family, model;
	uint64_t msr;

	(void)state;
	assert_int_equal(info.out_abi_version, AUXTRACE_ABI_VERSION);
	assert_int_equal(info.out_pmus, 1u << AUXTRACE_PMU_INTEL_PT);
	assert_int_equal(info.out_may, AUXTRACE_MAY_TRACE | AUXTRACE_MAY_LOCK);
	assert_int_equal(info.out_pt, AUXTRACE_PT_OK);
	assert_true(info.out_nr_cpu_ids > (unsigned int)cpus_last(all_cpus));
	assert_int_equal(info.out_page_size, page_size);
	assert_true(info.out_tsc_khz > 0);

	__cpuid(1, a, b, c, d);
	family = a >> 8 & 0xf;
	model = a >> 4 & 0xf;
	if (family == 0xf)
		family += a >> 20 & 0xff;
	if (family == 6 || family >= 0xf)
		model |= a >> 12 & 0xf0;
	assert_int_equal(info.out_cpu_family, family);
	assert_int_equal(info.out_cpu_model, model);
	assert_int_equal(info.out_cpu_stepping, a & 0xf);

	__cpuid_count(0x14, 0, a, b, c, d);
	/* Everything any PT has, then what leaf 14H says: CYC and PSB, MTC, PTWRITE. */
	assert_int_equal(info.out_pt_config & (CONFIG_TSC | CONFIG_NORETCOMP | CONFIG_BRANCH),
			 CONFIG_TSC | CONFIG_NORETCOMP | CONFIG_BRANCH);
	assert_int_equal(!!(info.out_pt_config & CONFIG_CYC), !!(b & 1 << 1));
	assert_int_equal(!!(info.out_pt_config & CONFIG_MTC), !!(b & 1 << 3));
	assert_int_equal(!!(info.out_pt_config & CONFIG_PTW), !!(b & 1 << 4));
	assert_int_equal(!!(info.out_pt_config & CONFIG_FUP_ON_PTW), !!(b & 1 << 4));
	assert_int_equal(info.out_pt_config & ~CONFIG_FORMAT, 0);
	if (a >= 1) {
		__cpuid_count(0x14, 1, a, b, c, d);
		assert_int_equal(info.out_pt_mtc_periods, a >> 16);
		assert_int_equal(info.out_pt_nr_ranges, a & 7);
		assert_int_equal(info.out_pt_cyc_thresholds, b & 0xffff);
		assert_int_equal(info.out_pt_psb_periods, b >> 16);
	}

	__cpuid(0, a, b, c, d);
	if (a >= 0x15) {
		__cpuid_count(0x15, 0, a, b, c, d);
		assert_int_equal(info.out_tsc_art_den, a && b ? a : 0);
		assert_int_equal(info.out_tsc_art_num, a && b ? b : 0);
	}
	if (!msr_read(0, MSR_PLATFORM_INFO, &msr))
		assert_int_equal(info.out_max_nonturbo_ratio, msr >> 8 & 0xff);
}

static void info_converts_the_tsc_to_the_clock_of_perf(void **state)
{
	struct auxtrace_info info = get_info();
	uint64_t tsc = read_tsc();
	unsigned __int128 ns;

	(void)state;
	if (!info.out_time_mult) {
		print_message("SKIP: this kernel's clock is not the TSC\n");
		skip();
	}
	/* local_clock() counts from about the boot, as CLOCK_MONOTONIC does. */
	ns = info.out_time_zero + (((unsigned __int128)tsc * info.out_time_mult) >>
				   info.out_time_shift);
	ns = (uint64_t)ns;
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	uint64_t mono = now.tv_sec * 1000000000ULL + now.tv_nsec;
	uint64_t apart = (uint64_t)ns > mono ? (uint64_t)ns - mono : mono - (uint64_t)ns;

	if (apart > 2000000000ULL)
		fail_msg("converted %llu ns, the monotonic clock says %llu ns",
			 (unsigned long long)ns, (unsigned long long)mono);
}

static void info_with_probe_finds_the_hardware_free(void **state)
{
	struct auxtrace_info info = { .size = sizeof(info), .flags = AUXTRACE_INFO_PROBE };

	(void)state;
	ok_info(at_open(), &info);
	assert_int_equal(info.out_pt, AUXTRACE_PT_OK);
}

static int info_without_capabilities(void *arg)
{
	struct auxtrace_info info = { .size = sizeof(info), .flags = AUXTRACE_INFO_PROBE };
	int ret = caps_keep(0);

	if (!ret)
		ret = at_ioctl(*(int *)arg, AUXTRACE_IOC_INFO, &info);
	if (ret)
		return -ret;
	return info.out_may == 0 ? 0 : 100;
}

static void info_succeeds_without_capabilities_and_says_so(void **state)
{
	int fd = at_open();

	(void)state;
	assert_int_equal(child_run(info_without_capabilities, &fd), 0);
}

/* ---- SETUP --------------------------------------------------------------- */

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

static void setup_succeeds_with_each_mode_on_all_cpus(void **state)
{
	(void)state;
	for (uint32_t flags = 0; flags <= AUXTRACE_SETUP_ALL; flags++) {
		struct session s;

		if (!(flags & (AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL)))
			continue;
		session_open(&s, all_cpus, flags, AUX_SIZE);
		check_accounting(&s);
		session_close(&s);
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
	unsigned int ids = get_info().out_nr_cpu_ids;
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
	uint8_t *two = page_before_the_end();
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
	s.setup.pmu = 1;
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

static void setup_with_a_config_bit_outside_the_format_gives_EINVAL(void **state)
{
	struct session s;

	(void)state;
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
	struct auxtrace_info info = get_info();
	struct session s;

	(void)state;
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
	if (!(get_info().out_pt_config & CONFIG_PTW)) {
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
	struct auxtrace_info info = get_info();
	struct session s;

	(void)state;
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
	struct auxtrace_info info = get_info();
	struct session s;

	(void)state;
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
	struct auxtrace_info info = get_info();
	unsigned int tried = 0;
	struct session s;

	(void)state;
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
	struct auxtrace_info info = get_info();
	unsigned int tried = 0;
	struct session s;

	(void)state;
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

/* ---- START, STOP --------------------------------------------------------- */

static void start_and_stop_before_setup_give_EBADFD(void **state)
{
	struct session s;

	(void)state;
	prepare(&s);
	s.fd = at_open();
	fail_start(EBADFD, s.fd);
	fail_stop(EBADFD, s.fd);
	ok_setup(s.fd, &s.setup);
	ok_start(s.fd);
	ok_stop(s.fd);
}

static void start_twice_gives_EALREADY(void **state)
{
	struct auxtrace_status_page before, after;
	struct session s;

	(void)state;
	prepare(&s);
	session_setup(&s);
	ok_start(s.fd);
	before = channel_status(s.channel);
	fail_start(EALREADY, s.fd);
	after = channel_status(s.channel);
	assert_int_equal(after.running, 1);
	assert_int_equal(after.windows, before.windows);
	ok_stop(s.fd);
}

static void stop_of_what_is_not_started_gives_EALREADY(void **state)
{
	struct session s;

	(void)state;
	prepare(&s);
	session_setup(&s);
	fail_stop(EALREADY, s.fd);
	ok_start(s.fd);
	ok_stop(s.fd);
	fail_stop(EALREADY, s.fd);
	ok_start(s.fd);
	ok_stop(s.fd);
	check_accounting(&s);
}

/* ---- PAUSE, RESUME ------------------------------------------------------- */

static void pause_and_resume_before_setup_give_EBADFD(void **state)
{
	int fd = at_open();

	(void)state;
	fail_pause(EBADFD, fd, 0);
	fail_resume(EBADFD, fd, 0);
}

static void pause_and_resume_of_what_is_not_started_give_EBADFD(void **state)
{
	struct auxtrace_status_page st;
	struct session s;

	(void)state;
	prepare(&s);
	session_setup(&s);
	fail_pause(EBADFD, s.fd, 0);
	fail_resume(EBADFD, s.fd, 0);
	ok_start(s.fd);
	ok_pause(&s, 0, NULL);
	ok_resume(&s, 0, NULL);
	ok_stop(s.fd);
	fail_pause(EBADFD, s.fd, 0);
	fail_resume(EBADFD, s.fd, 0);
	st = channel_status(s.channel);
	assert_int_equal(st.pauses_asked, 1);
	assert_int_equal(st.resumes_asked, 1);
	check_accounting(&s);
}

/* The one call is wrong by @cpus; nothing may have been asked of any CPU by it. */
static void control_refuses(int err, struct session *s, const void *cpus, uint32_t cpus_len,
			    void *effects, uint32_t effects_len)
{
	const unsigned long nrs[] = { AUXTRACE_IOC_PAUSE, AUXTRACE_IOC_RESUME };
	struct auxtrace_control arg = {
		.size = sizeof(arg),
		.cpus_len = cpus_len,
		.cpus = (uintptr_t)cpus,
		.effects = (uintptr_t)effects,
		.effects_len = effects_len,
	};

	ok_start(s->fd);
	for (int i = 0; i < 2; i++)
		fail_ioctl(err, s->fd, nrs[i], &arg);
	for (unsigned int i = 0; i < s->count; i++) {
		struct auxtrace_status_page st = channel_status(&s->channel[i]);

		assert_int_equal(st.pauses_asked, 0);
		assert_int_equal(st.resumes_asked, 0);
		assert_int_equal(st.windows, 1);
		assert_int_equal(st.running, 1);
	}
	ok_pause(s, 0, NULL);
	ok_resume(s, 0, NULL);
	ok_stop(s->fd);
	check_accounting(s);
}

static void pause_and_resume_of_an_empty_set_give_EINVAL(void **state)
{
	uint64_t none = 0;
	struct session s;

	(void)state;
	session_open(&s, all_cpus, AUXTRACE_SETUP_USER, AUX_SIZE);
	control_refuses(EINVAL, &s, &none, sizeof(none), NULL, 0);
}

static void pause_and_resume_of_a_cpu_that_is_not_the_sessions_give_EINVAL(void **state)
{
	struct session s;

	(void)state;
	if (all_cpus == one_cpu) {
		print_message("SKIP: one CPU only\n");
		skip();
	}
	session_open(&s, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	control_refuses(EINVAL, &s, &all_cpus, sizeof(all_cpus), NULL, 0);
}

static void pause_and_resume_of_a_cpu_that_does_not_exist_give_EINVAL(void **state)
{
	uint64_t set[512] = { one_cpu };
	struct session s;

	(void)state;
	set[511] = 1ULL << 63;
	session_open(&s, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	control_refuses(EINVAL, &s, set, sizeof(set), NULL, 0);
}

static void pause_and_resume_with_a_bad_cpu_set_pointer_give_EFAULT(void **state)
{
	struct session s;

	(void)state;
	session_open(&s, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	control_refuses(EFAULT, &s, NULL, sizeof(uint64_t), NULL, 0);
}

static void pause_and_resume_with_a_bad_effects_pointer_give_EFAULT(void **state)
{
	struct session s;

	(void)state;
	session_open(&s, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	control_refuses(EFAULT, &s, NULL, 0, NULL, 1);
}

static void pause_and_resume_with_read_only_effects_give_EFAULT(void **state)
{
	void *page = mmap(NULL, page_size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct session s;

	(void)state;
	assert_ptr_not_equal(page, MAP_FAILED);
	session_open(&s, one_cpu, AUXTRACE_SETUP_USER, AUX_SIZE);
	control_refuses(EFAULT, &s, NULL, 0, page, 1);
	munmap(page, page_size);
}

/* ---- STATUS -------------------------------------------------------------- */

static void status_of_a_new_file_is_all_zero(void **state)
{
	struct auxtrace_status status, zero = { .size = sizeof(zero) };
	int fd = at_open();

	(void)state;
	ok_status(fd, 0, &status);
	assert_int_equal(status.out_state, AUXTRACE_STATE_NEW);
	assert_memory_equal(&status, &zero, sizeof(zero));
	zero.flags = AUXTRACE_STATUS_SYNC;
	ok_status(fd, AUXTRACE_STATUS_SYNC, &status);
	assert_memory_equal(&status, &zero, sizeof(zero));
}

static void status_follows_the_session(void **state)
{
	struct auxtrace_status status;
	unsigned int n = cpus_count(all_cpus);
	struct session s;

	(void)state;
	session_open(&s, all_cpus, AUXTRACE_SETUP_USER, AUX_SIZE);
	ok_status(s.fd, AUXTRACE_STATUS_SYNC, &status);
	assert_int_equal(status.out_state, AUXTRACE_STATE_STOPPED);
	assert_int_equal(status.out_nr_channels, n);
	assert_int_equal(status.out_nr_running, 0);
	assert_int_equal(status.out_windows, 0);

	ok_start(s.fd);
	ok_status(s.fd, 0, &status);
	assert_int_equal(status.out_state, AUXTRACE_STATE_STARTED);
	assert_int_equal(status.out_nr_running, n);
	assert_int_equal(status.out_windows, n);

	ok_pause(&s, one_cpu, NULL);
	ok_status(s.fd, 0, &status);
	assert_int_equal(status.out_nr_running, n - 1);
	assert_int_equal(status.out_gaps, 0);

	ok_stop(s.fd);
	ok_status(s.fd, 0, &status);
	assert_int_equal(status.out_state, AUXTRACE_STATE_STOPPED);
	assert_int_equal(status.out_nr_running, 0);
	check_accounting(&s);
}

/* ---- TASK ---------------------------------------------------------------- */

static struct auxtrace_task task_of(int fd, pid_t pid)
{
	struct auxtrace_task task = { .size = sizeof(task), .pid = pid };

	ok_task(fd, &task);
	assert_true(task.out_cr3 != 0);
	assert_true(task.out_cr3_mask != 0);
	/* PCID and what shares its bits are not compared. */
	assert_int_equal(task.out_cr3_mask & 0xfff, 0);
	return task;
}

static void *wait_to_be_joined(void *arg)
{
	char byte;

	*(pid_t *)arg = gettid();
	return read(((int *)arg)[1], &byte, 1) < 0 ? arg : NULL;
}

static void task_tells_processes_apart_and_threads_not(void **state)
{
	int fd = at_open(), pipes[2];
	struct auxtrace_task self = task_of(fd, 0), other;
	int thread_arg[2] = { 0 };
	pthread_t thread;
	pid_t pid;

	(void)state;
	assert_int_equal(task_of(fd, getpid()).out_cr3, self.out_cr3);
	assert_int_equal(pipe(pipes), 0);

	pid = fork();
	if (!pid) {
		char byte;

		close(pipes[1]);
		_exit(read(pipes[0], &byte, 1) < 0);
	}
	other = task_of(fd, pid);
	assert_int_equal(other.out_cr3_mask, self.out_cr3_mask);
	assert_true((other.out_cr3 ^ self.out_cr3) & self.out_cr3_mask);

	thread_arg[1] = pipes[0];
	assert_int_equal(pthread_create(&thread, NULL, wait_to_be_joined, thread_arg), 0);
	while (!__atomic_load_n(&thread_arg[0], __ATOMIC_ACQUIRE))
		sched_yield();
	assert_int_equal(task_of(fd, thread_arg[0]).out_cr3, self.out_cr3);

	close(pipes[1]);
	pthread_join(thread, NULL);
	close(pipes[0]);
	waitpid(pid, NULL, 0);
}

static void task_of_no_process_gives_ESRCH(void **state)
{
	struct auxtrace_task task = { .size = sizeof(task) };
	int fd = at_open();
	pid_t pid = fork();

	(void)state;
	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
	task.pid = pid;		/* reaped, and not given out again for long */
	fail_task(ESRCH, fd, &task);
	task.pid = 0x7fffffff;
	fail_task(ESRCH, fd, &task);
	task_of(fd, 0);
}

static void task_of_a_kernel_thread_gives_ENXIO(void **state)
{
	struct auxtrace_task task = { .size = sizeof(task), .pid = 2 };	/* kthreadd */
	int fd = at_open();

	(void)state;
	fail_task(ENXIO, fd, &task);
	task_of(fd, 0);
}

static int task_without_capabilities(void *arg)
{
	struct auxtrace_task task = { .size = sizeof(task) };
	int ret = caps_drop(CAP(PERFMON) | CAP(SYS_ADMIN));

	if (!ret)
		ret = at_ioctl(*(int *)arg, AUXTRACE_IOC_TASK, &task);
	return -ret;
}

static void task_without_a_capability_gives_EACCES(void **state)
{
	int fd = at_open();

	(void)state;
	assert_int_equal(child_run(task_without_capabilities, &fd), EACCES);
	task_of(fd, 0);
}

static void task_names_the_cr3_that_the_trace_shows(void **state)
{
	struct auxtrace_status_page st;
	struct packets packets = { 0 };
	struct auxtrace_task task;
	struct session s;
	uint8_t *trace;

	(void)state;
	session_open(&s, one_cpu, AUXTRACE_SETUP_USER | AUXTRACE_SETUP_KERNEL, 1 << 20);
	task = task_of(s.fd, 0);
	assert_int_equal(cpu_pin(cpus_first(one_cpu)), 0);
	/* The window's PSB+ has a PIP of the address space in which it begins. */
	ok_start(s.fd);
	load_run(1000);
	ok_stop(s.fd);

	st = channel_status(s.channel);
	trace = test_malloc(st.produced);
	channel_copy(s.channel, 0, trace, st.produced);
	packets.want_cr3 = task.out_cr3;
	packets.cr3_mask = task.out_cr3_mask;
	packets_check_window(&packets, trace, st.produced, "a pinned load");
	assert_true(packets.cr3_hits > 0);
	test_free(trace);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(the_device_is_for_root_alone),
		vm_test(an_unknown_ioctl_gives_ENOTTY),
		vm_test(every_ioctl_refuses_a_null_pointer_with_EFAULT),
		vm_test(every_ioctl_refuses_a_struct_that_cannot_be_read_to_its_end_with_EFAULT),
		vm_test(every_ioctl_that_answers_refuses_a_read_only_struct_with_EFAULT),
		vm_test(every_ioctl_refuses_a_size_below_the_first_published_with_EINVAL),
		vm_test(every_ioctl_accepts_a_longer_struct_whose_tail_is_zero),
		vm_test(every_ioctl_refuses_a_longer_struct_whose_tail_is_not_zero_with_E2BIG),
		vm_test(every_ioctl_refuses_each_unknown_flag_with_EINVAL),
		vm_test(every_ioctl_refuses_a_reserved_member_that_is_not_zero_with_EINVAL),

		vm_test(info_tells_what_cpuid_tells),
		vm_test(info_converts_the_tsc_to_the_clock_of_perf),
		vm_test(info_with_probe_finds_the_hardware_free),
		vm_test(info_succeeds_without_capabilities_and_says_so),

		vm_test(setup_succeeds_with_each_mode_on_all_cpus),
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

		vm_test(start_and_stop_before_setup_give_EBADFD),
		vm_test(start_twice_gives_EALREADY),
		vm_test(stop_of_what_is_not_started_gives_EALREADY),

		vm_test(pause_and_resume_before_setup_give_EBADFD),
		vm_test(pause_and_resume_of_what_is_not_started_give_EBADFD),
		vm_test(pause_and_resume_of_an_empty_set_give_EINVAL),
		vm_test(pause_and_resume_of_a_cpu_that_is_not_the_sessions_give_EINVAL),
		vm_test(pause_and_resume_of_a_cpu_that_does_not_exist_give_EINVAL),
		vm_test(pause_and_resume_with_a_bad_cpu_set_pointer_give_EFAULT),
		vm_test(pause_and_resume_with_a_bad_effects_pointer_give_EFAULT),
		vm_test(pause_and_resume_with_read_only_effects_give_EFAULT),

		vm_test(status_of_a_new_file_is_all_zero),
		vm_test(status_follows_the_session),

		vm_test(task_tells_processes_apart_and_threads_not),
		vm_test(task_of_no_process_gives_ESRCH),
		vm_test(task_of_a_kernel_thread_gives_ENXIO),
		vm_test(task_without_a_capability_gives_EACCES),
		vm_test(task_names_the_cr3_that_the_trace_shows),
	};

	page_size = sysconf(_SC_PAGESIZE);
	all_cpus = cpus_online();
	one_cpu = 1ULL << cpus_first(all_cpus);
	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
