// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"

static uint64_t taken_down;

uint64_t cpus_online(void)
{
	FILE *f = fopen("/sys/devices/system/cpu/online", "re");
	uint64_t cpus = 0;
	int first, last;

	if (!f)
		return 1;
	while (fscanf(f, "%d", &first) == 1) {
		if (fscanf(f, "-%d", &last) != 1)
			last = first;
		for (int cpu = first; cpu <= last && cpu < 64; cpu++)
			cpus |= 1ULL << cpu;
		if (fgetc(f) != ',')
			break;
	}
	fclose(f);
	return cpus;
}

int cpu_pin(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return sched_setaffinity(0, sizeof(set), &set) ? -errno : 0;
}

void cpu_unpin(void)
{
	cpu_set_t set;

	memset(&set, 0xff, sizeof(set));
	sched_setaffinity(0, sizeof(set), &set);
}

int cpu_set_online(int cpu, int online)
{
	char path[64], value = online ? '1' : '0';
	int fd, ret = 0;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", cpu);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	if (write(fd, &value, 1) != 1)
		ret = -errno;
	close(fd);

	if (!ret && online)
		taken_down &= ~(1ULL << cpu);
	else if (!ret)
		taken_down |= 1ULL << cpu;
	return ret;
}

uint64_t cpu_nmis(int cpu)
{
	FILE *f = fopen("/proc/interrupts", "re");
	uint64_t online = cpus_online(), nmis = 0;
	char line[1024];

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f)) {
		char *at = strstr(line, "NMI:");

		/* A column for each CPU that is online. */
		for (at = at ? at + 4 : NULL; at; online &= online - 1) {
			nmis = strtoull(at, &at, 10);
			if (!online || cpus_first(online) >= cpu)
				break;
		}
	}
	fclose(f);
	return nmis;
}

int cpus_restore(void)
{
	cpu_unpin();
	while (taken_down) {
		int cpu = cpus_first(taken_down);
		int ret = cpu_set_online(cpu, 1);

		if (ret) {
			fprintf(stderr, "CPU %d does not come back: %s\n", cpu, strerror(-ret));
			return -1;
		}
	}
	return 0;
}
