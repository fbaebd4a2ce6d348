// SPDX-License-Identifier: GPL-2.0-only
/* The architectural PMU: its registers, #GP, RDPMC, and which counters count when. */
#include "machine.h"

#define PMC(i)		(0x0c1 + (i))
#define EVTSEL(i)	(0x186 + (i))
#define FIXED_CTR(i)	(0x309 + (i))
#define FIXED_CTR_CTRL	0x38d
#define GLOBAL_CTRL	0x38f
#define PERF_CAPS	0x345
#define PLATFORM_INFO	0x0ce
#define A_PMC(i)	(0x4c1 + (i))
#define DEBUGCTL	0x1d9

#define USR	BIT(16)
#define SEL_OS	BIT(17)
#define INT	BIT(20)
#define EN	BIT(22)
#define COUNT	(USR | SEL_OS | EN)
#define FULL	BIT(48)	/* one more than a counter holds */

#define INSTRUCTIONS	0xc0
#define CYCLES		0x3c
#define REF_CYCLES	0x13c
#define BRANCHES	0xc4
#define BRANCH_MISSES	0xc5

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
	/* As a driver checks whether the counter exists. */
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
		{ A_PMC(1), BIT(47), BIT(48) },
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
		assert_int_equal(before, cases[i].msr == GLOBAL_OVF_CTRL ? 0 : cases[i].good);
		assert_true(wr_faults(m, cases[i].msr, cases[i].bad));
		assert_int_equal(rd(m, cases[i].msr), before);
	}
}

static void read_only_registers_fault(void **state)
{
	struct machine *m = *state;

	assert_int_equal(rd(m, GLOBAL_STATUS), 0);
	assert_true(wr_faults(m, GLOBAL_STATUS, 0));
	assert_int_equal(rd(m, PERF_CAPS), BIT(13));
	assert_true(wr_faults(m, PERF_CAPS, 0));
	assert_int_equal(rd(m, PLATFORM_INFO), 0x2000);
	assert_true(wr_faults(m, PLATFORM_INFO, 0x2000));
}

static void overflow_control_clears_what_it_names(void **state)
{
	struct machine *m = *state;

	/* A single-shot table: its region fills at once and raises a PMI. */
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

static void full_width_writes(void **state)
{
	struct machine *m = *state;

	wr(m, A_PMC(2), 0x123480000000ULL);
	assert_int_equal(rd(m, PMC(2)), 0x123480000000ULL);
	assert_int_equal(rd(m, A_PMC(2)), 0x123480000000ULL);
}

static void full_width_registers_only_if_capabilities_say_so(void **state)
{
	struct ptm_profile narrow = *ptm_profile_at(0);
	struct machine *m;

	narrow.perf_capabilities = 0;
	m = machine_new(&narrow);
	assert_int_equal(rd(m, PERF_CAPS), 0);
	assert_true(rd_faults(m, A_PMC(0)));
	assert_true(wr_faults(m, A_PMC(0), 0));
	machine_free(m);
}

/* ToPA's PMI bit is reserved on a CPU without ToPA. */
static void topa_pmi_bit_needs_topa(void **state)
{
	struct ptm_profile single = *ptm_profile_at(0);
	struct machine *m;

	single.leaf14_0_ecx = BIT(2);
	m = machine_new(&single);
	assert_true(wr_faults(m, GLOBAL_OVF_CTRL, BIT(55)));
	machine_free(m);
}

static void global_ctrl_enables_general_counters_at_power_up(void **state)
{
	struct machine *m = *state;

	assert_int_equal(rd(m, GLOBAL_CTRL), 0xf);
	assert_false(ptm_counting(m->ptm));
	assert_int_equal(ptm_retire_horizon(m->ptm), UINT64_MAX);
}

static void each_fixed_counter_counts_instructions(void **state)
{
	struct machine *m = *state;

	wr(m, FIXED_CTR_CTRL, 0x333);
	wr(m, GLOBAL_CTRL, 7ULL << 32);
	assert_true(ptm_counting(m->ptm));
	ptm_retire(m->ptm, 1000, 0);
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(rd(m, FIXED_CTR(i)), 1000);
}

static void each_event_counts_what_it_names(void **state)
{
	static const struct {
		uint32_t event;
		uint64_t instructions, branches;	/* how many of each it counts */
	} events[] = {
		{ INSTRUCTIONS, 1, 0 }, { CYCLES, 1, 0 }, { REF_CYCLES, 1, 0 },
		{ BRANCHES, 0, 1 }, { BRANCH_MISSES, 0, 0 },
		{ 0x4f2e, 0, 0 }, { 0x412e, 0, 0 },	/* LLC references, misses */
		{ 0x1c0, 0, 0 }, { 0x0, 0, 0 }, { 0xffff, 0, 0 },
		{ INSTRUCTIONS | BIT(18), 0, 0 },	/* Edge */
		{ INSTRUCTIONS | BIT(23), 0, 0 },	/* INV */
		{ INSTRUCTIONS | BIT(24), 0, 0 },	/* a counter mask */
		{ INSTRUCTIONS | BIT(19), 1, 0 },	/* pin control has no effect */
	};
	struct machine *m = *state;

	for (unsigned int i = 0; i < sizeof(events) / sizeof(events[0]); i++) {
		unsigned int c = i % 4;

		wr(m, PMC(c), 0);
		wr(m, EVTSEL(c), COUNT | events[i].event);
		assert_int_equal(ptm_counting(m->ptm), events[i].instructions);
		assert_int_equal(ptm_near_wanted(m->ptm), events[i].branches);
		ptm_retire(m->ptm, 100, 0);
		branch(m, PTM_JCC_NOT_TAKEN, KERN, KERN + 2, KERN + 2);
		branch(m, PTM_JMP, KERN, KERN + 2, KERN + 2);
		assert_int_equal(rd(m, PMC(c)), 100 * events[i].instructions +
						2 * events[i].branches);
		wr(m, EVTSEL(c), 0);
	}
}

static void a_counter_needs_each_of_its_enables(void **state)
{
	static const struct {
		uint64_t evtsel, global, counted;
	} cases[] = {
		{ COUNT, 2, 50 }, { COUNT & ~EN, 2, 0 }, { COUNT, 1, 0 }, { EN, 2, 0 },
		{ COUNT, BIT(33), 0 },
	};
	struct machine *m = *state;

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		wr(m, PMC(1), 0);
		wr(m, EVTSEL(1), cases[i].evtsel | INSTRUCTIONS);
		wr(m, GLOBAL_CTRL, cases[i].global);
		assert_int_equal(ptm_counting(m->ptm), cases[i].counted != 0);
		assert_int_equal(ptm_far_wanted(m->ptm), cases[i].counted != 0);
		ptm_retire(m->ptm, 20, 0);
		ptm_retire(m->ptm, 30, 3);
		assert_int_equal(rd(m, PMC(1)), cases[i].counted);
	}
	wr(m, FIXED_CTR_CTRL, 0x030);
	wr(m, GLOBAL_CTRL, BIT(32));
	assert_false(ptm_counting(m->ptm));
}

static void os_and_usr_filter_by_cpl(void **state)
{
	struct machine *m = *state;

	wr(m, EVTSEL(0), EN | SEL_OS | INSTRUCTIONS);
	wr(m, EVTSEL(1), EN | USR | INSTRUCTIONS);
	wr(m, FIXED_CTR_CTRL, 0x021);
	wr(m, GLOBAL_CTRL, 0x300000003ULL);
	ptm_retire(m->ptm, 1, 0);
	ptm_retire(m->ptm, 10, 1);
	ptm_retire(m->ptm, 100, 3);
	assert_int_equal(rd(m, PMC(0)), 1);
	assert_int_equal(rd(m, PMC(1)), 110);
	assert_int_equal(rd(m, FIXED_CTR(0)), 1);
	assert_int_equal(rd(m, FIXED_CTR(1)), 110);
}

static void branches_count_at_the_cpl_they_are_at(void **state)
{
	struct machine *m = *state;

	wr(m, EVTSEL(0), EN | SEL_OS | BRANCHES);
	wr(m, EVTSEL(1), EN | USR | BRANCHES);
	assert_true(ptm_far_wanted(m->ptm));
	branch(m, PTM_CALL, KERN, KERN + 5, KERN);	/* kernel 1 */
	far_to(m, PTM_FAR, &user_ctx, KERN, 0x400000);	/* SYSRET: kernel 2 */
	branch(m, PTM_RET, 0x400000, 0x400001, 0x400010);	/* user 1 */
	branch(m, PTM_JCC_NOT_TAKEN, 0x400010, 0x400012, 0x400012);	/* user 2 */
	far_to(m, PTM_FAR, &kernel_ctx, 0x400012, KERN);	/* SYSCALL: user 3 */
	far_to(m, PTM_EVENT, &kernel_ctx, KERN, KERN + 0x40);	/* no instruction */
	assert_int_equal(rd(m, PMC(0)), 2);
	assert_int_equal(rd(m, PMC(1)), 3);
}

static void near_branches_are_wanted_where_a_counter_counts_them(void **state)
{
	struct machine *m = *state;

	wr(m, EVTSEL(0), EN | USR | BRANCHES);
	assert_false(ptm_near_wanted(m->ptm));
	assert_true(ptm_far_wanted(m->ptm));
	far_to(m, PTM_FAR, &user_ctx, KERN, 0x400000);
	assert_true(ptm_near_wanted(m->ptm));
	assert_false(ptm_tracing(m->ptm));
	/* An INIT leads to CPL 0. */
	ptm_reset(m->ptm, true);
	assert_false(ptm_near_wanted(m->ptm));
	assert_true(ptm_far_wanted(m->ptm));
	wr(m, EVTSEL(0), 0);
	assert_false(ptm_near_wanted(m->ptm));
	assert_false(ptm_far_wanted(m->ptm));
}

static void an_overflow_is_told_in_global_status(void **state)
{
	struct machine *m = *state;

	wr(m, EVTSEL(3), COUNT | INSTRUCTIONS);
	wr(m, FIXED_CTR_CTRL, 0x300);
	wr(m, GLOBAL_CTRL, BIT(34) | BIT(3));
	wr(m, A_PMC(3), FULL - 10);
	wr(m, FIXED_CTR(2), FULL - 11);
	ptm_retire(m->ptm, 9, 0);
	assert_int_equal(rd(m, GLOBAL_STATUS), 0);
	ptm_retire(m->ptm, 1, 0);
	assert_int_equal(rd(m, GLOBAL_STATUS), BIT(3));
	assert_int_equal(rd(m, PMC(3)), 0);
	ptm_retire(m->ptm, 1, 0);
	assert_int_equal(rd(m, GLOBAL_STATUS), BIT(3) | BIT(34));
	assert_int_equal(m->pmis, 0);	/* no counter requests one */
	assert_int_equal(counter(m, PTM_N_OVERFLOW), 2);
	wr(m, GLOBAL_OVF_CTRL, BIT(3));
	assert_int_equal(rd(m, GLOBAL_STATUS), BIT(34));
}

static void an_overflow_interrupts_if_int_or_pmi_is_set(void **state)
{
	struct machine *m = *state;

	wr(m, EVTSEL(0), COUNT | INT | INSTRUCTIONS);
	wr(m, GLOBAL_CTRL, 1);
	wr(m, PMC(0), -5);
	ptm_retire(m->ptm, 4, 0);
	assert_int_equal(m->pmis, 0);
	ptm_retire(m->ptm, 1, 0);
	assert_int_equal(m->pmis, 1);
	assert_int_equal(counter(m, PTM_N_PMI), 1);
	/* Each fixed counter has a bit of its own for that. */
	for (unsigned int i = 0; i < 3; i++)
		for (unsigned int k = 0; k < 3; k++) {
			m->pmis = 0;
			wr(m, FIXED_CTR_CTRL, 0x333 | 8 << 4 * k);
			wr(m, GLOBAL_CTRL, BIT(32 + i));
			wr(m, FIXED_CTR(i), FULL - 1);
			ptm_retire(m->ptm, 1, 3);
			assert_int_equal(m->pmis, i == k);
		}
}

static void one_report_that_overflows_two_counters_is_one_pmi(void **state)
{
	struct machine *m = *state;

	wr(m, EVTSEL(0), COUNT | INT | INSTRUCTIONS);
	wr(m, EVTSEL(1), COUNT | INT | CYCLES);
	wr(m, PMC(0), -5);
	wr(m, PMC(1), -5);
	ptm_retire(m->ptm, 7, 0);
	assert_int_equal(m->pmis, 1);
	assert_int_equal(rd(m, GLOBAL_STATUS), 3);
	assert_int_equal(rd(m, PMC(0)), 2);	/* two late, but none is lost */
}

static void a_branch_counter_overflows_at_its_branch(void **state)
{
	struct machine *m = *state;

	wr(m, EVTSEL(0), COUNT | INT | BRANCHES);
	wr(m, PMC(0), -2);
	branch(m, PTM_JMP, KERN, KERN + 2, KERN);
	assert_int_equal(m->pmis, 0);
	branch(m, PTM_JMP, KERN, KERN + 2, KERN);
	assert_int_equal(m->pmis, 1);
	assert_int_equal(rd(m, GLOBAL_STATUS), 1);
}

static void the_horizon_is_the_nearest_overflow(void **state)
{
	struct machine *m = *state;

	wr(m, EVTSEL(0), COUNT | INSTRUCTIONS);
	assert_int_equal(ptm_retire_horizon(m->ptm), FULL);
	wr(m, EVTSEL(1), EN | USR | CYCLES);
	wr(m, PMC(1), -1000);
	assert_int_equal(ptm_retire_horizon(m->ptm), 1000);
	wr(m, EVTSEL(2), COUNT | BRANCHES);
	wr(m, PMC(2), -1);	/* counts branches, not instructions */
	assert_int_equal(ptm_retire_horizon(m->ptm), 1000);
	ptm_retire(m->ptm, 400, 3);
	assert_int_equal(ptm_retire_horizon(m->ptm), 600);
	ptm_retire(m->ptm, ptm_retire_horizon(m->ptm), 3);
	assert_int_equal(rd(m, PMC(1)), 0);
	assert_int_equal(rd(m, GLOBAL_STATUS), 2);
	assert_int_equal(ptm_retire_horizon(m->ptm), FULL - 1000);
}

static void freeze_on_pmi_clears_global_ctrl(void **state)
{
	struct machine *m = *state;

	wr(m, DEBUGCTL, BIT(12));
	wr(m, EVTSEL(0), COUNT | INT | INSTRUCTIONS);
	wr(m, PMC(0), -1);
	ptm_retire(m->ptm, 1, 0);
	assert_int_equal(m->pmis, 1);
	assert_int_equal(rd(m, GLOBAL_CTRL), 0);
	assert_false(ptm_counting(m->ptm));
	ptm_retire(m->ptm, 1, 0);
	assert_int_equal(rd(m, PMC(0)), 0);
}

static void pt_alone_moves_no_counter(void **state)
{
	struct machine *m = *state;

	wr(m, FIXED_CTR(0), 7);
	m->tsc += 1000000;
	start(m, OS | USER | BRANCH_EN);
	ptm_retire(m->ptm, 100, 0);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
	assert_int_equal(rd(m, FIXED_CTR(0)), 7);
	assert_int_equal(m->pmis, 0);
}

static void init_leaves_the_pmu_alone_and_power_up_clears_it(void **state)
{
	const struct ptm_profile *profile;

	for (unsigned int i = 0; (profile = ptm_profile_at(i)); i++) {
		struct machine *m = machine_new(profile);

		wr(m, EVTSEL(0), 0x53);
		ptm_reset(m->ptm, true);
		assert_int_equal(rd(m, EVTSEL(0)), 0x53);
		ptm_reset(m->ptm, false);
		assert_int_equal(rd(m, EVTSEL(0)), 0);
		machine_free(m);
	}
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, machine_setup, machine_teardown)
	static const struct CMUnitTest tests[] = {
		T(counters_keep_what_is_written), T(gp_counter_writes_are_sign_extended),
		T(counters_end_where_cpuid_says), T(rdpmc), T(reserved_bits_fault),
		T(read_only_registers_fault), T(overflow_control_clears_what_it_names),
		T(full_width_writes),
		cmocka_unit_test(full_width_registers_only_if_capabilities_say_so),
		cmocka_unit_test(topa_pmi_bit_needs_topa),
		T(global_ctrl_enables_general_counters_at_power_up),
		T(each_fixed_counter_counts_instructions), T(each_event_counts_what_it_names),
		T(a_counter_needs_each_of_its_enables), T(os_and_usr_filter_by_cpl),
		T(branches_count_at_the_cpl_they_are_at),
		T(near_branches_are_wanted_where_a_counter_counts_them),
		T(an_overflow_is_told_in_global_status),
		T(an_overflow_interrupts_if_int_or_pmi_is_set),
		T(one_report_that_overflows_two_counters_is_one_pmi),
		T(a_branch_counter_overflows_at_its_branch),
		T(the_horizon_is_the_nearest_overflow), T(freeze_on_pmi_clears_global_ctrl),
		T(pt_alone_moves_no_counter),
		cmocka_unit_test(init_leaves_the_pmu_alone_and_power_up_clears_it),
	};

	return cmocka_run_group_tests_name("pmu", tests, NULL, NULL);
}
