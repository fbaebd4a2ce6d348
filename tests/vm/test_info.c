// SPDX-License-Identifier: GPL-2.0
/* INFO, and who may open the device at all. */
#include <cpuid.h>
#include <errno.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "child.h"
#include "cpu.h"
#include "msr.h"
#include "uapi.h"

static size_t page_size;
static uint64_t all_cpus;

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
	struct auxtrace_info info = at_info();
	unsigned int a, b, c, d, family, model;
	uint64_t msr;

	(void)state;
	assert_int_equal(info.out_abi_version, AUXTRACE_ABI_VERSION);
	assert_int_equal(info.out_pmus, 1u << AUXTRACE_PMU_INTEL_PT | 1u << AUXTRACE_PMU_INTEL_BTS);
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
	struct auxtrace_info info = at_info();
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
	if (info.out_pt != AUXTRACE_PT_OK)
		return 101;	/* nobody traces: it is not busy because we may not */
	return info.out_may == 0 ? 0 : 100;
}

static void info_succeeds_without_capabilities_and_says_so(void **state)
{
	int fd = at_open();

	(void)state;
	assert_int_equal(child_run(info_without_capabilities, &fd), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(the_device_is_for_root_alone),
		vm_test(info_tells_what_cpuid_tells),
		vm_test(info_converts_the_tsc_to_the_clock_of_perf),
		vm_test(info_with_probe_finds_the_hardware_free),
		vm_test(info_succeeds_without_capabilities_and_says_so),
	};

	page_size = sysconf(_SC_PAGESIZE);
	all_cpus = cpus_online();
	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
