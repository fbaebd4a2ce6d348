// SPDX-License-Identifier: GPL-2.0-only
/* PTWRITE: when it makes a packet, the packet's bytes, its FUP. */
#include "machine.h"

#define ON	(OS | USER | BRANCH_EN | PTW_EN)
#define VALUE	0x1122334455667788ULL

static int setup(void **state)
{
	*state = machine_new(ptm_profile_find("icelake"));
	return 0;
}

static void ptwrite(struct machine *m, bool is64)
{
	ptm_ptwrite(m->ptm, VALUE, is64, KERN + 0x20, KERN + 0x25);
}

static void of_both_sizes(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	mark(m);
	ptwrite(m, true);
	ptwrite(m, false);
	EXPECT(m, P_PTW(VALUE, 1, 0), P_PTW(VALUE & 0xffffffff, 0, 0));
	assert_int_equal(counter(m, PTM_N_PTW), 2);
}

static void the_fup_is_of_the_ptwrite_itself(void **state)
{
	struct machine *m = *state;

	start(m, ON | FUP_ON_PTW);
	mark(m);
	ptwrite(m, true);
	EXPECT(m, P_PTW(VALUE, 1, 1), P_FUP16(KERN + 0x20));
}

static void branches_before_it_come_before_it(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	mark(m);
	branch(m, PTM_JCC_TAKEN, KERN, KERN + 2, KERN + 0x20);
	ptwrite(m, true);
	EXPECT(m, P_TNT(1, 1), P_PTW(VALUE, 1, 0));
}

static void a_cyc_times_it(void **state)
{
	struct machine *m = *state;

	start(m, ON | CYC_EN);
	mark(m);
	m->tsc += 9;
	ptwrite(m, true);
	EXPECT(m, P_CYC(9), P_PTW(VALUE, 1, 0));
}

static void an_mtc_that_is_due_comes_before_it(void **state)
{
	struct machine *m = *state;

	start(m, ON | TSC_EN | MTC_EN);
	mark(m);
	m->tsc += 84 / 2;
	ptwrite(m, true);
	EXPECT(m, P_MTC(1), P_PTW(VALUE, 1, 0));
}

static void without_branchen_it_is_there_too(void **state)
{
	struct machine *m = *state;

	start(m, OS | PTW_EN | FUP_ON_PTW);
	mark(m);
	ptwrite(m, true);
	EXPECT(m, P_PTW(VALUE, 1, 1), P_FUP(KERN + 0x20));
}

static void none_unless_enabled_and_in_context_and_filter(void **state)
{
	static const struct {
		uint64_t ctl, status;
	} cases[] = {
		{ OS | USER | BRANCH_EN | TRACE_EN, 0 },		/* no PTWEn */
		{ OS | USER | BRANCH_EN | FUP_ON_PTW | TRACE_EN, 0 },
		{ USER | BRANCH_EN | PTW_EN | TRACE_EN, 0 },		/* not this CPL */
		{ ON | CR3_FILTER | TRACE_EN, 0 },			/* not this CR3 */
		{ ON | ADDR_CFG(0, 1) | TRACE_EN, 0 },			/* out of range */
		{ ON | TRACE_EN, S_STOPPED },
		{ ON | TRACE_EN, S_ERROR },
		{ ON, 0 },						/* no TraceEn */
	};
	struct machine *m = *state;

	wr(m, CR3_MATCH, 0x4000);
	wr(m, ADDR0_A, KERN + 0x1000);
	wr(m, ADDR0_B, KERN + 0x1fff);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		wr(m, STATUS, cases[i].status);
		wr(m, CTL, cases[i].ctl);
		ptwrite(m, true);
		assert_int_equal(counter(m, PTM_N_PTW), 0);
		stop(m);
	}
}

/* Only there may a PSB+ follow, with the next instruction's address. */
static void psb_comes_behind_the_fup(void **state)
{
	struct machine *m = *state;

	start(m, ON | FUP_ON_PTW);
	while (S_BYTES(rd(m, STATUS)) < 2048 - 13)
		ptwrite(m, true);
	mark(m);
	ptwrite(m, true);
	EXPECT(m, P_PTW(VALUE, 1, 1), P_FUP16(KERN + 0x20), P_PSB, P_PIP(0x1000), P_CBR(CBR_RATIO),
	       P_MODE64, P_FUP(KERN + 0x25), P_PSBEND);
}

static void an_overflow_takes_it(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	wr(m, MSR_PTM_DROP, 10);
	mark(m);
	ptwrite(m, true);
	EXPECT(m, P_OVF, P_FUP(KERN + 0x25));
	assert_int_equal(counter(m, PTM_N_PTW), 0);
	assert_int_equal(counter(m, PTM_N_LOST), 10);
}

static void its_bits_fault_where_cpuid_has_none(void **state)
{
	struct machine *m = *state;

	wr(m, CTL, PTW_EN | FUP_ON_PTW);
	machine_free(m);
	*state = m = machine_new(ptm_profile_find("skylake"));
	assert_true(wr_faults(m, CTL, PTW_EN));
	assert_true(wr_faults(m, CTL, FUP_ON_PTW));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, machine_teardown)
	static const struct CMUnitTest tests[] = {
		T(of_both_sizes), T(the_fup_is_of_the_ptwrite_itself),
		T(branches_before_it_come_before_it), T(a_cyc_times_it),
		T(an_mtc_that_is_due_comes_before_it),
		T(without_branchen_it_is_there_too),
		T(none_unless_enabled_and_in_context_and_filter), T(psb_comes_behind_the_fup),
		T(an_overflow_takes_it), T(its_bits_fault_where_cpuid_has_none),
	};

	return cmocka_run_group_tests_name("ptwrite", tests, NULL, NULL);
}
