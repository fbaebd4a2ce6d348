// SPDX-License-Identifier: GPL-2.0-only
/* TSC, TMA, MTC and CYC against a clock that the test sets. */
#include "machine.h"

#define ON	(OS | USER | BRANCH_EN)
#define RATIO	42	/* TSC ticks in one of the ART: 84 / 2 */

/* The default profile, but reading the clock at each branch. */
static struct ptm_profile every_branch;

static int setup(void **state)
{
	every_branch = *ptm_profile_at(0);
	every_branch.clock_stride = 1;
	*state = machine_new(&every_branch);
	return 0;
}

static void jcc(struct machine *m)
{
	branch(m, PTM_JCC_TAKEN, KERN, KERN + 2, KERN + 2);
}

static void mtc_at_each_period(void **state)
{
	static const unsigned int freqs[] = { 0, 3, 6, 9 };
	struct machine *m = *state;

	for (unsigned int i = 0; i < 4; i++) {
		uint64_t period = RATIO << freqs[i];

		m->tsc = 1000 * period;
		start(m, ON | TSC_EN | MTC_EN | MTC_FREQ(freqs[i]));
		mark(m);
		m->tsc += period - 1;
		branch(m, PTM_JMP, KERN, KERN + 2, KERN);
		EXPECT_NOTHING(m);
		m->tsc++;
		branch(m, PTM_JMP, KERN, KERN + 2, KERN);
		branch(m, PTM_JMP, KERN, KERN + 2, KERN);
		m->tsc += period;
		branch(m, PTM_JMP, KERN, KERN + 2, KERN);
		EXPECT(m, P_MTC(1001 & 0xff), P_MTC(1002 & 0xff));
		stop(m);
	}
}

static void mtc_is_the_ctc_shifted(void **state)
{
	struct machine *m = *state;

	m->tsc = RATIO * 0x12345ULL;
	start(m, ON | TSC_EN | MTC_EN | MTC_FREQ(3));
	mark(m);
	m->tsc = RATIO * 0x12350ULL + 7;
	jcc(m);
	EXPECT(m, P_MTC(0x12350 >> 3 & 0xff));
}

static void the_ratio_of_cpuid_15h_rules(void **state)
{
	struct ptm_profile odd = every_branch;
	struct machine *m;

	/* TSC = ART * 5 / 2: the ART ticks at 3, 5, 8, 10, ... */
	odd.art_num = 5;
	odd.art_den = 2;
	m = machine_new(&odd);
	m->tsc = 4;
	mark(m);
	start(m, USER | BRANCH_EN | TSC_EN | MTC_EN);
	EXPECT(m, P_PSB, P_TSC(4), P_TMA(1, 1), P_CBR(CBR_RATIO), P_PSBEND);
	mark(m);
	for (m->tsc = 5; m->tsc <= 10; m->tsc++)
		far_to(m, PTM_FAR, &kernel_ctx, KERN, KERN);
	EXPECT(m, P_MTC(2), P_MTC(3), P_MTC(4));
	mark(m);
	m->tsc = 12;
	far_to(m, PTM_FAR, &kernel_ctx, KERN, KERN);
	EXPECT_NOTHING(m);
	m->tsc = 13;
	far_to(m, PTM_FAR, &kernel_ctx, KERN, KERN);
	EXPECT(m, P_MTC(5));
	machine_free(m);
}

static void mtc_flushes_tnt_that_came_before(void **state)
{
	struct machine *m = *state;

	start(m, ON | TSC_EN | MTC_EN);
	mark(m);
	jcc(m);
	m->tsc += RATIO;
	jcc(m);
	stop(m);
	EXPECT(m, P_TNT(1, 1), P_MTC(1), P_TNT(1, 1), P_FUP16(KERN), P_PGD_NO_IP);
}

static void mtc_comes_before_an_events_packets(void **state)
{
	struct machine *m = *state;
	struct ptm_context ctx = kernel_ctx;

	start(m, ON | TSC_EN | MTC_EN);
	mark(m);
	m->tsc += RATIO;
	ctx.cr3 = 0x2000;
	far_to(m, PTM_EVENT, &ctx, KERN, KERN + 0x20);
	EXPECT(m, P_MTC(1), P_FUP16(KERN), P_PIP(0x2000), P_TIP16(KERN + 0x20));
}

static void a_long_gap_gives_tsc_and_tma(void **state)
{
	struct machine *m = *state;

	start(m, ON | TSC_EN | MTC_EN);
	mark(m);
	m->tsc = RATIO * 200;
	jcc(m);
	EXPECT(m, P_MTC(200));
	mark(m);
	m->tsc += RATIO * 201 + 3;
	far_to(m, PTM_EVENT, &kernel_ctx, KERN, KERN + 0x20);
	EXPECT(m, P_TNT(1, 1), P_TSC(RATIO * 401 + 3), P_TMA(401, 3), P_FUP16(KERN),
	       P_TIP16(KERN + 0x20));
	mark(m);
	m->tsc += RATIO;
	jcc(m);
	EXPECT(m, P_MTC(402 & 0xff));
}

static void without_tscen_a_long_gap_gives_mtc(void **state)
{
	struct machine *m = *state;

	mark(m);
	start(m, USER | BRANCH_EN | MTC_EN);
	EXPECT(m, P_PSB, P_CBR(CBR_RATIO), P_PSBEND);	/* TMA needs TSCEn */
	mark(m);
	m->tsc += RATIO * 1000;
	far_to(m, PTM_EVENT, &kernel_ctx, KERN, KERN + 0x20);
	EXPECT(m, P_MTC(1000 & 0xff));
}

static void nothing_of_time_unless_enabled(void **state)
{
	struct machine *m = *state;

	start(m, ON);
	mark(m);
	m->tsc += 1ULL << 40;
	jcc(m);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
	EXPECT(m, P_TNT(1, 1), P_TIP16(KERN));
	assert_int_equal(counter(m, PTM_N_TSC), 0);
	assert_int_equal(counter(m, PTM_N_MTC), 0);
}

static void mtc_without_context_at_far_transfers(void **state)
{
	struct machine *m = *state;

	start(m, USER | BRANCH_EN | TSC_EN | MTC_EN);
	mark(m);
	m->tsc += RATIO;
	far_to(m, PTM_FAR, &kernel_ctx, KERN, KERN + 0x20);
	EXPECT(m, P_MTC(1));
}

static void no_mtc_at_near_branches_without_context(void **state)
{
	struct machine *m = *state;

	start(m, USER | BRANCH_EN | TSC_EN | MTC_EN);
	mark(m);
	for (unsigned int i = 0; i < 100; i++) {
		m->tsc += RATIO;
		jcc(m);
	}
	EXPECT_NOTHING(m);
}

static void the_clock_is_read_once_in_a_stride(void **state)
{
	struct machine *m = machine_new(ptm_profile_at(0));
	unsigned int stride = ptm_profile_at(0)->clock_stride;

	start(m, ON | TSC_EN | MTC_EN);
	mark(m);
	m->tsc += RATIO;
	for (unsigned int i = 1; i < stride; i++)
		branch(m, PTM_JMP, KERN, KERN + 2, KERN);
	EXPECT_NOTHING(m);
	branch(m, PTM_JMP, KERN, KERN + 2, KERN);
	EXPECT(m, P_MTC(1));
	machine_free(m);
}

/* No period before the TSC of a PSB+ is unreported, even between two readings of the clock. */
static void an_mtc_that_is_due_precedes_a_psb(void **state)
{
	struct machine *m = machine_new(ptm_profile_at(0));
	uint64_t psbs;

	start(m, ON | TSC_EN | MTC_EN);
	psbs = counter(m, PTM_N_PSB);
	while (S_BYTES(rd(m, STATUS)) < 2048 - 3)
		branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
	mark(m);
	m->tsc += RATIO + 5;
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
	assert_int_equal(counter(m, PTM_N_PSB), psbs + 1);
	EXPECT(m, P_TIP16(KERN), P_MTC(1), P_PSB, P_TSC(RATIO + 5), P_TMA(1, 5), P_PIP(0x1000),
	       P_CBR(CBR_RATIO), P_MODE64, P_FUP(KERN), P_PSBEND);
	machine_free(m);
}

/* A decoder's clock, from the packets only, equals the CPU's. */
static void libipt_reads_the_same_clock(void **state)
{
	struct machine *m = *state;
	struct pt_query_decoder *decoder;
	struct pt_config config;
	uint64_t ip, when[200], last = 0;
	unsigned int n = 0, at = 0;
	int status;

	m->tsc = 123456789;
	start(m, ON | TSC_EN | MTC_EN | MTC_FREQ(3));
	for (unsigned int i = 0; i < 200; i++) {
		m->tsc += 333 + i % 7 * 100;
		when[n++] = m->tsc;
		branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN + i);
	}
	stop(m);

	pt_config_init(&config);
	config.begin = m->tee;
	config.end = m->tee + m->tee_n;
	config.cpuid_0x15_eax = 2;
	config.cpuid_0x15_ebx = 84;
	config.mtc_freq = 3;
	decoder = pt_qry_alloc_decoder(&config);
	assert_non_null(decoder);
	status = pt_qry_sync_forward(decoder, &ip);
	while (at < n) {
		uint64_t tsc;

		assert_true(status >= 0);
		if (status & pts_event_pending) {
			struct pt_event ev;

			status = pt_qry_event(decoder, &ev, sizeof(ev));
			continue;
		}
		status = pt_qry_indirect_branch(decoder, &ip);
		assert_true(status >= 0);
		assert_int_equal(ip, KERN + at);
		assert_true(pt_qry_time(decoder, &tsc, NULL, NULL) >= 0);
		assert_true(tsc >= last);
		last = tsc;
		/* There is one MTC per 8 * 42 ticks, and libipt reads one packet ahead. */
		assert_true(tsc + 2 * 8 * RATIO + 2 > when[at]);
		assert_true(tsc <= when[at] + 1000);
		at++;
	}
	pt_qry_free_decoder(decoder);
}

static void cyc_before_what_it_times(void **state)
{
	struct machine *m = *state;
	struct ptm_context ctx = kernel_ctx;

	start(m, ON | CYC_EN);
	mark(m);
	ctx.cr3 = 0x2000;
	m->tsc += 10;
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
	m->tsc += 20;
	far_to(m, PTM_EVENT, &ctx, KERN, KERN + 8);
	m->tsc += 30;
	stop(m);
	EXPECT(m, P_CYC(10), P_TIP16(KERN), P_CYC(20), P_FUP16(KERN), P_PIP(0x2000),
	       P_TIP16(KERN + 8), P_CYC(30), P_FUP16(KERN), P_PGD_NO_IP);
}

static void cyc_of_a_tnt_is_of_its_first_branch(void **state)
{
	struct machine *m = *state;

	start(m, ON | CYC_EN);
	mark(m);
	m->tsc += 5;
	jcc(m);
	m->tsc += 7;
	jcc(m);
	m->tsc += 9;
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
	EXPECT(m, P_CYC(5), P_TNT(2, 3), P_CYC(16), P_TIP16(KERN));
}

static void cyc_of_an_mtc_is_of_its_tick(void **state)
{
	struct machine *m = *state;

	start(m, ON | CYC_EN | TSC_EN | MTC_EN);
	mark(m);
	m->tsc = RATIO * 5 + 30;
	branch(m, PTM_JMP, KERN, KERN + 2, KERN);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
	EXPECT(m, P_CYC(RATIO * 5), P_MTC(5), P_CYC(30), P_TIP16(KERN));

	/* A branch after the tick, before the clock is read: time does not go back. */
	mark(m);
	m->tsc = RATIO * 6 - 1;
	jcc(m);
	m->tsc = RATIO * 6 + 1;
	jcc(m);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
	EXPECT(m, P_CYC(11), P_TNT(1, 1), P_CYC(1), P_MTC(6), P_CYC(1), P_TNT(1, 1),
	       P_TIP16(KERN));
}

/* A clock that advances during a call of the model must not show in one event's packets. */
static void packets_of_one_call_are_of_one_moment(void **state)
{
	struct machine *m = *state;

	m->tsc = RATIO * 100;
	m->tsc_step = RATIO * 1000;
	mark(m);
	start(m, USER | BRANCH_EN | TSC_EN | MTC_EN | CYC_EN);
	EXPECT(m, P_PSB, P_TSC(RATIO * 1100), P_TMA(1100, 0), P_CBR(CBR_RATIO), P_PSBEND);
	mark(m);
	far_to(m, PTM_FAR, &user_ctx, KERN, KERN + 8);
	EXPECT(m, P_CYC(RATIO * 1000), P_TSC(RATIO * 2100), P_TMA(2100, 0), P_MODE64,
	       P_PGE(KERN + 8));
	mark(m);
	far_to(m, PTM_EVENT, &kernel_ctx, KERN, KERN + 8);
	EXPECT(m, P_CYC(RATIO * 1000), P_TSC(RATIO * 3100), P_TMA(3100, 0), P_FUP16(KERN),
	       P_PGD_NO_IP);
}

static void cyc_before_a_pge(void **state)
{
	struct machine *m = *state;

	start(m, USER | BRANCH_EN | CYC_EN);
	mark(m);
	m->tsc += 10;
	far_to(m, PTM_FAR, &user_ctx, KERN, KERN + 8);
	EXPECT(m, P_CYC(10), P_MODE64, P_PGE(KERN + 8));
	/* Neither before nor after it is traced: no packet that a CYC would time. */
	far_to(m, PTM_EVENT, &kernel_ctx, KERN + 8, KERN);
	mark(m);
	m->tsc += 10;
	far_to(m, PTM_FAR, &kernel_ctx, KERN, KERN + 8);
	EXPECT_NOTHING(m);
}

static void cyc_waits_for_its_threshold(void **state)
{
	struct machine *m = *state;

	for (unsigned int thresh = 1; thresh <= 12; thresh++) {
		uint64_t cycles = 1ULL << (thresh - 1);

		start(m, ON | CYC_EN | CYC_THRESH(thresh));
		mark(m);
		m->tsc += cycles - 1;
		branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
		m->tsc += 1;
		branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
		EXPECT(m, P_TIP16(KERN), P_CYC(cycles), P_TIP16(KERN));
		stop(m);
	}
}

static void no_two_cycs_in_one_cycle(void **state)
{
	struct machine *m = *state;

	start(m, ON | CYC_EN);
	mark(m);
	m->tsc += 4;
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
	EXPECT(m, P_CYC(4), P_TIP16(KERN), P_TIP16(KERN));
}

static void cyc_starts_again_with_tracing(void **state)
{
	struct machine *m = *state;

	start(m, ON | CYC_EN);
	m->tsc += 1000;
	stop(m);
	m->tsc += 100000;
	start(m, ON | CYC_EN);
	mark(m);
	m->tsc += 3;
	branch(m, PTM_JMP_INDIRECT, KERN, KERN + 2, KERN);
	EXPECT(m, P_CYC(3), P_TIP16(KERN));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, setup, machine_teardown)
	static const struct CMUnitTest tests[] = {
		T(mtc_at_each_period), T(mtc_is_the_ctc_shifted),
		T(the_ratio_of_cpuid_15h_rules), T(mtc_flushes_tnt_that_came_before),
		T(mtc_comes_before_an_events_packets),
		T(a_long_gap_gives_tsc_and_tma), T(without_tscen_a_long_gap_gives_mtc),
		T(nothing_of_time_unless_enabled), T(mtc_without_context_at_far_transfers),
		T(no_mtc_at_near_branches_without_context), T(cyc_before_a_pge),
		cmocka_unit_test(the_clock_is_read_once_in_a_stride),
		cmocka_unit_test(an_mtc_that_is_due_precedes_a_psb),
		T(libipt_reads_the_same_clock), T(cyc_before_what_it_times),
		T(cyc_of_a_tnt_is_of_its_first_branch), T(cyc_of_an_mtc_is_of_its_tick),
		T(packets_of_one_call_are_of_one_moment), T(cyc_waits_for_its_threshold),
		T(no_two_cycs_in_one_cycle), T(cyc_starts_again_with_tracing),
	};

	return cmocka_run_group_tests_name("timing", tests, NULL, NULL);
}
