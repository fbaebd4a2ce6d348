// SPDX-License-Identifier: GPL-2.0-only
/* The synthetic MSRs. */
#include "machine.h"

#define ON	(OS | USER | BRANCH_EN)

static void absent_until_enabled(void **state)
{
	struct machine *m = *state;

	ptm_synthetic_enable(m->ptm, false);
	assert_false(ptm_owns_msr(m->ptm, MSR_PTM_ID));
	assert_false(ptm_owns_msr(m->ptm, MSR_PTM_DROP));
	assert_false(ptm_owns_msr(m->ptm, MSR_PTM_COUNTER));
	assert_true(rd_faults(m, MSR_PTM_ID));
	assert_true(wr_faults(m, MSR_PTM_DROP, 1));
	ptm_synthetic_enable(m->ptm, true);
	assert_true(ptm_owns_msr(m->ptm, MSR_PTM_ID));
	assert_true(ptm_owns_msr(m->ptm, MSR_PTM_COUNTER + PTM_COUNTERS - 1));
	assert_false(ptm_owns_msr(m->ptm, MSR_PTM_COUNTER + PTM_COUNTERS));
	assert_true(ptm_owns_msr(m->ptm, MSR_PTM_KNOB + PTM_KNOBS - 1));
	assert_false(ptm_owns_msr(m->ptm, MSR_PTM_KNOB + PTM_KNOBS));
}

/* Guests that were built against an older model know them. */
static void the_registers_keep_their_numbers(void **state)
{
	struct machine *m = *state;

	assert_int_equal(rd(m, 0x4b500000), 0x313030424d5450ULL);
	wr(m, 0x4b500001, 5);
	assert_int_equal(rd(m, MSR_PTM_DROP), 5);
	start(m, ON);
	stop(m);
	assert_int_equal(rd(m, 0x4b500010), counter(m, PTM_N_WRMSR));
	assert_int_equal(rd(m, 0x4b50001a), counter(m, PTM_N_PSB));
	assert_true(counter(m, PTM_N_PSB) != counter(m, PTM_N_WRMSR));
}

static void id_is_read_only(void **state)
{
	struct machine *m = *state;

	assert_int_equal(rd(m, MSR_PTM_ID), PTM_ID_VALUE);
	assert_true(wr_faults(m, MSR_PTM_ID, PTM_ID_VALUE));
}

static void counters_are_cleared_by_zero_alone(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	stop(m);
	assert_true(counter(m, PTM_N_PSB) > 0);
	assert_true(wr_faults(m, MSR_PTM_COUNTER + PTM_N_PSB, 1));
	assert_true(counter(m, PTM_N_PSB) > 0);
	wr(m, MSR_PTM_COUNTER + PTM_N_PSB, 0);
	assert_int_equal(counter(m, PTM_N_PSB), 0);
}

static void drop_takes_1_to_32_bits(void **state)
{
	struct machine *m = *state;

	assert_true(wr_faults(m, MSR_PTM_DROP, 0));
	assert_true(wr_faults(m, MSR_PTM_DROP, 1ULL << 32));
	wr(m, MSR_PTM_DROP, 0xffffffff);
	assert_int_equal(rd(m, MSR_PTM_DROP), 0xffffffff);
}

/* Each kind of packet, the bytes that reached memory, and those that an overflow dropped. */
static void packets_bytes_and_losses_are_counted(void **state)
{
	static const struct {
		enum ptm_counter which;
		uint64_t n;
	} want[] = {
		{ PTM_N_PSB, 1 }, { PTM_N_TSC, 2 }, { PTM_N_TMA, 2 }, { PTM_N_PIP, 1 },
		{ PTM_N_CBR, 1 }, { PTM_N_MODE, 1 }, { PTM_N_PGE, 1 }, { PTM_N_TNT, 1 },
		{ PTM_N_TIP, 2 }, { PTM_N_FUP, 3 }, { PTM_N_PGD, 1 }, { PTM_N_OVF, 1 },
		{ PTM_N_CYC, 0 }, { PTM_N_STOP, 0 }, { PTM_N_PMI, 0 }, { PTM_N_ERRORS, 0 },
		{ PTM_N_MTC, 1 }, { PTM_N_LOST, 3 },
	};
	struct machine *m = *state;

	start(m, ON | TSC_EN | MTC_EN);
	branch(m, PTM_JCC_TAKEN, KERN, KERN + 2, KERN);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
	m->tsc += 42;
	far_to(m, PTM_EVENT, &kernel_ctx, KERN, KERN + 8);
	wr(m, MSR_PTM_DROP, 3);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
	stop(m);
	for (unsigned int i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_int_equal(counter(m, want[i].which), want[i].n);
	assert_int_equal(counter(m, PTM_N_BYTES), m->tee_n);
}

static void counters_survive_init_and_not_power_up(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	ptm_reset(m->ptm, true);
	assert_int_equal(counter(m, PTM_N_PSB), 1);
	ptm_reset(m->ptm, false);
	assert_int_equal(counter(m, PTM_N_PSB), 0);
	assert_int_equal(counter(m, PTM_N_WRMSR), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, machine_setup, machine_teardown)
	static const struct CMUnitTest tests[] = {
		T(absent_until_enabled), T(the_registers_keep_their_numbers),
		T(id_is_read_only), T(counters_are_cleared_by_zero_alone),
		T(drop_takes_1_to_32_bits), T(packets_bytes_and_losses_are_counted),
		T(counters_survive_init_and_not_power_up),
	};

	return cmocka_run_group_tests_name("synthetic", tests, NULL, NULL);
}
