// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <unistd.h>

#include "cpu.h"
#include "machine.h"

size_t page_size;
uint64_t all_cpus, one_cpu;
int first_cpu, last_cpu;
unsigned int slowness;

static __attribute__((constructor)) void machine_init(void)
{
	const char *text = getenv("SLOWNESS");

	slowness = text && atoi(text) > 0 ? atoi(text) : 1;
	page_size = sysconf(_SC_PAGESIZE);
	all_cpus = cpus_online();
	first_cpu = cpus_first(all_cpus);
	last_cpu = cpus_last(all_cpus);
	one_cpu = 1ULL << first_cpu;
}

void two_cpus_required(void)
{
	if (first_cpu == last_cpu)
		skip_test("one CPU only");
}

void hotplug_required(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/online", last_cpu);
	if (first_cpu == last_cpu || access(path, W_OK))
		skip_test("no CPU that can go offline");
}
