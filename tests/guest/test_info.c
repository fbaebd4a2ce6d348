// SPDX-License-Identifier: GPL-2.0-only
/* INFO, and who may open the device. */
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "child.h"
#include "cpu.h"
#include "machine.h"
#include "msr.h"
#include "uapi.h"

static void the_device_is_for_root_alone(void **state)
{
	struct stat st;

	assert_int_equal(stat("/dev/auxtrace", &st), 0);
	assert_true(S_ISCHR(st.st_mode));
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(st.st_uid, 0);
}

static void info_agrees_with_the_machine(void **state)
{
	struct auxtrace_info info = at_info();
	int fd = at_open();

	assert_int_equal(info.out_abi_version, AUXTRACE_ABI_VERSION);
	assert_int_equal(info.out_pmus, 1u << AUXTRACE_PMU_INTEL_PT | 1u << AUXTRACE_PMU_INTEL_BTS);
	assert_int_equal(info.out_may, AUXTRACE_MAY_TRACE | AUXTRACE_MAY_LOCK);
	assert_int_equal(at_pmu(fd, 0, AUXTRACE_PMU_INTEL_PT).state, AUXTRACE_PMU_STATE_OK);
	assert_true(info.out_nr_cpu_ids > (unsigned int)cpus_last(all_cpus));
	assert_int_equal(info.out_page_size, page_size);
	assert_int_equal(info.out_clock, AUXTRACE_CLOCK_TSC);
	assert_true(info.out_clock_hz > 0);
}

static void info_agrees_with_cpuid(void **state)
{
	struct auxtrace_cap_intel_pt pt = at_pt();
	struct auxtrace_cap_x86 cpu;
	unsigned int a, b, c, d, family, model;
	uint64_t msr;

	assert_true(at_capability(at_open(), 0, AUXTRACE_CAP_X86, &cpu, sizeof(cpu)));
	__cpuid(1, a, b, c, d);
	family = a >> 8 & 0xf;
	model = a >> 4 & 0xf;
	if (family == 0xf)
		family += a >> 20 & 0xff;
	if (family == 6 || family >= 0xf)
		model |= a >> 12 & 0xf0;
	assert_int_equal(cpu.family, family);
	assert_int_equal(cpu.model, model);
	assert_int_equal(cpu.stepping, a & 0xf);

	__cpuid_count(0x14, 0, a, b, c, d);
	/*
	 * What every PT has, then what leaf 14H enumerates: CYC and PSB, MTC, PTWRITE, power events, event trace,
	 * TNT Disable.
	 */
	assert_int_equal(pt.config & (CONFIG_TSC | CONFIG_NORETCOMP | CONFIG_BRANCH),
			 CONFIG_TSC | CONFIG_NORETCOMP | CONFIG_BRANCH);
	assert_int_equal(!!(pt.config & CONFIG_CYC), !!(b & 1 << 1));
	assert_int_equal(!!(pt.config & CONFIG_MTC), !!(b & 1 << 3));
	assert_int_equal(!!(pt.config & CONFIG_PTW), !!(b & 1 << 4));
	assert_int_equal(!!(pt.config & CONFIG_FUP_ON_PTW), !!(b & 1 << 4));
	assert_int_equal(!!(pt.config & CONFIG_PWR_EVT), !!(b & 1 << 5));
	assert_int_equal(!!(pt.config & CONFIG_EVENT), !!(b & 1 << 7));
	assert_int_equal(!!(pt.config & CONFIG_NOTNT), !!(b & 1 << 8));
	assert_int_equal(pt.config & ~CONFIG_FORMAT, 0);
	if (a >= 1) {
		__cpuid_count(0x14, 1, a, b, c, d);
		assert_int_equal(pt.mtc_periods, a >> 16);
		assert_int_equal(pt.nr_ranges, a & 7);
		assert_int_equal(pt.cyc_thresholds,
				 pt.config & CONFIG_CYC ? (b & 0xffff) | 1 : 0);
		assert_int_equal(pt.psb_periods, b >> 16);
	}

	__cpuid(0, a, b, c, d);
	if (a >= 0x15) {
		__cpuid_count(0x15, 0, a, b, c, d);
		assert_int_equal(cpu.tsc_art_den, a && b ? a : 0);
		assert_int_equal(cpu.tsc_art_num, a && b ? b : 0);
	}
	if (!msr_read(0, MSR_PLATFORM_INFO, &msr))
		assert_int_equal(cpu.max_nonturbo_ratio, msr >> 8 & 0xff);
}

/* Only whole capabilities are written, then zeroes, and nothing behind the caller's memory. */
static void info_writes_the_capabilities_that_fit_and_their_end(void **state)
{
	uint32_t all, whole = 0;
	struct auxtrace_info info = { .size = sizeof(info) };
	uint64_t caps[64];
	uint8_t page[4096];
	int fd = at_open();

	memset(page, 0xa5, sizeof(page));
	ok_info(fd, &info);
	all = info.out_caps_len;
	assert_in_range(all, 8, sizeof(caps) - 8);
	for (uint32_t len = 0; len <= all + 8; len += 4) {
		const uint8_t *bytes = (const uint8_t *)caps;
		uint32_t end = 0;

		memset(caps, 0xa5, sizeof(caps));
		info.caps = (uintptr_t)caps;
		info.caps_len = len;
		ok_info(fd, &info);
		assert_int_equal(info.out_caps_len, all);
		while (end + 8 <= len &&
		       ((const struct auxtrace_cap *)(bytes + end))->tag != AUXTRACE_CAP_END)
			end += ((const struct auxtrace_cap *)(bytes + end))->size;
		assert_true(end <= len && end >= whole && end <= all);
		for (size_t i = end; i < sizeof(caps); i++)
			assert_int_equal(bytes[i], i < len ? 0 : 0xa5);
		whole = end;
	}
	assert_int_equal(whole, all);
	/* They are written to the caller's memory only. */
	info.caps = 0;
	info.caps_len = all;
	fail_info(EFAULT, fd, &info);
	/* No more than a page is zeroed, which all capabilities of every version fit into. */
	info.caps = (uintptr_t)page;
	info.caps_len = sizeof(page) + 1;
	fail_info(E2BIG, fd, &info);
	info.caps_len = UINT32_MAX;
	fail_info(E2BIG, fd, &info);
	assert_int_equal(page[0], 0xa5);
	info.caps_len = sizeof(page);
	ok_info(fd, &info);
	for (size_t i = all; i < sizeof(page); i++)
		assert_int_equal(page[i], 0);
}

static uint64_t perf_ns(const struct auxtrace_info *info, uint64_t tsc)
{
	return info->out_time_zero + (uint64_t)(((unsigned __int128)tsc * info->out_time_mult) >>
						info->out_time_shift);
}

/* On a busy host the measurement of out_time_zero may be off by so much. */
#define CLOCK_SLACK_NS	1000000ULL
#define CLOCK_MARK	"auxtrace: what time is it?"

/*
 * The kernel's log has local_clock() in microseconds. (CLOCK_MONOTONIC differs from it: it stops
 * for the ticks that a busy host loses early in the boot.)
 */
static void info_converts_the_tsc_to_the_clock_of_perf(void **state)
{
	static const char line[] = CLOCK_MARK "\n";
	struct auxtrace_info info = at_info();
	unsigned long long us = 0;
	uint64_t before, after, ns;
	char record[1024];
	ssize_t n;
	int fd;

	if (!info.out_time_mult)
		skip_test("this kernel's clock is not the TSC");
	fd = open("/dev/kmsg", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0)
		skip_test("no /dev/kmsg");
	at_remember(fd);
	lseek(fd, 0, SEEK_END);
	before = read_tsc();
	/* The newline ends the record, too. */
	assert_int_equal(write(fd, line, strlen(line)), strlen(line));
	after = read_tsc();
	/* "<level>,<sequence>,<time>,...;<text>"; others may have written as well. */
	do {
		n = read(fd, record, sizeof(record) - 1);
		assert_true(n > 0 || (n < 0 && errno == EPIPE));
		record[n > 0 ? n : 0] = 0;
	} while (!strstr(record, CLOCK_MARK));
	assert_int_equal(sscanf(record, "%*u,%*u,%llu", &us), 1);
	ns = us * 1000;
	if (ns + 1000 + CLOCK_SLACK_NS < perf_ns(&info, before) ||
	    ns > perf_ns(&info, after) + CLOCK_SLACK_NS)
		fail_msg("the kernel's clock said %llu ns between %llu and %llu",
			 (unsigned long long)ns, (unsigned long long)perf_ns(&info, before),
			 (unsigned long long)perf_ns(&info, after));
}

static void info_with_probe_finds_the_hardware_free(void **state)
{
	assert_int_equal(at_pmu(at_open(), AUXTRACE_INFO_PROBE, AUXTRACE_PMU_INTEL_PT).state,
			 AUXTRACE_PMU_STATE_OK);
}

/* A probe creates perf events and interrupts every CPU. */
static int info_without_capabilities(void *arg)
{
	struct auxtrace_info info = { .size = sizeof(info), .flags = AUXTRACE_INFO_PROBE };
	int fd = *(int *)arg, ret = caps_keep(0);

	if (ret)
		return -ret;
	if (at_ioctl(fd, AUXTRACE_IOC_INFO, &info) != -EACCES)
		return 101;
	info = (struct auxtrace_info){ .size = sizeof(info) };
	if (at_ioctl(fd, AUXTRACE_IOC_INFO, &info))
		return 102;
	return info.out_may == 0 && info.out_pmus ? 0 : 100;
}

static void info_succeeds_without_capabilities_but_does_not_probe(void **state)
{
	int fd = at_open();

	assert_int_equal(child_run(info_without_capabilities, &fd), 0);
}

static int probe_with_perfmon(void *arg)
{
	struct auxtrace_info info = { .size = sizeof(info), .flags = AUXTRACE_INFO_PROBE };
	int ret = caps_keep(CAP(PERFMON));

	return ret ? -ret : -at_ioctl(*(int *)arg, AUXTRACE_IOC_INFO, &info);
}

static void a_probe_needs_only_the_capability_to_trace(void **state)
{
	int fd = at_open();

	assert_int_equal(child_run(probe_with_perfmon, &fd), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(the_device_is_for_root_alone),
		vm_test(info_agrees_with_the_machine),
		vm_test(info_agrees_with_cpuid),
		vm_test(info_writes_the_capabilities_that_fit_and_their_end),
		vm_test(info_converts_the_tsc_to_the_clock_of_perf),
		vm_test(info_with_probe_finds_the_hardware_free),
		vm_test(info_succeeds_without_capabilities_but_does_not_probe),
		vm_test(a_probe_needs_only_the_capability_to_trace),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
