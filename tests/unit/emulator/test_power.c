// SPDX-License-Identifier: GPL-2.0-only
/* Power events: when sleep and wake make packets, the packets' bytes, their times. */
#include "machine.h"

#define ON	(OS | USER | BRANCH_EN | PWR_EVT_EN)
#define HLT	(KERN + 0x21)	/* the HLT or MWAIT */
#define NEXT	(HLT + 1)

static int setup(void **state)
{
	*state = machine_new(ptm_profile_find("gracemont"));
	return 0;
}

static void hlt(struct machine *m)
{
	ptm_sleep(m->ptm, NULL, HLT);
}

static void wake(struct machine *m)
{
	ptm_wake(m->ptm, NEXT);
}

static void expect_no_power_events(struct machine *m)
{
	assert_int_equal(counter(m, PTM_N_PWRE), 0);
	assert_int_equal(counter(m, PTM_N_EXSTOP), 0);
	assert_int_equal(counter(m, PTM_N_PWRX), 0);
	assert_int_equal(counter(m, PTM_N_MWAIT), 0);
}

static void hlt_and_the_interrupt_that_ends_it(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	mark(m);
	hlt(m);
	wake(m);
	far_to(m, PTM_EVENT, &kernel_ctx, NEXT, KERN + 0x100);
	EXPECT(m, P_PWRE(0, 0, 0), P_EXSTOP(1), P_FUP16(HLT), P_CBR(CBR_RATIO), P_PWRX_INT(0, 0),
	       P_FUP16(NEXT), P_TIP16(KERN + 0x100));
	assert_int_equal(counter(m, PTM_N_PWRE), 1);
	assert_int_equal(counter(m, PTM_N_EXSTOP), 1);
	assert_int_equal(counter(m, PTM_N_PWRX), 1);
}

static void mwait_comes_first_and_shares_the_fup(void **state)
{
	const struct ptm_mwait mwait = { .hints = 0xffffff60, .extensions = 0xfffffffd };
	struct machine *m = *state;

	start(m, ON);
	mark(m);
	ptm_sleep(m->ptm, &mwait, HLT);
	EXPECT(m, P_MWAIT(0x60, 1), P_PWRE(0, 0, 0), P_EXSTOP(1), P_FUP16(HLT));
	assert_int_equal(counter(m, PTM_N_MWAIT), 1);
}

static void branches_before_them_come_before_them(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	mark(m);
	branch(m, PTM_JCC_TAKEN, KERN, KERN + 2, KERN + 0x20);
	hlt(m);
	EXPECT(m, P_TNT(1, 1), P_PWRE(0, 0, 0), P_EXSTOP(1), P_FUP16(HLT));
}

/* Only MWAIT and the FUP need ContextEn. */
static void out_of_context_there_is_no_ip(void **state)
{
	static const uint64_t out_of_context[] = { USER | PWR_EVT_EN, OS | CR3_FILTER | PWR_EVT_EN };
	const struct ptm_mwait mwait = { .hints = 0x60 };
	struct machine *m = *state;

	wr(m, CR3_MATCH, 0x4000);
	for (unsigned int i = 0; i < 2; i++) {
		start(m, out_of_context[i] | BRANCH_EN);
		mark(m);
		ptm_sleep(m->ptm, &mwait, HLT);
		wake(m);
		EXPECT(m, P_PWRE(0, 0, 0), P_EXSTOP(0), P_CBR(CBR_RATIO), P_PWRX_INT(0, 0));
		stop(m);
	}
}

/* Neither BranchEn nor FilterEn matters. */
static void without_branches_and_out_of_the_filter_they_are_there(void **state)
{
	struct machine *m = *state;

	wr(m, ADDR0_A, KERN + 0x1000);
	wr(m, ADDR0_B, KERN + 0x1fff);
	for (unsigned int i = 0; i < 2; i++) {
		start(m, i ? ON | ADDR_CFG(0, 1) : OS | PWR_EVT_EN);
		mark(m);
		hlt(m);
		wake(m);
		EXPECT(m, P_PWRE(0, 0, 0), P_EXSTOP(1), P_FUP(HLT), P_CBR(CBR_RATIO),
		       P_PWRX_INT(0, 0));
		stop(m);
	}
}

static void none_unless_enabled(void **state)
{
	static const struct {
		uint64_t ctl, status;
	} cases[] = {
		{ OS | USER | BRANCH_EN | TRACE_EN, 0 },	/* no PwrEvtEn */
		{ ON | TRACE_EN, S_STOPPED },
		{ ON | TRACE_EN, S_ERROR },
		{ ON, 0 },					/* no TraceEn */
	};
	struct machine *m = *state;

	for (unsigned int i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		wr(m, STATUS, cases[i].status);
		wr(m, CTL, cases[i].ctl);
		hlt(m);
		wake(m);
		expect_no_power_events(m);
		stop(m);
	}
}

/* A CPU that waits for its first SIPI has executed no HLT, and one that INIT has reset none since. */
static void a_wake_without_a_sleep_is_none(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	wake(m);
	assert_int_equal(counter(m, PTM_N_PWRX), 0);
	hlt(m);
	ptm_reset(m->ptm, true);
	start(m, ON);
	wake(m);
	assert_int_equal(counter(m, PTM_N_PWRX), 0);
}

/* The entry's time is the TSC's before it, and the wake's that of the TSC before PWRX. */
static void the_wake_has_a_tsc(void **state)
{
	struct machine *m = *state;

	m->tsc = 42000;
	start(m, ON | TSC_EN | MTC_EN);
	mark(m);
	hlt(m);
	m->tsc = 42000 + 42 * 50 + 5;
	wake(m);
	EXPECT(m, P_PWRE(0, 0, 0), P_EXSTOP(1), P_FUP16(HLT), P_TSC(44105), P_TMA(1050, 5),
	       P_CBR(CBR_RATIO), P_PWRX_INT(0, 0));
}

static void without_tsc_it_has_an_mtc(void **state)
{
	struct machine *m = *state;

	start(m, ON | MTC_EN);
	mark(m);
	hlt(m);
	m->tsc += 42;
	wake(m);
	EXPECT(m, P_PWRE(0, 0, 0), P_EXSTOP(1), P_FUP16(HLT), P_MTC(1), P_CBR(CBR_RATIO),
	       P_PWRX_INT(0, 0));
}

static void cycs_time_both(void **state)
{
	struct machine *m = *state;

	start(m, ON | CYC_EN);
	mark(m);
	m->tsc += 9;
	hlt(m);
	m->tsc += 20;
	wake(m);
	EXPECT(m, P_CYC(9), P_PWRE(0, 0, 0), P_EXSTOP(1), P_FUP16(HLT), P_CYC(20),
	       P_CBR(CBR_RATIO), P_PWRX_INT(0, 0));
}

/* A PSB+ that is due meanwhile comes after PWRX, with the next instruction's address. */
static void psb_comes_behind_the_wake(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	while (S_BYTES(rd(m, STATUS)) < 2048 - 9) {
		branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
	}
	mark(m);
	hlt(m);
	wake(m);
	EXPECT(m, P_PWRE(0, 0, 0), P_EXSTOP(1), P_FUP16(HLT), P_CBR(CBR_RATIO), P_PWRX_INT(0, 0),
	       P_PSB, P_PIP(0x1000), P_CBR(CBR_RATIO), P_MODE64, P_FUP(NEXT), P_PSBEND);
}

static void an_overflow_takes_the_sleep_and_ends_at_the_wake(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	wr(m, MSR_PTM_DROP, 10);
	mark(m);
	hlt(m);
	wake(m);
	EXPECT(m, P_OVF, P_FUP(NEXT));
	expect_no_power_events(m);
}

static void the_bit_faults_where_cpuid_has_none(void **state)
{
	struct machine *m = *state;

	wr(m, CTL, PWR_EVT_EN);
	machine_free(m);
	*state = m = machine_new(ptm_profile_find("icelake"));
	assert_true(wr_faults(m, CTL, PWR_EVT_EN));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, machine_teardown)
	static const struct CMUnitTest tests[] = {
		T(hlt_and_the_interrupt_that_ends_it), T(mwait_comes_first_and_shares_the_fup),
		T(branches_before_them_come_before_them), T(out_of_context_there_is_no_ip),
		T(without_branches_and_out_of_the_filter_they_are_there), T(none_unless_enabled),
		T(a_wake_without_a_sleep_is_none), T(the_wake_has_a_tsc),
		T(without_tsc_it_has_an_mtc), T(cycs_time_both), T(psb_comes_behind_the_wake),
		T(an_overflow_takes_the_sleep_and_ends_at_the_wake),
		T(the_bit_faults_where_cpuid_has_none),
	};

	return cmocka_run_group_tests_name("power", tests, NULL, NULL);
}
