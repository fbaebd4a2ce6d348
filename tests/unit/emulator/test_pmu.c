// SPDX-License-Identifier: GPL-2.0
/* The architectural PMU: what a driver reads back, what raises #GP, RDPMC. */
#include "machine.h"

#define PMC(i)		(0x0c1 + (i))
#define EVTSEL(i)	(0x186 + (i))
#define FIXED_CTR(i)	(0x309 + (i))
#define FIXED_CTR_CTRL	0x38d
#define GLOBAL_CTRL	0x38f
#define PERF_CAPS	0x345
#define PLATFORM_INFO	0x0ce

static void counters_keep_what_is_written(void **state)
{
	struct machine *m = *state;

	for (unsigned int i = 0; i < 4; i++) {
		wr(m, PMC(i), 0x1000 + i);
		wr(m, EVTSEL(i), 0x4300c0 + i);
	}
	for (unsigned int i = 0; i < 3; i++)
		wr(m, FIXED_CTR(i), 0xffff00000000ULL + i);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(rd(m, PMC(i)), 0x1000 + i);
		assert_int_equal(rd(m, EVTSEL(i)), 0x4300c0 + i);
	}
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(rd(m, FIXED_CTR(i)), 0xffff00000000ULL + i);
}

static void gp_counter_writes_are_sign_extended(void **state)
{
	struct machine *m = *state;

	wr(m, PMC(0), 0x80000000);
	assert_int_equal(rd(m, PMC(0)), 0xffff80000000ULL);
	wr(m, PMC(0), 0xdead00007fffffffULL);
	assert_int_equal(rd(m, PMC(0)), 0x7fffffff);
	/* How a driver finds out whether the counter is real. */
	wr(m, PMC(3), rd(m, PMC(3)) ^ 0xffff);
	assert_int_equal(rd(m, PMC(3)), 0xffff);
}

static void counters_end_where_cpuid_says(void **state)
{
	struct machine *m = *state;

	assert_true(ptm_owns_msr(m->ptm, PMC(3)));
	assert_false(ptm_owns_msr(m->ptm, PMC(4)));
	assert_true(ptm_owns_msr(m->ptm, EVTSEL(3)));
	assert_false(ptm_owns_msr(m->ptm, EVTSEL(4)));
	assert_true(ptm_owns_msr(m->ptm, FIXED_CTR(2)));
	assert_false(ptm_owns_msr(m->ptm, FIXED_CTR(3)));
}

static void rdpmc(void **state)
{
	struct machine *m = *state;
	uint64_t v = 0;

	wr(m, PMC(2), 0x22);
	wr(m, FIXED_CTR(1), 0x123456789abcULL);
	assert_true(ptm_rdpmc(m->ptm, 2, &v));
	assert_int_equal(v, 0x22);
	assert_true(ptm_rdpmc(m->ptm, 1U << 30 | 1, &v));
	assert_int_equal(v, 0x123456789abcULL);
	assert_false(ptm_rdpmc(m->ptm, 4, &v));
	assert_false(ptm_rdpmc(m->ptm, 1U << 30 | 3, &v));
	assert_false(ptm_rdpmc(m->ptm, 1U << 31, &v));
	assert_false(ptm_rdpmc(m->ptm, 1U << 29 | 1, &v));
}

static void reserved_bits_fault(void **state)
{
	static const struct {
		uint32_t msr;
		uint64_t good, bad;
	} cases[] = {
		{ EVTSEL(0), 0xffdfffff, BIT(21) },	/* AnyThread: version 3 */
		{ EVTSEL(0), 0, BIT(32) },
		{ FIXED_CTR(0), BIT(47), BIT(48) },
		{ FIXED_CTR_CTRL, 0xbbb, BIT(2) },	/* AnyThread */
		{ FIXED_CTR_CTRL, 0, BIT(12) },
		{ GLOBAL_CTRL, 0x70000000fULL, BIT(4) },
		{ GLOBAL_CTRL, 0, BIT(35) },
		{ GLOBAL_OVF_CTRL, 0xc08000070000000fULL, BIT(4) },
		{ GLOBAL_OVF_CTRL, 0, BIT(54) },
	};
	struct machine *m = *state;

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t before;

		wr(m, cases[i].msr, cases[i].good);
		before = rd(m, cases[i].msr);
		assert_true(wr_faults(m, cases[i].msr, cases[i].bad));
		assert_int_equal(rd(m, cases[i].msr), before);
	}
}

static void read_only_registers_fault(void **state)
{
	struct machine *m = *state;

	assert_int_equal(rd(m, GLOBAL_STATUS), 0);
	assert_true(wr_faults(m, GLOBAL_STATUS, 0));
	assert_int_equal(rd(m, PERF_CAPS), 0);
	assert_true(wr_faults(m, PERF_CAPS, 0));
	assert_int_equal(rd(m, PLATFORM_INFO), 0x2000);
	assert_true(wr_faults(m, PLATFORM_INFO, 0x2000));
}

static void overflow_control_clears_what_it_names(void **state)
{
	struct machine *m = *state;

	/* Single-shot table: its region fills at once and asks for a PMI. */
	put64(m, TABLE_AT, OUT_AT | E_INT);
	put64(m, TABLE_AT + 8, (OUT_AT + 4096));
	put64(m, TABLE_AT + 16, TABLE_AT | E_END);
	wr(m, OUTPUT_BASE, TABLE_AT);
	wr(m, OUTPUT_MASK, 4090ULL << 32 | 0x7f);
	start(m, OS | USER | BRANCH_EN | TOPA);
	assert_int_equal(rd(m, GLOBAL_STATUS), BIT(55));
	wr(m, GLOBAL_OVF_CTRL, 0xf);
	assert_int_equal(rd(m, GLOBAL_STATUS), BIT(55));
	wr(m, GLOBAL_OVF_CTRL, BIT(55));
	assert_int_equal(rd(m, GLOBAL_STATUS), 0);
	assert_int_equal(rd(m, GLOBAL_OVF_CTRL), 0);
}

static void counters_do_not_count(void **state)
{
	struct machine *m = *state;

	wr(m, FIXED_CTR_CTRL, 0x3);
	wr(m, GLOBAL_CTRL, BIT(32));
	wr(m, FIXED_CTR(0), 7);
	m->tsc += 1000000;
	start(m, OS | USER | BRANCH_EN);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
	assert_int_equal(rd(m, FIXED_CTR(0)), 7);
	assert_int_equal(m->pmis, 0);
}

static void init_leaves_the_pmu_alone_and_power_up_clears_it(void **state)
{
	struct machine *m = *state;

	wr(m, EVTSEL(0), 0x53);
	ptm_reset(m->ptm, true);
	assert_int_equal(rd(m, EVTSEL(0)), 0x53);
	ptm_reset(m->ptm, false);
	assert_int_equal(rd(m, EVTSEL(0)), 0);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, machine_setup, machine_teardown)
	static const struct CMUnitTest tests[] = {
		T(counters_keep_what_is_written), T(gp_counter_writes_are_sign_extended),
		T(counters_end_where_cpuid_says), T(rdpmc), T(reserved_bits_fault),
		T(read_only_registers_fault), T(overflow_control_clears_what_it_names),
		T(counters_do_not_count), T(init_leaves_the_pmu_alone_and_power_up_clears_it),
	};

	return cmocka_run_group_tests_name("pmu", tests, NULL, NULL);
}
