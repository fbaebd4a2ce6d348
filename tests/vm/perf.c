// SPDX-License-Identifier: GPL-2.0
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "load.h"
#include "packets.h"
#include "perf.h"
#include "uapi.h"

#define TYPE_FILE	"/sys/bus/event_source/devices/intel_pt/type"
/* Few, so that the pages of one buffer are likely to be those of the one before. */
#define AUX_PAGES	2

static int pmu_type(void)
{
	FILE *f = fopen(TYPE_FILE, "re");
	int type = -1;

	if (!f)
		return -1;
	if (fscanf(f, "%d", &type) != 1)
		type = -1;
	fclose(f);
	return type;
}

void perf_required(void)
{
	if (pmu_type() >= 0)
		return;
	print_message("SKIP: no " TYPE_FILE "\n");
	skip();
}

int perf_open_plain(pid_t pid, int cpu)
{
	struct perf_event_attr attr = {
		.type = pmu_type(),
		.size = sizeof(attr),
		.config = CONFIG_TSC | CONFIG_BRANCH | CONFIG_PT,
		.disabled = 1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	int fd = syscall(SYS_perf_event_open, &attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
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
	int fd = syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);

	if (fd < 0)
		return -errno;
	at_remember(fd);
	return fd;
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
		struct packets packets = { 0 };

		if ((uint64_t)ret > base->aux_size)
			ret = base->aux_size;
		packets_walk(&packets, aux, ret, false);
		if (packets.error || !packets.begins_with_psb)
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

static void expect_perf(int err, int fd, const char *what)
{
	if (fd != -err && !(fd >= 0 && !err))
		fail_msg("perf_event_open of intel_pt %s: expected %s, got %s", what,
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
