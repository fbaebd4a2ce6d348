// SPDX-License-Identifier: GPL-2.0-only
/*
 * The emulator's TLB entries name sections of the address space. One CPU turns the memory
 * BAR of a PCI device off and on, which removes and adds a section. Meanwhile other CPUs
 * still have to reach their local APICs: if a write to a register went to another section,
 * an IPI would be lost, and the kernel would wait for it for ever. An emulator without the
 * mend loses one within some ten thousand changes, so one run is evidence, not proof.
 */
#include <dirent.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cpu.h"
#include "msr.h"
#include "uapi.h"

#define DEVICES		"/sys/bus/pci/devices"
#define CHANGES		10000u
#define OTHERS		2u

/* SDM volume 4, IA32_APIC_BASE. */
#define MSR_APIC_BASE		0x1b
#define APIC_BASE_X2APIC	(1u << 10)

#define PCI_COMMAND		4
#define PCI_COMMAND_MEMORY	2u

static bool end;

struct other {
	pthread_t thread;
	int cpu, err;
};

/* An IPI to each other CPU that runs this process: writes to the xAPIC's registers. */
static void *other_main(void *arg)
{
	struct other *o = arg;

	o->err = cpu_pin(o->cpu);
	while (!o->err && !__atomic_load_n(&end, __ATOMIC_RELAXED))
		if (syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0))
			o->err = 1;
	return NULL;
}

/* The SATA controller (class 0x0106), if no driver uses it; else "". */
static void find_device(char *path, size_t size)
{
	DIR *dir = opendir(DEVICES);
	struct dirent *e;
	char file[512], class[16];
	FILE *f;

	*path = '\0';
	while (dir && (e = readdir(dir))) {
		snprintf(file, sizeof(file), DEVICES "/%s/class", e->d_name);
		f = fopen(file, "re");
		if (!f)
			continue;
		if (!fgets(class, sizeof(class), f))
			*class = '\0';
		fclose(f);
		if (strncmp(class, "0x0106", 6))
			continue;
		snprintf(file, sizeof(file), DEVICES "/%s/driver", e->d_name);
		if (access(file, F_OK))
			snprintf(path, size, DEVICES "/%s/config", e->d_name);
	}
	if (dir)
		closedir(dir);
}

static void a_bar_that_comes_and_goes_leaves_other_registers_alone(void **state)
{
	static struct other others[OTHERS];
	uint64_t cpus = cpus_online();
	unsigned int count = 0;
	uint64_t apic_base;
	uint16_t command, changed;
	char path[512];
	int fd;

	(void)state;
	assert_int_equal(msr_read(cpus_first(cpus), MSR_APIC_BASE, &apic_base), 0);
	if (apic_base & APIC_BASE_X2APIC)
		skip_test("an x2APIC's registers are MSRs, not memory");
	if (cpus_count(cpus) < 1 + OTHERS)
		skip_test("fewer than %u CPUs", 1 + OTHERS);
	find_device(path, sizeof(path));
	if (!*path)
		skip_test("no SATA controller without a driver");
	fd = open(path, O_RDWR | O_CLOEXEC);
	assert_true(fd >= 0);
	at_remember(fd);
	assert_int_equal(pread(fd, &command, 2, PCI_COMMAND), 2);
	assert_int_equal(syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0), 0);
	assert_int_equal(cpu_pin(cpus_first(cpus)), 0);
	for (int cpu = cpus_first(cpus) + 1; count < OTHERS; cpu++)
		if (cpus >> cpu & 1) {
			struct other *o = &others[count++];

			o->cpu = cpu;
			assert_int_equal(pthread_create(&o->thread, NULL, other_main, o), 0);
		}
	for (unsigned int i = 0; i < CHANGES; i++) {
		changed = i & 1 ? command & ~PCI_COMMAND_MEMORY : command | PCI_COMMAND_MEMORY;
		assert_int_equal(pwrite(fd, &changed, 2, PCI_COMMAND), 2);
	}
	assert_int_equal(pwrite(fd, &command, 2, PCI_COMMAND), 2);
	__atomic_store_n(&end, true, __ATOMIC_RELAXED);
	for (unsigned int i = 0; i < count; i++) {
		pthread_join(others[i].thread, NULL);
		assert_int_equal(others[i].err, 0);
	}
	cpu_unpin();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(a_bar_that_comes_and_goes_leaves_other_registers_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
