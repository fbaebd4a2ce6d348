// SPDX-License-Identifier: GPL-2.0-only
/* BTS leaves what belongs to others as it was: perf's debug store, bits of DEBUGCTL. */
#include <string.h>

#include "cpu.h"
#include "ds.h"
#include "invariants.h"
#include "load.h"
#include "machine.h"
#include "msr.h"
#include "perf.h"
#include "uapi.h"

#define USER		AUXTRACE_SETUP_USER
#define KERNEL		AUXTRACE_SETUP_KERNEL
#define BOTH		(USER | KERNEL)
#define OVER		AUXTRACE_SETUP_OVERWRITE

static void the_debug_store_is_restored(void **state)
{
	static const uint32_t flags[] = { BOTH, USER, BOTH | OVER };
	struct ds before, during, after;
	uint64_t area, still;
	struct session s;

	/* A perf event makes perf allocate a debug store and keep it. */
	assert_true(perf_sample(first_cpu, 1ULL << 40) >= 0);
	before = ds_read(first_cpu);
	assert_int_equal(msr_read(first_cpu, MSR_DS_AREA, &area), 0);
	for (int i = 0; i < 3; i++) {
		session_open(&s, one_cpu, flags[i], 16 * page_size);
		assert_int_equal(cpu_pin(first_cpu), 0);
		ok_start(s.fd);
		load_run(5000);
		/* The probe sees the module's values, so it does see changes. */
		during = ds_read(first_cpu);
		assert_true(memcmp(&during, &before, sizeof(before)));
		assert_true(during.index >= during.base && during.index <= during.maximum);
		ok_pause(&s, 0, NULL);
		ok_resume(&s, 0, NULL);
		ok_stop(s.fd);
		after = ds_read(first_cpu);
		assert_memory_equal(&after, &before, sizeof(before));
		assert_int_equal(msr_read(first_cpu, MSR_DS_AREA, &still), 0);
		assert_int_equal(still, area);
		session_close(&s);
	}
}

static void the_ds_area_msr_is_never_written(void **state)
{
	struct session s;
	uint64_t writes;

	emulator_required();
	assert_true(perf_sample(first_cpu, 1ULL << 40) >= 0);
	writes = emulator_count(first_cpu, PTM_N_WRMSR_DS_AREA);
	for (int i = 0; i < 3; i++) {
		session_open(&s, one_cpu, i & 1 ? USER : BOTH | OVER, 16 * page_size);
		assert_int_equal(cpu_pin(first_cpu), 0);
		ok_start(s.fd);
		load_run(5000);
		ok_pause(&s, 0, NULL);
		ok_resume(&s, 0, NULL);
		ok_stop(s.fd);
		session_close(&s);
	}
	assert_int_equal(emulator_count(first_cpu, PTM_N_WRMSR_DS_AREA), writes);
}

#define FREEZE_PERFMON	(1ULL << 12)

static void other_bits_of_debugctl_stay_as_they_are(void **state)
{
	const uint64_t ours = DEBUGCTL_TR | DEBUGCTL_BTS | DEBUGCTL_BTINT | DEBUGCTL_BTS_OFF_OS |
			      DEBUGCTL_BTS_OFF_USR;
	struct session s;
	uint64_t v, was;

	assert_int_equal(msr_read(first_cpu, MSR_DEBUGCTL, &was), 0);
	assert_int_equal(was & ours, 0);
	assert_int_equal(msr_write(first_cpu, MSR_DEBUGCTL, was | FREEZE_PERFMON), 0);
	session_open(&s, one_cpu, BOTH | OVER, 16 * page_size);
	ok_start(s.fd);
	for (int i = 0; i < 3; i++) {
		assert_int_equal(msr_read(first_cpu, MSR_DEBUGCTL, &v), 0);
		assert_int_equal(v, was | FREEZE_PERFMON | DEBUGCTL_TR | DEBUGCTL_BTS | DEBUGCTL_BTINT);
		ok_pause(&s, 0, NULL);
		assert_int_equal(msr_read(first_cpu, MSR_DEBUGCTL, &v), 0);
		assert_int_equal(v, was | FREEZE_PERFMON);
		ok_resume(&s, 0, NULL);
	}
	ok_stop(s.fd);
	assert_int_equal(msr_read(first_cpu, MSR_DEBUGCTL, &v), 0);
	assert_int_equal(v, was | FREEZE_PERFMON);
	assert_int_equal(msr_write(first_cpu, MSR_DEBUGCTL, was), 0);
}

/*
 * Other code may read the MSR before a PAUSE and write it back after. Then BTS is on again, but
 * gets no space, and the session's end turns it off.
 */
static void bts_that_others_turn_on_while_paused_ends_with_the_session(void **state)
{
	struct ds before, after;
	struct session s;
	uint64_t on, v;

	session_open(&s, one_cpu, BOTH | OVER, 16 * page_size);
	assert_int_equal(cpu_pin(first_cpu), 0);
	ok_start(s.fd);
	assert_int_equal(msr_read(first_cpu, MSR_DEBUGCTL, &on), 0);
	ok_stop(s.fd);
	before = ds_read(first_cpu);
	ok_start(s.fd);
	ok_pause(&s, 0, NULL);
	assert_int_equal(msr_write(first_cpu, MSR_DEBUGCTL, on), 0);
	load_run(100);
	ok_stop(s.fd);
	load_run(100);
	assert_int_equal(msr_read(first_cpu, MSR_DEBUGCTL, &v), 0);
	after = ds_read(first_cpu);
	msr_write(first_cpu, MSR_DEBUGCTL, on & ~(DEBUGCTL_TR | DEBUGCTL_BTS | DEBUGCTL_BTINT));
	assert_int_equal(v & (DEBUGCTL_TR | DEBUGCTL_BTS), 0);
	assert_memory_equal(&after, &before, sizeof(after));
	check_accounting(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		vm_test(the_debug_store_is_restored),
		vm_test(the_ds_area_msr_is_never_written),
		vm_test(other_bits_of_debugctl_stay_as_they_are),
		vm_test(bts_that_others_turn_on_while_paused_ends_with_the_session),
	};

	return cmocka_run_group_tests(tests, at_group_setup, NULL);
}
