// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "msr.h"
#include "pmu.h"
#include "uapi.h"

static int msr_open(int cpu, int flags)
{
	char path[32];
	int fd;

	snprintf(path, sizeof(path), "/dev/cpu/%d/msr", cpu);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int msr_read(int cpu, uint32_t reg, uint64_t *value)
{
	int fd = msr_open(cpu, O_RDONLY), ret = 0;

	if (fd < 0)
		return fd;
	if (pread(fd, value, sizeof(*value), reg) != sizeof(*value))
		ret = -errno;
	close(fd);
	return ret;
}

int msr_write(int cpu, uint32_t reg, uint64_t value)
{
	int fd = msr_open(cpu, O_WRONLY), ret = 0;

	if (fd < 0)
		return fd;
	if (pwrite(fd, &value, sizeof(value), reg) != sizeof(value))
		ret = -errno;
	close(fd);
	return ret;
}

static uint64_t must_read(int cpu, uint32_t reg)
{
	uint64_t value = 0;
	int ret = msr_read(cpu, reg, &value);

	if (ret)
		fail_msg("MSR %#x of CPU %d: %s", reg, cpu, strerror(-ret));
	return value;
}

uint32_t msr_control(void)
{
	return under_bts() ? MSR_DEBUGCTL : MSR_RTIT_CTL;
}

uint64_t msr_enables(void)
{
	return under_bts() ? DEBUGCTL_TR | DEBUGCTL_BTS : RTIT_CTL_TRACE_EN;
}

bool msr_tracing(int cpu)
{
	return (must_read(cpu, msr_control()) & msr_enables()) == msr_enables();
}

void emulator_required(void)
{
	uint64_t id = 0;
	int ret = msr_read(0, MSR_PTM_ID, &id);

	if (ret || id != PTM_ID_VALUE)
		skip_test("no counters of the emulator: %s", ret ? strerror(-ret) : "not its ID");
}

uint64_t emulator_count(int cpu, enum ptm_counter counter)
{
	return must_read(cpu, MSR_PTM_COUNTER + counter);
}

uint64_t emulator_wrmsrs(int cpu)
{
	if (under_bts())
		return emulator_count(cpu, PTM_N_WRMSR_DEBUGCTL) +
		       emulator_count(cpu, PTM_N_WRMSR_DS_AREA);
	return emulator_count(cpu, PTM_N_WRMSR);
}

bool emulator_bytes_plain(int cpu, uint64_t *bytes)
{
	uint64_t id;

	/* QEMU reads an MSR that it does not have as 0. */
	if (msr_read(cpu, MSR_PTM_ID, &id) || id != PTM_ID_VALUE)
		return false;
	if (under_bts()) {
		if (msr_read(cpu, MSR_PTM_COUNTER + PTM_N_BTS, bytes))
			return false;
		*bytes *= sizeof(struct auxtrace_branch);
		return true;
	}
	return !msr_read(cpu, MSR_PTM_COUNTER + PTM_N_BYTES, bytes);
}

uint64_t emulator_bytes(int cpu)
{
	uint64_t bytes = 0;

	if (!emulator_bytes_plain(cpu, &bytes))
		fail_msg("no counters of CPU %d", cpu);
	return bytes;
}

static uint64_t turned[PTM_KNOBS];	/* on which CPUs */

void emulator_knob(int cpu, enum ptm_knob knob, uint64_t value)
{
	int ret = msr_write(cpu, MSR_PTM_KNOB + knob, value);

	if (ret)
		fail_msg("knob %d of CPU %d: %s", knob, cpu, strerror(-ret));
	turned[knob] |= 1ULL << cpu;
}

void emulator_knobs_reset(void)
{
	for (int knob = 0; knob < PTM_KNOBS; knob++)
		for (; turned[knob]; turned[knob] &= turned[knob] - 1)
			msr_write(cpus_first(turned[knob]), MSR_PTM_KNOB + knob, 0);
}
