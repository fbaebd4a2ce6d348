// SPDX-License-Identifier: GPL-2.0-only
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "die.h"
#include "ours.h"

static void *map(int fd, unsigned int region, int protection)
{
	void *page = mmap(NULL, sysconf(_SC_PAGESIZE), protection, MAP_SHARED, fd,
			  AUXTRACE_MMAP_OFFSET(0, region));

	if (page == MAP_FAILED)
		die("mmap of region %u of CPU 0", region);
	return page;
}

void ours_open(struct ours *ours, const struct source *source, unsigned int nr,
	       const struct auxtrace_setup *wanted)
{
	uint64_t cpus = nr == 64 ? ~0ull : (1ull << nr) - 1;
	struct auxtrace_start start = { .size = sizeof(start) };
	struct auxtrace_setup setup = *wanted;

	setup.size = sizeof(setup);
	setup.cpus_len = sizeof(cpus);
	setup.cpus = (uintptr_t)&cpus;
	setup.pmu = source->pmu;
	setup.config = source->config;
	ours->fd = open("/dev/auxtrace", O_RDWR | O_CLOEXEC);
	if (ours->fd < 0)
		die("/dev/auxtrace");
	if (ioctl(ours->fd, AUXTRACE_IOC_SETUP, &setup))
		die("SETUP");
	ours->status = map(ours->fd, AUXTRACE_REGION_STATUS, PROT_READ);
	ours->user = map(ours->fd, AUXTRACE_REGION_USER, PROT_READ | PROT_WRITE);
	if (ioctl(ours->fd, AUXTRACE_IOC_START, &start))
		die("START");
}

void ours_close(struct ours *ours)
{
	long page = sysconf(_SC_PAGESIZE);

	munmap((void *)ours->status, page);
	munmap((void *)ours->user, page);
	close(ours->fd);
}

uint32_t ours_trigger(const struct ours *ours, const struct auxtrace_trigger *wanted)
{
	struct auxtrace_trigger trigger = *wanted;

	trigger.size = sizeof(trigger);
	if (ioctl(ours->fd, AUXTRACE_IOC_TRIGGER_ADD, &trigger))
		die("TRIGGER_ADD of kind %u", trigger.kind);
	return trigger.out_id;
}

void ours_pause(void *arg)
{
	struct auxtrace_control control = { .size = sizeof(control) };
	const struct ours *ours = arg;

	if (ioctl(ours->fd, AUXTRACE_IOC_PAUSE, &control))
		die("PAUSE");
}

void ours_resume(void *arg)
{
	struct auxtrace_control control = { .size = sizeof(control) };
	const struct ours *ours = arg;

	if (ioctl(ours->fd, AUXTRACE_IOC_RESUME, &control))
		die("RESUME");
}

void ours_poll(void *arg)
{
	const struct ours *ours = arg;
	struct pollfd fd = { .fd = ours->fd, .events = POLLIN };

	if (poll(&fd, 1, 0) < 0)
		die("poll");
}

void ours_output(struct ours *ours, bool pause)
{
	struct auxtrace_output output = { .size = sizeof(output), .pause = pause };

	if (ioctl(ours->fd, AUXTRACE_IOC_PAUSE_OUTPUT, &output))
		die("PAUSE_OUTPUT");
}
