// SPDX-License-Identifier: GPL-2.0-only
/*
 * A machine that lacks something that the module uses: the module loads, INFO reports what is
 * missing, SETUP refuses that, and the rest works. $AUXTRACE_MACHINE names one of the
 * machines below; tests/host/absent.sh boots them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cpu.h"
#include "load.h"
#include "trace.h"
#include "uapi.h"

#define KERNEL	AUXTRACE_SETUP_KERNEL
#define USER	AUXTRACE_SETUP_USER
#define PMUS	2

static const struct machine {
	const char *name;
	uint32_t pt, bts, bts_flags;
} machines[] = {
	{ "neither", AUXTRACE_PMU_STATE_NO_CPUID, AUXTRACE_PMU_STATE_NO_CPUID, 0 },
	{ "no-pmu", AUXTRACE_PMU_STATE_NO_PMI, AUXTRACE_PMU_STATE_NO_PMI, 0 },
	{ "no-topa", AUXTRACE_PMU_STATE_NO_TOPA, AUXTRACE_PMU_STATE_OK, AUXTRACE_BTS_CPL },
	{ "no-ds", AUXTRACE_PMU_STATE_OK, AUXTRACE_PMU_STATE_NO_CPUID, 0 },
	{ "bts-disabled", AUXTRACE_PMU_STATE_OK, AUXTRACE_PMU_STATE_DISABLED, 0 },
	{ "no-ds-cpl", AUXTRACE_PMU_STATE_OK, AUXTRACE_PMU_STATE_OK, 0 },
};

static const struct machine *machine;

static int read_expectation(void **state)
{
	const char *name = getenv("AUXTRACE_MACHINE");

	if (access("/dev/auxtrace", F_OK) || !name) {
		print_message("SKIP: no /dev/auxtrace or no $AUXTRACE_MACHINE\n");
		exit(77);
	}
	for (unsigned int i = 0; i < sizeof(machines) / sizeof(machines[0]); i++)
		if (!strcmp(name, machines[i].name))
			machine = &machines[i];
	return machine ? 0 : -1;
}

static bool has(uint32_t pmu)
{
	return pmu == AUXTRACE_PMU_INTEL_PT ? machine->pt == AUXTRACE_PMU_STATE_OK :
					      machine->bts == AUXTRACE_PMU_STATE_OK;
}

static void prepare(struct session *s, uint32_t pmu, uint32_t levels)
{
	session_prepare(s, cpus_online(), levels, 1 << 20);
	s->setup.pmu = pmu;
	s->setup.config = pmu == AUXTRACE_PMU_INTEL_PT && has(pmu) ? CONFIG_TSC : 0;
	s->fd = at_open();
}

static void info_says_what_is_missing(void **state)
{
	struct auxtrace_info info = { .size = sizeof(info) };
	int fd = at_open();

	ok_info(fd, &info);
	/* With PROBE the reason is the same: what does not exist is not busy. */
	for (uint32_t flags = 0; flags <= AUXTRACE_INFO_PROBE; flags += AUXTRACE_INFO_PROBE) {
		struct auxtrace_cap_pmu pt = at_pmu(fd, flags, AUXTRACE_PMU_INTEL_PT);
		struct auxtrace_cap_pmu bts = at_pmu(fd, flags, AUXTRACE_PMU_INTEL_BTS);

		assert_int_equal(pt.state, machine->pt);
		assert_int_equal(bts.state, machine->bts);
		/* What cannot be used takes nothing from perf. */
		assert_int_equal(!pt.excludes, !has(AUXTRACE_PMU_INTEL_PT));
		assert_int_equal(!bts.excludes, !has(AUXTRACE_PMU_INTEL_BTS));
	}
	assert_int_equal(at_bts_flags(), machine->bts_flags);
	for (uint32_t pmu = 0; pmu < PMUS; pmu++)
		assert_int_equal(info.out_pmus >> pmu & 1, has(pmu));
	assert_int_equal(info.out_pmus >> PMUS, 0);
	assert_int_equal(info.out_abi_version, AUXTRACE_ABI_VERSION);
	assert_int_equal(info.out_may, AUXTRACE_MAY_TRACE | AUXTRACE_MAY_LOCK);
	assert_int_equal(info.out_page_size, sysconf(_SC_PAGESIZE));
}

static void setup_of_what_is_missing_gives_ENODEV(void **state)
{
	for (uint32_t pmu = 0; pmu < PMUS; pmu++) {
		struct auxtrace_status status;
		struct session s;

		if (has(pmu))
			continue;
		prepare(&s, pmu, KERNEL | USER);
		fail_setup(ENODEV, s.fd, &s.setup);
		fail_start(EBADFD, s.fd);
		ok_status(s.fd, 0, &status);
		assert_int_equal(status.out_state, AUXTRACE_STATE_NEW);
		at_close(s.fd);
	}
}

static void what_is_there_traces(void **state)
{
	for (uint32_t pmu = 0; pmu < PMUS; pmu++) {
		struct auxtrace_status status;
		struct session s;

		if (!has(pmu))
			continue;
		prepare(&s, pmu, KERNEL | USER);
		ok_setup(s.fd, &s.setup);
		ok_start(s.fd);
		load_run(1000);
		ok_stop(s.fd);
		ok_status(s.fd, 0, &status);
		assert_true(status.out_produced > 0);
		at_close(s.fd);
	}
}

/* A CPU that cannot filter BTS by privilege level can record both levels only. */
static void bts_of_one_level_needs_ds_cpl(void **state)
{
	static const uint32_t levels[] = { KERNEL, USER };

	if (!has(AUXTRACE_PMU_INTEL_BTS))
		skip_test("no BTS");
	for (unsigned int i = 0; i < 2; i++) {
		struct session s;

		prepare(&s, AUXTRACE_PMU_INTEL_BTS, levels[i]);
		if (machine->bts_flags & AUXTRACE_BTS_CPL)
			ok_setup(s.fd, &s.setup);
		else
			fail_setup(EOPNOTSUPP, s.fd, &s.setup);
		at_close(s.fd);
	}
}

static void task_needs_no_trace_pmu(void **state)
{
	struct auxtrace_task task = { .size = sizeof(task) };

	ok_task(at_open(), &task);
	assert_true(task.out_context != 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(info_says_what_is_missing),
		vm_test(setup_of_what_is_missing_gives_ENODEV),
		vm_test(what_is_there_traces),
		vm_test(bts_of_one_level_needs_ds_cpl),
		vm_test(task_needs_no_trace_pmu),
	};

	return cmocka_run_group_tests(tests, read_expectation, NULL);
}
