// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cpu.h"
#include "file.h"
#include "load.h"
#include "perf.h"
#include "pmu.h"
#include "trace.h"
#include "uapi.h"

/* PT: few, so that a buffer is likely to get the pages of the one before. */
#define AUX_PAGES	(under_bts() ? 16u : 2u)

static const char *trace_pmu(void)
{
	return under_bts() ? "intel_bts" : "intel_pt";
}

int64_t perf_pmu_type(const char *pmu)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/event_source/devices/%s/type", pmu);
	return file_number(path);
}

void perf_required(void)
{
	if (perf_pmu_type(trace_pmu()) < 0)
		skip_test("this kernel has no PMU %s", trace_pmu());
}

const struct perf_event_attr perf_each_branch = {
	.type = PERF_TYPE_HARDWARE,
	.size = sizeof(perf_each_branch),
	.config = PERF_COUNT_HW_BRANCH_INSTRUCTIONS,
	.sample_period = 1,
	.exclude_kernel = 1,
	.exclude_hv = 1,
	.disabled = 1,
};

const struct perf_event_attr perf_last_branches = {
	.type = PERF_TYPE_HARDWARE,
	.size = sizeof(perf_last_branches),
	.config = PERF_COUNT_HW_CPU_CYCLES,
	.sample_period = 1000000,
	.sample_type = PERF_SAMPLE_BRANCH_STACK,
	.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_ANY,
	.disabled = 1,
};

int perf_open_event(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

int perf_open_plain(pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.type = perf_pmu_type(trace_pmu()),
		.size = sizeof(attr),
		.config = under_bts() ? 0 : CONFIG_TSC | CONFIG_BRANCH | CONFIG_PT,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};

	return perf_open_event(&attr, pid, cpu);
}

int perf_open(pid_t pid, int cpu)
{
	int fd = perf_open_plain(pid, cpu);

	if (fd >= 0)
		at_remember(fd);
	return fd;
}

int perf_sample(int cpu, uint64_t period)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_HARDWARE,
		.size = sizeof(attr),
		.config = PERF_COUNT_HW_INSTRUCTIONS,
		.sample_period = period,
	};
	int fd = perf_open_event(&attr, -1, cpu);

	if (fd >= 0)
		at_remember(fd);
	return fd;
}

static bool write_file(const char *path, const char *text)
{
	if (!file_write(path, text))
		return true;
	print_message("cannot write %s\n", path);
	return false;
}

#define MAX_RATE	"/proc/sys/kernel/perf_event_max_sample_rate"
#define MAX_PERCENT	"/proc/sys/kernel/perf_cpu_time_max_percent"

bool perf_throttle(unsigned int rate)
{
	char text[16];
	int tries = 0;

	snprintf(text, sizeof(text), "%u", rate);
	/*
	 * With 0 percent perf does not lower the rate, but it can only be set before. In between,
	 * an interrupt that takes long lowers it.
	 */
	while (file_number(MAX_PERCENT) || file_number(MAX_RATE) != rate)
		if (++tries > 100 || !write_file(MAX_PERCENT, "25") ||
		    !write_file(MAX_RATE, text) || !write_file(MAX_PERCENT, "0"))
			return false;
	return true;
}

bool perf_unthrottle(void)
{
	return perf_throttle(1000000);
}

int64_t perf_trace_during(int fd, unsigned int rounds, void (*then)(void *arg), void *arg)
{
	size_t page = sysconf(_SC_PAGESIZE);
	struct perf_event_mmap_page *base;
	int64_t ret;
	void *aux;

	base = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		return -errno;
	base->aux_offset = 2 * page;
	base->aux_size = AUX_PAGES * page;
	aux = mmap(NULL, base->aux_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, base->aux_offset);
	if (aux == MAP_FAILED) {
		ret = -errno;
		munmap(base, 2 * page);
		return ret;
	}

	ret = ioctl(fd, PERF_EVENT_IOC_ENABLE, 0) ? -errno : 0;
	load_run(rounds);
	if (then)
		then(arg);
	load_run(rounds);
	if (!ret && ioctl(fd, PERF_EVENT_IOC_DISABLE, 0))
		ret = -errno;
	if (!ret)
		ret = __atomic_load_n(&base->aux_head, __ATOMIC_ACQUIRE);
	if (ret > 0) {
		struct walk walk = { 0 };

		if ((uint64_t)ret > base->aux_size)
			ret = base->aux_size;
		trace_walk(&walk, aux, ret, false);
		/* perf fills the end of a BTS buffer with zeros. */
		if (!walk.begins_window || (walk.error && !(under_bts() && walk.count)))
			ret = -EBADMSG;
	}

	munmap(aux, AUX_PAGES * page);
	munmap(base, 2 * page);
	return ret;
}

int64_t perf_trace(int fd, unsigned int rounds)
{
	return perf_trace_during(fd, rounds, NULL, NULL);
}

bool perf_works(int fd, int cpu)
{
	int64_t bytes;

	assert_int_equal(cpu_pin(cpu), 0);
	bytes = perf_trace(fd, 100);
	cpu_unpin();
	return bytes > 0;
}

static void expect_perf(int err, int fd, const char *what)
{
	if (fd != -err && !(fd >= 0 && !err))
		fail_msg("perf_event_open of %s %s: expected %s, got %s",
			 trace_pmu(), what,
			 err ? strerrorname_np(err) : "success",
			 fd < 0 ? strerrorname_np(-fd) : "success");
	if (fd >= 0)
		at_close(fd);
}

void perf_is_refused(int cpu)
{
	expect_perf(EBUSY, perf_open(-1, cpu), "on a CPU");
	expect_perf(EBUSY, perf_open(0, -1), "of a task");
}

void perf_is_granted(int cpu)
{
	expect_perf(0, perf_open(-1, cpu), "on a CPU");
	expect_perf(0, perf_open(0, -1), "of a task");
}
